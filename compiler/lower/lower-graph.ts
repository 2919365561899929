/**
 * Lowers a bound graph without errors to its routing table. Linear in the graph. The order of all parts of the table
 * follows from the graph's meaning (channels by role, nodes as declared, edges by source), so that the order of other
 * statements in the file does not change the digest.
 */
import type { Table } from "../../runtime/table/table.ts";
import { TABLE_FORMAT, TABLE_VERSION } from "../../runtime/table/table.ts";
import { depthFirst } from "../algorithms/depth-first.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";
import type { BoundPlan } from "../bind/plan/bound-plan.ts";
import { deepFreeze } from "../../runtime/table/deep-freeze.ts";
import { tableDigest } from "../table/digest.ts";
import { createExpressionPool } from "./expression-pool.ts";
import { lowerChannel, orderChannels } from "./lower-channels.ts";
import { collectEffects, lowerAssertion, lowerNode } from "./lower-nodes.ts";
import { createCalled, lowerPlan, type LoweredPlans } from "./lower-plan.ts";
import { lowerRoutes } from "./lower-routes.ts";

/** Cache of tables by bound graph: a graph that several others call is lowered once. */
export type LoweredGraphs = Map<BoundGraph, Table>;

/**
 * Returns the frozen table of a graph. Adds the tables of all that it calls to the caches. None of them may have
 * errors.
 */
export function lowerGraph(
  graph: BoundGraph,
  known: LoweredGraphs = new Map(),
  plans: LoweredPlans = new Map(),
): Table {
  depthFirst([graph], {
    edges: (caller) => (known.has(caller) ? [] : calledGraphs(caller)),
    target: (called) => called,
    leave: (next) => {
      if (!known.has(next)) known.set(next, lowerOne(next, known, plans));
    },
  });
  return known.get(graph) as Table;
}

function calledGraphs(graph: BoundGraph): readonly BoundGraph[] {
  return graph.nodes.flatMap((node) => (node.call.kind === "graph" ? [node.call.graph] : []));
}

function lowerOne(bound: BoundGraph, known: LoweredGraphs, knownPlans: LoweredPlans): Table {
  const { ordered, index } = orderChannels(bound);
  const pool = createExpressionPool(bound, index);
  const graphs = createCalled((called: BoundGraph) => known.get(called) as Table);
  const plans = createCalled((called: BoundPlan) => lowerPlan(called, knownPlans, known));
  const nodeIndex = new Map(bound.nodes.map((node, at) => [node.name, at]));
  const context = {
    channelIndex: new Map(ordered.map((channel, at) => [channel.name, at])),
    nodeIndex,
    pool,
    graph: graphs.number,
    plan: plans.number,
  };
  const channels = ordered.map((channel) => lowerChannel(channel, pool));
  const lowered = bound.nodes.map((node) => lowerNode(node, context));
  const { start, routes, onError, barriers, waits } = lowerRoutes(bound, pool);
  const nodes = lowered.map((node, at) => {
    const gate = waits[at];
    return {
      ...node,
      ...(gate === undefined ? {} : { waits: gate }),
      routes: routes[at] ?? [],
      onError: onError[at] ?? [],
    };
  });
  const table: Omit<Table, "digest"> = {
    format: TABLE_FORMAT,
    version: TABLE_VERSION,
    kind: "graph",
    name: bound.name,
    ...(bound.was === undefined ? {} : { was: bound.was }),
    channels,
    nodes,
    start,
    barriers,
    ...(bound.dropped === undefined ? {} : { dropped: bound.dropped }),
    expressions: pool.expressions,
    functions: pool.functions,
    types: bound.types,
    graphs: graphs.tables,
    ...(plans.tables.length === 0 ? {} : { plans: plans.tables }),
    secrets: [...bound.secrets].sort(),
    effects: collectEffects(bound.nodes, [...graphs.tables, ...plans.tables], pool.functions.length > 0),
    limits: bound.limits,
    assertions: bound.assertions.map((assertion) => lowerAssertion(assertion, nodeIndex)),
    debug: {
      file: bound.file.path,
      nodes: bound.nodes.map((node) => bound.file.position(node.declaration.name.span.start)),
      expressions: pool.positions,
      ...(bound.doc === undefined ? {} : { doc: bound.doc }),
    },
  };
  return deepFreeze({ ...table, digest: tableDigest(table) });
}
