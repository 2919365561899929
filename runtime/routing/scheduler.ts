/**
 * The scheduler: which nodes run next, as a pure module over a table (1.4). It has no state, no clock and does no I/O.
 * The engine uses the same plans by index, so the scheduler returns exactly what a run does.
 */
import type { FunctionRegistry } from "../interface/engine-options.ts";
import type { ExpressionFunction } from "../expression/call-function.ts";
import { compileExpression, type Scope } from "../expression/compile-expression.ts";
import { prepareExpressions } from "../expression/prepare-expressions.ts";
import { ExpressionError } from "../expression/expression-error.ts";
import type { Json } from "../value/json.ts";
import { ERROR_NAME } from "../table/hidden-channels.ts";
import { checkTable } from "../table/check-table.ts";
import { BarrierState, signalsOf, type BarrierSignals } from "./barrier-state.ts";
import { failedWithoutRoute, noRoute } from "./no-route.ts";
import {
  compileRouting,
  lastExclusive,
  planStart,
  planStep,
  type Routing,
  type RoutingCode,
  type StepPlan,
} from "./plan-step.ts";
import { followErrorRoutes } from "./error-routes.ts";
import { barrierOf, followRoutes, isBarrier, type Target } from "./routes.ts";
import { bad, entriesOf, flagOf, gotoOf, listOf, namesOf, requestOf, unknownName } from "./scheduler-arguments.ts";
import { END, ROLLBACK, type Table } from "../table/table.ts";

/** Accepted forms of signals: the result of the last plan, a checkpoint's `barrierState`, or a map of sets. */
export type GivenSignals = Readonly<Record<string, Iterable<string>>> | ReadonlyMap<string, Iterable<string>>;

/** State by channel name, as a record or a map, and `error`. Absent channels have their start value, `error` is `null`. */
export type SchedulerState = Readonly<Record<string, Json>> | ReadonlyMap<string, Json>;

/** Routing requests of a node, in addition to its edges or instead of them. */
export interface RoutingRequest {
  /** Target names, `end` and `rollback` included. An empty list, or the empty name, follows the edges. */
  readonly goto?: string | readonly string[] | null;
  /** The `goto` replaces the routing of the whole step. */
  readonly exclusive?: boolean;
  readonly stop?: boolean;
  /** The node failed: the value of `error` in its `on error` edges. */
  readonly error?: Json;
  /** Nodes to which it sends tasks. They hold a `settled` barrier back; the plan does not contain them. */
  readonly send?: string | readonly string[] | null;
}

export interface NodeRouting extends RoutingRequest {
  readonly node: string;
}

export interface SchedulerPlan {
  /** Nodes of the next step in declaration order; never `end`. */
  readonly ready: readonly string[];
  readonly hitEnd: boolean;
  /** A signal led to `rollback`: no node is ready, and the barriers are empty. */
  readonly rollsBack?: true;
  /** Target of the exclusive `goto` that replaced the routing of the step. */
  readonly winningGoto: string | null;
  readonly barrierState: BarrierSignals;
}

export interface BarrierDescription {
  readonly id: string;
  readonly kind: "all" | "waits" | "settled";
  readonly target: string;
  readonly members: readonly (readonly string[])[];
  /** Further targets of `settled`. */
  readonly others?: readonly string[];
}

/**
 * Pure: equal arguments return equal results, which are frozen. Arguments are not changed. A call costs the out-degree
 * of the nodes that ran. Every call throws `RunError` NG_BAD_INPUT for arguments of another shape, and for names that
 * the table does not contain.
 */
export interface Scheduler {
  /** The first step of a run. Throws `NodeError` NG_NO_ROUTE if the edges of `start` lead to no target. */
  planStartStep(state?: SchedulerState): SchedulerPlan;
  /**
   * The targets of the edges of a node, or of `start`, in the order of the edges. A barrier appears as its target.
   * Without edges: `end`.
   */
  resolveNextNodes(node: string, state?: SchedulerState): readonly string[];
  /**
   * The nodes that follow these nodes, which have just ended, on the state after their updates. Routings are in task
   * order: the last of several exclusive `goto`s wins. Pass the `barrierState` of the previous plan (`{}` at first);
   * the result contains the new one. Throws `NodeError` NG_NO_ROUTE.
   *
   * Without `barrierState` a signal to a barrier runs its targets at once.
   */
  planNextStep(
    routings: readonly (string | NodeRouting)[],
    state?: SchedulerState,
    barrierState?: GivenSignals,
  ): SchedulerPlan;
  /** The other form of `planNextStep`, with nodes and their requests in two lists. Throws `RangeError` if the lengths differ. */
  planNextStep(
    justRan: readonly string[],
    results: readonly (RoutingRequest | null | undefined)[],
    state?: SchedulerState,
    barrierState?: GivenSignals,
  ): SchedulerPlan;
  /** The table's barriers, in its order. */
  barrierSpecs(): readonly BarrierDescription[];
}

/**
 * Creates a scheduler.
 *
 * @param options.functions imported functions that conditions call, by name
 * @throws TableError NG_BAD_TABLE if the table is invalid
 *
 * @example
 * const scheduler = createScheduler(table);
 * scheduler.planNextStep([{ node: "classify" }], { intent: "technical" }, {}).ready; // ["docs", "tickets"]
 */
export function createScheduler(table: Table, options: { readonly functions?: FunctionRegistry } = {}): Scheduler {
  checkTable(table);
  const names = new Names(table, options.functions ?? {});
  return {
    planStartStep: (state = {}) => {
      const plan = planStart(names.code, names.scope(state));
      if (plan.unrouted[0] !== undefined) throw names.noRoute(-1, state, plan.unrouted[0].cause);
      return names.plan(plan, null, undefined);
    },
    resolveNextNodes: (node, state = {}) => names.resolve(node === "start" ? -1 : names.node(node), state),
    planNextStep: (
      first: readonly (string | NodeRouting)[],
      second?: SchedulerState | readonly (RoutingRequest | null | undefined)[],
      third?: SchedulerState | GivenSignals,
      fourth?: GivenSignals,
    ) => {
      const ran = listOf(first, "what ran", '["draft"] or [{ node: "draft", goto: "end" }]');
      if (!Array.isArray(second)) {
        return names.next(ran, undefined, (second as SchedulerState | undefined) ?? {}, third as GivenSignals);
      }
      if (second.length !== ran.length) {
        throw new RangeError(
          `planNextStep received ${ran.length} nodes and ${second.length} results: pass one result for each node`,
        );
      }
      return names.next(ran, second, (third as SchedulerState | undefined) ?? {}, fourth);
    },
    barrierSpecs: () => names.barrierSpecs(),
  };
}

/** Translates between names (outside) and indexes (inside). */
class Names {
  readonly table: Table;
  readonly code: RoutingCode;
  readonly #nodes: ReadonlyMap<string, number>;
  readonly #channels: ReadonlyMap<string, number>;
  readonly #barriers: ReadonlyMap<string, number>;
  readonly #initial: readonly Json[];

  constructor(table: Table, functions: FunctionRegistry) {
    this.table = table;
    const own = table.functions.map(({ name }) =>
      Object.hasOwn(functions, name) ? (functions[name] as ExpressionFunction) : undefined,
    );
    this.code = compileRouting(table, prepareExpressions(table, own, compileExpression));
    this.#nodes = new Map(table.nodes.map(({ name }, index) => [name, index]));
    this.#channels = new Map(table.channels.map(({ name }, index) => [name, index]));
    this.#initial = table.channels.map((channel) => channel.initial ?? null);
    this.#barriers = new Map(table.barriers.map(({ id }, index) => [id, index]));
  }

  scope(state: SchedulerState): { state: Json[]; error: Json } & Scope {
    // A view of the start values, not a copy: the cost of a plan must not grow with the channels it does not read.
    const values = Object.create(this.#initial) as Json[];
    let error: Json = null;
    for (const [name, value] of entriesOf(state, "the state", "{ score: 0.8 }")) {
      const channel = this.#channels.get(name);
      if (name === ERROR_NAME) {
        error = value as Json;
        continue;
      }
      if (channel === undefined) throw unknownName("channel", name, this.#channels.keys());
      values[channel] = value as Json;
    }
    return { state: values, error };
  }

  node(name: unknown): number {
    const node = this.#nodes.get(name as string);
    if (node === undefined) throw unknownName("node", name, this.#nodes.keys());
    return node;
  }

  /** @param node a node's index, or -1 for `start` */
  resolve(node: number, state: SchedulerState): readonly string[] {
    const routes = node === -1 ? this.code.start : this.code.nodes[node]!;
    if (routes.edges.length === 0) return Object.freeze(["end"]);
    let targets: readonly number[];
    try {
      targets = followRoutes(routes, this.scope(state));
    } catch (cause) {
      if (!(cause instanceof ExpressionError)) throw cause;
      throw this.noRoute(node, state, cause);
    }
    if (targets.length === 0) throw this.noRoute(node, state, undefined);
    return Object.freeze([...new Set(targets.flatMap((target) => this.names(target)))]);
  }

  /** @param results the request of each node, if `items` does not contain it */
  next(
    ran: readonly unknown[],
    results: readonly unknown[] | undefined,
    state: SchedulerState,
    signals: GivenSignals | null | undefined,
  ): SchedulerPlan {
    const scope = this.scope(state);
    const barriers = signals === undefined || signals === null ? undefined : this.barriers(signals);
    let failure: Json = null;
    const requests = ran.map((item, index) => {
      const [routing, error] = this.routing(item, results?.[index], index, scope);
      failure ??= error;
      return routing;
    });
    scope.error = failure ?? scope.error;
    const plan = planStep(this.code, requests, scope, barriers, undefined, this.sentTo(ran, results, requests));
    const first = plan.unrouted[0];
    if (first !== undefined) throw this.noRoute(requests[first.routing]!.node, state, first.cause);
    const winner = plan.winner === -1 ? null : this.name(requests[plan.winner]!.goto![0]!);
    return this.plan(plan, winner, barriers);
  }

  plan(
    { ready, hitEnd, rollsBack }: StepPlan,
    winningGoto: string | null,
    barriers: BarrierState | undefined,
  ): SchedulerPlan {
    return Object.freeze({
      ready: Object.freeze(ready.map((node) => this.name(node))),
      hitEnd,
      ...(rollsBack ? { rollsBack } : {}),
      winningGoto,
      barrierState: frozenSignals(barriers === undefined ? {} : signalsOf(this.table, barriers)),
    });
  }

  barrierSpecs(): readonly BarrierDescription[] {
    const specs = this.table.barriers.map(({ id, kind, target, members, others }) =>
      Object.freeze({
        id,
        kind,
        target: this.name(target),
        members: Object.freeze(members.map((nodes) => Object.freeze(nodes.map((node) => this.name(node))))),
        ...(others === undefined ? {} : { others: Object.freeze(others.map((each) => this.name(each))) }),
      }),
    );
    return Object.freeze(specs);
  }

  noRoute(node: number, state: SchedulerState, cause: unknown): Error {
    const scope = this.scope(state);
    return noRoute(this.table, node, (expression) => this.code.expressions[expression]!(scope), { cause });
  }

  private routing(
    item: unknown,
    result: unknown,
    index: number,
    scope: { error: Json } & Scope,
  ): readonly [Routing, error: Json] {
    const own = typeof item === "string" ? { node: item } : requestOf(item, `entry ${index} of what ran`);
    if (own["node"] === undefined)
      throw bad(`entry ${index} of the nodes that ran has no node name: write "draft" or { node: "draft" }`);
    const node = this.node(own["node"]);
    const { name } = this.table.nodes[node]!;
    const request = { ...requestOf(result, `what node \`${name}\` asks for`), ...own } as Readonly<
      Record<string, unknown>
    >;
    let errorTargets: readonly number[] | undefined;
    const error = (request["error"] as Json | undefined) ?? null;
    if (error !== null) {
      try {
        errorTargets = followErrorRoutes(this.code.errors[node]!, { ...scope, error });
      } catch (cause) {
        const value = (expression: number): unknown => this.code.expressions[expression]!(scope);
        throw noRoute(this.table, node, value, { cause, hasFailed: true });
      }
      if (errorTargets === undefined) throw failedWithoutRoute(name);
    }
    const goto = gotoOf(request["goto"], name).map((target) => this.#target(target));
    const routing: Routing = {
      node,
      goto: goto.length === 0 ? undefined : goto,
      exclusive: flagOf(request["exclusive"], "exclusive", name) && goto.length > 0,
      stopped: flagOf(request["stop"], "stop", name),
      errorTargets,
    };
    return [routing, error];
  }

  /** The nodes to which these nodes send tasks; with an exclusive `goto`, those of its own node. */
  private sentTo(
    ran: readonly unknown[],
    results: readonly unknown[] | undefined,
    requests: readonly Routing[],
  ): readonly number[] {
    const winner = lastExclusive(requests);
    return requests.flatMap(({ node }, index) => {
      const item = ran[index];
      const own = typeof item === "string" ? undefined : (item as RoutingRequest);
      const { send } = { ...(results?.[index] as RoutingRequest | null | undefined), ...own };
      if (send === undefined || send === null || (winner !== -1 && winner !== index)) return [];
      const { name } = this.table.nodes[node]!;
      const names = typeof send === "string" ? [send] : namesOf(send, `what node \`${name}\` sends to`, '["worker"]');
      return names.map((each) => this.node(each));
    });
  }

  private barriers(signals: GivenSignals): BarrierState {
    const state = new BarrierState(this.code.barriers);
    for (const [id, nodes] of entriesOf(signals, "the barrier state", '{ join: ["a", "b"] }')) {
      const barrier = this.#barriers.get(id);
      if (barrier === undefined) throw unknownName("barrier", id, this.#barriers.keys());
      for (const name of namesOf(nodes, `who signalled barrier \`${id}\``, '["a", "b"]')) {
        const node = this.node(name);
        const { sources, position } = this.code.barriers[barrier]!;
        if (!position.has(node)) {
          const members = sources.map((source) => `\`${this.name(source)}\``).join(", ");
          throw bad(`node \`${name}\` is not a member of barrier \`${id}\`; its members are ${members}`);
        }
        state.signal(barrier, node);
      }
    }
    return state;
  }

  #target(name: string): number {
    if (name === "end") return END;
    return name === "rollback" ? ROLLBACK : this.node(name);
  }

  private names(target: Target): readonly string[] {
    const nodes = isBarrier(target) ? this.code.barriers[barrierOf(target)]!.targets : [target];
    return nodes.map((node) => this.name(node));
  }

  private name(node: number): string {
    return node === ROLLBACK ? "rollback" : (this.table.nodes[node]?.name ?? "end");
  }
}

function frozenSignals(signals: BarrierSignals): BarrierSignals {
  for (const names of Object.values(signals)) Object.freeze(names);
  return Object.freeze(signals);
}
