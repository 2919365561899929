/** A model as the table that the engine runs. Written by hand: the compiler has tests of its own, and would cost more than the runs. */
import type { Expression } from "../../runtime/expression/expression.ts";
import type { NodeSpec, RouteSpec, Table, TargetSpec } from "../../runtime/table.ts";
import type { Model, ModelEdge } from "./model.ts";

const INPUT = 0;
const LOG = 1;
const COUNTER = 2;
const LAST = 3;

export function tableOfModel(model: Model): Table {
  const expressions: Expression[] = [];
  const add = (expression: Expression): number => expressions.push(expression) - 1;
  const counter: Expression = {
    op: "binary",
    operator: "+",
    left: { op: "channel", channel: INPUT },
    right: { op: "channel", channel: COUNTER },
    int: true,
  };
  const shown = add(counter);
  const last = add({ op: "channel", channel: LAST });
  const error = add({ op: "error" });
  const rest = (by: number): Expression => ({
    op: "binary",
    operator: "%",
    left: counter,
    right: { op: "const", value: by },
    int: true,
  });
  const targets = (nodes: readonly number[]): TargetSpec[] => nodes.map((node) => ({ node }));
  const route = (edge: ModelEdge): RouteSpec => {
    switch (edge.kind) {
      case "plain":
      case "otherwise":
        return { kind: edge.kind, targets: targets(edge.to) };
      case "when":
        return {
          kind: "when",
          condition: add({
            op: "binary",
            operator: "==",
            left: rest(edge.by),
            right: { op: "const", value: edge.rest },
          }),
          targets: targets(edge.to),
        };
      case "match":
        return {
          kind: "match",
          subject: add(rest(edge.by)),
          arms: edge.arms.map((to, value) => ({ values: [value], targets: targets(to) })),
          otherwise: targets(edge.otherwise),
        };
    }
  };
  const nodes = model.nodes.map((node, index): NodeSpec => {
    const gate = model.barriers.findIndex(({ gates, target }) => gates && target === index);
    const joined = node.joins.map((barrier) => ({
      barrier,
      member: model.barriers[barrier]!.members.findIndex((members) => members.includes(index)),
    }));
    const fields = [
      { field: "log", channel: LOG },
      { field: "counter", channel: COUNTER },
      ...(node.items === undefined && node.graph === undefined ? [{ field: "last", channel: LAST }] : []),
    ];
    return {
      name: node.name,
      call:
        node.graph === undefined
          ? {
              kind: "function",
              function: 0,
              args: [add({ op: "const", value: [model.name, index] }), shown, last, error],
            }
          : { kind: "graph", graph: node.graph, args: [{ name: "input", expression: shown }] },
      ...(node.items === undefined
        ? {}
        : {
            each: {
              item: "item",
              list: add({ op: "const", value: Array.from({ length: node.items }, (_, i) => i) }),
              ...(node.parallel === undefined ? {} : { parallel: node.parallel }),
            },
          }),
      output: { kind: "fields", fields },
      ...(node.tries === 1 ? {} : { tries: { attempts: node.tries } }),
      ...(node.pauseBefore ? { pauseBefore: true as const } : {}),
      ...(node.pauseAfter ? { pauseAfter: true as const } : {}),
      ...(node.goes.length === 0 ? {} : { goes: node.goes }),
      ...(gate === -1 ? {} : { waits: gate }),
      routes: [...node.edges.map(route), ...(joined.length === 0 ? [] : [{ kind: "plain" as const, targets: joined }])],
      onError: node.onError.length === 0 ? [] : [{ targets: targets(node.onError) }],
    };
  });
  const json = { kind: "json" } as const;
  return {
    format: "ngraph.table",
    version: 1,
    kind: "graph",
    name: model.name,
    channels: [
      { name: "input", role: "input", type: { kind: "int" } },
      { name: "log", role: "output", type: { kind: "list", item: json }, initial: [], reducer: { kind: "append" } },
      { name: "counter", role: "output", type: { kind: "int" }, initial: 0, reducer: { kind: "sum" } },
      { name: "last", role: "output", type: json, initial: null, reducer: { kind: "last" } },
    ],
    nodes,
    start: [{ kind: "plain", targets: targets(model.start) }],
    barriers: model.barriers.map(({ target, members, gates }, index) => ({
      id: `${model.nodes[target]!.name}#${index}`,
      kind: gates ? "waits" : "all",
      target,
      members,
    })),
    expressions,
    functions: [{ name: "work", module: "./work.ts", export: "work" }],
    types: [],
    graphs: model.graphs.map(tableOfModel),
    secrets: [],
    effects: [],
    limits: { steps: null, parallel: null },
    assertions: [],
    digest: `sha256:${"0".repeat(64)}`,
  };
}

/** The models that a table's bodies run for, by name. */
export function modelsByName(model: Model): Map<string, Model> {
  return new Map([[model.name, model] as const, ...model.graphs.flatMap((graph) => [...modelsByName(graph)])]);
}
