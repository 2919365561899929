import type { ServiceCore } from "./service-core.ts";

const EVERY_MS = 5_000;

/** Looks for threads that are due or that a dead process has left, and resumes them. Several processes may look at one store. */
export class Recovery {
  readonly #core: ServiceCore;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The failures of the last look, with their causes. */
  #known: ReadonlyMap<string, string> = new Map();

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
    const failed = new Map<string, string>();
    // A failure that stays, such as a missing secret, is logged once.
    const fail = (key: string, message: string, error: unknown): void => {
      const cause = String(error);
      failed.set(key, cause);
      if (this.#known.get(key) !== cause) this.#core.fail(message, error);
    };
    for (const [name, { engine }] of served) {
      for (const [what, resume] of [
        ["recover", () => engine.recover({ signal })],
        ["due", () => engine.due(undefined, { signal })],
      ] as const) {
        if (signal.aborted) return;
        try {
          const { results, failures } = await resume();
          for (const result of results) await webhooks.add(name, result);
          for (const { thread, error } of failures)
            fail(`${name}\n${what}\n${thread}`, `thread \`${thread}\` could not be resumed`, error);
        } catch (error) {
          if (!signal.aborted) fail(`${name}\n${what}`, "threads could not be resumed", error);
        }
      }
    }
    this.#known = failed;
  }
}
