/** Runs with a signal of the caller, of graphs without `for`. An aborted run ends in the engine, and does not wait for its bodies. Imports only types from the start. */
import type { RunResult } from "../interface/engine-options.ts";
import { watchSignal, type SignalWatch, type Watcher } from "../run/signal-watch.ts";
import { dropPromise } from "../value/promise.ts";
import type { DirectContext } from "./direct-context.ts";
import type { DirectStep } from "./direct-items.ts";
import type { DirectGuard, DirectRun, DirectTask, RunGuarded, TakeOver } from "./direct-run.ts";

class SignalGuard implements DirectGuard, Watcher {
  position = -1;
  readonly #run: DirectRun;
  readonly #signal: AbortSignal;
  readonly #takeOver: TakeOver;
  readonly #resolve: (result: RunResult | Promise<RunResult>) => void;
  readonly #reject: (error: unknown) => void;
  #watch: SignalWatch | undefined;
  #isAborted = false;
  /** The signal has aborted while the run awaited bodies. */
  #hasEnded = false;
  /** The body that the run awaits, if it is the only one of its step. */
  #context: DirectContext | undefined;
  #value: unknown;
  /** The tasks that it awaits otherwise, and their step. */
  #tasks: readonly DirectTask[] | undefined;
  #step: DirectStep | undefined;

  constructor(
    run: DirectRun,
    signal: AbortSignal,
    takeOver: TakeOver,
    resolve: (result: RunResult | Promise<RunResult>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#run = run;
    this.#signal = signal;
    this.#takeOver = takeOver;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** The watch sets `#isAborted`, which costs less to read than the signal. */
  get aborted(): boolean {
    return this.#isAborted || (this.#watch === undefined && this.#signal.aborted);
  }

  alone(context: DirectContext, value: unknown): void {
    this.#context = context;
    this.#value = value;
    this.#step = undefined;
    this.#listen();
  }

  begin(tasks: readonly DirectTask[], step: DirectStep): void {
    this.#tasks = tasks;
    this.#step = step;
    this.#listen();
  }

  #listen(): void {
    // A body may have aborted it before it returned.
    if (this.aborted) this.abort(this.#signal.reason);
    else if (this.#watch === undefined) {
      this.#watch = watchSignal(this.#signal, this.#run.clock);
      this.#watch.add(this);
    }
  }

  end(): boolean {
    this.#context = undefined;
    this.#tasks = undefined;
    return this.#hasEnded;
  }

  abort(reason: unknown): void {
    this.#isAborted = true;
    const context = this.#context;
    const alone: DirectTask | undefined = context && { context, state: "pending", value: this.#value };
    const tasks = alone === undefined ? this.#tasks : [alone];
    if (tasks === undefined || this.#step?.isOver === true) return;
    this.end();
    this.#hasEnded = true;
    if (this.#step !== undefined) this.#step.isOver = true;
    for (const task of tasks) {
      if (task.state !== "pending") continue;
      task.timer?.stop();
      dropPromise(task.value);
      this.#run.abort(task.context, reason);
    }
    this.#close();
    this.#resolve(this.#takeOver(this.#run, tasks));
  }

  resolve(result: RunResult): void {
    this.#close();
    this.#resolve(result);
  }

  reject(error: unknown): void {
    this.#close();
    this.#reject(error);
  }

  #close(): void {
    this.#watch?.remove(this);
    this.#watch = undefined;
  }
}

export const runGuarded: RunGuarded = (run, loop, takeOver) =>
  new Promise((resolve, reject) => {
    run.guard = new SignalGuard(run, run.options.signal!, takeOver, resolve, reject);
    void loop(run, takeOver);
  });
