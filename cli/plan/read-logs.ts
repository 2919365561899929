import { findSimilar, listNames } from "../../diagnostics/similar.ts";
import { printable } from "../../diagnostics/render/index.ts";
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../process/command-error.ts";
import { LOGS, PLANNED, readLogName, readPlanned } from "./run-directory.ts";
import { runAtWork } from "./tree-claim.ts";
import { readRunIndex, type RunEntry } from "./run-index.ts";

/** What an attempt of a task, or of one of its checks, has printed. */
export interface TaskLog {
  /** The task, with the names of the tasks that call its plan. */
  readonly task: string;
  /** 1-based, if it is a check. */
  readonly check: number | undefined;
  /** 1-based. */
  readonly attempt: number;
  readonly path: string;
  readonly bytes: number;
}

/** The runs of a thread, newest first. `name` may also be the id of a run. */
export function runsOf(runs: string, name: string): readonly RunEntry[] {
  const entries = readRunIndex(runs).filter(({ thread, id }) => thread === name || id === name);
  return entries.reverse();
}

/** The logs of a run in the order in which their commands began. With `task`, only those of the task and of its checks. */
export function logsOf(runs: string, run: string, task?: string): readonly TaskLog[] {
  const directory = join(runs, run, LOGS);
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names
    .flatMap((name) => {
      const parsed = readLogName(directory, name);
      if (parsed === undefined) return [];
      const [, owner = parsed.node, check] = /^(.*) check (\d+)$/.exec(parsed.node) ?? [];
      if (task !== undefined && !belongsTo(owner, task)) return [];
      const path = join(directory, name);
      // A tidied directory loses logs while it is read.
      const found = statSync(path, { throwIfNoEntry: false });
      if (found === undefined) return [];
      const log: TaskLog = {
        task: owner,
        check: check === undefined ? undefined : Number(check),
        attempt: parsed.attempt,
        path,
        bytes: found.size,
      };
      return [{ log, begun: found.birthtimeMs }];
    })
    .sort((a, b) => a.begun - b.begun || a.log.attempt - b.log.attempt || compare(a.log.path, b.log.path))
    .map(({ log }) => log);
}

/** Whether a task is another one, one of its matrix, or one of the plan that it calls. */
export function belongsTo(name: string, task: string): boolean {
  return name === task || name.startsWith(`${task}[`) || name.startsWith(`${task}/`);
}

/** Whether a task has printed something in a run. The logs are read once, when the first task is named: a run may have thousands. */
export function withOutput(runs: string, run: string): (task: string) => boolean {
  let tasks: ReadonlySet<string> | undefined;
  return (task) => {
    tasks ??= new Set(logsOf(runs, run).map((log) => log.task));
    return tasks.has(task) || [...tasks].some((name) => belongsTo(name, task));
  };
}

/**
 * The newest run of a thread that has printed something. `follow` prefers a run at work, which may print later.
 *
 * @throws CommandError NG_NO_LOGS
 */
export function findLoggedRun(
  runs: string,
  name: string,
  {
    task,
    run,
    follow,
  }: { readonly task: string | undefined; readonly run: string | undefined; readonly follow: boolean },
): RunEntry {
  const entries = runsOf(runs, name);
  const [newest] = entries;
  if (newest === undefined) {
    throw new CommandError(`no run of a plan with thread or run id \`${printable(name)}\` is recorded in ${runs}`, {
      help: "`ngc run` prints the thread; only tasks of plans have logs, and they are in the directory of the run",
      code: "NG_NO_LOGS",
    });
  }
  if (run !== undefined) {
    const entry = entries.find(({ id }) => id.startsWith(run));
    if (entry === undefined) {
      const ids = entries.slice(0, 10).map(({ id }) => id);
      throw new CommandError(
        `thread \`${printable(name)}\` has no run \`${printable(run)}\` (there are: ${ids.join(", ")})`,
        {
          code: "NG_NO_LOGS",
        },
      );
    }
    return entry;
  }
  const isAtWork = follow && runAtWork(runs) === newest.id;
  const found = isAtWork ? undefined : entries.find(({ id }) => logsOf(runs, id, task).length > 0);
  if (found !== undefined) return found;
  if (task !== undefined) refuseUnknownTask(runs, newest, task);
  if (isAtWork) return newest;
  if (task === undefined)
    throw new CommandError(`no task of thread \`${printable(name)}\` has printed anything`, { code: "NG_NO_LOGS" });
  const tasks = [...new Set(entries.flatMap(({ id }) => logsOf(runs, id).map((log) => log.task)))];
  throw new CommandError(
    `task \`${printable(task)}\` of thread \`${printable(name)}\` has printed nothing` +
      (tasks.length === 0
        ? ""
        : ` (there are logs of: ${tasks.slice(0, 20).join(", ")}${tasks.length > 20 ? ", …" : ""})`),
    { code: "NG_NO_LOGS" },
  );
}

/**
 * Names of tasks that exist only while the run works, those of called plans and of run-time lists, are accepted.
 *
 * @throws CommandError NG_NO_LOGS for a task that the plan does not have
 */
function refuseUnknownTask(runs: string, { id, plan }: RunEntry, task: string): void {
  const planned = readPlanned(join(runs, id, PLANNED))?.tasks.map((each) => each.id) ?? [];
  if (planned.length === 0 || planned.some((each) => belongsTo(task, each) || belongsTo(each, task))) return;
  const similar = findSimilar(task, [...planned, ...planned.map((each) => each.replace(/\[.*/s, ""))]);
  throw new CommandError(`plan \`${printable(plan)}\` has no task \`${printable(task)}\``, {
    help:
      similar === undefined
        ? `its tasks are ${printable(listNames(planned))}`
        : `did you mean \`${printable(similar)}\`?`,
    code: "NG_NO_LOGS",
  });
}

/** Reads a file from a position to its end, in parts. */
export function* readFrom(path: string, position: number): Generator<Buffer> {
  const file = openSync(path, "r");
  try {
    for (let at = position; ;) {
      const buffer = Buffer.allocUnsafe(64 * 1024);
      const count = readSync(file, buffer, 0, buffer.byteLength, at);
      if (count === 0) return;
      at += count;
      yield buffer.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
