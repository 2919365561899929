import type { EventLog } from "./event-log.ts";

/** A comment is sent after so many milliseconds without an event, so that proxies do not close the connection. */
const HEARTBEAT_MS = 15_000;

export interface EventStreamOptions {
  readonly log: EventLog;
  readonly thread: string;
  /** The position of the first event. */
  readonly from: number;
  /** Sent before the first event. */
  readonly first?: readonly { readonly event: string; readonly data: object }[];
  /** Settles when the stream ends: after its remaining events, this event is sent. */
  readonly end?: Promise<{ readonly event: string; readonly data: object }>;
  /** Ends the stream after the end of a run. */
  readonly untilEnd?: boolean;
  /**
   * Called when no event has come for `everyMs`: what has happened to the thread in another process.
   */
  readonly poll?: {
    readonly everyMs: number;
    readonly look: () => Promise<{ readonly data: object; readonly isOver: boolean } | undefined>;
  };
  /** Ends the stream. */
  readonly signal: AbortSignal;
  readonly onClose: () => void;
}

/** Server-sent events of a thread. The stream reads an event when the client has taken the one before, so it holds none. */
export function eventStream(options: EventStreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const controller = new AbortController();
  const signal = AbortSignal.any([options.signal, controller.signal]);
  const close = options.log.open(options.thread);
  const chunks = chunksOf(options, signal);
  let isClosed = false;
  const finish = (): void => {
    if (isClosed) return;
    isClosed = true;
    controller.abort();
    close();
    options.onClose();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        try {
          const next = await chunks.next();
          if (next.done === true) {
            finish();
            stream.close();
          } else stream.enqueue(encoder.encode(next.value));
        } catch (error) {
          finish();
          stream.error(error);
        }
      },
      cancel: finish,
    },
    { highWaterMark: 1 },
  );
}

async function* chunksOf(options: EventStreamOptions, signal: AbortSignal): AsyncGenerator<string> {
  const { log, thread, poll } = options;
  yield ": connected\n\n";
  for (const { event, data } of options.first ?? []) yield message(event, JSON.stringify(data));
  let ended: { readonly event: string; readonly data: object } | undefined;
  const awake = new AbortController();
  void options.end?.then(
    (end) => {
      ended = end;
      awake.abort();
    },
    () => awake.abort(),
  );
  const either = AbortSignal.any([signal, awake.signal]);
  let position = options.from;
  let quiet = 0;
  for (;;) {
    if (signal.aborted) return;
    const found = log.read(thread, position);
    if (found?.kind === "event") {
      const { event } = found;
      position++;
      quiet = 0;
      yield message(event.type, event.data, event.id);
      if (options.untilEnd === true && isEnd(event.data)) return;
      continue;
    }
    if (found?.kind === "missed") {
      position = found.next;
      yield message("dropped", JSON.stringify({ type: "dropped", count: found.count ?? null }));
      continue;
    }
    if (awake.signal.aborted) {
      if (ended !== undefined) yield message(ended.event, JSON.stringify(ended.data));
      return;
    }
    const pause = poll?.everyMs ?? HEARTBEAT_MS;
    await log.wait(thread, position, pause, either);
    if (log.read(thread, position) !== undefined || either.aborted) continue;
    quiet += pause;
    const seen = await poll?.look();
    if (seen !== undefined) {
      yield message("state", JSON.stringify(seen.data));
      if (options.untilEnd === true && seen.isOver) return;
      quiet = 0;
    } else if (quiet >= HEARTBEAT_MS) {
      quiet = 0;
      yield ": waiting\n\n";
    }
  }
}

/** The end of the run itself, not of a graph that it calls. */
function isEnd(data: string): boolean {
  const { type, phase, namespace } = JSON.parse(data) as { type: string; phase?: string; namespace: readonly string[] };
  return type === "run" && phase === "end" && namespace.length === 0;
}

/** JSON has no line break, so the data is one line. */
function message(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}
