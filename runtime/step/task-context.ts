import { COMMAND, type Command, type ExpectedType, type NodeContext } from "../interface/context.ts";
import { NodeError, StoreError, type NodeErrorCode } from "../interface/errors.ts";
import type { Json } from "../value/json.ts";
import { END } from "../table/table.ts";
import { admitJson, Mismatch } from "../value/validate.ts";
import { redactJson } from "../event/redact.ts";
import { PauseSignal } from "./pause-signal.ts";
import { emitEvent } from "../event/run-events.ts";
import type { Run } from "./run.ts";
import type { SendRequest, Task } from "./task.ts";

const COMMAND_VALUE: Command = Object.freeze({ [COMMAND]: true as const });

export function isCommand(value: unknown): value is Command {
  return value === COMMAND_VALUE;
}

/** One attempt of a task: what its body has asked for so far. */
export class Attempt {
  readonly run: Run;
  readonly task: Task;
  /** Kept: a body that was given up may still ask when the run is elsewhere. */
  readonly step: number;
  /** From 1. A called graph that is gone on with says which it was. */
  number: number;
  /** The attempt is over: what its body still does counts for nothing. */
  closed = false;
  gotos: number[] | undefined;
  exclusive = false;
  stopped = false;
  sends: SendRequest[] | undefined;
  /** Set by `interrupt`: the attempt pauses, whatever its body makes of the signal. */
  pause: PauseSignal | undefined;
  /** What was not allowed fails the node even when its body swallows the error. */
  violation: NodeError | StoreError | undefined;
  /** Told when the attempt is given up: by a timeout, by cancellation. */
  onGivenUp: ((reason: unknown) => void) | undefined;
  interrupts = 0;
  /** The result came from the cache. */
  cached = false;
  /** Where the result is to be kept (policy `cache`), if it fits. */
  cacheKey: string | undefined;
  /** Of a called graph that has not finished: namespace -> checkpoint. */
  children: Readonly<Record<string, string>> | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;

  constructor(run: Run, task: Task, number: number) {
    this.run = run;
    this.task = task;
    this.step = run.step;
    this.number = number;
  }

  get asked(): boolean {
    return this.gotos !== undefined || this.stopped || this.sends !== undefined;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      const { aborted, reason } = this.run.cancellation;
      if (this.#reason !== undefined || aborted) this.#controller.abort(this.#reason ?? reason);
    }
    return this.#controller.signal;
  }

  giveUp(reason: unknown): void {
    this.closed = true;
    this.#reason = reason ?? new Error("given up");
    this.#controller?.abort(this.#reason);
    this.onGivenUp?.(this.#reason);
  }

  goto(args: readonly unknown[]): Command {
    const last = args.at(-1);
    const options = typeof last === "object" && last !== null && "exclusive" in last ? last : undefined;
    const names = options === undefined ? args : args.slice(0, -1);
    const targets = names.filter((name) => name !== "").map((name) => this.#target(name, "go"));
    if (options?.exclusive !== undefined && typeof options.exclusive !== "boolean") {
      const message = `\`exclusive\` of a \`goto\` is true or false, not ${kindOf(options.exclusive)}`;
      throw this.#violate("NG_UNDECLARED_GOTO", `node \`${this.task.node.spec.name}\`: ${message}`);
    }
    // To nowhere: the edges are followed, as by the scheduler. Only `stop` ends a branch.
    this.gotos = targets.length === 0 ? undefined : targets;
    this.exclusive = options?.exclusive === true && targets.length > 0;
    this.stopped = false;
    return COMMAND_VALUE;
  }

  stop(): Command {
    this.stopped = true;
    this.gotos = undefined;
    this.exclusive = false;
    return COMMAND_VALUE;
  }

  send(node: unknown, item: Json): Command {
    const target = this.#target(node, "send");
    const admitted = admitJson(item);
    const nth = `\`send\` (invocation index ${this.sends?.length ?? 0}) of node \`${this.task.node.spec.name}\``;
    if (target === END) throw this.#violate("NG_UNDECLARED_GOTO", `${nth}: nothing can be sent to \`end\``);
    if (admitted instanceof Mismatch) throw this.#violate("NG_BAD_RESULT", `${nth}: ${admitted.describe()}`);
    (this.sends ??= []).push({ node: target, item: admitted });
    return COMMAND_VALUE;
  }

  interrupt<T>(payload: Json, expects: ExpectedType | undefined): T {
    if (this.pause !== undefined) throw this.pause;
    const { run, task } = this;
    const { name } = task.node.spec;
    const id = run.pauseId(task.id, this.step, this.interrupts++);
    const answer = run.shared.answers.get(id);
    if (answer !== undefined) return answer.value as T;
    if (run.shared.durable === undefined) {
      const message = `node \`${name}\` waits for an answer, and a run without a store cannot: give the engine a \`store\``;
      throw (this.violation = new StoreError("NG_NO_STORE", message));
    }
    const admitted = admitJson(payload);
    if (admitted instanceof Mismatch) {
      throw this.#violate("NG_BAD_RESULT", `node \`${name}\`: \`interrupt\` takes plain JSON: ${admitted.describe()}`);
    }
    const item = {
      id,
      node: name,
      kind: "interrupt" as const,
      // People see it, and checkpoints keep it.
      payload: redactJson(run.shared.redact, admitted),
      namespace: run.path,
      taskId: task.id,
    };
    throw (this.pause = new PauseSignal([expects === undefined ? item : { ...item, expects }]));
  }

  emit(data: unknown): void {
    if (!this.run.listening || this.closed) return;
    const admitted = admitJson(data);
    const shown =
      admitted instanceof Mismatch
        ? `not plain JSON: ${admitted.describe()}`
        : redactJson(this.run.shared.redact, admitted);
    emitEvent(this.run, { type: "custom", node: this.task.node.spec.name, data: shown });
  }

  #target(name: unknown, verb: "go" | "send"): number {
    const { program } = this.run;
    const { goes, spec } = this.task.node;
    if (typeof name !== "string") {
      const call = verb === "go" ? "goto" : "send";
      const message = `\`${call}\` of node \`${spec.name}\` takes the names of nodes, not ${kindOf(name)}`;
      throw this.#violate("NG_UNDECLARED_GOTO", message);
    }
    const index = name === "end" ? END : program.nodeIndex.get(name);
    if (index !== undefined && goes?.has(index) === true) return index;
    const declared = [...(goes ?? [])].map((goal) => `\`${this.run.nodeName(goal)}\``).join(", ") || "none";
    const nth = verb === "send" ? ` (send invocation index ${this.sends?.length ?? 0})` : "";
    const why = index === undefined ? "there is no such node" : "its policies do not say so";
    throw this.#violate(
      "NG_UNDECLARED_GOTO",
      `node \`${spec.name}\` may not ${verb} to \`${name}\`${nth}: ${why}; declare it with \`goes ${name}\` (declared: ${declared})`,
    );
  }

  #violate(code: NodeErrorCode, message: string): NodeError {
    const { threadId } = this.run.shared;
    const error = new NodeError(code, this.task.node.spec.name, message, { attempts: this.number, threadId });
    this.violation = error;
    return error;
  }
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list: write `goto(...names)`";
  return value === null ? "null" : `a value of type ${typeof value}`;
}

/**
 * What node code sees of its attempt. Everything that costs is made when it is first asked for, and methods are bound, so
 * that `({ goto }) => goto("x")` works.
 */
export class TaskContext implements NodeContext {
  readonly #attempt: Attempt;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  get signal(): AbortSignal {
    return this.#attempt.signal;
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
  get idempotencyKey(): string {
    const { run, task, step } = this.#attempt;
    return run.taskKey(task, step);
  }
  get item(): Json | undefined {
    return this.#attempt.task.item;
  }
  get expects(): ExpectedType | undefined {
    return this.#attempt.task.node.expects;
  }
  get interrupt(): NodeContext["interrupt"] {
    const attempt = this.#attempt;
    return (payload = null, options) => attempt.interrupt(payload, options?.expects);
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
  get emit(): NodeContext["emit"] {
    const attempt = this.#attempt;
    return (data) => attempt.emit(data);
  }
}
