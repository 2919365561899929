/**
 * Converts a model into a table for the engine. It does not use the compiler, which has its own tests and would cost
 * more than the runs.
 */
import type { Expression } from "../../runtime/expression/expression.ts";
import type { ChannelSpec, NodeSpec, RouteSpec, Table, TargetSpec } from "../../runtime/table/table.ts";
import { canLead, CHANNELS, gateOf, type Model, type ModelCondition, type ModelEdge, type Written } from "./model.ts";

const ORDER = ["input", ...(Object.keys(CHANNELS) as Written[])] as const;
const JSON_TYPE = { kind: "json" } as const;
const TYPES: Record<Written, ChannelSpec["type"]> = {
  log: { kind: "list", item: JSON_TYPE },
  counter: { kind: "int" },
  last: JSON_TYPE,
  solo: JSON_TYPE,
  picky: { kind: "int" },
  diary: { kind: "list", item: JSON_TYPE },
  total: { kind: "int" },
};

/** A version of a table: additional nodes without an edge to them, and omitted ones. */
export interface Drift {
  readonly adds?: boolean;
  /** A renamed node. */
  readonly renames?: string;
}

export function tableOfModel(model: Model, drift: Drift = {}): Table {
  const expressions: Expression[] = [];
  const add = (expression: Expression): number => expressions.push(expression) - 1;
  const channel = (name: (typeof ORDER)[number]): Expression => ({ op: "channel", channel: ORDER.indexOf(name) });
  const counter: Expression = {
    op: "binary",
    operator: "+",
    left: channel("input"),
    right: channel("counter"),
    int: true,
  };
  const shown = add(counter);
  const read = [shown, ...(["last", "solo", "picky", "total"] as const).map((name) => add(channel(name)))];
  const error = add({ op: "error" });
  const rest = (by: number): Expression => ({
    op: "binary",
    operator: "%",
    left: counter,
    right: { op: "const", value: by },
    int: true,
  });
  const condition = ({ by, rest: left }: ModelCondition): number =>
    add({ op: "binary", operator: "==", left: rest(by), right: { op: "const", value: left } });
  const targets = (nodes: readonly number[]): TargetSpec[] => nodes.map((node) => ({ node }));
  const route = (edge: ModelEdge): RouteSpec => {
    switch (edge.kind) {
      case "plain":
      case "otherwise":
        return { kind: edge.kind, targets: targets(edge.to) };
      case "when":
        return { kind: "when", condition: condition(edge), targets: targets(edge.to) };
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
    const gate = gateOf(model, index);
    const joined = node.joins.map((barrier) => ({
      barrier,
      member: model.barriers[barrier]!.members.findIndex((members) => members.includes(index)),
    }));
    const fields = node.writes.map((field) => ({ field, channel: ORDER.indexOf(field) }));
    return {
      name: node.name === drift.renames ? "renamed" : node.name,
      call:
        node.graph === undefined
          ? {
              kind: "function",
              function: 0,
              args: [add({ op: "const", value: [model.name, index] }), ...read, error],
            }
          : { kind: "graph", graph: node.graph, args: [{ name: "input", expression: shown }] },
      ...(node.items === undefined
        ? {}
        : {
            each: {
              item: "item",
              list: add({ op: "const", value: Array.from({ length: node.items }, (_, i) => i) }),
              ...(node.parallel === undefined ? {} : { parallel: node.parallel }),
              ...(node.allows === undefined ? {} : { allowFailure: node.allows }),
            },
          }),
      output: { kind: "fields", fields },
      ...(node.tries === 1 ? {} : { tries: { attempts: node.tries } }),
      ...(node.timeout === undefined ? {} : { timeout: node.timeout }),
      ...(node.pauseBefore ? { pauseBefore: true as const } : {}),
      ...(node.pauseAfter ? { pauseAfter: true as const } : {}),
      ...(node.goes.length === 0 ? {} : { goes: node.goes }),
      ...(gate === -1 ? {} : { waits: gate }),
      routes: [...node.edges.map(route), ...(joined.length === 0 ? [] : [{ kind: "plain" as const, targets: joined }])],
      onError:
        node.onError.length === 0
          ? []
          : [
              {
                ...(node.onErrorWhen === undefined ? {} : { condition: condition(node.onErrorWhen) }),
                targets: targets(node.onError),
              },
            ],
    };
  });
  if (drift.adds === true) nodes.push({ ...nodes[0]!, name: "added", routes: [], onError: [], goes: [] });
  const channels = (Object.keys(CHANNELS) as Written[]).map((name): ChannelSpec => {
    const { role, initial, reducer } = CHANNELS[name];
    const rule =
      reducer === "none"
        ? {}
        : { reducer: reducer === "picky" ? { kind: "function" as const, function: 1 } : { kind: reducer } };
    return { name, role, type: TYPES[name], initial: structuredClone(initial) as ChannelSpec["initial"] & {}, ...rule };
  });
  return {
    format: "ngraph.table",
    version: 2,
    kind: "graph",
    name: model.name,
    channels: [{ name: "input", role: "input", type: { kind: "int" } }, ...channels],
    nodes,
    start: [{ kind: "plain", targets: targets(model.start) }],
    barriers: model.barriers.map(({ target, members, gates, settles }, index) => ({
      id: `${model.nodes[target]!.name}#${index}`,
      kind: gates ? "waits" : settles ? "settled" : "all",
      target,
      members,
      ...(settles ? { reach: members.map((_, member) => rangesOf(reachOf(model, index, member))) } : {}),
    })),
    expressions,
    functions: [
      { name: "work", module: "./work.ts", export: "work" },
      { name: "picky", module: "./work.ts", export: "picky" },
    ],
    types: [],
    graphs: model.graphs.map((graph) => tableOfModel(graph)),
    secrets: [],
    effects: [],
    limits: { steps: null, parallel: null },
    assertions: [],
    digest: `sha256:${(drift.adds === true ? "1" : drift.renames === undefined ? "0" : "2").repeat(64)}`,
  };
}

function reachOf(model: Model, barrier: number, member: number): readonly number[] {
  return model.nodes.flatMap((_, node) => (canLead(model, barrier, node, member) ? [node] : []));
}

/** The first and last number of each run of consecutive numbers. */
function rangesOf(numbers: readonly number[]): number[] {
  return numbers.flatMap((number) => [
    ...(numbers.includes(number - 1) ? [] : [number]),
    ...(numbers.includes(number + 1) ? [] : [number]),
  ]);
}

/** The models that the bodies of a table implement, by name. */
export function modelsByName(model: Model): Map<string, Model> {
  return new Map([[model.name, model] as const, ...model.graphs.flatMap((graph) => [...modelsByName(graph)])]);
}
