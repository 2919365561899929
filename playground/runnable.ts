/** What a run in the page needs: inputs, and the results of the nodes that reach outside of the page. */
import type { BoundGraph } from "../compiler/bind/bound-graph.ts";
import { typeToText } from "../compiler/types/type-text.ts";
import type { NodeSpec, Table } from "../runtime/table/table.ts";
import type { ValueType } from "../runtime/table/value-type.ts";
import type { Json } from "../runtime/value/json.ts";
import { REFUSED_NODES } from "../testing/test-nodes.ts";
import type { Runnable } from "./messages.ts";
import { sampleOf } from "./sample.ts";

export function runnableOf(table: Table, bound: BoundGraph, named: ReadonlyMap<string, ValueType>): Runnable {
  const results = new Map(bound.nodes.map((node) => [node.name, node.result]));
  return {
    inputs: table.channels.flatMap(({ name, role, type, initial }) =>
      role === "input" || role === "config"
        ? [
            {
              name,
              type: typeToText(type),
              value: initial ?? sampleOf(type, named),
              isOptional: initial !== undefined,
            },
          ]
        : [],
    ),
    mocked: table.nodes
      .filter((node) => isMocked(node, table))
      .map((node) => ({
        node: node.name,
        call: callText(node, table),
        value: resultOf(node, table, results.get(node.name), named),
      })),
  };
}

function resultOf(
  node: NodeSpec,
  table: Table,
  result: ValueType | undefined,
  named: ReadonlyMap<string, ValueType>,
): Json {
  if (result !== undefined) return sampleOf(result, named);
  const { output } = node;
  if (output === undefined) return null;
  const valueOf = (channel: number): Json => {
    const spec = table.channels[channel];
    if (spec === undefined) return null;
    // A `for` node stores the list of its results.
    const type = node.each !== undefined && spec.type.kind === "list" ? spec.type.item : spec.type;
    return sampleOf(type, named);
  };
  if (output.kind === "channel") return valueOf(output.channel);
  return Object.fromEntries(output.fields.map(({ field, channel }) => [field, valueOf(channel)]));
}

/** A call of a graph is mocked where a node inside of it would be: mocks replace nodes of the outer graph. */
function isMocked({ call }: NodeSpec, table: Table): boolean {
  switch (call.kind) {
    case "function":
    case "plan":
      return true;
    case "builtin":
      return REFUSED_NODES.has(call.name);
    case "expression":
      return false;
    case "graph": {
      const called = table.graphs[call.graph];
      return called?.nodes.some((node) => isMocked(node, called)) === true;
    }
  }
}

function callText({ call }: NodeSpec, table: Table): string {
  switch (call.kind) {
    case "function":
      return `${table.functions[call.function]?.name ?? "function"}()`;
    case "builtin":
      return `${call.name}()`;
    case "graph":
      return `${table.graphs[call.graph]?.name ?? "graph"}()`;
    case "plan":
      return `${table.plans?.[call.plan]?.name ?? "plan"}()`;
    case "expression":
      return "expression";
  }
}
