import { resolve } from "node:path";
import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import type { RunningCommand } from "../../stdlib/shell/shell-options.ts";
import { processRecorder } from "./process-groups.ts";
import { createOutputLogs, type OutputLogs } from "./output-logs.ts";
import { createRunDirectory, type PlannedRun, type RunDirectory } from "./run-directory.ts";
import { writeRunIndex } from "./run-index.ts";

/**
 * The log of a plan's run in its own directory below `runs`. The directory is created when the run starts; a later failure to
 * write it does not end the run and is reported with the result.
 */
export class PlanLog {
  readonly runs: string;
  readonly #onText: ((node: string, text: string) => void) | undefined;
  #directory: RunDirectory | undefined;
  #recorder: ReturnType<typeof processRecorder> | undefined;
  #outputs: OutputLogs | undefined;
  #failure: unknown;

  /** @param onText called with what the commands of a node print, without secrets, by whole lines */
  constructor(runs: string, onText?: (node: string, text: string) => void) {
    this.runs = resolve(runs);
    this.#onText = onText;
  }

  /** @throws CommandError when the directory cannot be created */
  open(
    { runId, thread }: { readonly runId: string; readonly thread: string | null },
    planFile: string,
    redact: (text: string) => string,
    hasSecrets: boolean,
  ): void {
    const directory = createRunDirectory(this.runs, runId, planFile, thread);
    this.#directory = directory;
    this.#outputs = createOutputLogs(directory, redact, hasSecrets, this.#onText);
    this.#recorder = processRecorder(directory, redact);
  }

  /** The first error of a write; `undefined` while the log is complete. */
  get failure(): unknown {
    return this.#failure;
  }

  onEvent(event: PlanEvent): void {
    this.#attempt(() => this.#directory?.appendEvent(event));
  }

  /** Must succeed: a command runs only after it is recorded. */
  onCommandStart(command: RunningCommand, started: string | undefined): void {
    this.#recorder?.onStart(command, started);
  }

  onCommandEnd(command: RunningCommand): void {
    this.#recorder?.onEnd(command);
    this.#attempt(() => this.#outputs?.end(command));
  }

  onOutput(command: RunningCommand, stream: "stdout" | "stderr", chunk: Uint8Array): void {
    this.#attempt(() => this.#outputs?.write(command, stream, chunk));
  }

  /** Stores why the previous attempt of a task has failed. Returns the path of the file; `undefined` if it cannot be written. */
  storeFailure(
    { node, attempt }: { readonly node: string; readonly attempt: number },
    text: string,
  ): string | undefined {
    let path: string | undefined;
    this.#attempt(() => (path = this.#directory?.storeFailure(node, attempt, text)));
    return path;
  }

  /** Writes what a task printed when its stored result was made. */
  replay(node: string, output: string): void {
    this.#attempt(() => {
      const log = this.#directory?.openLog(node, 1);
      log?.write(`(from the cache)\n${output}`);
      log?.close();
    });
  }

  /** The file for the changes of a task that are not merged. */
  diffPath(task: string): string {
    return this.#directory?.diffPath(task) ?? resolve(this.runs, "unmerged.patch");
  }

  /** Stores the schedule that the run begins with. */
  writePlanned(planned: () => PlannedRun): void {
    this.#attempt(() => this.#directory?.writePlanned(planned()));
  }

  /** Writes the summary and the index of all runs. */
  finish(summary: object): void {
    this.#attempt(() => this.#directory?.writeSummary(summary));
    writeRunIndex(this.runs);
  }

  close(): void {
    this.#directory?.close();
  }

  #attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#failure ??= error;
    }
  }
}
