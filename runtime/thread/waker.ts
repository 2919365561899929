import type { ThreadId } from "../interface/checkpoint.ts";
import type { RunResult } from "../interface/engine-options.ts";
import { NgraphError } from "../interface/errors.ts";
import { notify } from "../event/run-events.ts";
import type { EngineCore } from "../run/run-settings.ts";
import { firstDue } from "../checkpoint/waits.ts";
import type { NotResumed } from "./resume-thread.ts";

/** Resumes the threads that an engine has paused, when they are due. Its timers do not keep the process alive. */
export class Waker {
  readonly #core: EngineCore;
  readonly #resumeDue: (thread: ThreadId, now: number) => Promise<RunResult | NotResumed>;
  readonly #timers = new Map<ThreadId, unknown>();
  #isStopped = false;

  /** @param resumeDue resumes a thread, if it is due */
  constructor(core: EngineCore, resumeDue: (thread: ThreadId, now: number) => Promise<RunResult | NotResumed>) {
    this.#core = core;
    this.#resumeDue = resumeDue;
  }

  /** Sets the timer of a thread whose run has ended, if the run is paused with a due time. */
  watch({ thread, status, pauses }: RunResult): void {
    if (thread === null) return;
    this.#clear(thread);
    const due = status === "paused" ? firstDue(pauses) : undefined;
    if (due !== undefined) this.#wait(thread, due);
    // A signal may have come since the run has read its inbox.
    if (status === "paused" && pauses.some(({ kind }) => kind === "signal")) this.#check(thread);
  }

  /** Resumes no more threads: the engine is drained. */
  stop(): void {
    this.#isStopped = true;
    for (const thread of [...this.#timers.keys()]) this.#clear(thread);
  }

  /** Resumes a thread in the background. */
  wake(thread: ThreadId): void {
    this.#clear(thread);
    this.#check(thread);
  }

  #check(thread: ThreadId): void {
    if (this.#core.options.wake !== false && !this.#isStopped) void this.#resume(thread);
  }

  #wait(thread: ThreadId, due: number): void {
    const { clock, options } = this.#core;
    if (options.wake === false || this.#isStopped) return;
    const timer = clock.setTimeout(
      () => {
        // A clock may fire early: timers of a host hold 31 bits.
        if (clock.now() < due) this.#wait(thread, due);
        else this.wake(thread);
      },
      Math.max(0, due - clock.now()),
    );
    (timer as { unref?: () => void } | undefined)?.unref?.();
    this.#timers.set(thread, timer);
  }

  async #resume(thread: ThreadId): Promise<void> {
    const { onWake } = this.#core.options;
    try {
      const result = await this.#resumeDue(thread, this.#core.clock.now());
      if (typeof result === "string") return;
      this.watch(result);
      if (onWake !== undefined) notify(onWake, { thread, result, error: null });
    } catch (error) {
      // Another process, or another call of this one, runs the thread.
      if (!(error instanceof NgraphError) || error.code === "NG_THREAD_CONFLICT" || onWake === undefined) return;
      notify(onWake, { thread, result: null, error });
    }
  }

  #clear(thread: ThreadId): void {
    const timer = this.#timers.get(thread);
    if (timer === undefined) return;
    this.#core.clock.clearTimeout(timer);
    this.#timers.delete(thread);
  }
}
