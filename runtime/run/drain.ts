import type { ThreadId } from "../interface/checkpoint.ts";
import type { Clock } from "../interface/clock.ts";
import type { DrainOptions, DrainResult } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { Cancellation } from "./cancellation.ts";
import { checkCount } from "./check-numbers.ts";
import { checkOptions, type OptionNames } from "./option-names.ts";

const DRAIN_OPTIONS: OptionNames<DrainOptions> = { deadline: true };

/** The runs of an engine on threads, and its end: its runs stop at their next step boundary, and no run starts. */
export class Drain {
  requested = false;
  readonly #runs = new Map<Cancellation, ThreadId>();
  readonly #whenIdle: (() => void)[] = [];

  enter(run: Cancellation, thread: ThreadId): void {
    this.#runs.set(run, thread);
  }

  leave(run: Cancellation): void {
    this.#runs.delete(run);
    if (this.#runs.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Cancels the run of a thread, as if its signal were aborted. @returns whether there is one */
  cancel(thread: ThreadId): boolean {
    for (const [run, own] of this.#runs) {
      if (own !== thread || run.aborted) continue;
      run.cancel(AbortSignal.abort().reason);
      return true;
    }
    return false;
  }

  /** @throws RunError NG_DRAINED after `drain` */
  refuseNewRun(): void {
    if (!this.requested) return;
    throw new RunError("NG_DRAINED", "the engine is drained and starts no run: create another engine");
  }

  /** Ends all runs. Runs that have not ended at the deadline are cancelled. */
  async drain(clock: Clock, options: DrainOptions): Promise<DrainResult> {
    checkOptions("a drain", options, DRAIN_OPTIONS);
    const deadline = checkCount("deadline", options.deadline ?? null, 0);
    this.requested = true;
    const drained = this.#runs.size;
    if (drained === 0) return { drained, cancelled: 0 };
    const idle = new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    let cancelled = 0;
    const timer =
      deadline === null
        ? undefined
        : clock.setTimeout(() => {
            cancelled = this.#runs.size;
            for (const run of [...this.#runs.keys()]) run.stop(new RunError("NG_DRAINED", "the deadline has passed"));
          }, deadline);
    await idle;
    if (timer !== undefined) clock.clearTimeout(timer);
    return { drained, cancelled };
  }
}
