import { DEFAULT_BUFFER, StreamBuffer } from "../event/run-stream.ts";
import type { PlanEvent } from "./plan-events.ts";
import type { PlanExecuteOptions, PlanRunResult, PlanRunStream, PlanStreamOptions } from "./plan-options.ts";
import { eitherSignal } from "../run/either-signal.ts";

/**
 * The events of a run as they happen. A slow consumer fills only its own buffer: when it is full, the oldest events are
 * dropped (8.2).
 */
export function createPlanStream(
  settings: PlanStreamOptions & Pick<PlanExecuteOptions, "signal" | "onEvent">,
  start: (watched: Required<Pick<PlanExecuteOptions, "signal" | "onEvent">>) => Promise<PlanRunResult>,
): PlanRunStream {
  const buffer = new StreamBuffer(Math.max(1, settings.buffer ?? DEFAULT_BUFFER));
  const controller = new AbortController();
  const { signal, onEvent } = settings;
  const result = start({
    signal: signal === undefined ? controller.signal : eitherSignal(signal, controller.signal),
    onEvent: (event) => {
      buffer.push(event);
      onEvent?.(event);
    },
  }).finally(() => buffer.end());
  // A consumer that reads only the events still receives the error: the iterator rejects with it.
  result.catch(() => undefined);

  async function* items(): AsyncGenerator<PlanEvent | { readonly type: "dropped"; readonly count: number }> {
    try {
      for (;;) {
        await buffer.filled();
        const count = buffer.takeDropped();
        if (count > 0) yield { type: "dropped", count };
        const next = buffer.take();
        if (next !== undefined) yield next as PlanEvent;
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
