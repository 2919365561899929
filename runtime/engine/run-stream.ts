import type { RunResult, RunStream } from "../engine-options.ts";
import type { EventListener, RunEvent, StreamViews } from "../events.ts";
import type { Json, JsonObject } from "../json.ts";

const DEFAULT_BUFFER = 1024;

/**
 * The items of a run as they happen. A slow consumer costs only its own buffer: beyond it the oldest items are dropped, and
 * in the view `events` a `dropped` event says how many (8.2).
 */
export function createRunStream<View extends keyof StreamViews<JsonObject>>(
  settings: { readonly view?: View; readonly buffer?: number },
  start: (listener: EventListener, signal: AbortSignal) => Promise<RunResult>,
): RunStream<StreamViews<JsonObject>[View]> {
  const view = settings.view ?? "events";
  const limit = Math.max(1, settings.buffer ?? DEFAULT_BUFFER);
  const controller = new AbortController();
  let buffer: unknown[] = [];
  let dropped = 0;
  let lastEvent: RunEvent | undefined;
  let over = false;
  let wake: (() => void) | undefined;
  const push = (item: unknown): void => {
    buffer.push(item);
    if (buffer.length > limit) {
      buffer.shift();
      dropped++;
    }
    wake?.();
  };
  const state: Record<string, Json> = {};
  const updates = new Map<string, Record<string, Json>>();
  const listener: EventListener = (event) => {
    lastEvent = event;
    if (view === "events") push(event);
    else if (view === "updates") {
      if (event.type === "write") {
        const own = updates.get(event.node) ?? {};
        own[event.channel] = event.update;
        updates.set(event.node, own);
      } else if (event.type === "step" && event.phase === "end") {
        for (const [node, written] of updates)
          push({ step: event.step, namespace: event.namespace, node, updates: written });
        updates.clear();
      }
    } else if (event.namespace.length === 0) {
      if (event.type === "write") state[event.channel] = event.value;
      else if (event.type === "step" && event.phase === "end") push({ step: event.step, state: { ...state } });
    }
  };
  const result = start(listener, controller.signal).finally(() => {
    over = true;
    wake?.();
  });
  // Whoever reads only the items still sees the error: the iterator rejects with it.
  result.catch(() => undefined);

  async function* items(): AsyncGenerator<StreamViews<JsonObject>[View]> {
    try {
      for (;;) {
        if (buffer.length === 0 && !over) await new Promise<void>((resolve) => (wake = resolve));
        wake = undefined;
        if (dropped > 0 && view === "events" && lastEvent !== undefined) {
          const { seq, namespace, runId, step } = lastEvent;
          const count = dropped;
          dropped = 0;
          yield { type: "dropped", count, seq, namespace, runId, step } as unknown as StreamViews<JsonObject>[View];
        }
        const batch = buffer;
        buffer = [];
        for (const item of batch) yield item as StreamViews<JsonObject>[View];
        if (over && buffer.length === 0) {
          await result;
          return;
        }
      }
    } finally {
      if (!over) controller.abort(new Error("the stream was left"));
    }
  }
  return { result, [Symbol.asyncIterator]: () => items() };
}
