/**
 * The control flow of a graph as a 1-safe Petri net, which the checks and proofs analyse. Places are small integers. A
 * place in `0 .. nodes-1` means that this node runs in the next step. Any other place means that one member of a
 * barrier has signalled. A marking is a set of places.
 *
 * `build-model.ts` builds the model from a bound graph; tests build it by hand. It contains no syntax except `Origin`,
 * the source position for diagnostics.
 */
import type { Span } from "../../diagnostics/source.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { BoundEdge, BoundReference } from "../bind/bound-graph.ts";
import type { Formula } from "./formula.ts";
import type { TermTable } from "./terms.ts";
import type { ValueSet } from "./value-set.ts";

/** Target that ends a branch. */
export const END_TARGET = -1;

export interface ControlModel {
  readonly name: string;
  readonly nodes: readonly ControlNode[];
  /** How jumps are read. */
  readonly jumps: JumpReading;
  /** Edges of `start`. */
  readonly start: Routing;
  readonly barriers: readonly ControlBarrier[];
  /** Number of places: nodes and barrier members. */
  readonly placeCount: number;
  /** By place: the barrier it belongs to, -1 for nodes. */
  readonly barrierOfPlace: Int32Array;
  readonly terms: TermTable;
  readonly data: DataModel;
  /** Descriptions of constructs that the model cannot represent. If there are any, nothing is proven. */
  readonly unsupported: readonly string[];
}

export interface ControlNode {
  readonly index: number;
  readonly name: string;
  /** Its position among the declared nodes. */
  readonly declared: number;
  /** It represents the tasks that `send` creates for a node: one or more, all in the same step. */
  readonly isSent: boolean;
  readonly routing: Routing;
  /** `on error` edges; `undefined` where a failure fails the run. */
  readonly errorRouting: Routing | undefined;
  /** It always fails (`fail`). */
  readonly alwaysFails: boolean;
  /**
   * `freely`: a failure is known to be possible (an imported function, a model, a request). `never`: an expression that
   * fails only where `defined` is false. `perhaps`: a failure is neither excluded nor known to be possible.
   */
  readonly fails: "freely" | "perhaps" | "never";
  /** The formula under which the expression of the node has a value; otherwise the node fails. Absent: always. */
  readonly defined: Formula | undefined;
  /** The targets of `goto`, with `END_TARGET` for `end` and `stop()`; `undefined` if the node cannot jump. */
  readonly jumps: readonly number[] | undefined;
  /** The model nodes for the tasks that it may send (`isSent`); empty with `jumps: "one"`. */
  readonly sends: readonly number[];
  /** The `waits` barrier that receives every signal into it, or -1. */
  readonly waits: number;
  /** It may wait for a person: `pause`, `ask`, a called graph that does. */
  readonly pauses: boolean;
  /** Every run that continues after its step has waited for a person. */
  readonly alwaysPauses: boolean;
}

export interface ControlBarrier {
  readonly index: number;
  /** The id in checkpoints. */
  readonly id: string;
  readonly kind: "all" | "waits";
  /** A node, or `END_TARGET`. */
  readonly target: number;
  readonly members: readonly BarrierMember[];
  readonly origin: Origin | undefined;
}

export interface BarrierMember {
  readonly place: number;
  /** Nodes that can signal it. */
  readonly nodes: readonly number[];
}

/** A position in the source. */
export interface Origin {
  readonly edge?: BoundEdge;
  readonly target?: BoundReference;
}

/** A signal of a route: to a place, to `end`, or to no place (`undefined`), because a `waits` ignores it. */
export interface Signal {
  readonly place: number | typeof END_TARGET | undefined;
  /** The target node, also if a barrier gates it; `END_TARGET` for `end`. */
  readonly node: number;
  readonly origin: Origin | undefined;
}

/** The routes of one node. Without groups, the branch ends. */
export interface Routing {
  readonly groups: readonly RouteGroup[];
}

/** Groups are independent: the signals of a node are the union over its groups. */
export type RouteGroup =
  | { readonly kind: "always"; readonly signals: readonly Signal[] }
  /** All branches whose conditions are true; `otherwise` if none is. */
  | { readonly kind: "several"; readonly branches: readonly Branch[]; readonly otherwise: Branch | undefined }
  /** The first branch whose condition is true. `else` is a branch whose formula is always true. */
  | { readonly kind: "one"; readonly branches: readonly Branch[] };

export interface Branch {
  readonly formula: Formula;
  /** The formula under which its condition has a value (`10 / x` has none if `x` is 0); absent: always. */
  readonly defined?: Formula;
  readonly signals: readonly Signal[];
  /** In source form: `"billing"`, `when score < 0.8`, `otherwise`. */
  readonly label: string;
  /** The position of its condition, or of the arm. */
  readonly span: Span | undefined;
}

/**
 * How the model represents `goes`. `one`: a jump has one target, as in most functions. `any`: all jumps that the engine
 * allows, also to several nodes, exclusive ones, and `send`. Findings use the first model, and proofs the second.
 */
export type JumpReading = "one" | "any";

/** The data flow that conditions depend on. Channels are indexes. */
export interface DataModel {
  readonly channels: readonly DataChannel[];
  /** By node: the channels it writes when it succeeds. */
  readonly writes: readonly (readonly ChannelWrite[])[];
  /** By channel: writes whose value the graph computes, and writes to other channels that are computed from it. */
  readonly computed: readonly (readonly ChannelWrite[])[];
  readonly computedFrom: readonly (readonly ChannelWrite[])[];
}

export interface DataChannel {
  readonly name: string;
  /** Values of its declared type. */
  readonly declared: ValueSet;
  /** `declared` and the initial value. */
  readonly domain: ValueSet;
  /** Values at the start of a run. */
  readonly initial: ValueSet;
  /** The caller or an earlier run sets it: an input, or memory. */
  readonly isGiven: boolean;
  /** The outside world decides the value of every write. */
  readonly isForeign: boolean;
  readonly reducer: "last" | "append" | "sum" | "min" | "max" | "merge" | "union" | "function" | undefined;
}

export interface ChannelWrite {
  readonly channel: number;
  /** The expression that computes the value; `undefined` if any value of `domain` is possible. */
  readonly expression: Expression | undefined;
  /** All values that it can write. */
  readonly domain: ValueSet;
  /** The node can succeed without this write: a jump can replace the result, and a `for` may have no items. */
  readonly optional: boolean;
  /**
   * Each value of `domain` is known to be possible, because the outside world (a function, a model, a person) decides
   * it.
   */
  readonly isFree: boolean;
}
