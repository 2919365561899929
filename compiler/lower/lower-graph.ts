/**
 * Creates the routing table of a bound graph without errors. Linear in the graph. The order of all parts of the table
 * follows from the graph's meaning (channels by role, nodes as declared, edges by source), so that the order of other
 * statements in the file does not change the digest.
 */
import type { NodeSpec, Table } from "../../runtime/table/table.ts";
import { TABLE_FORMAT, TABLE_VERSION } from "../../runtime/table/table.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";
import { deepFreeze } from "../../runtime/table/deep-freeze.ts";
import { tableDigest } from "../table/digest.ts";
import { createExpressionPool } from "./expression-pool.ts";
import { lowerChannel, lowerInheritedConfig, orderChannels } from "./lower-channels.ts";
import { collectEffects, lowerAssertion, lowerNode } from "./lower-nodes.ts";
import { createCalled, type TableOf } from "./called-tables.ts";
import { lowerRoutes } from "./lower-routes.ts";

/** Creates the frozen table of a graph. `tableOf` returns the tables of what it calls. */
export function createGraphTable(bound: BoundGraph, tableOf: TableOf): Table {
  const { ordered, index } = orderChannels(bound);
  const pool = createExpressionPool(bound, index);
  const graphs = createCalled(tableOf.graph);
  const plans = createCalled(tableOf.plan);
  const nodeIndex = new Map(bound.nodes.map((node, at) => [node.name, at]));
  const context = {
    channelIndex: new Map(ordered.map((channel, at) => [channel.name, at])),
    nodeIndex,
    pool,
    graph: graphs.number,
    plan: plans.number,
  };
  const channels = [...ordered.map((channel) => lowerChannel(channel, pool)), ...lowerInheritedConfig(bound, pool)];
  const drafts = bound.nodes.map((node) => lowerNode(node, context));
  const { start, finally: ending, routes, onError, barriers, waits } = lowerRoutes(bound, pool);
  const nodes = drafts.map((draft, at): NodeSpec => {
    const gate = waits[at];
    if (gate !== undefined) draft.waits = gate;
    draft.routes = routes[at] ?? [];
    draft.onError = onError[at] ?? [];
    return draft as NodeSpec;
  });
  const assertions = bound.assertions.map((assertion) => lowerAssertion(assertion, context));
  const table: Omit<Table, "digest"> = {
    format: TABLE_FORMAT,
    version: TABLE_VERSION,
    kind: "graph",
    name: bound.name,
    ...(bound.was === undefined ? {} : { was: bound.was }),
    channels,
    nodes,
    start,
    ...(ending.length === 0 ? {} : { finally: ending }),
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
    assertions,
    debug: {
      file: bound.file.path,
      nodes: bound.nodes.map((node) => bound.file.position(node.declaration.name.span.start)),
      expressions: pool.positions,
      ...(bound.doc === undefined ? {} : { doc: bound.doc }),
    },
  };
  return deepFreeze({ ...table, digest: tableDigest(table) });
}
