import { COMMAND, type Command, type ExpectedType, type NodeContext } from "../../runtime/interface/context.ts";
import { StoreMemory } from "../../runtime/memory/long-term-memory.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Json } from "../../runtime/value/json.ts";

export class Paused extends Error {
  readonly payload: Json;
  readonly expects: ExpectedType | undefined;
  constructor(payload: Json, expects: ExpectedType | undefined) {
    super("paused");
    this.payload = payload;
    this.expects = expects;
  }
}

/** A context without an engine. `interrupt` returns the answers in their order, and pauses when none is left. */
export function fakeContext(
  options: {
    signal?: AbortSignal;
    answers?: readonly Json[];
    expects?: ExpectedType;
    redact?: NodeContext["redact"];
    usage?: NodeContext["usage"];
    emit?: NodeContext["emit"];
  } = {},
): NodeContext {
  const answers = [...(options.answers ?? [])];
  const command: Command = { [COMMAND]: true };
  return {
    context: {},
    signal: options.signal ?? new AbortController().signal,
    step: 0,
    attempt: 1,
    thread: "thread-1",
    idempotencyKey: "key-1",
    item: undefined,
    expects: options.expects,
    interrupt: <T>(payload: Json = null, given: { readonly expects?: ExpectedType | undefined } = {}): T => {
      if (answers.length === 0) throw new Paused(payload, given.expects);
      return answers.shift() as T;
    },
    goto: () => command,
    send: () => command,
    stop: () => command,
    memory: new StoreMemory({ store: new MemoryStore(), now: () => Date.now(), options: {} }),
    usage: options.usage ?? (() => undefined),
    emit: options.emit ?? (() => {}),
    redact: options.redact ?? ((text) => text),
  };
}
