/** How the step of one node can end: whether it can fail, and whether it waits for a person. */
import { compileExpression } from "../../runtime/expression/compile-expression.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { FINALLY, graphsCalledBy, setChannels, type BoundGraph, type BoundNode } from "../bind/bound-graph.ts";
import { definedFormula, isTotal } from "./defined-formula.ts";
import { ALWAYS, type Formula } from "./formula.ts";
import type { ListFacts } from "./list-facts.ts";
import type { ControlNode, DataModel } from "./model.ts";
import { channelsOf, type TermTable } from "./terms.ts";

const FOREIGN_BUILTINS = new Set(["llm", "http", "shell", "tool", "file", "ask", "receive"]);

/** Whether the outside world decides the result: any value of its type is possible, and so is a failure. */
export function isForeignCall({ call }: BoundNode): boolean {
  return call.kind === "function" || (call.kind === "builtin" && FOREIGN_BUILTINS.has(call.signature.name));
}

/** See `ControlNode.fails`. */
export function failureOf(terms: TermTable, node: BoundNode, lists: ListFacts): ControlNode["fails"] {
  if (cannotFail(terms, node, lists)) return "never";
  // An answer that does not fit is refused, so a question fails only when its deadline has passed. A signal that does not fit
  // can arrive before the node waits for it.
  const isAnswered = node.call.kind === "builtin" && node.call.signature.name === "ask";
  // Mutation point: waiting-failure
  return isForeignCall(node) && (!isAnswered || node.within !== undefined) ? "freely" : "perhaps";
}

/** Whether a `for` node has an empty list in every run, so that its function is never called. */
export function isNeverCalled(graph: BoundGraph, filled: ReadonlySet<string>, { each }: BoundNode): boolean {
  return each !== undefined && !mayHaveItems(graph, filled, each.list.expression);
}

/** The names of the channels whose list has items in some run, and possibly more. */
export function channelsWithItems(graph: BoundGraph): ReadonlySet<string> {
  const filled = new Set<string>();
  for (const { name, role, initial, reducer } of graph.channels) {
    // Without an initial value, a channel is null, or empty if its reducer collects a list.
    const startsEmpty = reducer?.kind === "append" || reducer?.kind === "union";
    const isEmpty = initial === undefined ? startsEmpty : Array.isArray(initial) && initial.length === 0;
    if (graph.entry === FINALLY || role === "input" || role === "config" || role === "memory" || !isEmpty)
      filled.add(name);
  }
  // A `for` node has as many results as items, so an empty list leads to an empty list.
  const sent = new Set(graph.nodes.flatMap(({ goes = [] }) => goes));
  const copies = graph.nodes.flatMap(({ name, call, each, output, writes }): [Expression, string][] => {
    const list =
      each !== undefined && !sent.has(name)
        ? each.list.expression
        : call.kind === "expression" && output?.kind === "channel"
          ? call.expression.expression
          : undefined;
    if (list !== undefined) return writes.map((channel) => [list, channel]);
    for (const channel of writes) filled.add(channel);
    return [];
  });
  for (let before = -1; before !== filled.size;) {
    before = filled.size;
    for (const [list, channel] of copies)
      if (!filled.has(channel) && mayHaveItems(graph, filled, list)) filled.add(channel);
  }
  return filled;
}

/** Whether a list has items in some run, as far as is known. */
function mayHaveItems(graph: BoundGraph, filled: ReadonlySet<string>, list: Expression): boolean {
  if (list.op === "channel") return filled.has(graph.channels[list.channel]?.name ?? "");
  if (list.op === "list") return list.items.length > 0;
  if (list.op === "const") return !Array.isArray(list.value) || list.value.length > 0;
  return true;
}

/** See `ControlNode.itemsFrom`. */
export function itemsFrom(graph: BoundGraph, data: DataModel, { each }: BoundNode): readonly number[] | undefined {
  if (each === undefined) return undefined;
  // The condition can leave out every item.
  // Mutation point: item-condition
  if (each.condition !== undefined) return [];
  const { expression } = each.list;
  const channels = channelsOf(expression);
  if (channels.length === 0) {
    try {
      const list = compileExpression(expression)({ state: [] });
      return Array.isArray(list) && list.length > 0 ? undefined : [];
    } catch {
      // An imported function computes the list, or the expression has no value.
      return graph.functions.length > 0 ? undefined : [];
    }
  }
  if (channels.some((channel) => isAlwaysGiven(graph, channel) || keepsItems(graph, channel))) return undefined;
  return channels.filter((channel) => data.channels[channel]!.isForeign);
}

/** Whether the caller decides the value in every step. */
function isAlwaysGiven({ channels, nodes, entry }: BoundGraph, index: number): boolean {
  const { name, role } = channels[index]!;
  // Nodes of the other part can write it.
  if (entry === FINALLY) return false;
  return (role === "input" || role === "config") && nodes.every(({ writes }) => !writes.includes(name));
}

/** Whether a channel has items from the start, and nothing removes them. */
function keepsItems({ channels, nodes, entry }: BoundGraph, index: number): boolean {
  const { name, initial, reducer } = channels[index]!;
  if (entry === FINALLY) return false;
  if (!Array.isArray(initial) || initial.length === 0 || setChannels({ nodes }).has(name)) return false;
  // Mutation point: kept-items
  return reducer?.kind === "append" || reducer?.kind === "union" || nodes.every(({ writes }) => !writes.includes(name));
}

/** The formula under which the expression of a node has a value; `undefined` if it always has one. */
export function definedWhere(terms: TermTable, { call, each }: BoundNode, lists: ListFacts): Formula | undefined {
  if (call.kind !== "expression" || each !== undefined) return undefined;
  const defined = definedFormula(terms, lists.read(call.expression.expression));
  return defined === ALWAYS ? undefined : defined;
}

/** Whether a node fails only where its `defined` formula is false: a total expression whose type fits its channels. */
function cannotFail(terms: TermTable, { call, each, timeout }: BoundNode, lists: ListFacts): boolean {
  if (call.kind !== "expression" || each !== undefined || timeout !== undefined) return false;
  const { expression, type } = call.expression;
  return isTotal(terms, lists.read(expression)) && !hasOpaquePart(type);
}

/** Whether a value of the type is checked only when it is written, as for TypeScript types outside of the language. */
function hasOpaquePart(type: ValueType): boolean {
  switch (type.kind) {
    case "opaque":
    case "ref":
    case "json":
      return true;
    case "list":
      return hasOpaquePart(type.item);
    case "map":
      return hasOpaquePart(type.value);
    case "record":
      return type.fields.some((field) => hasOpaquePart(field.type));
    case "union":
      return type.members.some(hasOpaquePart);
    default:
      return false;
  }
}

/** Whether a node's step can wait for a person. */
export function waitsForPerson(node: BoundNode): boolean {
  if (node.pauseBefore || node.pauseAfter) return true;
  if (node.call.kind === "builtin") {
    const { signature, tools = [] } = node.call;
    if (signature.pauses === true || tools.some(({ approval }) => approval)) return true;
    return graphsCalledBy(node.call).some(graphWaitsForPerson);
  }
  if (node.call.kind === "plan") return node.call.plan.tasks.some((task) => task.effects.includes("person"));
  return node.call.kind === "graph" && graphWaitsForPerson(node.call.graph);
}

/** Each graph is visited once: a recursion over calls alone would take time exponential in the depth of the calls. */
function graphWaitsForPerson(graph: BoundGraph): boolean {
  const known = waitingGraphs.get(graph);
  if (known !== undefined) return known;
  const waits = graph.nodes.some(waitsForPerson);
  waitingGraphs.set(graph, waits);
  return waits;
}

const waitingGraphs = new WeakMap<BoundGraph, boolean>();

/**
 * Whether each run of the node waits for a person. A failed node skips its pause after the step, an `ask` over an empty
 * list does not pause, and a called graph can have a run without a pause.
 */
export function alwaysWaits(
  { call, each, cache, pauseBefore, pauseAfter }: BoundNode,
  handlesFailure: boolean,
): boolean {
  if (pauseBefore || (pauseAfter && !handlesFailure)) return true;
  // Mutation point: waiting-node
  return call.kind === "builtin" && call.signature.pauses === true && each === undefined && cache === undefined;
}
