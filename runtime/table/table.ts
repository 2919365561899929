/**
 * The routing table: a compiled graph as plain, indexed, immutable JSON. The compiler emits it, the scheduler and the
 * engine read it; nothing else connects them (execution.md, section 1).
 *
 * Nodes, channels, barriers and expressions are referred to by their index in the table's arrays. Two graphs with the
 * same meaning have the same digest. So nothing here depends on layout, comments or spelling; positions and
 * documentation are in `debug`, which the digest omits.
 */
import type { Effect } from "./effects.ts";
import type { Expression } from "../expression/expression.ts";
import type { Json } from "../value/json.ts";
import type { PlanTable } from "./plan-table.ts";
import type { FieldType, ValueType } from "./value-type.ts";

export type { Effect } from "./effects.ts";

export const TABLE_FORMAT = "ngraph.table";
export const TABLE_VERSION = 2;

/** The built-in target `end` where a node index is expected. */
export const END = -1;
/** The built-in target `rollback` where a node index is expected: it ends the run and undoes what has completed. */
export const ROLLBACK = -2;

/** `sha256:` and 64 hexadecimal digits. */
export type Digest = `sha256:${string}`;
export type NodeIndex = number;
export type ChannelIndex = number;
export type BarrierIndex = number;
export type ExpressionIndex = number;
export type FunctionIndex = number;
export type GraphIndex = number;

export interface Table {
  readonly format: typeof TABLE_FORMAT;
  readonly version: typeof TABLE_VERSION;
  readonly kind: "graph";
  readonly name: string;
  /** Earlier names of the graph: a resume renames their threads. */
  readonly was?: readonly string[];
  /**
   * Inputs, then outputs, state, memory and configuration; each group in declaration order. Behind them, the
   * configuration that only called graphs declare.
   */
  readonly channels: readonly ChannelSpec[];
  /** In declaration order: the order in which updates are applied (2.2). */
  readonly nodes: readonly NodeSpec[];
  /** The edges of `start`; only `plain`, `when`, `otherwise` and `match` occur. */
  readonly start: readonly RouteSpec[];
  /** The edges of `finally`, as those of `start`; absent if there are none. */
  readonly finally?: readonly RouteSpec[];
  readonly barriers: readonly BarrierSpec[];
  /** Channels of earlier versions: a resume drops their values. */
  readonly dropped?: readonly string[];
  readonly expressions: readonly Expression[];
  /** Imported functions: node bodies, reducers and functions called in expressions. */
  readonly functions: readonly FunctionSpec[];
  /** Named types: the targets of `ref`s. */
  readonly types: readonly { readonly name: string; readonly type: ValueType }[];
  /** Graphs called as nodes. Each table is complete. */
  readonly graphs: readonly Table[];
  /** Plans called as nodes; absent if there are none. */
  readonly plans?: readonly PlanTable[];
  /** Names of environment variables declared with `secret`. */
  readonly secrets: readonly string[];
  /** Sorted effects of this graph and of the graphs it calls. */
  readonly effects: readonly Effect[];
  /**
   * Steps of one run (2.8); `null` for no limit. Tasks in flight at once; `null` for no limit. Tokens and cost that a
   * run may use; absent for no limit.
   */
  readonly limits: {
    readonly steps: number | null;
    readonly parallel: number | null;
    readonly tokens?: number;
    readonly cost?: number;
  };
  readonly assertions: readonly AssertionSpec[];
  readonly digest: Digest;
  readonly debug?: TableDebug;
}

export interface ChannelSpec {
  readonly name: string;
  readonly role: "input" | "output" | "state" | "memory" | "config";
  readonly type: ValueType;
  /** Earlier names: a resume renames the values of threads. */
  readonly was?: readonly string[];
  /**
   * The start value. Absent: an input or a configuration that must be given. A channel without a default has the start value of its
   * reducer (`null`, `[]`, `0`, `{}`).
   */
  readonly initial?: Json;
  /** Absent: one writer in each step. */
  readonly reducer?: ReducerSpec;
}

export type ReducerSpec =
  | { readonly kind: "last" | "append" | "sum" | "min" | "max" | "merge" | "union" }
  | { readonly kind: "function"; readonly function: FunctionIndex };

export interface FunctionSpec {
  /** Name in the graph's file: the key in the engine's `functions`. */
  readonly name: string;
  /** Module specifier as written, and the name that the module exports. */
  readonly module: string;
  readonly export: string;
  /**
   * The beginning of the SHA-256 of the signatures that the module declares, with the types in them: a table changes with them. Absent
   * if the module declares none.
   */
  readonly signature?: string;
}

export interface NodeSpec {
  readonly name: string;
  readonly call: CallSpec | PlanCallSpec;
  /** One task for each item of the list for which the condition holds. */
  readonly each?: {
    readonly item: string;
    /** The variable that holds the position of the item in the list. */
    readonly index?: string;
    readonly list: ExpressionIndex;
    readonly condition?: ExpressionIndex;
    readonly parallel?: number;
    /** Items that fail are left out, and do not fail the node. */
    readonly allowFailure?: true;
  };
  readonly output?: OutputSpec;
  /** Total number of attempts; `backoff` in milliseconds (default: that of the engine). */
  readonly tries?: { readonly attempts: number; readonly backoff?: { readonly min: number; readonly max: number } };
  /** Milliseconds for each attempt. */
  readonly timeout?: number;
  /** The deadline of an answer or a signal, in milliseconds from the start of the wait. */
  readonly within?: number;
  /** Milliseconds; `null` for the lifetime of the cache. */
  readonly cache?: { readonly for: number | null };
  readonly pauseBefore?: true;
  readonly pauseAfter?: true;
  /** Allowed targets of `goto` and `send`; `END` for `end`, `ROLLBACK` for `rollback`. */
  readonly goes?: readonly NodeIndex[];
  readonly idempotent?: true;
  /** The call that undoes a result of the node when the run rolls back. Not with `cache`. */
  readonly undo?: UndoSpec;
  /** Earlier names: a resume renames the node in checkpoints. */
  readonly was?: readonly string[];
  /** The barrier that gates every signal into this node (`waits`). */
  readonly waits?: BarrierIndex;
  /** The edges of the node in declaration order. Empty: the branch ends here. */
  readonly routes: readonly RouteSpec[];
  /** `on error` edges. */
  readonly onError: readonly ErrorRouteSpec[];
}

export type CallSpec =
  /** Positional arguments, or one record of named arguments. */
  | {
      readonly kind: "function";
      readonly function: FunctionIndex;
      readonly args: readonly ExpressionIndex[];
      /** The function would take the context for a value, such as an optional parameter that the call leaves out. */
      readonly withoutContext?: true;
    }
  | {
      readonly kind: "builtin";
      readonly name: string;
      readonly args: readonly NamedArgument[];
      /** Functions that a model may call. */
      readonly tools?: readonly ToolSpec[];
    }
  | { readonly kind: "graph"; readonly graph: GraphIndex; readonly args: readonly NamedArgument[] }
  | { readonly kind: "expression"; readonly expression: ExpressionIndex };

/** An imported function or a graph as a tool of a model. */
export interface ToolSpec {
  /** The name that the model uses. */
  readonly name: string;
  /** Present if the tool is a function. */
  readonly function?: FunctionIndex;
  /** Present if the tool is a graph. */
  readonly graph?: GraphIndex;
  /** Of a function, in positional order. The parameters of a graph are its inputs. */
  readonly parameters: readonly FieldType[];
  readonly description?: string;
  /** A person approves each call. */
  readonly approval?: true;
  /** The function would take the context for a value. */
  readonly withoutContext?: true;
}

/** The call of an `undo`, with policies of its own. Its arguments read what the node wrote, and otherwise what the node read. */
export interface UndoSpec {
  readonly call: UndoCallSpec;
  readonly tries?: NodeSpec["tries"];
  readonly timeout?: number;
}

export type UndoCallSpec = Extract<CallSpec, { readonly kind: "function" | "builtin" }>;

export interface PlanCallSpec {
  readonly kind: "plan";
  /** Index into the table's `plans`. */
  readonly plan: number;
  readonly args: readonly NamedArgument[];
}

export interface NamedArgument {
  readonly name: string;
  readonly expression: ExpressionIndex;
}

export type OutputSpec =
  | { readonly kind: "channel"; readonly channel: ChannelIndex; readonly set?: true }
  | { readonly kind: "fields"; readonly fields: readonly OutputField[] };

export interface OutputField {
  readonly field: string;
  readonly channel: ChannelIndex;
  /** A result without the field leaves the channel as it is. */
  readonly optional?: true;
  /**
   * The value replaces the value of the channel; the reducer does not apply. No other node may write the channel in the
   * same step.
   */
  readonly set?: true;
}

/** The target of a signal: a node (or `END`, or `ROLLBACK`), or a member of a barrier. */
export type TargetSpec = { readonly node: NodeIndex } | { readonly barrier: BarrierIndex; readonly member: number };

export type RouteSpec =
  | { readonly kind: "plain"; readonly targets: readonly TargetSpec[] }
  | { readonly kind: "when"; readonly condition: ExpressionIndex; readonly targets: readonly TargetSpec[] }
  | { readonly kind: "otherwise"; readonly targets: readonly TargetSpec[] }
  | {
      readonly kind: "match";
      readonly subject: ExpressionIndex;
      readonly arms: readonly {
        readonly values: readonly (string | number | boolean | null)[];
        readonly targets: readonly TargetSpec[];
      }[];
      readonly otherwise?: readonly TargetSpec[];
    }
  | {
      readonly kind: "cases";
      readonly arms: readonly { readonly condition: ExpressionIndex; readonly targets: readonly TargetSpec[] }[];
      readonly otherwise?: readonly TargetSpec[];
    };

export interface ErrorRouteSpec {
  /** Absent: always taken. `"otherwise"`: taken if no conditional error edge of the node applies. */
  readonly condition?: ExpressionIndex | "otherwise";
  readonly targets: readonly TargetSpec[];
}

export interface BarrierSpec {
  /** Stable name in checkpoints: the target's name; `target#2`, … for further barriers of the same target. */
  readonly id: string;
  readonly kind: "all" | "waits" | "settled";
  readonly target: NodeIndex;
  /** Any one of a member's nodes fills it. */
  readonly members: readonly (readonly NodeIndex[])[];
  /** Further targets of `settled`. They run together with `target`. */
  readonly others?: readonly NodeIndex[];
  /**
   * Of `settled`: by member, the nodes from which a signal can reach it. They are ranges of node indexes, ascending:
   * first, last, first, last, …
   */
  readonly reach?: readonly (readonly NodeIndex[])[];
}

/** The targets of a barrier; only `settled` can have more than one. */
export function barrierTargets({ target, others }: BarrierSpec): readonly NodeIndex[] {
  return others === undefined ? [target] : [target, ...others];
}

export type AssertionSpec =
  | { readonly kind: "before"; readonly first: NodeIndex; readonly then: NodeIndex; readonly each?: true }
  | { readonly kind: "once"; readonly node: NodeIndex }
  | { readonly kind: "eventually"; readonly node: NodeIndex }
  | { readonly kind: "never"; readonly node: NodeIndex; readonly with: NodeIndex }
  /** Evaluated before each body of the node starts. */
  | { readonly kind: "at"; readonly node: NodeIndex; readonly condition: ExpressionIndex };

/** Not part of the digest. */
export interface TableDebug {
  readonly file: string;
  /** By node index: 1-based line and column. */
  readonly nodes: readonly { readonly line: number; readonly column: number }[];
  /** By expression index: its first position; `shared` if the expression occurs several times. */
  readonly expressions: readonly { readonly line: number; readonly column: number; readonly shared?: true }[];
  readonly doc?: string;
}
