import type { Command, ExpectedType, NodeContext } from "../interface/context.ts";
import { NodeError, StoreError } from "../interface/errors.ts";
import { readUsage } from "../interface/usage.ts";
import { expectedType } from "../program/expected-type.ts";
import { plainResultType } from "../program/update-types.ts";
import { emitProblem } from "../step/call-options.ts";
import { COMMAND_VALUE } from "../step/command.ts";
import { sha256 } from "../table/sha256.ts";
import type { Json } from "../value/json.ts";
import type { DirectRun } from "./direct-run.ts";

/** A request of a body that only the engine can answer. The engine makes it again when it takes the run over. */
export interface Request {
  readonly method: "goto" | "send" | "stop" | "interrupt" | "usage" | "emit";
  readonly args: readonly unknown[];
}

/**
 * The context of a body in a run that needs no engine. A request that concerns the run is kept, and the run is handed over to the
 * engine when the body has ended. Nodes with jumps have a context of their own, and the run has no store, so most requests are refused.
 */
export class DirectContext implements NodeContext {
  readonly #run: DirectRun;
  readonly #index: number;
  readonly step: number;
  // A run without the engine has none of them.
  declare readonly failure: undefined;
  declare readonly allowedHosts: undefined;
  #controller: AbortController | undefined;
  #requests: Request[] | undefined;
  #isOver = false;

  constructor(run: DirectRun, index: number) {
    this.#run = run;
    this.#index = index;
    this.step = run.step;
  }

  /** What the body has requested. What it does from now on has no effect. */
  static close(context: DirectContext): readonly Request[] | undefined {
    context.#isOver = true;
    return context.#requests;
  }

  /** The time of the body is over, or its run has ended. */
  static abort(context: DirectContext, reason: unknown): void {
    context.#isOver = true;
    (context.#controller ??= new AbortController()).abort(reason);
  }

  static isOver(context: DirectContext): boolean {
    return context.#isOver;
  }

  /** Keeps a request for the engine. */
  static ask(context: DirectContext, request: Request): void {
    if (!context.#isOver) (context.#requests ??= []).push(request);
  }

  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal;
  }
  get attempt(): number {
    return 1;
  }
  get item(): Json | undefined {
    return undefined;
  }
  get thread(): string {
    return this.#run.id;
  }
  get idempotencyKey(): string {
    return `sha256:${sha256(`${this.#run.id}:${this.#name}@${this.step}`)}`;
  }
  get context(): NodeContext["context"] {
    return this.#run.options.context ?? NO_CONTEXT;
  }
  get expects(): ExpectedType | undefined {
    const { table } = this.#run.code;
    return expectedType(table, table.nodes[this.#index]!, (channel, _isItem, types) => plainResultType(channel, types));
  }
  get memory(): NodeContext["memory"] {
    return this.#run.code.memory;
  }
  get redact(): NodeContext["redact"] {
    return this.#run.code.secrets?.redact ?? ((text) => text);
  }
  get emit(): NodeContext["emit"] {
    // A direct run has no listeners.
    return (data, options) => {
      if (this.#isOver || emitProblem(options) === undefined) return;
      this.#request("emit", [data, options]);
      throw this.#refusal("NG_BAD_RESULT", "emits with options that are none");
    };
  }
  get usage(): NodeContext["usage"] {
    return (used) => {
      if (this.#isOver) return;
      this.#request("usage", [used]);
      if (readUsage(used) === undefined) throw this.#refusal("NG_BAD_RESULT", "reports a usage that is none");
    };
  }
  get interrupt(): NodeContext["interrupt"] {
    return (...args) => {
      this.#request("interrupt", args);
      const message = `node \`${this.#name}\` waits for an answer, which needs a store: give the engine a \`store\``;
      throw new StoreError("NG_NO_STORE", message);
    };
  }
  get goto(): NodeContext["goto"] {
    return (...args: readonly unknown[]): Command => {
      // Without targets, the edges are followed. The engine checks options that are wrong.
      if (args.every((arg, at) => arg === "" || (at === args.length - 1 && isExclusive(arg)))) return COMMAND_VALUE;
      this.#request("goto", args);
      throw this.#refusal("NG_UNDECLARED_GOTO", "may not go to another node: declare it with `goes`");
    };
  }
  get send(): NodeContext["send"] {
    return (...args: readonly [string, Json?]): Command => {
      this.#request("send", [args[0], args.length < 2 ? null : args[1]]);
      throw this.#refusal("NG_UNDECLARED_GOTO", "may not send to another node: declare it with `goes`");
    };
  }
  get stop(): NodeContext["stop"] {
    return (): Command => {
      this.#request("stop", []);
      throw this.#refusal("NG_UNDECLARED_GOTO", "may not stop its branch: declare it with `goes end`");
    };
  }

  get #name(): string {
    return this.#run.code.table.nodes[this.#index]!.name;
  }

  #request(method: Request["method"], args: readonly unknown[]): void {
    DirectContext.ask(this, { method, args });
  }

  #refusal(code: "NG_BAD_RESULT" | "NG_UNDECLARED_GOTO", problem: string): NodeError {
    return new NodeError(code, this.#name, `node \`${this.#name}\` ${problem}`);
  }
}

function isExclusive(arg: unknown): boolean {
  return typeof arg === "object" && arg !== null && "exclusive" in arg && typeof arg.exclusive === "boolean";
}

const NO_CONTEXT: NodeContext["context"] = Object.freeze({});
