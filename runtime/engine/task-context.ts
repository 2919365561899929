import type { PauseItem } from "../checkpoint.ts";
import { COMMAND, type Command, type ExpectedType, type NodeContext } from "../context.ts";
import { NodeError } from "../errors.ts";
import type { Json } from "../json.ts";
import { admitJson, Mismatch } from "../validate.ts";
import { END } from "../table.ts";
import type { Run } from "./run.ts";
import { PauseSignal } from "./pause-signal.ts";
import type { SendRequest, Task } from "./task.ts";

const NO_RESULT: Command = Object.freeze({ [COMMAND]: true as const });

export function isCommand(value: unknown): value is Command {
  return value === NO_RESULT;
}

/** What one attempt of a task asks of the engine. Everything that costs is made when it is first asked for. */
export class TaskContext implements NodeContext {
  readonly #run: Run;
  readonly #task: Task;
  readonly attempt: number;
  #controller: AbortController | undefined;
  #interrupts = 0;
  /** Set by `interrupt`: the attempt pauses, whatever its body makes of the signal. */
  pauses: readonly PauseItem[] | undefined;
  gotos: number[] | undefined;
  exclusive = false;
  stopped = false;
  sends: SendRequest[] | undefined;
  /** A jump that was not allowed fails the node even when its body swallows the error. */
  violation: NodeError | undefined;

  constructor(run: Run, task: Task, attempt: number) {
    this.#run = run;
    this.#task = task;
    this.attempt = attempt;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      const { aborted, controllers } = this.#run.cancellation;
      if (aborted) this.#controller.abort(this.#run.cancellation.reason);
      else controllers.add(this.#controller);
    }
    return this.#controller.signal;
  }

  get step(): number {
    return this.#run.step;
  }

  get thread(): string {
    return this.#run.shared.threadId ?? this.#run.shared.runId;
  }

  get idempotencyKey(): string {
    return this.#run.taskKey(this.#task);
  }

  get item(): Json | undefined {
    return this.#task.item;
  }

  get expects(): ExpectedType | undefined {
    return this.#task.node.expects;
  }

  interrupt<T = Json>(payload: Json = null, options?: { readonly expects?: ExpectedType | undefined }): T {
    const id = this.#run.pauseId(this.#task, this.#interrupts++);
    const { answers } = this.#run.shared;
    const answer = answers.get(id);
    if (answer !== undefined) return answer.value as T;
    const admitted = admitJson(payload);
    if (admitted instanceof Mismatch) {
      throw new NodeError(
        "NG_BAD_RESULT",
        this.#task.node.spec.name,
        `\`interrupt\` takes plain JSON: ${admitted.describe()}`,
      );
    }
    if (this.#run.shared.store === undefined) {
      throw this.#run.noStore(`node \`${this.#task.node.spec.name}\` called \`interrupt\``);
    }
    const expects = options?.expects;
    if (expects !== undefined) this.#run.shared.expectations.set(id, expects);
    this.pauses = [
      { id, node: this.#task.node.spec.name, kind: "interrupt", payload: admitted, namespace: this.#run.path },
    ];
    throw new PauseSignal(this.pauses);
  }

  goto(...args: readonly (string | { readonly exclusive: boolean })[]): Command {
    const last = args.at(-1);
    const exclusive = typeof last === "object" && last.exclusive;
    const targets: number[] = [];
    for (const arg of args) if (typeof arg === "string" && arg !== "") targets.push(this.#target(arg, "goto"));
    // `goto("")` asks for the node's own edges.
    this.gotos = targets.length === 0 ? undefined : targets;
    this.exclusive = exclusive && targets.length > 0;
    return NO_RESULT;
  }

  send(node: string, item: Json): Command {
    const target = this.#target(node, "send");
    const admitted = admitJson(item);
    if (target === END || admitted instanceof Mismatch) {
      const problem = admitted instanceof Mismatch ? admitted.describe() : "nothing can be sent to `end`";
      throw this.#violate(
        `\`send\` number ${(this.sends?.length ?? 0) + 1} of node \`${this.#task.node.spec.name}\`: ${problem}`,
      );
    }
    (this.sends ??= []).push({ node: target, item: admitted });
    return NO_RESULT;
  }

  stop(): Command {
    this.stopped = true;
    return NO_RESULT;
  }

  emit(data: Json): void {
    if (!this.#run.listening) return;
    const admitted = admitJson(data);
    if (admitted instanceof Mismatch) return;
    this.#run.emit({ type: "custom", node: this.#task.node.spec.name, data: admitted });
  }

  /** The attempt is over: nobody may be told any more, and a body that goes on is told to stop. */
  close(reason?: unknown): void {
    if (this.#controller === undefined) return;
    this.#run.cancellation.controllers.delete(this.#controller);
    if (reason !== undefined) this.#controller.abort(reason);
  }

  #target(name: string, how: "goto" | "send"): number {
    const { program } = this.#run;
    const { goes, spec } = this.#task.node;
    const index = name === "end" ? END : program.nodeIndex.get(name);
    if (index !== undefined && goes?.has(index) === true) return index;
    const declared = [...(goes ?? [])].map(
      (goal) => `\`${goal === END ? "end" : (program.table.nodes[goal]?.name ?? "?")}\``,
    );
    const where = how === "send" ? ` (send invocation index ${this.sends?.length ?? 0})` : "";
    throw this.#violate(
      `node \`${spec.name}\` may not ${how === "goto" ? "go" : "send"} to \`${name}\`${where}: ` +
        (index === undefined ? "there is no such node" : "its policies do not say so") +
        `; declare it with \`goes ${name}\` (declared: ${declared.join(", ") || "none"})`,
    );
  }

  #violate(message: string): NodeError {
    this.violation = new NodeError("NG_UNDECLARED_GOTO", this.#task.node.spec.name, message, {
      attempts: this.attempt,
      threadId: this.#run.shared.threadId,
    });
    return this.violation;
  }
}
