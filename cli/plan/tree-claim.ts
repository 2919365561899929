import { printable } from "../../diagnostics/render/index.ts";
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { makeDirectory } from "../output/make-directory.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { reasonOf } from "../sources/source-files.ts";
import { makeStoreDirectory, PRIVATE } from "../threads/open-store.ts";
import { holderOf, isAncestor, isHere, releaseClaim, takeClaim, type Holder } from "./claim-file.ts";
import { thisMachine } from "./machine.ts";
import { endLeftovers, startOf } from "./process-groups.ts";
import { PROCESSES, RUN_FILE, RUNS_DIRECTORY } from "./run-directory.ts";
import { workingTreeOf } from "./working-tree.ts";

/** The claim of a working tree, at its top. */
const TREE_CLAIM = ".ngraph/claim.json";
/** Directories below the top in which plans have run, one a line: a later run looks there for what killed runs have left. */
const DIRECTORIES = ".ngraph/directories";
/** The claim of a directory, beside the directories of its runs. */
const CLAIM = "claim.json";

export interface TreeClaim {
  /** Whether the run's claim includes the runs of a directory. */
  covers(directory: string): boolean;
  /**
   * Ends the commands that killed runs have left running in the tree, and returns their command lines.
   *
   * @throws CommandError NG_TREE_BUSY for a run that works in the tree although nothing had claimed it
   */
  endDeadRuns(): Promise<readonly string[]>;
  release(): void;
}

export interface TreeClaimOptions {
  readonly run: string;
  readonly thread: string | null;
  /** Of the graph, if that is what runs. */
  readonly plan: string;
  readonly kind: "plan" | "graph";
  /** Names of machines that no longer run anything, as the user says. */
  readonly gone?: readonly string[];
}

/**
 * Claims the working tree and the directory for the run of a plan, so that no other run writes the same paths (9.3). A
 * run that a task of the holder has started works under the holder's claim of the tree, and claims its directory only.
 *
 * @throws CommandError NG_TREE_BUSY when another run works in the tree
 */
export function claimTree(runs: string, { run, thread, plan, kind, gone = [] }: TreeClaimOptions): TreeClaim {
  const directory = resolve(runs, "../..");
  const top = workingTreeOf(directory);
  const own: Holder = {
    pid: process.pid,
    started: startOf(process.pid),
    ...thisMachine(),
    run,
    thread,
    plan,
    kind,
    directory,
    since: new Date().toISOString(),
  };
  const claims: string[] = [];
  const release = (): void => {
    for (let path = claims.pop(); path !== undefined; path = claims.pop()) releaseClaim(path, run);
  };
  let isOuter = false;
  try {
    if (canWriteAt(top)) {
      const holder = takeClaim(join(top, TREE_CLAIM), own, gone);
      if (holder === undefined) claims.push(join(top, TREE_CLAIM));
      else if (!isAncestor(holder)) refuse(holder, top);
      isOuter = holder === undefined;
      if (directory !== top) recordDirectory(top, relative(top, directory));
    }
    makeStoreDirectory(resolve(runs, ".."));
    makeDirectory(runs, PRIVATE);
    const holder = takeClaim(join(runs, CLAIM), own, gone);
    if (holder !== undefined) refuse(holder, top);
    claims.push(join(runs, CLAIM));
  } catch (error) {
    release();
    throw error;
  }
  process.once("exit", release);
  return {
    covers: (other) => other === directory || (isOuter && workingTreeOf(other) === top),
    async endDeadRuns() {
      const ended = [...(await endCommandsOf(runs, run))];
      const others = isOuter ? recordedDirectories(top).filter((each) => each !== directory) : [];
      const isAtWork = (each: string): Holder | undefined => holderOf(join(each, RUNS_DIRECTORY, CLAIM), gone);
      // A run that a task of a killed run has started ends when the commands of the killed run are ended.
      const late: string[] = [];
      for (const each of others) {
        if (isAtWork(each) !== undefined) late.push(each);
        else ended.push(...(await endCommandsOf(join(each, RUNS_DIRECTORY), run)));
      }
      for (const each of late) {
        const holder = isAtWork(each);
        if (holder !== undefined) refuse(holder, top);
        ended.push(...(await endCommandsOf(join(each, RUNS_DIRECTORY), run)));
      }
      return ended;
    },
    release() {
      process.off("exit", release);
      release();
    },
  };
}

/** The run that works in a directory now; `undefined` if there is none. */
export function runAtWork(runs: string): string | undefined {
  return holderOf(join(runs, CLAIM), [])?.run;
}

/**
 * Sends the process of a run what Ctrl-C in its terminal sends: the first time no further task starts, the second time the tasks that run
 * end. Returns why it was not sent.
 */
export function interruptRun(runs: string, run: string): { readonly reason: string } | undefined {
  const holder = holderOf(join(runs, CLAIM), []);
  if (holder?.run !== run) return { reason: `the run \`${run}\` does not run: it has nothing to cancel` };
  const { pid, host } = holder;
  if (!isHere(holder)) {
    return { reason: `the run \`${run}\` is executed on ${host}, by process ${pid}: press Ctrl-C in its terminal` };
  }
  if (process.platform === "win32" || pid === process.pid) {
    return { reason: `process ${pid} cannot be asked to end the run: press Ctrl-C in its terminal` };
  }
  try {
    process.kill(pid, "SIGINT");
    return undefined;
  } catch (error) {
    return { reason: `process ${pid} cannot be asked to end the run: ${reasonOf(error)}` };
  }
}

/** The directory must be claimed: then all its runs without a summary are dead. */
async function endCommandsOf(runs: string, ownRun: string): Promise<readonly string[]> {
  const ended: string[] = [];
  for (const id of namesIn(runs)) {
    const directory = join(runs, id);
    if (id === ownRun || !existsSync(join(directory, PROCESSES)) || existsSync(join(directory, "summary.json")))
      continue;
    ended.push(...(await endLeftovers(directory)));
    // The directory of a graph's run has nothing else.
    if (!existsSync(join(directory, RUN_FILE))) rmSync(directory, { recursive: true, force: true });
  }
  return ended;
}

/** A user who may not write at the top of the tree claims the directory only. */
function canWriteAt(top: string): boolean {
  try {
    makeStoreDirectory(join(top, ".ngraph"));
    appendFileSync(join(top, DIRECTORIES), "", { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

/** In one write: lines of runs that start at the same time do not mix. */
function recordDirectory(top: string, path: string): void {
  if (!directoryLines(top).includes(path)) appendFileSync(join(top, DIRECTORIES), `${path}\n`);
}

/** Those that still have runs. */
function recordedDirectories(top: string): readonly string[] {
  return [top, ...directoryLines(top).map((path) => join(top, path))].filter((each) =>
    existsSync(join(each, RUNS_DIRECTORY)),
  );
}

function directoryLines(top: string): readonly string[] {
  return readFileSync(join(top, DIRECTORIES), "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function refuse(holder: Holder, top: string): never {
  const { pid, host, run, thread, plan, kind, since, directory } = holder;
  const isOwn = isHere(holder);
  const where = isOwn ? `process ${pid}` : `process ${pid} on ${host}`;
  const what = thread === null ? `run ${run}` : `thread ${printable(thread)}`;
  const place = directory === "" || directory === top ? "" : ` (in ${printable(relative(top, directory))})`;
  throw new CommandError(
    `${kind} \`${printable(plan)}\` (${what}) works in this tree${place} since ${printable(since)}: ${printable(where)}`,
    {
      code: "NG_TREE_BUSY",
      exitCode: EXIT.failed,
      help: isAncestor(holder)
        ? "this command is a part of that run: call the plan in a task (`task NAME = PLAN()`), or run it in another directory"
        : isOwn
          ? "wait until it ends, or run in another working tree (`git worktree add`)"
          : `wait until it ends, or run in another working tree; if it no longer runs there, add \`--host-gone ${quoteArgument(host)}\``,
    },
  );
}
