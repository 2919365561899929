import type { RecoverResult, ThreadListOptions, ThreadSummary } from "../runtime/interface/engine-options.ts";
import { isDamage, threadsOf } from "../runtime/thread/list-threads.ts";
import { dueFilter, ownThreads } from "../runtime/thread/recover-threads.ts";
import { orLater } from "./run-requests.ts";
import type { Served, ServiceCore } from "./service-core.ts";

const EVERY_MS = 5_000;
/** Runs of one kind that a look begins at once. */
const AT_ONCE = 4;
/** A run that lasts longer gives its place to the next one: it may take hours, and the others do not wait for it. */
const PLACE_SECONDS = 1;

/** What a look finds: threads that a dead process has left, and those that are due. */
interface Kind {
  readonly graph: string;
  readonly list: () => Promise<readonly string[]>;
  readonly resume: (thread: string) => Promise<RecoverResult>;
  /** What has failed at last, by thread; under `""` the listing. */
  readonly failures: Map<string, string>;
}

/** Looks for threads that are due or that a dead process has left, and resumes them. Several processes may look at one store. */
export class Recovery {
  readonly #core: ServiceCore;
  readonly #kinds: readonly Kind[];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The threads that are resumed. */
  readonly #resumed = new Set<string>();
  /** What was logged of threads that cannot be read. */
  readonly #damage = new Set<string>();

  constructor(core: ServiceCore) {
    this.#core = core;
    this.#kinds = [...core.served.values()].flatMap((served) => this.#kindsOf(served));
  }

  start(): void {
    if (this.#timer === undefined) this.#schedule(0);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #kindsOf({ table, engine }: Served): readonly Kind[] {
    const kind = (list: Kind["list"], resume: Kind["resume"]): Kind => ({
      graph: table.name,
      list,
      resume,
      failures: new Map(),
    });
    const { store } = this.#core;
    const list = async (filter: ThreadListOptions): Promise<readonly ThreadSummary[]> => {
      try {
        return await engine.threads(filter);
      } catch (error) {
        if (!isDamage(error)) throw error;
        // A damaged thread does not keep the others from being resumed.
        return threadsOf(store, filter, (damage) => this.#reportDamage(damage));
      }
    };
    return [
      kind(
        () => ownThreads(table, { status: "interrupted" }, list),
        (thread) => engine.recover({ threads: [thread] }),
      ),
      kind(
        () => ownThreads(table, dueFilter(store, Date.now()), list),
        (thread) => engine.due(undefined, { threads: [thread] }),
      ),
    ];
  }

  #schedule(milliseconds: number): void {
    const { closing, options } = this.#core;
    if (closing.signal.aborted) return;
    this.#timer = setTimeout(() => {
      void this.#look().then((isMore) => this.#schedule(isMore ? 0 : (options.recoverEveryMs ?? EVERY_MS)));
    }, milliseconds);
  }

  /** One look after the other: a slow store is not asked twice at a time. Returns whether a look left threads to the next one. */
  async #look(): Promise<boolean> {
    const until = performance.now() + EVERY_MS;
    const work: Promise<boolean>[] = [];
    for (const kind of this.#kinds) {
      if (this.#core.closing.signal.aborted) return false;
      try {
        const threads = await kind.list();
        const listed = new Set(threads);
        for (const known of kind.failures.keys()) if (!listed.has(known)) kind.failures.delete(known);
        work.push(this.#resumeAll(kind, threads, until));
      } catch (error) {
        for (const known of kind.failures.keys()) if (known !== "") kind.failures.delete(known);
        this.#fail(kind, "", "threads could not be resumed", error);
      }
    }
    return (await Promise.all(work)).includes(true);
  }

  async #resumeAll(kind: Kind, threads: readonly string[], until: number): Promise<boolean> {
    const { closing, options } = this.#core;
    const most = options.limits?.runs ?? 1000;
    const waiting = threads.filter((thread) => !this.#resumed.has(thread)).values();
    const work = async (): Promise<boolean> => {
      for (;;) {
        if (closing.signal.aborted || this.#resumed.size >= most) return false;
        if (performance.now() > until) return true;
        const { value: thread } = waiting.next();
        if (thread === undefined) return false;
        this.#resumed.add(thread);
        const run = this.#resume(kind, thread).finally(() => this.#resumed.delete(thread));
        await orLater(run, PLACE_SECONDS);
      }
    };
    return (await Promise.all(Array.from({ length: AT_ONCE }, work))).includes(true);
  }

  async #resume(kind: Kind, thread: string): Promise<void> {
    const { metrics, webhooks } = this.#core;
    const { graph, failures } = kind;
    const message = `thread \`${thread}\` could not be resumed`;
    try {
      const resumed = await kind.resume(thread);
      if (resumed.failures.length === 0) failures.delete(thread);
      for (const { error } of resumed.failures) this.#fail(kind, thread, message, error);
      for (const result of resumed.results) {
        metrics.add("ngraph_runs_total", { graph, status: result.status });
        await webhooks.add(graph, result);
      }
    } catch (error) {
      this.#fail(kind, thread, message, error);
    }
  }

  #reportDamage(damage: Error): void {
    if (this.#damage.has(damage.message)) return;
    this.#damage.add(damage.message);
    this.#core.fail("a thread cannot be read", damage);
  }

  /** A failure that stays, such as a missing secret, is logged once. */
  #fail({ failures }: Kind, key: string, message: string, error: unknown): void {
    const cause = String(error);
    if (failures.get(key) === cause || this.#core.closing.signal.aborted) return;
    failures.set(key, cause);
    this.#core.fail(message, error);
  }
}
