/**
 * The control flow of a graph, indexed: what the checks and the proofs work on. Places are small integers:
 * `0 .. nodes-1` mean "this node runs in the next step", the rest mean "this member of that barrier has
 * signalled". A state of a run is a set of places.
 *
 * The model is made from a bound graph (`build-model.ts`) or by hand in tests. It knows nothing of syntax but
 * `Origin`, which leads back to the places that diagnostics point at.
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
  /** What the model cannot express, for people; nothing is proven where there is any. */
  readonly unsupported: readonly string[];
}

export interface ControlNode {
  readonly index: number;
  readonly name: string;
  /** Its position among the declared nodes. */
  readonly declared: number;
  /** It stands for the tasks that `send` makes of a node: one or more of them, all in the same step. */
  readonly isSent: boolean;
  readonly routing: Routing;
  /** `on error` edges; `undefined` where a failure fails the run. */
  readonly errorRouting: Routing | undefined;
  /** It always fails (`fail`). */
  readonly alwaysFails: boolean;
  /**
   * `freely`: the outside world decides (an imported function, a model, a request). `never`: an expression that has a value
   * wherever it is defined. `perhaps`: a failure cannot be ruled out, and nothing shows that there is one.
   */
  readonly fails: "freely" | "perhaps" | "never";
  /** Of an expression: where it has a value, when the node starts; elsewhere the node fails. Absent: everywhere. */
  readonly defined: Formula | undefined;
  /** Where `goto` may lead, with `END_TARGET` for `end` (and `stop()`); `undefined` where the node cannot jump. */
  readonly jumps: readonly number[] | undefined;
  /** Nodes that stand for what it may send; empty where the model reads jumps as one at a time. */
  readonly sends: readonly number[];
  /** The barrier that gates every signal into it, or -1. */
  readonly waits: number;
  /** It may wait for a person: `pause`, `ask`, a called graph that does. */
  readonly pauses: boolean;
  /** A run that gets past its step has waited for a person. */
  readonly alwaysPauses: boolean;
}

export interface ControlBarrier {
  readonly index: number;
  /** As in checkpoints. */
  readonly id: string;
  readonly kind: "all" | "waits";
  /** A node, or `END_TARGET`. */
  readonly target: number;
  readonly members: readonly BarrierMember[];
  readonly origin: Origin | undefined;
}

export interface BarrierMember {
  readonly place: number;
  /** Nodes that may fill it. */
  readonly nodes: readonly number[];
}

/** Where something stands in the source. */
export interface Origin {
  readonly edge?: BoundEdge;
  readonly target?: BoundReference;
}

/** A signal that a route sends: to a place, to `end`, or (`undefined` place) nowhere, because a `waits` ignores it. */
export interface Signal {
  readonly place: number | typeof END_TARGET | undefined;
  /** The node that it is meant for, whatever gates it; `END_TARGET` for `end`. */
  readonly node: number;
  readonly origin: Origin | undefined;
}

/** All that decides where one node's signals go. No groups: the branch ends. */
export interface Routing {
  readonly groups: readonly RouteGroup[];
}

/** Groups are independent of each other: each contributes its signals. */
export type RouteGroup =
  | { readonly kind: "always"; readonly signals: readonly Signal[] }
  /** Any number of branches may hold; `otherwise` where none does. */
  | { readonly kind: "several"; readonly branches: readonly Branch[]; readonly otherwise: Branch | undefined }
  /** The first branch that holds; `else` is a branch whose formula is always true. */
  | { readonly kind: "one"; readonly branches: readonly Branch[] };

export interface Branch {
  readonly formula: Formula;
  /** Where its condition has a value at all (`10 / x` has none where `x` is 0); absent: always. */
  readonly defined?: Formula;
  readonly signals: readonly Signal[];
  /** In source form: `"billing"`, `when score < 0.8`, `otherwise`. */
  readonly label: string;
  /** Of its condition, or of the arm. */
  readonly span: Span | undefined;
}

/**
 * How the model reads `goes`. `one`: a jump leads to one node, as most functions jump. `any`: all that the engine allows, also
 * to several nodes at once, exclusively, and by `send`. Findings are shown with the first, proofs need the second.
 */
export type JumpReading = "one" | "any";

/** What nodes do to channels, as far as conditions depend on it. By channel index. */
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
  /** The same, with the value it starts with. */
  readonly domain: ValueSet;
  /** What it holds when a run starts. */
  readonly initial: ValueSet;
  /** It comes from outside: an input, or memory. */
  readonly isGiven: boolean;
  /** Every write of it is up to the outside world. */
  readonly isForeign: boolean;
  readonly reducer: "last" | "append" | "sum" | "min" | "max" | "merge" | "union" | "function" | undefined;
}

export interface ChannelWrite {
  readonly channel: number;
  /** The value written, where the graph itself says what it is; otherwise anything of the type. */
  readonly expression: Expression | undefined;
  /** Every value that it may write. */
  readonly domain: ValueSet;
  /** It may also succeed without writing: a jump can stand in for the result, and a `for` may have no items. */
  readonly optional: boolean;
  /** Each value of the domain is possible, because the outside world makes it: an imported function, a model, a person. */
  readonly isFree: boolean;
}
