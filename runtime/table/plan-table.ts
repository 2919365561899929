/**
 * A compiled plan: a dependency graph of tasks over shared paths. Plain JSON like a routing table, with the same
 * expressions, calls and types. The plan scheduler and the plan runner read it (execution.md, section 9).
 */
import type { Expression } from "../expression/expression.ts";
import type {
  CallSpec,
  ChannelIndex,
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
export const PLAN_VERSION = 2;
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
  /** `file`: ready tasks start in file order. `priority`: the longest remaining path goes first (9.5). */
  readonly order: "priority" | "file";
  readonly onFailure: "continue" | "no-new" | "kill";
  readonly pools: readonly { readonly name: string; readonly size: number }[];
  /**
   * The value of a channel in a task: the start value with the updates of all finished ancestors of the task, applied
   * in `topologicalOrder`. So the value does not depend on timing. The outputs apply the updates of all finished tasks.
   * There are no `memory` channels.
   */
  readonly channels: readonly ChannelSpec[];
  /** In file order. A matrix task occurs once for each value. */
  readonly tasks: readonly TaskSpec[];
  readonly expressions: readonly Expression[];
  readonly functions: readonly FunctionSpec[];
  readonly types: readonly { readonly name: string; readonly type: ValueType }[];
  readonly graphs: readonly Table[];
  readonly plans: readonly PlanTable[];
  readonly secrets: readonly string[];
  readonly effects: readonly Effect[];
  /**
   * A matrix over a list that is known at run time: a plan of one task, which its caller runs once for each value. Absent in other
   * plans.
   */
  readonly matrix?: MatrixSpec;
  readonly digest: Digest;
  /** The best order that `ngc plan --optimize` found: rank by task index. Not part of the digest. */
  readonly ranks?: readonly number[];
  readonly debug?: TableDebug;
}

export interface MatrixSpec {
  /** The input with the values. */
  readonly list: ChannelIndex;
  /** The plan that declares the task: its pools are those of this plan. */
  readonly plan: string;
}

/**
 * Which ends of its dependencies start a task. `all`: all are done. `any`: one is done. `done`: all have ended. `failed`: all have
 * ended, and one has failed or is blocked. `mixed`: each dependency has its own, in `needs`.
 */
export type Trigger = "all" | "any" | "done" | "failed" | "mixed";

/** The end of a task, as `status(a)` returns it. */
export type TaskStatusName = "done" | "failed" | "blocked" | "skipped" | "cancelled";

/** What a task waits for in one of its dependencies. */
export type TaskNeed = "all" | "done" | "failed";

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
  /** Of a matrix task: the variable and its value; `null` in the task of a `matrix`, which has a value when it runs. */
  readonly item?: { readonly name: string; readonly value: Json };
  /**
   * The task starts when all tasks that are not `finally` have ended, however they ended; a failure, and a run that starts no further
   * task, do not keep it from starting. `after` names all these tasks.
   */
  readonly finally?: true;
  readonly after: readonly TaskIndex[];
  readonly trigger: Trigger;
  /** Of a `mixed` trigger, by position in `after`. */
  readonly needs?: readonly TaskNeed[];
  /** If it is false when the task would start, the task is skipped. */
  readonly condition?: ExpressionIndex;
  /**
   * `status(a)` in the condition: the name of the local variable, and the tasks of its dependencies that it stands for, several for a
   * matrix.
   */
  readonly statuses?: readonly { readonly name: string; readonly tasks: readonly TaskIndex[] }[];
  readonly output?: OutputSpec;
  readonly touches: readonly TouchSpec[];
  readonly alone?: true;
  /** A failure counts as done for the tasks that depend on it, for `onFailure` and for the outcome. It writes nothing. */
  readonly allowFailure?: true;
  /** It runs in a working tree of its own. What it has changed within its `touches` is merged when its checks pass. */
  readonly worktree?: true;
  readonly pool?: { readonly pool: number; readonly count: number };
  /** All checks run after each attempt. The task has converged when all pass. */
  readonly checks: readonly CallSpec[];
  /** The number given in the file, else 6 for a task with checks, else 1. */
  readonly tries: number;
  /**
   * Milliseconds before the second attempt, doubled before each further one up to `max`. Absent: 2 s, at most 60 s
   * (9.6).
   */
  readonly backoff?: { readonly min: number; readonly max: number };
  /** Milliseconds for each attempt. */
  readonly timeout?: number;
  /** Milliseconds that the schedule assumes until a duration is recorded. */
  readonly estimate?: number;
  /** Skips the task if nothing that its result depends on has changed. */
  readonly cache?: CacheSpec;
  /** The command has the terminal. Such a task is `alone`. */
  readonly interactive?: true;
}

/** What the result of a cached task depends on beside its call, its `touches` and the tasks before it, and what belongs to it. */
export interface CacheSpec {
  /** Further globs of files, normalised like `touches`. */
  readonly inputs: readonly string[];
  /** Globs of files that are stored with the result and restored with it. They are among the `touches`, too. */
  readonly outputs?: readonly string[];
  /** Names of environment variables. */
  readonly variables?: readonly string[];
  /** Commands whose output counts. The effects of the plan include `shell`. */
  readonly tools?: readonly string[];
}

/** A path or glob relative to the root, normalised: `/` between segments, no `.` or `..`. */
export interface TouchSpec {
  readonly path: string;
  readonly mode: "read" | "write";
}
