/** A file that says which run works in a directory. */
import { readFileSync, rmSync } from "node:fs";
import { loadSqlite, type SqliteDatabase } from "../../runtime/stores/sqlite/driver.ts";
import { findProcess } from "../../stdlib/shell/group-members.ts";
import { CommandError } from "../process/command-error.ts";
import { reasonOf } from "../sources/source-files.ts";
import { hasRestarted, thisMachine, type RecordedMachine } from "./machine.ts";
import { startOf } from "./process-groups.ts";
import { writeOnce } from "./run-directory.ts";

/** Who works there: the content of the file. */
export interface Holder extends RecordedMachine {
  readonly pid: number;
  /** The start time of the process, because the system reuses process ids. */
  readonly started: string | undefined;
  readonly run: string;
  readonly thread: string | null;
  /** Of the graph, if that is what runs. */
  readonly plan: string;
  readonly kind: "plan" | "graph";
  /** The directory of the run: in the working tree, or its top. */
  readonly directory: string;
  /** ISO 8601. */
  readonly since: string;
}

/**
 * Writes the claim of this process, unless another run is at work there: then it is returned. The claim of a process that no longer runs
 * is replaced.
 *
 * @param gone names of machines that no longer run anything, as the user says
 */
export function takeClaim(path: string, own: Holder, gone: readonly string[]): Holder | undefined {
  for (;;) {
    try {
      writeOnce(path, `${JSON.stringify(own)}\n`);
      return undefined;
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
    const text = readText(path);
    // It was released just now.
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (holder !== undefined && mayWork(holder, gone)) return holder;
    takeAway(path, text);
  }
}

/** Whether there was a claim when this process wrote its own. It may be released by now, so the file itself says nothing. */
function isTaken(error: unknown): boolean {
  return ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === "EEXIST";
}

/** The run that is at work, or may be on another machine; `undefined` if there is none. */
export function holderOf(path: string, gone: readonly string[]): Holder | undefined {
  const holder = parseHolder(readText(path) ?? "");
  return holder !== undefined && mayWork(holder, gone) ? holder : undefined;
}

export function releaseClaim(path: string, run: string): void {
  if (parseHolder(readText(path) ?? "")?.run === run) rmSync(path, { force: true });
}

/** Whether the processes of the holder can be looked at: those of other machines and of other containers cannot. */
export function isHere({ host, processes }: Holder): boolean {
  const here = thisMachine();
  return host === here.host && (processes === "" || processes === here.processes);
}

/** Whether this process was started, directly or indirectly, by the process of the holder. */
export function isAncestor(holder: Holder): boolean {
  if (!isHere(holder)) return false;
  for (let at = findProcess(process.pid); at !== undefined && at.pid > 1; at = findProcess(at.parent))
    if (at.pid === holder.pid) return true;
  return false;
}

function mayWork(holder: Holder, gone: readonly string[]): boolean {
  if (!isHere(holder)) return !hasRestarted(holder) && !gone.includes(holder.host);
  const { pid, started } = holder;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const found = startOf(pid);
  return started === undefined || found === undefined || found === started;
}

/** Removes a claim of a dead process, unless another process has replaced it meanwhile. */
function takeAway(path: string, expected: string): void {
  try {
    exclusively(`${path}.lock`, () => {
      // No other process removes it now: its own is dead, and others wait for the lock.
      if (readText(path) === expected) rmSync(path, { force: true });
    });
  } catch (error) {
    throw new CommandError(`cannot replace the claim of a dead run, ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Runs `work` while no other process does. The system gives the lock of a process back that ends meanwhile. */
function exclusively(path: string, work: () => void): void {
  const database = openLock(path);
  try {
    database?.exec("PRAGMA busy_timeout = 10000; BEGIN EXCLUSIVE");
    work();
  } finally {
    database?.close();
  }
}

/** `undefined` where there is no SQLite. Three processes that find one dead claim at the same moment could then disturb each other. */
function openLock(path: string): SqliteDatabase | undefined {
  let sqlite;
  try {
    sqlite = loadSqlite();
  } catch {
    return undefined;
  }
  return new sqlite.DatabaseSync(path);
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
    const value = JSON.parse(text) as Partial<Holder>;
    const { pid, started, host, machine, processes, run, thread, plan, kind, directory, since } = value;
    if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
    return {
      pid,
      started: typeof started === "string" ? started : undefined,
      host: String(host),
      machine: typeof machine === "string" ? machine : "",
      // Absent in claims of earlier versions.
      processes: typeof processes === "string" ? processes : "",
      directory: typeof directory === "string" ? directory : "",
      run: String(run),
      thread: typeof thread === "string" ? thread : null,
      plan: String(plan),
      kind: kind === "graph" ? kind : "plan",
      since: String(since),
    };
  } catch {
    return undefined;
  }
}
