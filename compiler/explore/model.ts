/**
 * The control flow of a graph with its conditions and its data, which the checks and proofs analyse: the net of
 * `control/net.ts`, a formula for each condition, and the values of channels. `build-model.ts` builds it.
 */
import type { Span } from "../../diagnostics/source.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type * as Net from "../control/net.ts";
import type { Definitions } from "./definitions.ts";
import type { Formula } from "./formula.ts";
import type { ListFacts } from "./list-facts.ts";
import type { TermTable } from "./terms.ts";
import type { ValueSet } from "./value-set.ts";

export interface ControlModel {
  readonly name: string;
  /** The source where runs begin, for messages and traces. */
  readonly entry: "start" | "finally";
  readonly net: Net.ControlNet;
  readonly nodes: readonly ControlNode[];
  /** How jumps are read. */
  readonly jumps: JumpReading;
  /** Edges of `start`. */
  readonly start: Routing;
  readonly barriers: readonly Net.ControlBarrier[];
  readonly placeCount: number;
  readonly barrierOfPlace: Int32Array;
  readonly terms: TermTable;
  readonly data: DataModel;
  readonly lists: ListFacts;
}

export interface ControlNode extends Net.NodeRoutes<Routing> {
  /** It always fails (`fail`). */
  readonly alwaysFails: boolean;
  /**
   * `freely`: a failure is known to be possible (an imported function, a model, a request). `never`: an expression that
   * fails only where `defined` is false. `perhaps`: a failure is neither excluded nor known to be possible.
   */
  readonly fails: "freely" | "perhaps" | "never";
  /**
   * Channels that the list of a `for` node reads. If one of them has been written, the list is known to have items in some
   * run, so the function of the node can be called. `undefined` for other nodes, and for a list that is known to have items.
   * An empty list: it is not known whether the function is ever called.
   */
  readonly itemsFrom: readonly number[] | undefined;
  /** It is a `for` whose list is empty in every run: its function is never called, so it neither fails nor jumps. */
  readonly neverCalls: boolean;
  /** The formula under which the expression of the node has a value; otherwise the node fails. Absent: always. */
  readonly defined: Formula | undefined;
  /** The conditions that its assertions state (`assert … at`), evaluated before its step. */
  readonly asserted: readonly AssertedCondition[];
  /** Channels that equal an expression where the conditions of its own edges are evaluated. */
  readonly definitions: Definitions | undefined;
  /** Channels of `definitions` for which every condition of its edges has an equal condition on other terms (`Atom.same`). */
  readonly equals: ReadonlySet<number>;
  /** It is a `for` with `allow failure`: if items fail, the error edges or else its own edges are taken, and the results of the other items are written. */
  readonly allowsFailure: boolean;
  /** It may wait for a person: `pause`, `ask`, a called graph that does. */
  readonly pauses: boolean;
  /** Every run that continues after its step has waited for a person. */
  readonly alwaysPauses: boolean;
}

export interface AssertedCondition {
  /** The condition holds and has a value. */
  readonly formula: Formula;
  /** The condition has a value wherever the formula covers its failures: no imported function in it can throw. */
  readonly isTotal: boolean;
}

export type Routing = Net.Routing<Branch>;
export type RouteGroup = Net.RouteGroup<Branch>;

export interface Branch {
  /** Always true for `otherwise` and `else`. */
  readonly formula: Formula;
  /** The formula under which its condition has a value (`10 / x` has none if `x` is 0); absent: always. */
  readonly defined?: Formula;
  readonly signals: readonly Net.Signal[];
  /** In source form: `"billing"`, `when score < 0.8`, `otherwise`. */
  readonly label: string;
  /** The position of its condition, or of the arm. */
  readonly span: Span | undefined;
}

/**
 * Whether each barrier fires when all of its members have signalled, and then runs its target. This is not so for a
 * barrier into a node with `waits`, and for `settled(…)`, whose firing depends on the whole marking. Searches for a
 * second proof need it.
 */
export function hasPlainBarriers({ barriers }: Pick<ControlModel, "barriers">): boolean {
  return barriers.every(({ passesOn, settled }) => passesOn === undefined && settled === undefined);
}

/** The conditions of a routing. */
export function formulasOf(routing: Routing | undefined): Formula[] {
  return (routing?.groups ?? []).flatMap((group) =>
    group.kind === "always" ? [] : group.branches.map((branch) => branch.formula),
  );
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
  /**
   * The nodes of the model begin at any point of a run, in the part that `finally` leads to. It is not known which of the
   * values of `initial` are possible there.
   */
  readonly startsUnknown: boolean;
  /** It starts as an empty list or record. */
  readonly startsEmpty: boolean;
  /** The outside world decides the value of every write. */
  readonly isForeign: boolean;
  /** Its value in every state, if no node writes it. */
  readonly fixed: { readonly value: string | number | boolean | null } | undefined;
  readonly reducer: "last" | "append" | "sum" | "min" | "max" | "merge" | "union" | "function" | undefined;
  /** Of `len(xs)` and `last(xs)` (`list-facts.ts`): the list. */
  readonly list?: number;
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
