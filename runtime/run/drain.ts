import type { ThreadId } from "../interface/checkpoint.ts";
import type { Clock } from "../interface/clock.ts";
import type { DrainOptions, DrainResult } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { Cancellation } from "./cancellation.ts";
import { checkCount } from "./check-numbers.ts";
import { checkOptions, type OptionNames } from "./option-names.ts";

const DRAIN_OPTIONS: OptionNames<DrainOptions> = { deadline: true };

/** A run in progress. */
interface Entry {
  readonly run: Cancellation;
  readonly thread: ThreadId;
  before: Entry | undefined;
  after: Entry | undefined;
}

/** The runs of an engine on threads, and its end: its runs stop at their next step boundary, and no run starts. */
export class Drain {
  requested = false;
  /** The runs in progress, oldest first, as a list: a map that each run enters and leaves costs a part of a short run. */
  #first: Entry | undefined;
  #last: Entry | undefined;
  readonly #whenIdle: (() => void)[] = [];

  enter(run: Cancellation, thread: ThreadId): Entry {
    const entry: Entry = { run, thread, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = entry;
    else this.#last.after = entry;
    this.#last = entry;
    return entry;
  }

  leave({ before, after }: Entry): void {
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    if (this.#first !== undefined || this.#whenIdle.length === 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #runs(): Entry[] {
    const runs: Entry[] = [];
    for (let next = this.#first; next !== undefined; next = next.after) runs.push(next);
    return runs;
  }

  /** Cancels the run of a thread, as if its signal were aborted. @returns whether there is one */
  cancel(thread: ThreadId): boolean {
    for (const { run, thread: own } of this.#runs()) {
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
    const drained = this.#runs().length;
    if (drained === 0) return { drained, cancelled: 0 };
    const idle = new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    let cancelled = 0;
    const timer =
      deadline === null
        ? undefined
        : clock.setTimeout(() => {
            const runs = this.#runs();
            cancelled = runs.length;
            for (const { run } of runs) run.stop(new RunError("NG_DRAINED", "the deadline has passed"));
          }, deadline);
    await idle;
    if (timer !== undefined) clock.clearTimeout(timer);
    return { drained, cancelled };
  }
}
