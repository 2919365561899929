import type { BuiltinContext, ExpectedType, NodeContext, Tool, Waits } from "../interface/context.ts";
import type { Json } from "../value/json.ts";
import { sha256 } from "../table/sha256.ts";
import type { Attempt } from "./attempt.ts";

/**
 * The context that a node body receives. Everything expensive is created on first access. Methods are bound, so that
 * `({ goto }) => goto("x")` works.
 */
export class TaskContext implements BuiltinContext, Waits {
  readonly #attempt: Attempt;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  get signal(): AbortSignal {
    return this.#attempt.signal;
  }
  get node(): string {
    const { run, task } = this.#attempt;
    return [...run.names, task.id].join("/");
  }
  get step(): number {
    return this.#attempt.step;
  }
  get attempt(): number {
    return this.#attempt.number;
  }
  get thread(): string {
    const { shared } = this.#attempt.run;
    return shared.threadId ?? shared.runId;
  }
  // Mutation point: idempotency-key
  get idempotencyKey(): string {
    const { run, task, step } = this.#attempt;
    return task.undo?.key ?? run.taskKey(task, step);
  }
  get failure(): NodeContext["failure"] {
    return this.#attempt.task.failure;
  }
  get context(): NodeContext["context"] {
    return this.#attempt.run.shared.context;
  }
  get item(): Json | undefined {
    return this.#attempt.task.item;
  }
  get expects(): ExpectedType | undefined {
    return this.#attempt.task.node.expects;
  }
  get interrupt(): NodeContext["interrupt"] {
    const attempt = this.#attempt;
    return (payload = null, options) => attempt.interrupt(payload, options);
  }
  get sleep(): Waits["sleep"] {
    const attempt = this.#attempt;
    return (milliseconds) => attempt.sleep(milliseconds);
  }
  get receive(): Waits["receive"] {
    const attempt = this.#attempt;
    return (name, options) => attempt.receive(name, options?.expects);
  }
  get goto(): NodeContext["goto"] {
    const attempt = this.#attempt;
    return (...args: readonly unknown[]) => attempt.goto(args);
  }
  get send(): NodeContext["send"] {
    const attempt = this.#attempt;
    return (node: string, ...items: readonly Json[]) => attempt.send(node, items.length === 0 ? null : items[0]!);
  }
  get stop(): NodeContext["stop"] {
    const attempt = this.#attempt;
    return () => attempt.stop();
  }
  get once(): NonNullable<BuiltinContext["once"]> {
    const attempt = this.#attempt;
    return (key, work) => attempt.once(key, work);
  }
  get tools(): readonly Tool[] {
    const { call } = this.#attempt.task.node;
    return call.kind === "builtin" ? call.tools(this.#attempt, (key) => new ToolContext(this.#attempt, key)) : [];
  }
  get memory(): NodeContext["memory"] {
    return this.#attempt.run.shared.memory;
  }
  get usage(): NodeContext["usage"] {
    const attempt = this.#attempt;
    return (used) => attempt.report(used);
  }
  get emit(): NodeContext["emit"] {
    const attempt = this.#attempt;
    return (data, options) => attempt.emit(data, options);
  }
  get allowedHosts(): NodeContext["allowedHosts"] {
    return this.#attempt.run.shared.allowedHosts;
  }
  get redact(): NodeContext["redact"] {
    return this.#attempt.run.shared.redact;
  }
}

/** The context of a function that a model calls as a tool. */
class ToolContext extends TaskContext {
  readonly #key: string;

  constructor(attempt: Attempt, key: string) {
    super(attempt);
    this.#key = key;
  }

  override get idempotencyKey(): string {
    return `sha256:${sha256(`${super.idempotencyKey}/${this.#key}`)}`;
  }
}
