import type { Command } from "commander";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { CommandError } from "../process/command-error.ts";
import type { LimitFlags } from "../run/parse-values.ts";
import { callsPlans } from "../sources/called-tables.ts";
import { parseReport } from "./run-report.ts";

/** Options of `run` and `resume` that apply to plans only. */
export interface PlanFlags {
  readonly only?: readonly string[];
  readonly fromTask?: string;
  /** A commit; `true` for the last one. */
  readonly affected?: string | true;
  /** Tasks that run again. */
  readonly retry?: readonly string[];
  readonly dryRun?: boolean;
  readonly watch?: boolean;
  readonly verifyTouches?: boolean;
  readonly report?: readonly string[];
  /** Commands that run when the run has ended or waits. */
  readonly notify?: readonly string[];
  /** `false` with `--no-cache`. */
  readonly cache?: boolean;
  /** A folder or an address. */
  readonly sharedCache?: string;
  /** Names of machines whose commands no longer run. */
  readonly hostGone?: readonly string[];
}

/** With `--verify-touches` one task runs at a time: a change then has one possible author. `--max-parallel` says otherwise. */
export function withOneAuthor<Options extends PlanFlags & { readonly maxParallel?: number }>(
  options: Options,
): Options {
  return options.verifyTouches === true && options.maxParallel === undefined ? { ...options, maxParallel: 1 } : options;
}

export function addPlanOptions(command: Command): void {
  command
    .option("--only <tasks>", "plans: run only these tasks, as if all others were done", taskNames)
    .option("--from-task <task>", "plans: run this task and every task that comes after it")
    .option(
      "--verify-touches",
      "plans: fail tasks that change files of the git tree that they do not declare; one task at a time, unless --max-parallel says more",
    )
    .option(
      "--report <file>",
      "plans: write a report: FILE.xml (JUnit) or FILE.html (with a Gantt chart); may be repeated",
      (path, before: readonly string[] | undefined) => [...(before ?? []), parseReport(path)],
    )
    .option(
      "--notify <command>",
      "plans: run this command when the run has ended or waits for an answer, with NGRAPH_OUTCOME and others in its environment; may be repeated",
      (command, before: readonly string[] | undefined) => [...(before ?? []), parseNotification(command)],
    )
    .option("--no-cache", "plans: run cached tasks even if nothing they depend on has changed")
    .option(
      "--shared-cache <place>",
      "plans: also store cached results in this folder, or on this server with Turborepo's protocol (default: NGRAPH_SHARED_CACHE)",
    )
    .option(
      "--host-gone <name>",
      "plans: commands that a killed run left on this machine no longer run; may be repeated",
      (name, before: readonly string[] | undefined) => [...(before ?? []), name],
    );
}

/** @throws CommandError for a text that cannot be a command */
function parseNotification(command: string): string {
  if (command.trim() !== "" && !command.includes("\0")) return command;
  throw new CommandError("--notify: an empty text is not a command", {
    help: "for example `--notify 'notify-send \"$NGRAPH_PLAN: $NGRAPH_OUTCOME\"'`",
  });
}

/** Adds the option of `resume` for plans. */
export function addRetryOption(command: Command): void {
  command.option(
    "--retry <tasks>",
    "plans: run these tasks again even if they were done, and all that is not done or depends on them",
    taskNames,
  );
}

/** Splits a list of tasks at its commas. A comma between brackets belongs to the name of a matrix task: `test[linux,20]`. */
export function taskNames(text: string): readonly string[] {
  const names: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "[") depth++;
    else if (character === "]") depth--;
    else if (character === "," && depth <= 0) {
      names.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...names, text.slice(start).trim()];
}

/** Refuses flags that have no effect on a graph or plan. @throws CommandError */
export function refusePlanFlags(
  table: Table | PlanTable,
  flags: PlanFlags & {
    readonly maxSteps?: LimitFlags;
    readonly maxTokens?: LimitFlags;
    readonly maxCost?: LimitFlags;
    readonly pauseBefore?: readonly string[];
    readonly pauseAfter?: readonly string[];
  },
): void {
  if (table.kind === "plan") {
    if (flags.only !== undefined && flags.affected !== undefined)
      throw new CommandError("--only and --affected both select the tasks", { help: "omit one of them" });
    const selection = flags.only === undefined ? (flags.fromTask === undefined ? "" : "--from-task") : "--only";
    if (flags.retry !== undefined && selection !== "")
      throw new CommandError(`--retry and ${selection} both select the tasks`, { help: "omit one of them" });
    if ((flags.pauseBefore ?? flags.pauseAfter) !== undefined)
      throw new CommandError(`--pause-before, --pause-after: \`${table.name}\` is a plan, which has no breakpoints`, {
        help: "let a task of its own ask: `task approve = ask(…)`",
      });
    if (flags.maxSteps?.own !== undefined)
      throw new CommandError(`--max-steps: \`${table.name}\` is a plan, which has no steps`, {
        help: "--max-steps GRAPH=N sets the limit of a graph that one of its tasks calls",
      });
    const flag =
      flags.maxTokens?.own !== undefined ? "--max-tokens" : flags.maxCost?.own !== undefined ? "--max-cost" : "";
    if (flag !== "")
      throw new CommandError(`${flag}: \`${table.name}\` is a plan, which has no limits`, {
        help: `${flag} GRAPH=N sets the limit of a graph that one of its tasks calls`,
      });
    return;
  }
  const given = [
    flags.only === undefined ? [] : ["--only"],
    flags.fromTask === undefined ? [] : ["--from-task"],
    flags.affected === undefined ? [] : ["--affected"],
    flags.retry === undefined ? [] : ["--retry"],
    flags.dryRun === true ? ["--dry-run"] : [],
    flags.watch === true ? ["--watch"] : [],
    flags.verifyTouches === true ? ["--verify-touches"] : [],
    flags.report === undefined ? [] : ["--report"],
    flags.notify === undefined ? [] : ["--notify"],
    flags.cache === false ? ["--no-cache"] : [],
    flags.sharedCache === undefined ? [] : ["--shared-cache"],
    flags.hostGone === undefined || callsPlans(table) ? [] : ["--host-gone"],
  ].flat();
  if (given.length > 0) throw new CommandError(`${given.join(", ")}: \`${table.name}\` is a graph, not a plan`);
}

/** Refuses flags of graphs for a plan. @throws CommandError */
export function refuseGraphFlags(flags: { readonly from?: string; readonly at?: string }): void {
  const given = [flags.from === undefined ? [] : ["--from"], flags.at === undefined ? [] : ["--at"]].flat();
  if (given.length === 0) return;
  throw new CommandError(`${given.join(", ")}: a plan resumes with the tasks that are not done`, {
    help: "--retry runs a task again, --from-task also all that come after it, --only runs one by itself",
  });
}
