import type { EventLog } from "./event-log.ts";
import { eitherSignal } from "../runtime/run/either-signal.ts";

/** A comment is sent after so many milliseconds without an event, so that proxies do not close the connection. */
const HEARTBEAT_MS = 15_000;
/** Characters of events after which a chunk is full. */
const CHUNK = 16 * 1024;

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
    /** Called when the stream opens. Returns the function that ends the watch. */
    readonly watch: () => () => void;
    readonly look: () => Promise<{ readonly data: object; readonly isOver: boolean } | undefined>;
  };
  /** Ends the stream. */
  readonly signal: AbortSignal;
  readonly onClose: () => void;
}

/** A message of a stream. One without data keeps the connection open. */
interface Message {
  readonly event: string;
  /** JSON, which has no line break. */
  readonly data?: string;
  readonly id?: string;
}

const encoder = new TextEncoder();

/** Messages as server-sent events. */
export function serverSentEvents(messages: readonly Message[]): Uint8Array {
  return encoder.encode(messages.map(serverSentEvent).join(""));
}

function serverSentEvent({ event, data, id }: Message): string {
  if (data === undefined) return `: ${event}\n\n`;
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Messages as JSON objects: `{ "id": …, "type": …, "data": … }`. */
export function socketMessages(messages: readonly Message[]): readonly string[] {
  return messages.map(socketMessage);
}

function socketMessage({ event, data, id }: Message): string {
  const place = id === undefined ? "" : `"id":${JSON.stringify(id)},`;
  return `{${place}"type":${JSON.stringify(event)}${data === undefined ? "" : `,"data":${data}`}}`;
}

/**
 * Events of a thread, in chunks: what has happened is one write to the connection. The stream reads a chunk when the client has taken
 * the one before, so it holds no other.
 */
export function eventStream<T>(
  options: EventStreamOptions,
  encode: (messages: readonly Message[]) => T,
): ReadableStream<T> {
  const controller = new AbortController();
  const signal = eitherSignal(options.signal, controller.signal);
  const close = options.log.open(options.thread);
  const unwatch = options.poll?.watch();
  const messages = messagesOf(options, signal);
  let isClosed = false;
  const finish = (): void => {
    if (isClosed) return;
    isClosed = true;
    controller.abort();
    close();
    unwatch?.();
    options.onClose();
  };
  return new ReadableStream<T>(
    {
      async pull(stream) {
        try {
          const next = await messages.next();
          if (next.done === true) {
            finish();
            stream.close();
          } else stream.enqueue(encode(next.value));
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

async function* messagesOf(options: EventStreamOptions, signal: AbortSignal): AsyncGenerator<readonly Message[]> {
  const { log, thread, poll } = options;
  const first = (options.first ?? []).map(({ event, data }) => ({ event, data: JSON.stringify(data) }));
  yield [{ event: "connected" }, ...first];
  let ended: { readonly event: string; readonly data: object } | undefined;
  const awake = new AbortController();
  void options.end?.then(
    (end) => {
      ended = end;
      awake.abort();
    },
    () => awake.abort(),
  );
  const either = eitherSignal(signal, awake.signal);
  let position = options.from;
  let quiet = 0;
  for (;;) {
    const found = log.read(thread, position);
    if (signal.aborted) {
      // What has happened shortly before the service ends was not sent yet.
      if (found?.kind === "event") yield eventsFrom(options, position).messages;
      return;
    }
    if (found?.kind === "missed") {
      position = found.next;
      yield [{ event: "dropped", data: JSON.stringify({ type: "dropped", count: found.count ?? null }) }];
      continue;
    }
    if (found?.kind === "event") {
      const { messages, isEnded } = eventsFrom(options, position);
      position += messages.length;
      quiet = 0;
      yield messages;
      if (isEnded) return;
      continue;
    }
    if (awake.signal.aborted) {
      if (ended !== undefined) yield [{ event: ended.event, data: JSON.stringify(ended.data) }];
      return;
    }
    const pause = poll?.everyMs ?? HEARTBEAT_MS;
    await log.wait(thread, position, pause, either);
    if (log.read(thread, position) !== undefined || either.aborted) continue;
    quiet += pause;
    const seen = await poll?.look();
    if (seen !== undefined) {
      yield [{ event: "state", data: JSON.stringify(seen.data) }];
      if (options.untilEnd === true && seen.isOver) return;
      quiet = 0;
    } else if (quiet >= HEARTBEAT_MS) {
      quiet = 0;
      yield [{ event: "waiting" }];
    }
  }
}

/** The events of the log from a position on, up to the size of a chunk, or to the end of the run if the stream ends there. */
function eventsFrom(
  { log, thread, untilEnd }: EventStreamOptions,
  position: number,
): { readonly messages: readonly Message[]; readonly isEnded: boolean } {
  const messages: Message[] = [];
  let size = 0;
  while (size < CHUNK) {
    const found = log.read(thread, position + messages.length);
    if (found?.kind !== "event") break;
    const { type, data, id } = found.event;
    messages.push({ event: type, data, id });
    if (untilEnd === true && isEnd(data)) return { messages, isEnded: true };
    size += data.length;
  }
  return { messages, isEnded: false };
}

/** The end of the run itself, not of a graph that it calls. */
function isEnd(data: string): boolean {
  const { type, phase, namespace } = JSON.parse(data) as { type: string; phase?: string; namespace: readonly string[] };
  return type === "run" && phase === "end" && namespace.length === 0;
}
