import type { ServiceCore } from "./service-core.ts";

const EVERY_MS = 5_000;

/** Looks for threads that are due or that a dead process has left, and resumes them. Several processes may look at one store. */
export class Recovery {
  readonly #core: ServiceCore;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(core: ServiceCore) {
    this.#core = core;
  }

  start(): void {
    if (this.#timer === undefined) void this.#look().finally(() => this.#schedule());
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    const { closing, options } = this.#core;
    if (closing.signal.aborted) return;
    this.#timer = setTimeout(
      () => void this.#look().finally(() => this.#schedule()),
      options.recoverEveryMs ?? EVERY_MS,
    );
  }

  /** One look after the other: a slow store is not asked twice at a time. */
  async #look(): Promise<void> {
    const { served, webhooks } = this.#core;
    const { signal } = this.#core.closing;
    for (const [name, { engine }] of served) {
      for (const resume of [() => engine.recover({ signal }), () => engine.due(undefined, { signal })]) {
        if (signal.aborted) return;
        try {
          const { results, failures } = await resume();
          for (const result of results) await webhooks.add(name, result);
          for (const { thread, error } of failures) this.#core.fail(`thread \`${thread}\` could not be resumed`, error);
        } catch (error) {
          if (!signal.aborted) this.#core.fail("threads could not be resumed", error);
        }
      }
    }
  }
}
