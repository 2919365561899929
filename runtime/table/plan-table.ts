/**
 * A compiled plan: a dependency graph of tasks over shared paths. Plain JSON like a routing table, and made of the same parts
 * (expressions, calls, types); the plan scheduler and the plan runner read it (execution.md, section 9).
 */
import type { Expression } from "../expression/expression.ts";
import type {
  CallSpec,
  ChannelSpec,
  Digest,
  Effect,
  ExpressionIndex,
  FunctionSpec,
  OutputSpec,
  Table,
  TableDebug,
} from "./table.ts";
import type { ValueType } from "./value-type.ts";
import type { Json } from "../value/json.ts";

export const PLAN_FORMAT = "ngraph.plan";
export const PLAN_VERSION = 1;
export const DEFAULT_MAX_PARALLEL = 4;
export const DEFAULT_TRIES = 6;

export type TaskIndex = number;

export interface PlanTable {
  readonly format: typeof PLAN_FORMAT;
  readonly version: typeof PLAN_VERSION;
  readonly kind: "plan";
  readonly name: string;
  /** Tasks in flight at once; at least 1. */
  readonly maxParallel: number;
  /** `file`: ready tasks start in file order; otherwise the longest remaining path goes first (9.5). */
  readonly order: "priority" | "file";
  readonly onFailure: "continue" | "no-new" | "kill";
  readonly pools: readonly { readonly name: string; readonly size: number }[];
  /**
   * A task sees, of each channel, the start value with the updates of those tasks that it comes after (through any number of others) and
   * that are done, put together in `topologicalOrder`: so what it reads does not depend on timing. The outputs are made of
   * the updates of all tasks that are done. There are no `memory` channels.
   */
  readonly channels: readonly ChannelSpec[];
  /** In file order; a matrix task stands here once a value. */
  readonly tasks: readonly TaskSpec[];
  readonly expressions: readonly Expression[];
  readonly functions: readonly FunctionSpec[];
  readonly types: readonly { readonly name: string; readonly type: ValueType }[];
  readonly graphs: readonly Table[];
  readonly plans: readonly PlanTable[];
  readonly secrets: readonly string[];
  readonly effects: readonly Effect[];
  readonly digest: Digest;
  /** The best order that `ngc plan --optimize` found: rank by task index. Not part of the digest. */
  readonly ranks?: readonly number[];
  readonly debug?: TableDebug;
}

/** What starts a task, given how those it comes `after` have ended. */
export type Trigger = "all" | "any" | "done";

export interface TaskSpec {
  /** Of a matrix task: `test[20]`. */
  readonly name: string;
  readonly call:
    | CallSpec
    | {
        readonly kind: "plan";
        readonly plan: number;
        readonly args: readonly { readonly name: string; readonly expression: ExpressionIndex }[];
      };
  /** Of a matrix task: the variable and its value. */
  readonly item?: { readonly name: string; readonly value: Json };
  readonly after: readonly TaskIndex[];
  readonly trigger: Trigger;
  /** Where it does not hold when the task would start, the task is skipped. */
  readonly condition?: ExpressionIndex;
  readonly output?: OutputSpec;
  readonly touches: readonly TouchSpec[];
  readonly alone?: true;
  readonly pool?: { readonly pool: number; readonly count: number };
  /** All of them run after each attempt; the task has converged when all pass. */
  readonly checks: readonly CallSpec[];
  /** Written out: what the file says, else 6 where there are checks, else 1. */
  readonly tries: number;
  /** Milliseconds before the second attempt, doubled before each further one up to `max`; absent: 2 s, at most 60 s (9.6). */
  readonly backoff?: { readonly min: number; readonly max: number };
  /** Milliseconds, of each attempt. */
  readonly timeout?: number;
  /** Milliseconds; what the schedule assumes until a duration has been recorded. */
  readonly estimate?: number;
  /** Skip the task when nothing it depends on has changed; `inputs` are further globs, normalised like `touches`. */
  readonly cache?: { readonly inputs: readonly string[] };
}

/** A path or glob relative to the root, normalised: `/` between segments, no `.` or `..`. */
export interface TouchSpec {
  readonly path: string;
  readonly mode: "read" | "write";
}
