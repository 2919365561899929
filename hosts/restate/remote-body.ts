/** The body of a task on another machine: what the driver of the run and the worker send to each other. */
import { COMMAND, type BuiltinContext, type Command, type ExpectedType } from "../../runtime/interface/context.ts";
import { NodeError } from "../../runtime/interface/errors.ts";
import type { LongTermMemory } from "../../runtime/interface/memory.ts";
import { describeError } from "../../runtime/event/run-events.ts";
import { readRetryAfter } from "../../runtime/step/backoff.ts";
import { emitProblem, interruptProblem } from "../../runtime/step/call-options.ts";
import { isRetryable } from "../../runtime/step/task-failure.ts";
import { readThrown } from "../../runtime/step/thrown-error.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { admitJson, Mismatch } from "../../runtime/value/validate.ts";

export interface RemoteCall {
  readonly graph: string;
  readonly node: string;
  /** The digest of the outermost table: a worker with another version refuses the call. */
  readonly digest: string;
  readonly args: readonly Json[] | JsonObject;
  /** The fields of the context. */
  readonly fields: ContextFields;
  /** The answers and signals that the body has received, in their order. */
  readonly replies: readonly Json[];
}

interface ContextFields {
  readonly thread: string;
  readonly step: number;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly name?: string;
  readonly item?: Json;
  readonly failure?: JsonObject;
  readonly expects?: ExpectedType;
}

/** A call of the context that takes effect in the driver. */
type Request =
  | { readonly do: "goto"; readonly args: readonly Json[] }
  | { readonly do: "send"; readonly node: string; readonly items: readonly Json[] }
  | { readonly do: "stop" }
  | { readonly do: "usage"; readonly used: Json }
  | { readonly do: "emit"; readonly data: Json; readonly kind?: string };

interface WaitRequest {
  readonly payload: Json;
  readonly expects?: ExpectedType;
  readonly within?: number;
}

export type RemoteResult = { readonly requests: readonly Request[] } & (
  | { readonly end: "value"; readonly value?: Json }
  /** The result of `goto`, `send` or `stop`. */
  | { readonly end: "command" }
  | { readonly end: "wait"; readonly wait: WaitRequest }
  | { readonly end: "mismatch"; readonly problem: string }
  | { readonly end: "thrown"; readonly thrown: RemoteThrown }
);

interface RemoteThrown {
  readonly name: string;
  readonly message: string;
  readonly status: string | number | null;
  readonly retryable: boolean;
  readonly retryAfterMs: number;
}

/** What a worker gives to bodies. */
export interface WorkerParts {
  readonly signal: AbortSignal;
  readonly memory: LongTermMemory;
  readonly context: BuiltinContext["context"];
  readonly redact: (text: string) => string;
  readonly allowedHosts: readonly string[] | undefined;
}

/** The call of a task, from the context that the engine has made for it. `idempotencyKey` is that of the context, which computes it. */
export function remoteCall(
  call: Pick<RemoteCall, "graph" | "node" | "digest" | "args">,
  context: BuiltinContext,
  idempotencyKey: string,
  replies: readonly Json[],
): RemoteCall {
  const { thread, step, attempt, node: name, item, failure, expects } = context;
  // Fields that are absent are absent in JSON, too.
  const fields = { thread, step, attempt, idempotencyKey, name, item, failure, expects } as ContextFields;
  return { ...call, fields, replies };
}

/**
 * Repeats in the driver what the body has asked of its context, and ends as the body has ended: with its value, or with its error.
 * Returns `{ reply }` for a wait that is over: the body runs again with it.
 */
export function settleRemote(
  result: RemoteResult,
  node: string,
  context: BuiltinContext,
): { readonly value: unknown } | { readonly reply: Json } {
  let command: Command | undefined;
  // What a body has emitted before a wait, it emits again.
  if (result.end === "wait") {
    const { payload, ...options } = result.wait;
    return { reply: context.interrupt(payload, options) };
  }
  for (const request of result.requests) {
    if (request.do === "goto") command = context.goto(...(request.args as string[]));
    else if (request.do === "send") command = context.send(request.node, ...(request.items as [Json]));
    else if (request.do === "stop") command = context.stop();
    else if (request.do === "usage") context.usage(request.used as object);
    else context.emit(request.data, { kind: request.kind });
  }
  if (result.end === "command") return { value: command };
  if (result.end === "value") return { value: result.value };
  if (result.end === "mismatch") throw new NodeError("NG_BAD_RESULT", node, `node \`${node}\`: ${result.problem}`);
  const { name, message, status, retryable, retryAfterMs } = result.thrown;
  throw Object.assign(new Error(message), { name, ...(status === null ? {} : { status }), retryable, retryAfterMs });
}

/** Runs a body on a worker. Never rejects: what the body throws is a result. */
export async function runRemote(
  { fields, replies, node }: RemoteCall,
  parts: WorkerParts,
  body: (context: BuiltinContext) => unknown,
): Promise<RemoteResult> {
  const context = new RemoteContext(fields, replies, parts);
  const { requests } = context;
  try {
    const value = await body(bound(context));
    if (context.wait !== undefined) return { requests, end: "wait", wait: context.wait };
    if (context.violation !== undefined) return { requests, end: "mismatch", problem: context.violation };
    if (value === COMMAND_VALUE) return { requests, end: "command" };
    if (value === undefined) return { requests, end: "value" };
    const admitted = admitJson(value);
    if (admitted instanceof Mismatch) {
      return { requests, end: "mismatch", problem: `its result is not plain JSON: ${admitted.describe()}` };
    }
    return { requests, end: "value", value: admitted };
  } catch (error) {
    if (context.wait !== undefined) return { requests, end: "wait", wait: context.wait };
    if (context.violation !== undefined) return { requests, end: "mismatch", problem: context.violation };
    if (error instanceof NodeError && error.code === "NG_BAD_RESULT" && error.nodeId === node) {
      return { requests, end: "mismatch", problem: parts.redact(error.message) };
    }
    const { name, status } = readThrown(error, parts.redact);
    const thrown = {
      ...{ name, status, message: describeError(error, parts.redact) },
      ...{ retryable: isRetryable(error), retryAfterMs: readRetryAfter(error) },
    };
    return { requests, end: "thrown", thrown };
  }
}

const COMMAND_VALUE: Command = Object.freeze({ [COMMAND]: true as const });

/** Ends a body that waits: it runs again with the reply. */
class WaitSignal extends Error {}

/** The context of a body on a worker. It records what takes effect in the driver. */
class RemoteContext {
  readonly requests: Request[] = [];
  wait: WaitRequest | undefined;
  /** What a call of the context has violated. It fails the node, whatever the body does with the error. */
  violation: string | undefined;
  readonly fields: ContextFields;
  readonly parts: WorkerParts;
  readonly #replies: readonly Json[];
  #waits = 0;

  constructor(fields: ContextFields, replies: readonly Json[], parts: WorkerParts) {
    this.fields = fields;
    this.parts = parts;
    this.#replies = replies;
  }

  interrupt(
    payload: Json,
    options: { readonly expects?: ExpectedType | undefined; readonly within?: number | undefined },
  ): Json {
    if (this.wait !== undefined) throw new WaitSignal();
    const index = this.#waits++;
    if (index < this.#replies.length) return this.#replies[index]!;
    const problem = interruptProblem(options);
    if (problem !== undefined) throw this.#violate(problem);
    const { expects, within } = options;
    this.wait = {
      payload: this.#plain("`interrupt`", payload ?? null),
      ...(expects === undefined ? {} : { expects }),
      ...(within === undefined ? {} : { within }),
    };
    throw new WaitSignal();
  }

  request(request: Request): Command {
    const plain = this.#plain(`\`${request.do}\``, request as unknown as Json);
    this.requests.push(plain as unknown as Request);
    return COMMAND_VALUE;
  }

  #plain(what: string, value: Json): Json {
    const admitted = admitJson(value);
    if (admitted instanceof Mismatch) throw this.#violate(`${what} takes plain JSON: ${admitted.describe()}`);
    return admitted;
  }

  emit(data: unknown, options: { readonly kind?: string | undefined }): void {
    const problem = emitProblem(options);
    if (problem !== undefined) throw this.#violate(problem);
    const { kind } = options;
    const admitted = admitJson(data);
    const shown = admitted instanceof Mismatch ? `not plain JSON: ${admitted.describe()}` : admitted;
    this.requests.push({ do: "emit", data: shown, ...(kind === undefined ? {} : { kind }) });
  }

  #violate(problem: string): TypeError {
    this.violation = problem;
    return new TypeError(problem);
  }
}

/** The methods do not depend on `this`: `({ goto }) => goto("x")` works. */
function bound(context: RemoteContext): BuiltinContext {
  const { fields, parts } = context;
  const { signal, memory, context: objects, redact, allowedHosts } = parts;
  const { thread, step, attempt, idempotencyKey, item, expects, failure, name } = fields;
  return {
    ...{ signal, memory, context: objects, redact, allowedHosts, tools: [], thread, step, attempt, idempotencyKey },
    ...{ item, expects, failure },
    ...(name === undefined ? {} : { node: name }),
    interrupt: ((payload: Json, options) => context.interrupt(payload, options ?? {})) as BuiltinContext["interrupt"],
    goto: (...args: readonly unknown[]) => context.request({ do: "goto", args: args as readonly Json[] }),
    send: (node: string, ...items: readonly Json[]) => context.request({ do: "send", node, items }),
    stop: () => context.request({ do: "stop" }),
    usage: (used) => void context.request({ do: "usage", used: used as Json }),
    emit: (data, options) => context.emit(data, options ?? {}),
  };
}
