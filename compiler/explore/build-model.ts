/** Builds the model of a bound graph: its net, with the conditions of the routes and the data they depend on. */
import type { BoundGraph } from "../bind/bound-graph.ts";
import { buildNet } from "../control/build-net.ts";
import type { NetNode } from "../control/net.ts";
import { createConditions } from "./attach-conditions.ts";
import { buildData } from "./data-model.ts";
import { findDefinitions } from "./definitions.ts";
import { definedFormula, isTotal } from "./defined-formula.ts";
import { both, formulaOf } from "./formula.ts";
import { findListFacts, type ListFacts } from "./list-facts.ts";
import type { AssertedCondition, ControlModel, ControlNode, JumpReading } from "./model.ts";
import {
  alwaysWaits,
  channelsWithItems,
  definedWhere,
  failureOf,
  isNeverCalled,
  itemsFrom,
  waitsForPerson,
} from "./node-behaviour.ts";
import { createTermTable, type TermTable, type TypeNames } from "./terms.ts";
import { ANYTHING } from "./value-set.ts";

/** The model of a bound graph. It is built once, because bound graphs are immutable. */
export function controlModel(graph: BoundGraph, jumps: JumpReading = "one"): ControlModel {
  const found = knownModels[jumps].get(graph) ?? buildModel(graph, jumps);
  knownModels[jumps].set(graph, found);
  return found;
}

const knownModels: Readonly<Record<JumpReading, WeakMap<BoundGraph, ControlModel>>> = {
  one: new WeakMap(),
  any: new WeakMap(),
};

const NO_CONDITIONS: readonly AssertedCondition[] = [];

/** By node: the conditions of `assert … at`, in the order of the assertions. */
function assertedConditions(
  { assertions }: BoundGraph,
  terms: TermTable,
  lists: ListFacts,
): ReadonlyMap<string, readonly AssertedCondition[]> {
  const found = new Map<string, AssertedCondition[]>();
  for (const { node, condition } of assertions) {
    if (condition === undefined) continue;
    const expression = lists.read(condition.expression);
    const formula = both([formulaOf(terms, expression), definedFormula(terms, expression)]);
    const known = found.get(node) ?? [];
    known.push({ formula, isTotal: isTotal(terms, expression) });
    found.set(node, known);
  }
  return found;
}

/** Builds the model of a bound graph, in linear time. */
function buildModel(graph: BoundGraph, jumps: JumpReading): ControlModel {
  const types = new Map(graph.types.map((item) => [item.name, item.type]));
  const resolve: TypeNames = (name) => types.get(name);
  const net = jumps === "any" ? buildNet(graph, { sent: true }) : graph.control;
  const sent = net.nodes.flatMap((node) => (node.isSent ? [node.declared] : []));
  const lists = findListFacts(graph, resolve);
  const data = buildData(graph, resolve, sent, lists);
  const filled = channelsWithItems(graph);
  const terms = createTermTable(
    [...graph.channels, ...lists.ghosts].map(({ name, type }, index) => ({
      name,
      type,
      domain: data.channels[index]?.domain ?? ANYTHING,
      fixed: data.channels[index]?.fixed,
    })),
    graph.functions.map((spec) => spec.name),
    resolve,
  );
  const conditions = createConditions(graph, terms, lists);
  const definitions = findDefinitions(net, data);
  const asserted = assertedConditions(graph, terms, lists);
  const nodeOf = (routes: NetNode): ControlNode => {
    const node = graph.nodes[routes.declared]!;
    const own = definitions(routes.index);
    const { routing, equals } = conditions.routing(routes.routing, own);
    // Written without a spread: V8 stores an object with a spread and this many fields as a hash table, of 4 kB for each node.
    return {
      index: routes.index,
      name: routes.name,
      declared: routes.declared,
      isSent: routes.isSent,
      jumps: routes.jumps,
      jumpsBack: routes.jumpsBack,
      sends: routes.sends,
      waits: routes.waits,
      routing,
      equals,
      asserted: asserted.get(node.name) ?? NO_CONDITIONS,
      definitions: own,
      errorRouting: routes.errorRouting && conditions.errorRouting(routes.errorRouting, node),
      // A `for` without items does nothing, so it does not fail either.
      alwaysFails: node.call.kind === "builtin" && node.call.signature.name === "fail" && node.each === undefined,
      fails: failureOf(terms, node, lists),
      // A task that was sent has an item, whatever the list is.
      itemsFrom: routes.isSent ? undefined : itemsFrom(graph, data, node),
      neverCalls: !routes.isSent && isNeverCalled(graph, filled, node),
      defined: definedWhere(terms, node, lists),
      allowsFailure: !routes.isSent && node.allowsFailure === true,
      pauses: waitsForPerson(node),
      alwaysPauses: !routes.isSent && alwaysWaits(node, routes.errorRouting !== undefined),
    };
  };
  return {
    name: graph.name,
    entry: graph.entry === "finally" ? "finally" : "start",
    net,
    nodes: net.nodes.map(nodeOf),
    jumps,
    start: conditions.routing(net.start, undefined).routing,
    barriers: net.barriers,
    placeCount: net.placeCount,
    barrierOfPlace: net.barrierOfPlace,
    terms,
    data,
    lists,
  };
}
