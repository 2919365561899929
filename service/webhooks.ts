import type { PauseItem } from "../runtime/interface/checkpoint.ts";
import type { Engine, RunResult } from "../runtime/interface/engine-options.ts";
import { ThreadError } from "../runtime/interface/thread-error.ts";
import type { StoredItem } from "../runtime/interface/memory.ts";
import type { Claim, Store } from "../runtime/interface/store.ts";
import { RESERVED_THREADS } from "../runtime/run/check-thread-id.ts";
import { threadsOf } from "../runtime/thread/list-threads.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { resultDocument } from "../runtime/run/result-document.ts";
import { digestOf } from "./access.ts";
import { pauseDocument } from "./documents.ts";
import { checkWebhook, sendWebhook, type CheckedWebhook, type Webhook } from "./webhook-request.ts";

/** The wait before each repetition of a request, in milliseconds; after the last one the event is given up. About three days. */
const DELAYS_MS = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 57_600, 57_600, 57_600].map((s) => s * 1000);
const SENT_AT_ONCE = 8;
/** How long an event is known, so that it is not added twice, and the age of the oldest pause or end that is looked for. */
const KNOWN_MS = 7 * 86_400_000;
const RECENT_MS = 3 * 86_400_000;
/** The process that has run a thread adds its event. A later look finds what a dead process has left. */
const SETTLED_MS = 10_000;
const LEASE_MS = 30_000;
/** Events that have expired are looked for at this interval, and those above the limit of waiting ones. */
const TIDY_EVERY_MS = 600_000;
/** Events that wait for one receiver. */
const MOST_PENDING = 10_000;
const TIDY_PAGE = 100;
/** Larger documents omit the payloads of their pauses. */
const MOST_CHARACTERS = 64 * 1024;

/** An end of a run, or a pause. */
interface Notice {
  readonly graph: string;
  readonly thread: string;
  readonly checkpoint: string;
  readonly status: string;
  readonly pauses: readonly PauseItem[];
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly time: number;
}

export interface WebhookOptions {
  readonly hooks: readonly Webhook[];
  readonly store: Store;
  readonly engines: () => ReadonlyMap<string, Pick<Engine, "state">>;
  readonly onFailure: (message: string, error: unknown) => void;
  readonly onSent: (result: "delivered" | "failed" | "abandoned") => void;
  /** Default: from five seconds to 16 hours. */
  readonly delaysMs?: readonly number[];
  readonly lookEveryMs?: number;
  readonly scanEveryMs?: number;
  readonly settledMs?: number;
  readonly tidyEveryMs?: number;
  readonly mostPending?: number;
}

/**
 * Sends the pauses and the ends of runs at least once. They wait in the store: the process that runs a thread adds them, and one of
 * the processes on the store, which holds the claim of the webhook, sends them. This process also looks for threads whose own
 * process has died before it has added its event.
 *
 * @throws RangeError for a webhook that cannot be used, or a store without memory
 */
export class Webhooks {
  readonly #queues: readonly Queue[];

  constructor(options: WebhookOptions) {
    const { store } = options;
    if (options.hooks.length > 0 && (store.putItem === undefined || store.threads === undefined)) {
      throw new RangeError("webhooks need a store that lists its threads and has a long-term memory");
    }
    this.#queues = options.hooks.map((hook) => new Queue(checkWebhook(hook), options));
  }

  /** Stores the event of a run that has ended or paused. It does not reject: a later look finds what could not be stored. */
  async add(graph: string, result: RunResult): Promise<void> {
    const { thread, checkpointId: checkpoint, status, pauses, error } = result;
    // A drained run continues in another process.
    if (thread === null || checkpoint === null || error?.code === "NG_DRAINED") return;
    const notice = { graph, thread, checkpoint, status, pauses, time: Date.now() };
    const { error: failure } = resultDocument(result) as Pick<Notice, "error">;
    await Promise.all(this.#queues.map((queue) => queue.add({ ...notice, error: failure })));
  }

  start(): void {
    for (const queue of this.#queues) queue.start();
  }

  /** Ends the requests under way: what was not delivered is sent by another process, or after the next start. */
  async stop(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.stop()));
  }
}

class Queue {
  readonly #hook: CheckedWebhook;
  readonly #options: WebhookOptions;
  readonly #owner = crypto.randomUUID();
  readonly #stopping = new AbortController();
  readonly #place: Promise<readonly string[]>;
  #running: Promise<void> | undefined;
  #isWoken = false;
  #endWait = (): void => undefined;
  #claim: Claim | undefined;
  #renewed = 0;
  #scanned = 0;
  #tidied = 0;

  constructor(hook: CheckedWebhook, options: WebhookOptions) {
    this.#hook = hook;
    this.#options = options;
    // An address may hold a secret.
    this.#place = digestOf(hook.url.href).then((digest) => ["ngraph", "webhooks", digest.slice(0, 16)]);
  }

  async add(notice: Notice): Promise<void> {
    if (this.#hook.statuses?.has(notice.status) === false) return;
    try {
      await this.#store(notice);
      this.#wake();
    } catch (error) {
      this.#fail(`the end of a run of \`${notice.thread}\` could not be stored`, error);
    }
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#running;
    try {
      if (this.#claim !== undefined) await this.#options.store.release(this.#claim);
    } catch {
      // The claim ends with its lease.
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      let isMore = false;
      try {
        if (await this.#lead()) {
          await this.#scan();
          await this.#tidy();
          isMore = await this.#deliver();
        }
      } catch (error) {
        if (!signal.aborted) this.#fail("it cannot be served", error);
      }
      if (!isMore) await this.#wait(this.#options.lookEveryMs ?? 1_000);
    }
  }

  #wake(): void {
    this.#isWoken = true;
    this.#endWait();
  }

  async #wait(milliseconds: number): Promise<void> {
    if (!this.#isWoken && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#endWait = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#isWoken = false;
  }

  /** Whether this process sends the events: it holds the claim of the webhook. */
  async #lead(): Promise<boolean> {
    const { store } = this.#options;
    const now = Date.now();
    try {
      if (this.#claim === undefined) {
        const name = `${RESERVED_THREADS}webhook.${(await this.#place)[2]}`;
        this.#claim = await store.claim(name, { owner: this.#owner, leaseMs: LEASE_MS });
      } else if (now - this.#renewed > LEASE_MS / 3) await store.renew(this.#claim, LEASE_MS);
      else return true;
      this.#renewed = now;
      return true;
    } catch (error) {
      this.#claim = undefined;
      if (error instanceof ThreadError && error.code === "NG_THREAD_CONFLICT") return false;
      throw error;
    }
  }

  /** Sends the events that are due. Returns whether there are more. */
  async #deliver(): Promise<boolean> {
    const now = Date.now();
    const namespace = [...(await this.#place), "pending"];
    const page = await this.#options.store.listItems!(namespace, { limit: SENT_AT_ONCE, now });
    // The keys begin with the time of the next attempt.
    const due = page.filter(({ key }) => Number(key.slice(0, 15)) <= now);
    await Promise.all(due.map((item) => this.#attempt(item)));
    return due.length === SENT_AT_ONCE;
  }

  async #attempt(item: StoredItem): Promise<void> {
    const { store, delaysMs = DELAYS_MS, onSent } = this.#options;
    const { signal } = this.#stopping;
    const { id, body, attempts } = item.value as unknown as Pending;
    let reason: unknown;
    let status: number | undefined;
    let wait = delaysMs[attempts];
    try {
      const answer = await sendWebhook(this.#hook, id, body, signal);
      status = answer.status;
      if (status >= 200 && status < 300) {
        await store.deleteItem!(item.namespace, item.key);
        onSent("delivered");
        return;
      }
      reason = new Error(`the receiver has answered with the status ${status}`);
      if (wait !== undefined && answer.retryAfterMs !== undefined) {
        wait = Math.min(Math.max(wait, answer.retryAfterMs), 86_400_000);
      }
    } catch (error) {
      if (signal.aborted) return;
      reason = error;
    }
    // The receiver says that it wants no more of them.
    if (wait === undefined || status === 410) {
      await store.deleteItem!(item.namespace, item.key);
      onSent("abandoned");
      this.#fail(`event ${id} is abandoned after ${attempts + 1} attempts`, reason);
      return;
    }
    // Receivers that were down together are not asked together.
    const next = Date.now() + Math.round(wait * (1 + Math.random() / 5));
    await this.#put(next, { id, body, attempts: attempts + 1 });
    await store.deleteItem!(item.namespace, item.key);
    onSent("failed");
    this.#fail(`attempt ${attempts + 1} of event ${id} has failed`, reason);
  }

  async #store(notice: Notice): Promise<void> {
    const { store } = this.#options;
    const id = `msg_${(await digestOf(`${notice.thread}\n${notice.checkpoint}`)).slice(0, 32)}`;
    const namespace = [...(await this.#place), "known"];
    const now = Date.now();
    const known = await store.getItem!(namespace, id);
    if (known !== undefined && (known.expires ?? Number.POSITIVE_INFINITY) > now) return;
    // A crash between the two writes sends the event twice, with one id.
    await this.#put(now, { id, body: bodyOf(notice), attempts: 0 });
    await this.#putItem(namespace, id, null, KNOWN_MS);
  }

  async #put(next: number, value: Pending): Promise<void> {
    const key = `${String(next).padStart(15, "0")}-${value.id}`;
    await this.#putItem([...(await this.#place), "pending"], key, value as unknown as JsonObject, null);
  }

  async #putItem(namespace: readonly string[], key: string, value: Json, ttl: number | null): Promise<void> {
    const now = Date.now();
    const expires = ttl === null ? null : now + ttl;
    await this.#options.store.putItem!({ namespace, key, value, created: now, updated: now, expires, vector: null });
  }

  /** Adds the events of threads that were written since the last look, and whose process has not added them. */
  async #scan(): Promise<void> {
    const { engines, scanEveryMs = 5_000 } = this.#options;
    const now = Date.now();
    if (now - this.#scanned < scanEveryMs) return;
    this.#scanned = now;
    for (const [graph, engine] of engines()) {
      if (this.#stopping.signal.aborted) return;
      await this.#scanGraph(graph, engine, now);
    }
  }

  /**
   * Removes events that were known for long enough, and the pending ones above the limit. Their keys begin with the time of the next
   * attempt, so the ones behind the limit are those that have failed most often.
   */
  async #tidy(): Promise<void> {
    const { store, onSent, tidyEveryMs = TIDY_EVERY_MS, mostPending = MOST_PENDING } = this.#options;
    const now = Date.now();
    if (now - this.#tidied < tidyEveryMs) return;
    this.#tidied = now;
    await store.pruneItems!(now);
    const namespace = [...(await this.#place), "pending"];
    let [kept, abandoned] = [0, 0];
    let after: Pick<StoredItem, "namespace" | "key"> | undefined;
    while (!this.#stopping.signal.aborted) {
      const place = after === undefined ? {} : { after };
      const page = await store.listItems!(namespace, { limit: TIDY_PAGE, now, ...place });
      for (const { key } of page) {
        if (kept < mostPending) kept++;
        else if (await store.deleteItem!(namespace, key)) {
          onSent("abandoned");
          abandoned++;
        }
      }
      after = page.at(-1);
      if (page.length < TIDY_PAGE) break;
    }
    if (abandoned === 0) return;
    this.#fail(`${abandoned} events are abandoned`, new Error(`more than ${mostPending} wait for the receiver`));
  }

  async #scanGraph(graph: string, engine: Pick<Engine, "state">, now: number): Promise<void> {
    const { store, settledMs = SETTLED_MS } = this.#options;
    const namespace = [...(await this.#place), "cursor"];
    const cursor = await store.getItem!(namespace, graph);
    const newest = await threadsOf(store, { graph, limit: 1 }, () => undefined);
    const top = newest[0]?.position ?? 0;
    // The threads before the first start of the webhook are not reported.
    if (cursor === undefined) return this.#putItem(namespace, graph, { done: top }, null);
    const { done } = cursor.value as { readonly done: number };
    if (top <= done) return;
    let settled = top;
    let after: number | undefined;
    for (;;) {
      const page = await threadsOf(
        store,
        { graph, limit: 100, ...(after === undefined ? {} : { after }) },
        () => undefined,
      );
      for (const { thread, position, status, timestamp, checkpointId } of page) {
        if (position <= done) break;
        if (status === "running" || status === "interrupted" || now - timestamp > RECENT_MS) continue;
        if (now - timestamp < settledMs) {
          settled = Math.min(settled, position - 1);
          continue;
        }
        const [state, head] = [await engine.state(thread), await store.loadLatest(thread)];
        // What has changed since has a new position.
        if (state === undefined || state.checkpointId !== checkpointId || head?.id !== checkpointId) continue;
        const { pauses } = state;
        await this.add({
          graph,
          thread,
          checkpoint: checkpointId,
          status,
          pauses,
          error: head.failure ?? null,
          time: timestamp,
        });
      }
      after = page.at(-1)?.position;
      if (page.length < 100 || after === undefined || after <= done || this.#stopping.signal.aborted) break;
    }
    if (settled > done && !this.#stopping.signal.aborted)
      await this.#putItem(namespace, graph, { done: settled }, null);
  }

  #fail(message: string, error: unknown): void {
    this.#options.onFailure(`webhook ${this.#hook.url.origin}: ${message}`, error);
  }
}

/** An event that waits for its next attempt. */
interface Pending {
  readonly id: string;
  readonly body: string;
  readonly attempts: number;
}

function bodyOf({ graph, thread, checkpoint, status, pauses, error, time }: Notice): string {
  const data = { thread, graph, status, checkpoint, error };
  const document = (shown: readonly object[]): string =>
    JSON.stringify({
      type: `thread.${status}`,
      timestamp: new Date(time).toISOString(),
      data: { ...data, pauses: shown },
    });
  const body = document(pauses.map(pauseDocument));
  if (body.length <= MOST_CHARACTERS) return body;
  return document(pauses.slice(0, 100).map(({ id, node, kind, namespace }) => ({ id, node, kind, namespace })));
}
