/**
 * The control flow of a graph as the structure of a 1-safe Petri net: what each node signals, and what barriers wait
 * for. It is built once, from edges with resolved names (`build-net.ts`). Binding reads it to type expressions, the
 * proofs add conditions and data to it (`explore/model.ts`), and lowering writes it into the table.
 *
 * Places are small integers. A place in `0 .. nodes-1` means that this node runs in the next step. Any other place
 * means that one member of a barrier has signalled. A marking is a set of places.
 */
import type { Span } from "../../diagnostics/source.ts";

/** Target that ends a branch, or, with `rollsBack`, the run. */
export const END_TARGET = -1;

/** The sources whose edges are the entry of a net: `start`, `finally`, or both. */
export type NetEntry = "start" | "finally" | "both";

export interface ControlNet {
  /** The declared nodes in order, then a node for the tasks that `send` creates, for each node that can be sent to. */
  readonly nodes: readonly NetNode[];
  /** The routes of `start`. */
  readonly start: NetRouting;
  /** The routes of `finally`, if they are not part of `start` (see `NetEntry`). */
  readonly finally: NetRouting;
  /** Barriers of `waits` in the order of their nodes, then those of edges in source order. */
  readonly barriers: readonly ControlBarrier[];
  /** Number of places: nodes and barrier members. */
  readonly placeCount: number;
  /** By place: the barrier it belongs to, -1 for nodes. */
  readonly barrierOfPlace: Int32Array;
}

/** The routes of one node. */
export interface NodeRoutes<R> {
  readonly index: number;
  readonly name: string;
  /** Its position among the declared nodes. */
  readonly declared: number;
  /** It represents the tasks that `send` creates for a node: one or more, all in the same step. */
  readonly isSent: boolean;
  readonly routing: R;
  /** `on error` edges; `undefined` where a failure fails the run. */
  readonly errorRouting: R | undefined;
  /** Whether it can jump to `rollback`, which is not one of `jumps`. */
  readonly jumpsBack: boolean;
  /** The targets of `goto`, with `END_TARGET` for `end` and `stop()`; `undefined` if the node cannot jump. */
  readonly jumps: readonly number[] | undefined;
  /** The model nodes for the tasks that it may send (`isSent`); empty in a net without them. */
  readonly sends: readonly number[];
  /** The `waits` barrier that receives every signal into it, or -1. */
  readonly waits: number;
}

export type NetNode = NodeRoutes<NetRouting>;

export interface NetRouting extends Routing<NetBranch> {
  /** Its edges in source order, one route each. */
  readonly routes: readonly Route[];
}

/** An edge as one of its sources sees it. */
export interface Route {
  /** Its position among the edges of the graph. */
  readonly edge: number;
  /** One branch for each arm, `else` last. A route without a choice has one branch. */
  readonly branches: readonly NetBranch[];
}

/** Nodes with the same targets share their branches, so m sources with n targets cost m + n. */
export interface NetBranch {
  /** The position of its edge among the edges of the graph. */
  readonly edge: number;
  /** The position of its arm; 0 for an edge without arms, `ELSE_ARM` for `else`. */
  readonly arm: number;
  readonly signals: readonly Signal[];
}

export const ELSE_ARM = -1;

/** A signal of a route: to a place, to `end`, or to no place (`undefined`), because a `waits` ignores it. */
export interface Signal {
  readonly place: number | typeof END_TARGET | undefined;
  /** The target node, also if a barrier gates it; `END_TARGET` for `end` and `rollback`. */
  readonly node: number;
  readonly origin: Origin;
  /** The target is `rollback`. */
  readonly rollsBack?: true;
}

/** A position in the source. */
export interface Origin {
  /** Its position among the edges of the graph. */
  readonly edge: number;
  /** The span of the target's name. */
  readonly target: Span;
}

/** Without groups, the branch of the run ends. */
export interface Routing<B extends { readonly signals: readonly Signal[] }> {
  readonly groups: readonly RouteGroup<B>[];
}

/** Groups are independent: the signals of a node are the union over its groups. */
export type RouteGroup<B> =
  | { readonly kind: "always"; readonly signals: readonly Signal[] }
  /** All branches whose conditions are true; `otherwise` if none is. */
  | { readonly kind: "several"; readonly branches: readonly B[]; readonly otherwise: B | undefined }
  /** The first branch whose condition is true. An `else` is always true. */
  | { readonly kind: "one"; readonly branches: readonly B[] };

export interface ControlBarrier {
  readonly index: number;
  /** The id in checkpoints. */
  readonly id: string;
  readonly kind: "all" | "waits" | "settled";
  /** A node, or `END_TARGET`. */
  readonly target: number;
  /** The target is `rollback`. */
  readonly rollsBack?: true;
  readonly members: readonly BarrierMember[];
  /** Absent for `waits`. */
  readonly origin: Origin | undefined;
  /**
   * Set for a barrier into a node with `waits`. When it fires, it does not run the node: it passes the signals of its
   * members on to the barrier of `waits`, and signals that this barrier does not wait for are ignored.
   */
  readonly passesOn: readonly PassedSignals[] | undefined;
  /** Set for `settled(…)`, which fires with some of its members. */
  readonly settled: Settled | undefined;
}

/**
 * A `settled(…)` statement. It is one barrier with all its targets (3.4). The net has a `ControlBarrier` for each target.
 * These have the same id and members, receive the same signals, and fire together.
 */
export interface Settled {
  /** The index of the barrier of its first target. */
  readonly first: number;
  readonly barriers: readonly number[];
  readonly reach: MemberReach;
}

/**
 * Bit sets of members, by node: those that a signal can reach from the node. It follows every edge, error edge, arm and
 * `goes`, whatever the conditions, but not through the targets of the barrier.
 */
export interface MemberReach {
  /** The number of 32-bit words of each node. */
  readonly words: number;
  /** The set of node n: `words` entries from `n * words` on. */
  readonly bits: Int32Array;
}

/** The signals that one member passes on. For `any(a, b)`, these are the signals of the nodes that have signalled. */
export interface PassedSignals {
  /** Places of the barrier of `waits`. */
  readonly places: readonly number[];
  /** Whether all `places` receive a signal, because the member has one node. Otherwise at least `atLeast` of them do. */
  readonly isAll: boolean;
  readonly atLeast: number;
}

export interface BarrierMember {
  readonly place: number;
  /** Nodes that can signal it: declared nodes first. */
  readonly nodes: readonly number[];
}
