import { COMMAND, type Command, type NodeContext } from "../../runtime/context.ts";
import type { Json } from "../../runtime/json.ts";

export class Paused extends Error {
  readonly payload: Json;
  constructor(payload: Json) {
    super("paused");
    this.payload = payload;
  }
}

/** A context outside of any engine: `interrupt` gives the answers in their order, then pauses. */
export function fakeContext(options: { signal?: AbortSignal; answers?: readonly Json[] } = {}): NodeContext {
  const answers = [...(options.answers ?? [])];
  const command: Command = { [COMMAND]: true };
  return {
    signal: options.signal ?? new AbortController().signal,
    step: 0,
    attempt: 1,
    thread: "thread-1",
    idempotencyKey: "key-1",
    interrupt: <T>(payload: Json = null): T => {
      if (answers.length === 0) throw new Paused(payload);
      return answers.shift() as T;
    },
    goto: () => command,
    send: () => command,
    stop: () => command,
    emit: () => {},
  };
}
