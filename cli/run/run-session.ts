import { printable } from "../../diagnostics/render/index.ts";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { EngineOptions, ExecuteOptions } from "../../runtime/interface/engine-options.ts";
import { createRedactor } from "../../runtime/event/redact.ts";
import { refuseEffects } from "../../runtime/table/refuse-effects.ts";
import type { Effect } from "../../runtime/table/effects.ts";
import type { JsonObject } from "../../runtime/value/json.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { fromEnvironment } from "../../stdlib/from-environment.ts";
import { quietly, type Output } from "../output/output.ts";
import { printableText } from "../output/printable-text.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { enterStage } from "../process/stage.ts";
import { redactUserErrors } from "../process/user-error.ts";
import { bindFunctions } from "../sources/bind-functions.ts";
import { refuseManyPaths } from "../sources/called-tables.ts";
import { secretNames } from "../sources/secret-names.ts";
import type { OpenStore } from "../threads/open-store.ts";
import { allowedEffects } from "./allowed-effects.ts";
import type { ExecutionOptions } from "./execution-options.ts";
import { modelNodes } from "./model-nodes.ts";
import { refuseMissingModels } from "./refuse-missing-models.ts";
import { checkSecrets } from "./check-secrets.ts";
import { givenLimits, type LimitFlags } from "./parse-values.ts";
import { limitsOfServed } from "./served-limits.ts";
import type { RunPlace } from "./report-result.ts";

/** A graph or plan to run, and where its run is stored. */
export interface RunTarget<T extends Table | PlanTable> {
  readonly table: T;
  /** The source file. The run records it for `ngc resume`. */
  readonly file: string;
  readonly store: OpenStore;
  readonly options: ExecutionOptions;
  /** Further flags for the command that resumes the run. */
  readonly flags: string;
  /** A server has other graphs: a missing secret is a warning, and the engine refuses the runs of this graph. */
  readonly isBesideOthers?: boolean;
  /** Only undos run: the engine knows which secrets they read. */
  readonly isRollback?: boolean;
}

/** The part of a run's display that a session writes to. */
interface LineDisplay {
  /** Writes whole lines above the live part. */
  above(write: () => void): void;
  /** Removes the live part. */
  stop(): void;
}

/** The properties that runs of graphs and of plans share. */
export interface RunSession {
  /** The output for people; without remarks where `--events` prints lines for machines. */
  readonly output: Output;
  readonly place: RunPlace;
  /** User code, built-in nodes, store and permissions, for the engine or the plan runner. */
  readonly engineOptions: Pick<
    EngineOptions,
    "functions" | "graphs" | "builtins" | "store" | "secrets" | "allow" | "ttl"
  >;
  /** Options that both kinds of runs take. */
  readonly runOptions: Pick<ExecuteOptions, "maxSteps" | "maxTokens" | "maxCost"> & {
    readonly maxParallel?: number;
    readonly metadata: JsonObject;
  };
  /** Replaces the values of the table's secrets in a text. */
  redact(text: string): string;
  readonly hasSecrets: boolean;
  /** Prints the thread's id before the first node starts: a node may end the process. */
  announce(thread: string | null | undefined, isResumed: boolean): void;
  /** Runs `work` as the current run of this process; afterwards user code cannot change its result. */
  run<R>(work: () => Promise<R>): Promise<R>;
  /** Closes the store. Called before the result is printed, so that a reader of the result finds the store closed. */
  close(): Promise<void>;
}

/** Loads the user's code and prepares what a run needs. `builtins` replace nodes of the standard library. */
export async function openRunSession(
  { table, file, store, options, flags, isBesideOthers = false, isRollback = false }: RunTarget<Table | PlanTable>,
  display: LineDisplay,
  output: Output,
  builtins: (redact: (text: string) => string) => Readonly<Record<string, BuiltinNode>> = () => ({}),
): Promise<RunSession> {
  const allow = allowedEffects(options.allow, file);
  refuseUserCode(table, allow, options.builtins);
  refuseManyPaths(table);
  // The runner of a plan knows which tasks run: the others may lack their secrets.
  if (table.kind === "graph" && !isRollback) checkSecrets(table, output, isBesideOthers);
  const secrets = secretNames(table);
  const redact = createRedactor(new Map(secrets.map((name) => [name, fromEnvironment(name) ?? ""])));
  redactUserErrors(redact);
  const [{ builtinNodes }, { createPrint }, { createYaml }, code, models] = await Promise.all([
    import("../../stdlib/builtin-nodes.ts"),
    import("../../stdlib/nodes/print.ts"),
    import("../../stdlib/nodes/yaml.ts"),
    bindFunctions(table, options.builtins),
    modelNodes(process.env, file, allow),
  ]);
  if (code.builtins?.["llm"] === undefined) refuseMissingModels(table, models);
  const print = createPrint((line) => {
    const text = printableText(line);
    display.above(() => (output.json ? output.problem(text) : output.result(text)));
  });
  const limit = (flags: LimitFlags | undefined) => {
    if (flags === undefined) return undefined;
    return givenLimits(isBesideOthers && table.kind === "graph" ? limitsOfServed(flags, table) : flags, table.name);
  };
  const [maxSteps, maxTokens, maxCost] = [limit(options.maxSteps), limit(options.maxTokens), limit(options.maxCost)];
  const say = options.events === true ? quietly(output) : output;
  let stored: string | undefined;
  return {
    output: say,
    place: { flags: store.flag + flags, isMemory: store.isMemory, redact },
    engineOptions: {
      ...code.bindings,
      builtins: {
        ...builtinNodes,
        ...models.nodes,
        print,
        yaml: createYaml(async (text) => (await import("../../grammar/yaml/parse-yaml-text.ts")).parseYamlText(text)),
        ...builtins(redact),
        ...code.builtins,
      },
      store: store.store,
      secrets: fromEnvironment,
      ...(allow === undefined ? {} : { allow }),
      ...(options.ttl === undefined ? {} : { ttl: options.ttl === "never" ? null : options.ttl }),
    },
    runOptions: {
      metadata: { ...options.metadata, file: resolve(file), graph: table.name },
      ...(maxSteps === undefined ? {} : { maxSteps }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(maxCost === undefined ? {} : { maxCost }),
      ...(options.maxParallel === undefined ? {} : { maxParallel: options.maxParallel }),
    },
    redact,
    hasSecrets: secrets.length > 0,
    announce(thread, isResumed) {
      stored = thread ?? undefined;
      if (thread === undefined || thread === null || store.isMemory) {
        enterStage({ name: "running", isStarted: true });
        return;
      }
      const work = isRollback ? "rolling back" : isResumed ? "resuming" : "running as";
      say.note(`${work} thread ${printable(thread)}`);
      enterStage({
        name: "running",
        isStarted: true,
        thread,
        command: `ngc resume ${quoteArgument(thread)}${store.flag}${flags}`,
      });
    },
    async run(work) {
      enterStage({ name: "running" });
      try {
        return await work();
      } finally {
        display.stop();
        enterStage({ name: "over" });
        // Rejections of promises that no node awaited surface now, before the result is printed.
        await new Promise((next) => setImmediate(next));
      }
    },
    async close() {
      await models.close();
      await store.store.close?.();
      const mayDamage = table.effects.some((effect) => effect === "code" || effect === "shell");
      if (store.path !== undefined) await expectStored(store.path, mayDamage ? stored : undefined);
    },
  };
}

/**
 * Checks the allowed effects before any code of the user is bundled or imported: top-level code of a module runs when it is imported.
 *
 * @throws RunError, CommandError NG_EFFECT_DENIED
 */
function refuseUserCode(
  table: Table | PlanTable,
  allow: readonly Effect[] | undefined,
  builtins: string | undefined,
): void {
  refuseEffects(table, allow, table.kind);
  if (builtins !== undefined && allow !== undefined && !allow.includes("code"))
    throw new CommandError(
      `--builtins runs code, which is not allowed (allowed: ${allow.join(", ") || "nothing"}) [NG_EFFECT_DENIED]`,
      {
        exitCode: EXIT.failed,
        code: "NG_EFFECT_DENIED",
        help: "add `code` to --allow and to `allow` in ngraph.json, or omit --builtins",
      },
    );
}

/**
 * Checks that code of the run has not deleted, truncated or replaced the file of the store: an open SQLite database does not notice.
 *
 * @param thread the thread to read; absent if no code of the user ran
 * @throws CommandError NG_STORE_FAILED
 */
async function expectStored(path: string, thread: string | undefined): Promise<void> {
  const problem = existsSync(path)
    ? await problemOf(path, thread)
    : "deleted during the run: nothing of the run is stored";
  if (problem === undefined) return;
  throw new CommandError(`the store ${path} was ${problem}`, { exitCode: EXIT.failed, code: "NG_STORE_FAILED" });
}

const { parse } = JSON;

async function problemOf(path: string, thread: string | undefined): Promise<string | undefined> {
  if (thread === undefined) return undefined;
  // Code of the run may have replaced the function that reads values.
  JSON.parse = parse;
  const { SqliteStore } = await import("../../runtime/stores/sqlite.ts");
  try {
    const store = new SqliteStore(path);
    try {
      if ((await store.loadLatest(thread)) !== undefined) return undefined;
      return "replaced during the run: nothing of the run is stored";
    } finally {
      store.close();
    }
  } catch (error) {
    return `damaged during the run: ${error instanceof Error ? error.message : String(error)}`;
  }
}
