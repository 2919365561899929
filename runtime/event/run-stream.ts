import type { RunResult, RunStream } from "../interface/engine-options.ts";
import type { RunEvent, StreamViews } from "../interface/events.ts";
import { setField } from "../expression/operations.ts";
import type { Json, JsonObject } from "../value/json.ts";

export const DEFAULT_BUFFER = 1024;

/** The callbacks of a stream, for its run. */
export interface Watch {
  readonly onEvent: (event: RunEvent) => void;
  /**
   * Called with the state of the outermost graph, after the input (-1) and after each step. Set for the view `values`.
   */
  readonly onState: ((step: number, state: () => JsonObject) => void) | undefined;
  /** Called when a node ends. Set for the view `results`. */
  readonly onResult: ((item: StreamViews<JsonObject>["results"]) => void) | undefined;
  /** Aborts when the consumer leaves. */
  readonly signal: AbortSignal;
}

type Item<View extends keyof StreamViews<JsonObject>> = StreamViews<JsonObject>[View];

/**
 * The items of a run as they happen. A slow consumer fills only its own buffer: when it is full, the oldest items are
 * dropped, and in the view `events` a `dropped` event reports how many (8.2).
 */
export function createRunStream<View extends keyof StreamViews<JsonObject>>(
  settings: { readonly view?: View; readonly views?: readonly View[]; readonly buffer?: number },
  start: (watch: Watch) => Promise<RunResult>,
): RunStream<Item<View>> {
  const views = new Set<keyof StreamViews<JsonObject>>(settings.views ?? [settings.view ?? "events"]);
  const buffer = new StreamBuffer(bufferSize(settings.buffer));
  const controller = new AbortController();
  const tagged = (view: keyof StreamViews<JsonObject>, item: unknown): unknown =>
    settings.views === undefined ? item : { view, item };
  const push = (view: keyof StreamViews<JsonObject>, item: unknown): void => buffer.push(tagged(view, item));
  const updates = views.has("updates") ? new UpdatesByNode((item) => push("updates", item)) : undefined;
  let last: RunEvent | undefined;
  const result = start({
    signal: controller.signal,
    onState: views.has("values") ? (step, state) => push("values", { step, state: state() }) : undefined,
    onResult: views.has("results") ? (item) => push("results", item) : undefined,
    onEvent: (event) => {
      last = event;
      if (views.has("events")) push("events", event);
      if (event.type === "custom") {
        const view = event.kind === "token" ? "tokens" : "custom";
        if (views.has(view)) push(view, customItem(event));
      }
      updates?.take(event);
    },
  }).finally(() => buffer.end());
  // A consumer that reads only the items still receives the error: the iterator rejects with it.
  result.catch(() => undefined);

  async function* items(): AsyncGenerator<Item<View>> {
    try {
      for (;;) {
        await buffer.filled();
        const count = buffer.takeDropped();
        if (count > 0 && views.has("events") && last !== undefined) {
          const { seq, namespace, runId, step } = last;
          yield tagged("events", { type: "dropped", count, seq, namespace, runId, step }) as Item<View>;
        }
        const next = buffer.take();
        if (next !== undefined) yield next as Item<View>;
        else if (buffer.isOver) {
          await result;
          return;
        }
      }
    } finally {
      if (!buffer.isOver) controller.abort(new Error("the stream was left"));
    }
  }
  return { result, [Symbol.asyncIterator]: () => items() };
}

function customItem({
  step,
  namespace,
  node,
  item,
  kind,
  data,
}: Extract<RunEvent, { type: "custom" }>): Item<"custom"> {
  const of = item === undefined ? {} : { item };
  return { step, namespace, node, ...of, ...(kind === undefined || kind === "token" ? {} : { kind }), data };
}

/** The buffer is bounded for any given value. */
function bufferSize(given: number | undefined): number {
  return given === undefined || !Number.isFinite(given) ? DEFAULT_BUFFER : Math.max(1, Math.trunc(given));
}

/** A ring buffer: a new item replaces the oldest one when the buffer is full. */
export class StreamBuffer {
  readonly #limit: number;
  readonly #items: unknown[] = [];
  #first = 0;
  #dropped = 0;
  /**
   * Resolved for consumers that wait for an item. Several consumers may read one stream; each item is delivered once.
   */
  #filled: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  isOver = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(item: unknown): void {
    this.#items.push(item);
    if (this.#items.length - this.#first > this.#limit) {
      this.take();
      this.#dropped++;
    }
    this.#wake();
  }

  take(): unknown {
    const item = this.#items[this.#first];
    if (item === undefined) return undefined;
    this.#items[this.#first++] = undefined;
    if (this.#first > this.#limit) {
      this.#items.splice(0, this.#first);
      this.#first = 0;
    }
    return item;
  }

  takeDropped(): number {
    const count = this.#dropped;
    this.#dropped = 0;
    return count;
  }

  end(): void {
    this.isOver = true;
    this.#wake();
  }

  /** Resolves when an item is available, or the stream has ended. */
  async filled(): Promise<void> {
    while (!this.isOver && this.#items.length <= this.#first) {
      this.#filled ??= deferred();
      await this.#filled.promise;
    }
  }

  #wake(): void {
    this.#filled?.resolve();
    this.#filled = undefined;
  }
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

interface NodeUpdates {
  readonly node: string;
  readonly updates: Record<string, Json>;
}
interface StepUpdates {
  readonly all: NodeUpdates[];
  /** By node. */
  readonly latest: Map<string, NodeUpdates>;
}

/** Collects the writes of a step by node, and pushes them at the end of the step. */
class UpdatesByNode {
  readonly #push: (item: StreamViews<JsonObject>["updates"]) => void;
  /** By namespace: steps of called graphs end inside steps of their callers. */
  readonly #open = new Map<string, StepUpdates>();

  constructor(push: (item: StreamViews<JsonObject>["updates"]) => void) {
    this.#push = push;
  }

  take(event: RunEvent): void {
    const place = event.namespace.join("/");
    if (event.type === "write") {
      const step = this.#open.get(place) ?? { all: [], latest: new Map<string, NodeUpdates>() };
      this.#open.set(place, step);
      let known = step.latest.get(event.node);
      // A second write of the same channel comes from another task: several items may have been sent to the node.
      if (known === undefined || Object.hasOwn(known.updates, event.channel)) {
        known = { node: event.node, updates: {} };
        step.latest.set(event.node, known);
        step.all.push(known);
      }
      setField(known.updates, event.channel, event.update);
    } else if (event.type === "step" && event.phase === "end") {
      for (const { node, updates } of this.#open.get(place)?.all ?? []) {
        this.#push({ step: event.step, namespace: event.namespace, node, updates });
      }
      this.#open.delete(place);
    }
  }
}
