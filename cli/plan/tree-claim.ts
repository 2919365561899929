import { printable } from "../../diagnostics/render/index.ts";
import { readdirSync, readFileSync, renameSync, rmSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeDirectory } from "../output/make-directory.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { makeStoreDirectory, PRIVATE } from "../threads/open-store.ts";
import { hasRestarted, thisMachine, type RecordedMachine } from "./machine.ts";
import { endLeftovers, startOf } from "./process-groups.ts";
import { PROCESSES, writeOnce } from "./run-directory.ts";

/** The claim of a working tree, beside the directories of its runs. */
const CLAIM = "claim.json";

/** Who works in the tree: the content of the claim. */
interface Holder extends RecordedMachine {
  readonly pid: number;
  /** The start time of the process, because the system reuses process ids. */
  readonly started: string | undefined;
  readonly run: string;
  readonly thread: string | null;
  readonly plan: string;
  /** ISO 8601. */
  readonly since: string;
}

/**
 * Claims the working tree for the run of a plan, so that no other run writes the same paths (9.3). The claim of a process
 * that no longer runs is replaced. Returns a function that gives the tree free.
 *
 * @throws CommandError NG_TREE_BUSY when another run works in the tree
 */
export function claimTree(
  runs: string,
  {
    run,
    thread,
    plan,
    gone = [],
  }: {
    readonly run: string;
    readonly thread: string | null;
    readonly plan: string;
    /** Names of machines that no longer run anything, as the user says. */
    readonly gone?: readonly string[];
  },
): () => void {
  const path = join(runs, CLAIM);
  const own: Holder = {
    pid: process.pid,
    started: startOf(process.pid),
    ...thisMachine(),
    run,
    thread,
    plan,
    since: new Date().toISOString(),
  };
  makeStoreDirectory(resolve(runs, ".."));
  makeDirectory(runs, PRIVATE);
  for (;;) {
    try {
      writeOnce(path, `${JSON.stringify(own)}\n`);
      break;
    } catch (error) {
      if (!existsSync(path)) throw error;
    }
    const text = readText(path);
    // It was released just now.
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (holder !== undefined && isAtWork(holder) && (isHere(holder) || !gone.includes(holder.host))) refuse(holder);
    takeAway(path, text);
  }
  let isReleased = false;
  const release = (): void => {
    if (isReleased) return;
    isReleased = true;
    if (parseHolder(readText(path) ?? "")?.run === run) rmSync(path, { force: true });
  };
  process.once("exit", release);
  return () => {
    process.off("exit", release);
    release();
  };
}

/**
 * Ends the commands that killed runs have left running in the tree, and returns their command lines. The tree must be
 * claimed: then all runs without a summary are dead.
 */
export async function endDeadRuns(runs: string, ownRun: string): Promise<readonly string[]> {
  const ended: string[] = [];
  for (const id of readdirSync(runs)) {
    const directory = join(runs, id);
    if (id === ownRun || !existsSync(join(directory, PROCESSES)) || existsSync(join(directory, "summary.json")))
      continue;
    ended.push(...(await endLeftovers(directory)));
  }
  return ended;
}

/** The run that works in the tree now; `undefined` if there is none. */
export function runAtWork(runs: string): string | undefined {
  const holder = parseHolder(readText(join(runs, CLAIM)) ?? "");
  return holder !== undefined && isAtWork(holder) ? holder.run : undefined;
}

/** Removes a claim of a dead process, unless another process has replaced it meanwhile. */
function takeAway(path: string, expected: string): void {
  const aside = `${path}.${process.pid}.dead`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  // The claim of a live process was moved: it is put back, unless there is a newer one.
  const text = readText(aside);
  rmSync(aside, { force: true });
  if (text !== undefined && text !== expected && !existsSync(path)) writeOnce(path, text);
}

/** Whether the processes of the holder can be looked at: those of other machines and of other containers cannot. */
function isHere({ host, processes }: Holder): boolean {
  const here = thisMachine();
  return host === here.host && (processes === "" || processes === here.processes);
}

function isAtWork(holder: Holder): boolean {
  if (!isHere(holder)) return !hasRestarted(holder);
  const { pid, started } = holder;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const found = startOf(pid);
  return started === undefined || found === undefined || found === started;
}

function refuse(holder: Holder): never {
  const { pid, host, run, thread, plan, since } = holder;
  const isOwn = isHere(holder);
  const where = isOwn ? `process ${pid}` : `process ${pid} on ${host}`;
  const what = thread === null ? `run ${run}` : `thread ${printable(thread)}`;
  throw new CommandError(`plan \`${plan}\` (${what}) works in this tree since ${since}: ${where}`, {
    code: "NG_TREE_BUSY",
    exitCode: EXIT.failed,
    help: isOwn
      ? "wait until it ends, or run in another working tree (`git worktree add`)"
      : `wait until it ends, or run in another working tree; if it no longer runs there, add \`--host-gone ${quoteArgument(host)}\``,
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** `undefined` for a text that no run has written. */
function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, started, host, machine, processes, run, thread, plan, since } = JSON.parse(text) as Partial<Holder>;
    if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
    return {
      pid,
      started: typeof started === "string" ? started : undefined,
      host: String(host),
      machine: typeof machine === "string" ? machine : "",
      // Absent in claims of earlier versions.
      processes: typeof processes === "string" ? processes : "",
      run: String(run),
      thread: typeof thread === "string" ? thread : null,
      plan: String(plan),
      since: String(since),
    };
  } catch {
    return undefined;
  }
}
