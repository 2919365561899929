/** How the step of one node can end: whether it can fail, and whether it waits for a person. */
import { compileExpression } from "../../runtime/expression/compile-expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundGraph, BoundNode } from "../bind/bound-graph.ts";
import { definedFormula, isTotal } from "./defined-formula.ts";
import { ALWAYS, type Formula } from "./formula.ts";
import type { DataModel } from "./model.ts";
import { channelsOf, type TermTable } from "./terms.ts";

const FOREIGN_BUILTINS = new Set(["llm", "http", "shell", "tool", "ask", "receive"]);

/** Whether the outside world decides the result: any value of its type is possible, and so is a failure. */
export function isForeignCall({ call }: BoundNode): boolean {
  return call.kind === "function" || (call.kind === "builtin" && FOREIGN_BUILTINS.has(call.signature.name));
}

/** Whether the list of a `for` node is known to have items in some run. Without items, its function is not called. */
export function mayHaveItems(graph: BoundGraph, data: DataModel, { each }: BoundNode): boolean {
  if (each === undefined) return true;
  const { expression } = each.list;
  const channels = channelsOf(expression);
  if (channels.length === 0) {
    try {
      const list = compileExpression(expression)({ state: [] });
      return Array.isArray(list) && list.length > 0;
    } catch {
      // An imported function computes the list, or the expression has no value.
      return graph.functions.length > 0;
    }
  }
  return channels.some(
    (channel) =>
      data.channels[channel]!.isGiven ||
      data.writes.some((writes) => writes.some((write) => write.channel === channel && write.isFree)),
  );
}

/** The formula under which the expression of a node has a value; `undefined` if it always has one. */
export function definedWhere(terms: TermTable, { call, each }: BoundNode): Formula | undefined {
  if (call.kind !== "expression" || each !== undefined) return undefined;
  const defined = definedFormula(terms, call.expression.expression);
  return defined === ALWAYS ? undefined : defined;
}

/** Whether a node fails only where its `defined` formula is false: a total expression whose type fits its channels. */
export function cannotFail(terms: TermTable, { call, each, timeout }: BoundNode): boolean {
  if (call.kind !== "expression" || each !== undefined || timeout !== undefined) return false;
  const { expression, type } = call.expression;
  return isTotal(terms, expression) && !hasOpaquePart(type);
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
  if (node.call.kind === "builtin") return node.call.signature.pauses === true;
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
  return call.kind === "builtin" && call.signature.pauses === true && each === undefined && cache === undefined;
}
