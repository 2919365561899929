import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { CommandError } from "../process/command-error.ts";
import { makeStoreDirectory, PRIVATE } from "../threads/open-store.ts";
import { reasonOf } from "../sources/source-files.ts";

/** The directory for the logs of plan runs, relative to the working directory. */
export const RUNS_DIRECTORY = ".ngraph/runs";

/**
 * The directory of one run. It contains `transitions.jsonl`, which is append-only; a copy of the plan's file from the start of the run;
 * `processes.jsonl`; and `summary.json`, written once at the end.
 */
export interface RunDirectory {
  readonly path: string;
  appendEvent(line: object): void;
  appendProcess(line: object): void;
  /** @throws CommandError when there is one already */
  writeSummary(summary: object): void;
  close(): void;
}

/** @throws CommandError when the directory cannot be created, or another run has created it */
export function createRunDirectory(runs: string, runId: string, file: string): RunDirectory {
  const path = join(runs, checkRunId(runId));
  try {
    makeStoreDirectory(resolve(runs, ".."));
    mkdirSync(runs, { recursive: true, mode: PRIVATE });
    mkdirSync(path, { mode: PRIVATE });
    writeFileSync(join(path, snapshotName(file)), readFileSync(file), { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw new CommandError(`cannot write the run's log in ${path}: ${reasonOf(error)}`, { cause: error });
  }
  const events = openSync(join(path, "transitions.jsonl"), "a", 0o600);
  let processes: number | undefined;
  return {
    path,
    appendEvent: (line) => append(events, line),
    appendProcess: (line) => append((processes ??= openSync(join(path, PROCESSES), "a", 0o600)), line),
    writeSummary: (summary) => writeOnce(join(path, "summary.json"), `${JSON.stringify(summary, null, 2)}\n`),
    close() {
      closeSync(events);
      if (processes !== undefined) closeSync(processes);
    },
  };
}

export const PROCESSES = "processes.jsonl";

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

/** Creates a file atomically; fails if it exists. */
export function writeOnce(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: 0o600 });
    linkSync(temporary, path);
  } catch (error) {
    const isThere = existsSync(path);
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
