import type { PauseItem, Signal } from "../interface/checkpoint.ts";
import type { Command, ExpectedType, NodeContext } from "../interface/context.ts";
import { readUsage } from "../interface/usage.ts";
import { NodeError, StoreError, type NodeErrorCode } from "../interface/errors.ts";
import type { Json } from "../value/json.ts";
import { END, ROLLBACK } from "../table/table.ts";
import { isThenable } from "../value/promise.ts";
import { admitJson, Mismatch } from "../value/validate.ts";
import { waitUntil } from "../run/wait.ts";
import { LONGEST_HOLD } from "../interface/clock.ts";
import { redactJson } from "../event/redact-json.ts";
import { taskName } from "../run/item-identity.ts";
import type { UndoEntry } from "../interface/undo.ts";
import { emitProblem, interruptProblem } from "./call-options.ts";
import { COMMAND_VALUE } from "./command.ts";
import { PauseSignal } from "./pause-signal.ts";
import { emitEvent } from "../event/run-events.ts";
import type { Run } from "../run/run.ts";
import type { SendRequest, Task } from "./task.ts";

const BUILT_IN_TARGETS: ReadonlyMap<string, number> = new Map([
  ["end", END],
  ["rollback", ROLLBACK],
]);

export function isCommand(value: unknown): value is Command {
  return value === COMMAND_VALUE;
}

/** One attempt of a task, with the requests that its body has made so far: `goto`, `send`, `stop`, `interrupt`. */
export class Attempt {
  readonly run: Run;
  readonly task: Task;
  /** The step at the start of the attempt: an aborted body may still call its context when the run is further on. */
  readonly step: number;
  /** 1-based. For a resumed call of a graph or plan, the attempt that the call was on. */
  number: number;
  /** The attempt is over: whatever its body still does has no effect. */
  closed = false;
  /** What the body returned. A promise may still be pending after the attempt was aborted. */
  body: unknown;
  gotos: number[] | undefined;
  exclusive = false;
  stopped = false;
  sends: SendRequest[] | undefined;
  /** Set by `interrupt`: the attempt pauses even if its body catches the signal. */
  pause: PauseSignal | undefined;
  /** A forbidden request. It fails the node even if its body catches the error. */
  violation: NodeError | StoreError | undefined;
  /** Called when a timeout or a cancellation aborts the attempt. */
  onAbort: ((reason: unknown) => void) | undefined;
  interrupts = 0;
  /** Signals that the body has taken. */
  taken: Signal[] | undefined;
  /** The result comes from the cache. */
  cached = false;
  /** The cache entry for the result (policy `cache`). */
  cacheKey: string | undefined;
  /** The undo entries of the graph that the attempt has called, under the names of that graph. */
  called: readonly UndoEntry[] | undefined;
  /** Called graphs that have not finished: namespace -> checkpoint id. */
  children: Readonly<Record<string, string>> | undefined;
  /** The undo entries of the graphs that the body has called as tools, under the names of this graph. */
  toolUndos: UndoEntry[] | undefined;
  /** An error of a graph called as a tool that ends the attempt, whatever its body does with it. */
  ending: unknown;
  /** The graphs in progress that the body has called as tools. @returns when they have stopped */
  stopCalls: ((reason: unknown) => Promise<unknown>) | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;

  constructor(run: Run, task: Task, number: number) {
    this.run = run;
    this.task = task;
    this.step = run.step;
    this.number = number;
  }

  get hasJump(): boolean {
    return this.gotos !== undefined || this.stopped;
  }

  get hasRequests(): boolean {
    return this.hasJump || this.sends !== undefined;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      const { aborted, reason } = this.run.cancellation;
      if (this.#reason !== undefined || aborted) this.#controller.abort(this.#reason ?? reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.closed = true;
    this.interruptBody(reason);
  }

  get isInterrupted(): boolean {
    return this.#reason !== undefined;
  }

  /** Tells the body that the attempt is about to end. */
  interruptBody(reason: unknown): void {
    this.#reason = reason ?? new Error("the attempt was aborted");
    // Mutation point: abort-signal
    this.#controller?.abort(this.#reason);
    this.onAbort?.(this.#reason);
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
    // Without targets the edges of the node are followed, as in the scheduler. Only `stop` ends a branch.
    this.gotos = targets.length === 0 ? undefined : targets;
    this.exclusive = options?.exclusive === true && targets.length > 0;
    this.stopped = false;
    return COMMAND_VALUE;
  }

  stop(): Command {
    const { goes, spec } = this.task.node;
    if (goes?.has(END) !== true) {
      throw this.#violate(
        "NG_UNDECLARED_GOTO",
        `node \`${spec.name}\` may not stop its branch: declare it with \`goes end\``,
      );
    }
    this.stopped = true;
    this.gotos = undefined;
    this.exclusive = false;
    return COMMAND_VALUE;
  }

  send(node: unknown, item: Json): Command {
    const target = this.#target(node, "send");
    const admitted = admitJson(item);
    const nth = `\`send\` (invocation index ${this.sends?.length ?? 0}) of node \`${this.task.node.spec.name}\``;
    if (target < 0) throw this.#violate("NG_UNDECLARED_GOTO", `${nth}: \`${node as string}\` cannot receive items`);
    if (admitted instanceof Mismatch) throw this.#violate("NG_BAD_RESULT", `${nth}: ${admitted.describe()}`);
    (this.sends ??= []).push({ node: target, item: admitted });
    return COMMAND_VALUE;
  }

  interrupt<T>(payload: Json, options: Parameters<NodeContext["interrupt"]>[1]): T {
    if (this.pause !== undefined) throw this.pause;
    const { run, task } = this;
    const { name } = task.node.spec;
    const problem = interruptProblem(options);
    if (problem !== undefined) throw this.#violate("NG_BAD_RESULT", `node \`${name}\`: ${problem}`);
    if (task.undo !== undefined) throw this.#violate("NG_BAD_RESULT", `the undo of node \`${name}\` cannot wait`);
    const id = this.#nextPauseId();
    // Mutation point: consumed-answer
    const answer = run.shared.answers.get(id);
    if (answer !== undefined) return answer.value as T;
    if (run.shared.durable === undefined) {
      const message = `node \`${name}\` waits for an answer, which needs a store: give the engine a \`store\``;
      throw (this.violation = new StoreError("NG_NO_STORE", message));
    }
    const admitted = admitJson(payload);
    if (admitted instanceof Mismatch) {
      throw this.#violate("NG_BAD_RESULT", `node \`${name}\`: \`interrupt\` takes plain JSON: ${admitted.describe()}`);
    }
    const due = this.#deadline(id, options?.within, "answer");
    // The payload is shown to people and stored in checkpoints.
    throw this.#pauseWith("interrupt", id, redactJson(run.shared.redact, admitted), due, options?.expects);
  }

  /** @throws PauseSignal if more than a minute is left */
  sleep(milliseconds: number): Promise<void> | void {
    if (this.pause !== undefined) throw this.pause;
    const { run, task } = this;
    const { durable, clock } = run.shared;
    const { name } = task.node.spec;
    const id = this.#nextPauseId();
    const begins = run.dues?.has(id) !== true;
    const due = run.dueOf(id, milliseconds);
    // A sleep that begins has all its time left, however late the clock is read again.
    const left = begins ? milliseconds : due - run.shared.now();
    if (left <= 0) return undefined;
    // A task of a plan holds its slot while it sleeps.
    if (left > LONGEST_HOLD && run.program.what === "graph") {
      if (durable !== undefined) throw this.#pauseWith("timer", id, null, due, undefined);
      const message = `node \`${name}\` sleeps longer than a minute, which needs a store: give the engine a \`store\``;
      throw (this.violation = new StoreError("NG_NO_STORE", message));
    }
    const wait = (): Promise<void> => waitUntil(due, clock, this.signal);
    // Mutation point: durable-due
    const stored = run.writer?.keepDue(name, id, due);
    return stored === undefined ? wait() : stored.then(wait);
  }

  addToolUndos(entries: readonly UndoEntry[]): void {
    if (entries.length > 0) (this.toolUndos ??= []).push(...entries);
  }

  async once<T extends Json>(key: string, work: () => Promise<T> | T): Promise<T> {
    const { run, task } = this;
    const name = taskName(task);
    const id = `${name}/${key}`;
    const known = run.parts?.get(id);
    if (known !== undefined) {
      const undos = run.parts?.get(`${id} undo`);
      if (undos !== undefined) this.addToolUndos(undos as unknown as readonly UndoEntry[]);
      return known as T;
    }
    const before = this.toolUndos?.length ?? 0;
    const value = admitJson(await work());
    if (value instanceof Mismatch) {
      throw this.#violate("NG_BAD_RESULT", `a part of node \`${task.node.spec.name}\`: ${value.describe()}`);
    }
    // The step may be over, and an undo is stored as a whole.
    if (this.closed || task.undo !== undefined) return value as T;
    const added = this.toolUndos?.slice(before) ?? [];
    if (added.length > 0) {
      // Durable before the part that hides the call from the next execution.
      const undos = added as unknown as Json;
      (run.parts ??= new Map()).set(`${id} undo`, undos);
      await run.writer?.keepPart(task.node.spec.name, `${id} undo`, undos);
    }
    (run.parts ??= new Map()).set(id, value);
    await run.writer?.keepPart(task.node.spec.name, id, value);
    return value as T;
  }

  /** Takes the next signal with a name. @throws PauseSignal if the inbox has none; NodeError if its deadline has passed */
  receive<T>(name: string, expects: ExpectedType | undefined): Promise<T> | T {
    if (this.pause !== undefined) throw this.pause;
    const { run, task } = this;
    const { within } = task.node.spec;
    const { durable, inbox } = run.shared;
    const id = this.#nextPauseId();
    if (durable === undefined) return this.#receiveWithoutStore(name, within, id);
    if (durable.store.getSignals === undefined) {
      const message = `node \`${task.node.spec.name}\` waits for a signal, but this store keeps no signals`;
      throw (this.violation = new StoreError("NG_NO_STORE", message));
    }
    const take = (signals: readonly Signal[]): T => {
      const signal = inbox.take(name, signals);
      // A signal that is there wins over a deadline that has passed.
      if (signal === undefined)
        throw this.#pauseWith("signal", id, name, this.#deadline(id, within, "signal"), expects);
      (this.taken ??= []).push(signal);
      if (run.listening) {
        emitEvent(run, { type: "signal", phase: "taken", id: signal.id, name, node: task.node.spec.name });
      }
      return signal.value as T;
    };
    const signals = run.readSignals();
    return isThenable(signals) ? Promise.resolve(signals).then(take) : take(signals);
  }

  async #receiveWithoutStore<T>(name: string, within: number | undefined, id: string): Promise<T> {
    const { run, task } = this;
    const node = task.node.spec.name;
    const { mailbox, clock } = run.shared;
    if (within === undefined || within > LONGEST_HOLD || mailbox === undefined) {
      const message = `node \`${node}\` waits for a signal, which needs a store: give the engine a \`store\``;
      throw (this.violation = new StoreError("NG_NO_STORE", message));
    }
    const signal = await mailbox.receive(name, run.dueOf(id, within), clock, this.signal);
    if (signal === undefined) throw this.#timeout(within, "signal");
    if (run.listening) emitEvent(run, { type: "signal", phase: "taken", id: signal.id, name, node });
    return signal.value as T;
  }

  #nextPauseId(): string {
    return this.run.pauseId(taskName(this.task), this.task.execution ?? this.step, this.interrupts++);
  }

  /** The due time of a wait with a deadline. @throws NodeError NG_NODE_TIMEOUT if it has passed */
  #deadline(id: string, given: number | undefined, what: "answer" | "signal"): number | undefined {
    const within = given ?? this.task.node.spec.within;
    if (within === undefined) return undefined;
    const due = this.run.dueOf(id, within);
    // Mutation point: deadline
    if (this.run.isDue(due)) throw this.#timeout(within, what);
    return due;
  }

  #timeout(within: number, what: "answer" | "signal"): NodeError {
    const { name } = this.task.node.spec;
    return this.#violate("NG_NODE_TIMEOUT", `node \`${name}\` received no ${what} within ${within} ms`);
  }

  #pauseWith(
    kind: PauseItem["kind"],
    id: string,
    payload: Json,
    due: number | undefined,
    expects: ExpectedType | undefined,
  ): PauseSignal {
    const { run, task } = this;
    const item: PauseItem = {
      id,
      node: task.node.spec.name,
      kind,
      payload,
      ...(due === undefined ? {} : { due }),
      namespace: run.path,
      taskId: task.id,
      ...(expects === undefined ? {} : { expects }),
    };
    return (this.pause = new PauseSignal([item]));
  }

  report(used: unknown): void {
    if (this.closed) return;
    const usage = readUsage(used);
    if (usage !== undefined) return this.run.addUsage(usage);
    const message = "`usage` takes a record of `inputTokens`, `outputTokens` and `cost`, which are numbers from 0";
    throw this.#violate("NG_BAD_RESULT", `node \`${this.task.node.spec.name}\`: ${message}`);
  }

  emit(data: unknown, options: Parameters<NodeContext["emit"]>[1]): void {
    if (this.closed) return;
    const problem = emitProblem(options);
    if (problem !== undefined) throw this.#violate("NG_BAD_RESULT", `node \`${this.task.node.spec.name}\`: ${problem}`);
    if (!this.run.listening) return;
    const admitted = admitJson(data);
    const shown =
      admitted instanceof Mismatch
        ? `not plain JSON: ${admitted.describe()}`
        : redactJson(this.run.shared.redact, admitted);
    const named = options?.kind === undefined ? {} : { kind: options.kind };
    const { itemIndex, node } = this.task;
    const item = itemIndex === -1 ? {} : { item: itemIndex };
    emitEvent(this.run, { type: "custom", node: node.spec.name, ...item, ...named, data: shown });
  }

  #target(name: unknown, verb: "go" | "send"): number {
    const { program } = this.run;
    const { goes, spec } = this.task.node;
    if (typeof name !== "string") {
      const call = verb === "go" ? "goto" : "send";
      const message = `\`${call}\` of node \`${spec.name}\` takes the names of nodes, not ${kindOf(name)}`;
      throw this.#violate("NG_UNDECLARED_GOTO", message);
    }
    const index = BUILT_IN_TARGETS.get(name) ?? program.nodeIndex.get(name);
    if (index !== undefined && goes?.has(index) === true) return index;
    const declared = [...(goes ?? [])].map((goal) => `\`${this.run.nodeName(goal)}\``).join(", ") || "none";
    const nth = verb === "send" ? ` (send invocation index ${this.sends?.length ?? 0})` : "";
    const why = index === undefined ? "there is no such node" : "its policies do not declare it";
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
