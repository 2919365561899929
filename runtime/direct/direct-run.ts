/** A run of a graph without the engine: its state, its tasks, and what ends it in the engine. */
import type { Scope } from "../expression/compile-expression.ts";
import type { Clock } from "../interface/clock.ts";
import type { RunOptions, RunResult } from "../interface/engine-options.ts";
import type { Turn } from "../run/take-turns.ts";
import type { Json } from "../value/json.ts";
import type { DirectBarriers } from "./direct-barriers.ts";
import { DirectContext, type Request } from "./direct-context.ts";
import { NOTHING } from "./direct-edges.ts";
import { Unlocated, type DirectGraph } from "./direct-graph.ts";
import type { DirectItem, DirectStep } from "./direct-items.ts";
import type { DirectTimer } from "./direct-timeouts.ts";

/** A task of the step that the engine takes over. */
export interface DirectTask {
  readonly context: DirectContext;
  /** `none`: the signal of the run has aborted before the body began. */
  state: "none" | "pending" | "value" | "thrown";
  /** The promise of a pending body, what it returned, or what it threw. */
  value: unknown;
  /** Of a body that has aborted the signal of the run before it threw. */
  isLate?: boolean;
  /** Of a pending body with a timeout. */
  timer?: DirectTimer;
  /** Of a `for` node: each of its items has a task of its own once its body has begun. */
  items?: readonly DirectItem[];
}

/** Ends a run in the engine: from a step whose tasks have begun, or between two steps. */
export type TakeOver = (run: DirectRun, tasks?: readonly DirectTask[]) => Promise<RunResult>;

/** Ends a run when its loop has ended, or in the engine when its signal aborts. Only runs with a signal have it. */
export interface DirectGuard {
  readonly aborted: boolean;
  /** The run awaits the body of the only node of its step. */
  alone(context: DirectContext, value: unknown): void;
  /** The run awaits bodies of the step, which is over when the signal aborts. */
  begin(tasks: readonly DirectTask[], step: DirectStep): void;
  /** The bodies have ended. Returns whether the signal has aborted before: the engine has ended the run. */
  end(): boolean;
  resolve(result: RunResult): void;
  reject(error: unknown): void;
}

/** The code of runs with a signal, which is loaded with the engine. */
export type RunGuarded = (run: DirectRun, loop: Loop, takeOver: TakeOver) => Promise<RunResult>;

/** Runs the steps of a run. The guard of a run receives its end, which saves a promise. */
export type Loop = (run: DirectRun, takeOver: TakeOver) => Promise<RunResult | void>;

/** The state of a run between its steps, and the scope of its expressions. */
export class DirectRun implements Scope {
  readonly code: DirectGraph;
  readonly options: RunOptions;
  readonly state: Json[];
  /** Without a store. */
  declare readonly durable: undefined;
  readonly error = null;
  readonly outcome = null;
  readonly barriers: DirectBarriers | undefined;
  readonly steps: (readonly string[])[] = [];
  step = 0;
  ready: readonly number[];
  /** The lists of the `for` nodes of the step, by node. */
  lists: ReadonlyMap<number, unknown> | undefined;
  guard: DirectGuard | undefined;
  #id: string | undefined;

  constructor(code: DirectGraph, options: RunOptions) {
    this.code = code;
    this.options = options;
    this.state = code.initial.slice();
    this.barriers = code.barriers.length === 0 ? undefined : code.module.barriers!.open(code.barriers);
    this.ready = NOTHING;
  }

  get id(): string {
    return (this.#id ??= randomId());
  }
  get secrets(): Scope["secrets"] {
    return this.code.secrets?.values;
  }
  get turn(): Turn {
    return this.code.turn;
  }
  get clock(): Clock {
    return this.code.clock;
  }

  get aborted(): boolean {
    return this.guard?.aborted === true;
  }

  /** For the engine, which imports no class of the start. */
  abort(context: DirectContext, reason: unknown): void {
    DirectContext.abort(context, reason);
  }
  close(context: DirectContext): readonly Request[] | undefined {
    return DirectContext.close(context);
  }
  unlocated(thrown: unknown): Unlocated | undefined {
    return thrown instanceof Unlocated ? thrown : undefined;
  }
}

/** A UUID v4, for the few runs that need an id. `newId`, which makes many of them fast, is in the engine: it is a part of the start's size. */
function randomId(): string {
  return "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) => {
    const [random = 0] = globalThis.crypto.getRandomValues(new Uint8Array(1));
    return (Number(digit) ^ (random & (15 >> (Number(digit) / 4)))).toString(16);
  });
}
