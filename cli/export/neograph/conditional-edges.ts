/** The conditional edges of a topology: `match`, `when` and `otherwise`, as functions that return a key. */
import type { Span } from "../../../diagnostics/source.ts";
import { END_NAME, type BoundEdge } from "../../../compiler/bind/bound-graph.ts";
import type { Json } from "../../../runtime/value/json.ts";
import { constantOf } from "../constant.ts";
import { namesOfChannels, textOf } from "../state-idiom.ts";
import { endName, type Topology } from "./topology.ts";

export function matchEdge(
  topology: Topology,
  from: string,
  edge: BoundEdge,
  to: Extract<BoundEdge["to"], { readonly kind: "match" | "cases" }>,
  conditions: Map<string, number>,
): Json {
  const routes = new Map<string, string>();
  const remarks: string[] = [];
  const route = (key: string, targets: readonly { readonly name: string; readonly span: Span }[]): void => {
    if (targets.length > 1)
      topology.refuse(
        targets[1]!.span,
        "a route of a topology leads to one node",
        "lead it to a node, and that node to the others",
      );
    if (routes.has(key) || (key === "default" && to.otherwise?.targets !== targets))
      topology.refuse(targets[0]!.span, `the key \`${key}\` of a route is taken`, "use other values");
    routes.set(key, endName(targets[0]!.name));
  };
  let condition: string | undefined;
  if (to.kind === "match") {
    for (const arm of to.arms) for (const value of arm.values) route(String(value), arm.targets);
    const { expression, span } = to.subject;
    if (expression.op === "call") {
      condition = topology.graph.functions[expression.function]?.name;
      for (const arg of expression.args)
        if (namesOfChannels(arg, topology.graph) === undefined && constantOf(arg) === undefined)
          topology.loseArgument(span);
    } else if (expression.op === "channel" && topology.graph.channels[expression.channel]?.name === "__route__") {
      condition = "route_channel";
      // Another value is an error in NeoGraph.
      if (to.otherwise === undefined) routes.set("default", endName(END_NAME));
    } else remarks.push(textOf(topology.graph, span));
  } else {
    for (const [index, arm] of to.arms.entries()) {
      route(`case_${index + 1}`, arm.targets);
      remarks.push(`case_${index + 1}: ${textOf(topology.graph, arm.condition.span)}`);
    }
  }
  if (to.otherwise !== undefined) route("default", to.otherwise.targets);
  return conditionalEdge(topology, from, edge, condition, routes, remarks, conditions);
}

export function guardEdges(
  topology: Topology,
  from: string,
  edges: readonly BoundEdge[],
  conditions: Map<string, number>,
): Json[] {
  const otherwise = edges.filter(({ to }) => to.kind === "otherwise");
  const whens = edges.filter(({ to }) => to.kind === "when");
  if (otherwise.length > 1 || (otherwise.length === 1 && whens.length !== 1))
    topology.refuse(
      otherwise.at(-1)!.span,
      `\`otherwise\` beside several conditions of \`${from}\` has no form in a topology`,
      "write them as one `match { … }`",
    );
  return whens.map((edge) => {
    const { to } = edge;
    if (to.kind !== "when") throw new TypeError("the edge has a condition");
    const other = otherwise[0]?.to;
    const targets = [to.targets, ...(other?.kind === "otherwise" ? [other.targets] : [])];
    const wide = targets.find(({ length }) => length > 1);
    if (wide !== undefined)
      topology.refuse(
        wide[1]!.span,
        "a route of a topology leads to one node",
        "lead it to a node, and that node to the others",
      );
    const routes = new Map([
      ["true", endName(to.targets[0]!.name)],
      ["default", endName(targets[1]?.[0]?.name ?? END_NAME)],
    ]);
    return conditionalEdge(
      topology,
      from,
      edge,
      undefined,
      routes,
      [`true: ${textOf(topology.graph, to.condition.span)}`],
      conditions,
    );
  });
}

function conditionalEdge(
  topology: Topology,
  from: string,
  edge: BoundEdge,
  known: string | undefined,
  routes: ReadonlyMap<string, string>,
  remarks: readonly string[],
  conditions: Map<string, number>,
): Json {
  let condition = known;
  if (condition === undefined) {
    const count = (conditions.get(from) ?? 0) + 1;
    conditions.set(from, count);
    const taken = new Set(topology.graph.functions.map(({ name }) => name));
    condition = `${from}_route${count === 1 ? "" : `_${count}`}`;
    while (taken.has(condition)) condition += "_";
    topology.lose(
      edge.span,
      `a condition of a topology is a function: \`${condition}\` returns ${[...routes.keys()].map((key) => JSON.stringify(key)).join(" or ")}`,
      `register a condition with the name \`${condition}\` in the program`,
    );
  }
  return Object.fromEntries<Json>([
    ["from", endName(from)],
    ["condition", condition],
    ["routes", Object.fromEntries(routes)],
    ...(remarks.length === 0 ? [] : [["_comment", [...remarks]] as const]),
  ]);
}
