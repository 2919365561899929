import { createHash } from "node:crypto";
import { closeSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { CommandError } from "../process/command-error.ts";
import { makeDirectory } from "../output/make-directory.ts";
import { makeStoreDirectory, PRIVATE } from "../threads/open-store.ts";
import { reasonOf } from "../sources/source-files.ts";

/** The directory for the logs of plan runs, relative to the working directory. */
export const RUNS_DIRECTORY = ".ngraph/runs";

/**
 * The directory of one run. It contains `transitions.jsonl`, which is append-only; a copy of the plan's file from the start of the run;
 * `run.json`, which names the thread; `processes.jsonl`; `logs/`, with what the tasks printed; `failures/`, with the
 * reasons of failed attempts that further attempts read; `diffs/`, with the changes of tasks that are not merged; and `summary.json`, written once at
 * the end. `planned.json` has the schedule at the start.
 */
export interface RunDirectory {
  readonly path: string;
  appendEvent(line: object): void;
  appendProcess(line: object): void;
  /** Opens the file for the output of an attempt of a task, or of one of its checks. */
  openLog(node: string, attempt: number): { write(text: string): void; close(): void };
  /** Stores why the attempt before this one has failed. Returns the path of the file. */
  storeFailure(node: string, attempt: number, text: string): string;
  /** The file for the changes of a task that are not merged. */
  diffPath(task: string): string;
  /** Stores the schedule that the run begins with. */
  writePlanned(planned: PlannedRun): void;
  /** @throws CommandError when there is one already */
  writeSummary(summary: object): void;
  close(): void;
}

/** @throws CommandError when the directory cannot be created, or another run has created it */
export function createRunDirectory(
  runs: string,
  runId: string,
  file: string,
  thread: string | null = null,
): RunDirectory {
  const path = join(runs, checkRunId(runId));
  try {
    makeStoreDirectory(resolve(runs, ".."));
    makeDirectory(runs, PRIVATE);
    mkdirSync(path, { mode: PRIVATE });
    writeFileSync(join(path, snapshotName(file)), readFileSync(file), { flag: "wx", mode: 0o600 });
    writeFileSync(join(path, RUN_FILE), `${JSON.stringify({ version: 1, thread })}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw new CommandError(`cannot write the run's log in ${path}: ${reasonOf(error)}`, { cause: error });
  }
  const events = openSync(join(path, "transitions.jsonl"), "a", 0o600);
  let processes: number | undefined;
  return {
    path,
    appendEvent: (line) => append(events, line),
    openLog(node, attempt) {
      makeDirectory(join(path, LOGS), PRIVATE);
      const name = fileNameOf(node);
      if (CUT_NAME.test(name)) writeFileSync(join(path, LOGS, `${name}.name`), node, { mode: 0o600 });
      const file = openSync(join(path, LOGS, `${attempt}.${name}.log`), "a", 0o600);
      return { write: (text) => void writeSync(file, text), close: () => closeSync(file) };
    },
    storeFailure(node, attempt, text) {
      makeDirectory(join(path, FAILURES), PRIVATE);
      const file = resolve(path, FAILURES, `${attempt}.${fileNameOf(node)}.txt`);
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    },
    diffPath: (task) => resolve(path, DIFFS, `${fileNameOf(task)}.patch`),
    appendProcess: (line) => append((processes ??= openSync(join(path, PROCESSES), "a", 0o600)), line),
    writePlanned: (planned) => writeOnce(join(path, PLANNED), `${JSON.stringify(planned)}\n`),
    writeSummary: (summary) => writeOnce(join(path, "summary.json"), `${JSON.stringify(summary, null, 2)}\n`),
    close() {
      closeSync(events);
      if (processes !== undefined) closeSync(processes);
    },
  };
}

/** The schedule of a run at its start, in milliseconds from it, or in tasks if no duration was known. */
export interface PlannedRun {
  readonly version: 1;
  readonly unit: "ms" | "tasks";
  readonly makespan: number;
  readonly maxParallel: number;
  readonly tasks: readonly PlannedTask[];
}

export interface PlannedTask {
  readonly id: string;
  readonly start: number;
  readonly end: number;
  readonly critical: boolean;
}

/** `undefined` for runs of older versions, and for a file that is damaged. */
export function readPlanned(path: string): PlannedRun | undefined {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as PlannedRun;
    const isPlanned = value.version === 1 && Array.isArray(value.tasks) && typeof value.makespan === "number";
    return isPlanned ? value : undefined;
  } catch {
    return undefined;
  }
}

export const PLANNED = "planned.json";
export const PROCESSES = "processes.jsonl";
export const RUN_FILE = "run.json";
export const LOGS = "logs";
const FAILURES = "failures";
const DIFFS = "diffs";

/** The longest part of a file name that a task gives, in bytes: file systems allow 255 for the whole name. */
const LONGEST_NAME = 200;

/** The end of a name that was cut. Its file `.name` has the whole. */
const CUT_NAME = /~[0-9a-f]{16}$/;

/**
 * A task, or one of its checks, as a part of a file name. ASCII characters that a file name may not have are encoded. Letters of
 * other scripts stay, because their code is three times as long. A longer name is cut, and a digest of the whole stands behind it.
 */
function fileNameOf(node: string): string {
  const name = Buffer.from(node.replace(/[\0-\x7f]+/g, encodeURIComponent));
  if (name.byteLength <= LONGEST_NAME) return name.toString();
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 16);
  // A cut character would be a replacement character.
  const kept = new StringDecoder("utf8").write(name.subarray(0, LONGEST_NAME - digest.length - 1));
  return `${kept.replace(/%.?$/, "")}~${digest}`;
}

/** The attempt and the node of a log file; `undefined` for another file. */
export function readLogName(
  directory: string,
  name: string,
): { readonly attempt: number; readonly node: string } | undefined {
  const [, attempt, part] = /^(\d+)\.(.+)\.log$/.exec(name) ?? [];
  if (attempt === undefined || part === undefined) return undefined;
  try {
    const node = CUT_NAME.test(part) ? readFileSync(join(directory, `${part}.name`), "utf8") : decodeURIComponent(part);
    return { attempt: Number(attempt), node };
  } catch {
    return { attempt: Number(attempt), node: part };
  }
}

/** `plan.ngraph` or `plan.yaml`: the name of the copy of the plan's file. */
function snapshotName(file: string): string {
  const extension = extname(basename(file));
  return `plan${extension === "" ? ".ngraph" : extension}`;
}

function checkRunId(runId: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/.test(runId)) return runId;
  throw new CommandError(`\`${runId}\` is not a valid run id`);
}

/** Writes a line with one system call: lines of concurrent writers do not mix. */
function append(descriptor: number, line: object): void {
  writeSync(descriptor, `${JSON.stringify(line)}\n`);
}

/**
 * Creates a file atomically.
 *
 * @throws CommandError whose cause has the code EEXIST if the file is there
 */
export function writeOnce(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: 0o600 });
    linkSync(temporary, path);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new CommandError(isThere ? `${path} already exists` : `cannot write ${path}: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The lines of a JSON lines file, without lines that a crash has left incomplete. */
export function readJsonLines(path: string): readonly Readonly<Record<string, unknown>>[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === "object" && value !== null ? [value as Readonly<Record<string, unknown>>] : [];
    } catch {
      return [];
    }
  });
}
