import { dropPromise } from "../value/promise.ts";
import { NodeError, NgraphError } from "../interface/errors.ts";
import type { EventError, RunEvent } from "../interface/events.ts";
import type { PlanObserver } from "../routing/plan-step.ts";
import { barrierOf, isBarrier, type Target } from "../routing/routes.ts";
import { barrierTargets, END, ROLLBACK } from "../table/table.ts";
import type { Run } from "../run/run.ts";
import type { Task } from "../step/task.ts";

type Common = "seq" | "namespace" | "thread" | "runId" | "step";
/** An event without the fields that all events have. */
export type EventBody = RunEvent extends infer E ? (E extends RunEvent ? Omit<E, Common> : never) : never;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Emits an event. Callers check `run.listening` first, so that without a listener no event is created.
 *
 * @param body becomes the event: the common fields are added to it, because a copy takes most of the time of an event
 */
export function emitEvent(run: Run, body: EventBody, step = run.step): void {
  const { shared } = run;
  const event = body as Mutable<RunEvent>;
  event.seq = shared.sequence++;
  event.namespace = run.path;
  event.runId = shared.runId;
  event.step = step;
  if (shared.threadId !== undefined) event.thread = shared.threadId;
  for (const listener of shared.listeners) {
    notify(listener, event);
  }
}

/** Calls a listener. An exception or a rejection of the listener does not affect the run. */
export function notify<E>(listener: (event: E) => unknown, event: E): void {
  try {
    dropPromise(listener(event));
  } catch {
    // Ignored: listeners do not affect the run.
  }
}

export type NodeEventBody =
  | { readonly phase: "start" }
  | { readonly phase: "end"; readonly paused?: true; readonly cached?: true }
  | { readonly phase: "retry"; readonly error: EventError; readonly delayMs: number }
  | { readonly phase: "error"; readonly error: EventError };

export function emitNodeEvent(run: Run, task: Task, attempt: number, body: NodeEventBody): void {
  const { undo } = task;
  if (undo !== undefined) {
    const { call, key } = undo;
    emitEvent(run, { type: "undo", node: task.node.spec.name, taskId: task.id, call, key, attempt, ...body });
    return;
  }
  const item = task.itemIndex === -1 ? {} : { item: task.itemIndex };
  emitEvent(run, { type: "node", node: task.node.spec.name, taskId: task.id, attempt, ...item, ...body });
}

/** An error as plain data, with secrets redacted. */
export function eventError(run: Run, error: unknown): EventError {
  const message = describeError(error, run.shared.redact);
  if (error instanceof NodeError) return { code: error.code, message, node: error.nodeId, attempts: error.attempts };
  if (error instanceof NgraphError) return { code: error.code, message };
  return { code: "NG_NODE_FAILED", message };
}

/**
 * A thrown value as text, redacted before it is cut. Reading the value may run user code, which may throw.
 */
export function describeError(error: unknown, redact: (text: string) => string = unchanged): string {
  const text = redact(fullDescription(error, redact));
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
}

/** Longer messages are cut: they are stored in checkpoints and repeated in events and in the errors that wrap them. */
const MAX_MESSAGE = 20_000;

function unchanged(text: string): string {
  return text;
}

function fullDescription(error: unknown, redact: (text: string) => string): string {
  try {
    if (error instanceof AggregateError && error.message === "" && error.errors.length > 0) {
      // Errors inside of its errors are not described: it may contain itself.
      const messages = error.errors
        .slice(0, 3)
        .map((each) => (each instanceof AggregateError ? each.name : fullDescription(each, redact)));
      return `${error.name}: ${messages.join("; ")}${error.errors.length > 3 ? "; …" : ""}`;
    }
    if (error instanceof Error) return messageText(error.message, redact) || `${error.name}`;
    // Errors of other realms, and error-like objects of libraries.
    if (typeof error === "object" && error !== null && "message" in error && error.message !== undefined) {
      return messageText(error.message, redact);
    }
    return `it threw ${thrownText(error, redact)}`;
  } catch {
    return "it threw something that cannot be shown";
  }
}

/** User code may assign any value to `message`. */
function messageText(message: unknown, redact: (text: string) => string): string {
  return typeof message === "string" ? message : thrownText(message, redact);
}

function thrownText(value: unknown, redact: (text: string) => string): string {
  const text = String(value);
  if (text !== "[object Object]") return text;
  const json = redact(JSON.stringify(value) ?? text);
  return json.length > 200 ? `${json.slice(0, 200)}…` : json;
}

/** Emits routing as events. */
export function planObserver(
  run: Run,
  tasks: readonly { readonly node: { readonly spec: { readonly name: string } } }[],
): PlanObserver {
  const { table } = run.program;
  const name = (node: number): string => {
    if (node === END) return "end";
    return node === ROLLBACK ? "rollback" : table.nodes[node]!.name;
  };
  const namesOf = (target: Target): readonly string[] =>
    isBarrier(target) ? barrierTargets(table.barriers[barrierOf(target)]!).map(name) : [name(target)];
  return {
    route: (routing, via, targets, discarded) => {
      const node = tasks[routing]?.node.spec.name ?? (run.isFinally ? "finally" : "start");
      const dropped = discarded ? { discarded: true as const } : {};
      emitEvent(run, { type: "route", node, via, targets: targets.flatMap(namesOf), ...dropped });
    },
    barrier: (barrier, arrived, fired) => {
      const { id, target, others } = table.barriers[barrier]!;
      emitEvent(run, {
        type: "barrier",
        barrier: id,
        target: name(target),
        ...(others === undefined ? {} : { others: others.map(name) }),
        arrived: arrived.map(name),
        fired,
      });
    },
  };
}
