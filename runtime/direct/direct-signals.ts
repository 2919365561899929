/** Runs with a signal of the caller, of graphs without `for`. An aborted run ends in the engine, and does not wait for its bodies. Imports only types from the start. */
import type { RunResult } from "../interface/engine-options.ts";
import { watchSignal, type SignalWatch, type Watcher } from "../run/signal-watch.ts";
import { dropPromise } from "../value/promise.ts";
import type { DirectStep } from "./direct-items.ts";
import type { DirectGuard, DirectRun, DirectTask, RunGuarded, TakeOver } from "./direct-run.ts";

class SignalGuard implements DirectGuard, Watcher {
  position = -1;
  readonly #run: DirectRun;
  readonly #signal: AbortSignal;
  readonly #resolve: (result: Promise<RunResult>) => void;
  readonly #takeOver: TakeOver;
  #watch: SignalWatch | undefined;
  #isAborted = false;
  /** The tasks that the run awaits, and their step. */
  #tasks: readonly DirectTask[] | undefined;
  #step: DirectStep | undefined;
  #ended: Promise<RunResult> | undefined;

  constructor(run: DirectRun, signal: AbortSignal, takeOver: TakeOver, resolve: (result: Promise<RunResult>) => void) {
    this.#run = run;
    this.#signal = signal;
    this.#takeOver = takeOver;
    this.#resolve = resolve;
  }

  /** The watch sets `#isAborted`, which costs less to read than the signal. */
  get aborted(): boolean {
    return this.#isAborted || (this.#watch === undefined && this.#signal.aborted);
  }

  begin(tasks: readonly DirectTask[], step?: DirectStep): void {
    this.#tasks = tasks;
    this.#step = step;
    if (this.aborted) this.abort(this.#signal.reason);
    else if (this.#watch === undefined) {
      this.#watch = watchSignal(this.#signal, this.#run.clock);
      this.#watch.add(this);
    }
  }

  end(): Promise<RunResult> | undefined {
    this.#tasks = undefined;
    return this.#ended;
  }

  abort(reason: unknown): void {
    this.#isAborted = true;
    const tasks = this.#tasks;
    if (tasks === undefined) return;
    this.#tasks = undefined;
    if (this.#step !== undefined) this.#step.isOver = true;
    for (const task of tasks) {
      if (task.state !== "pending") continue;
      task.timer?.stop();
      dropPromise(task.value);
      this.#run.abort(task.context, reason);
    }
    this.#ended = this.takeOver(this.#run, tasks);
    this.#resolve(this.#ended);
  }

  /** The engine listens to the signal itself. */
  readonly takeOver: TakeOver = (run, tasks) => {
    this.close();
    return this.#takeOver(run, tasks);
  };

  close(): void {
    this.#watch?.remove(this);
    this.#watch = undefined;
  }
}

export const runGuarded: RunGuarded = (run, loop, takeOver) =>
  new Promise((resolve, reject) => {
    const guard = (run.guard = new SignalGuard(run, run.options.signal!, takeOver, resolve));
    loop(run, guard.takeOver).then(
      (result) => {
        guard.close();
        resolve(result);
      },
      (error: Error) => {
        guard.close();
        reject(error);
      },
    );
  });
