/** The nodes of a topology: their types, their configurations, and the graphs that they call. */
import type { Span } from "../../../diagnostics/source.ts";
import type { BoundGraph, BoundNode } from "../../../compiler/bind/bound-graph.ts";
import type { Json } from "../../../runtime/value/json.ts";
import { constantOf } from "../constant.ts";
import { inputWriter, namesOfChannels } from "../state-idiom.ts";
import { checkPolicies } from "./policies.ts";
import type { Topology } from "./topology.ts";

/** Fields of a node that have a meaning of their own. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["type", "barrier", "definition", "input_map", "output_map"]);

type Fields = readonly (readonly [string, Json])[];

/** @param writeCalled the topology of a graph that a node calls */
export function nodeFields(
  topology: Topology,
  node: BoundNode,
  barrier: readonly string[] | undefined,
  writeCalled: (graph: BoundGraph) => Json,
): Fields {
  checkPolicies(topology, node);
  const wait = barrier === undefined ? [] : [["barrier", { wait_for: barrier }] as const];
  const doc = node.doc === undefined ? [] : [["_comment", node.doc] as const];
  const { call, declaration } = node;
  switch (call.kind) {
    case "graph": {
      const definition = writeCalled(call.graph);
      return [
        ["type", "subgraph"],
        ["definition", definition],
        ["input_map", inputMapOf(topology, node, call)],
        ["output_map", outputMapOf(topology, node)],
        ...wait,
        ...doc,
      ];
    }
    case "function":
      return [["type", call.function.name], ...configFields(topology, node, call.args), ...wait, ...doc];
    case "builtin": {
      const { name } = call.signature;
      topology.lose(
        declaration.call.span,
        `NeoGraph has no node type \`${name}\` with this meaning`,
        `register a node type with the name \`${name}\` in the program`,
      );
      return [["type", name], ...namedConfigFields(topology, node, call.args), ...wait, ...doc];
    }
    case "expression":
      topology.lose(
        declaration.call.span,
        `a node of NeoGraph is a function, and \`${node.name}\` is an expression`,
        `register a node type with the name \`${node.name}\` that computes it`,
      );
      return [["type", node.name], ...outputField(topology, node), ...wait, ...doc];
    default:
      return topology.refuse(
        declaration.call.span,
        "a topology cannot call a plan",
        "move the call into an imported function",
      );
  }
}

/** Constant records are the configuration; channels need no argument, because a node reads the whole state. */
function configFields(
  topology: Topology,
  node: BoundNode,
  args: Extract<BoundNode["call"], { readonly kind: "function" }>["args"],
): Fields {
  const config: (readonly [string, Json])[] = [];
  for (const { expression, span } of args) {
    const value = constantOf(expression);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      for (const [field, each] of Object.entries(value)) config.push(configField(topology, field, each, span));
    } else if (namesOfChannels(expression, topology.graph) === undefined) topology.loseArgument(span);
  }
  return [...outputField(topology, node, config), ...config];
}

function namedConfigFields(
  topology: Topology,
  node: BoundNode,
  args: Extract<BoundNode["call"], { readonly kind: "builtin" }>["args"],
): Fields {
  const config: (readonly [string, Json])[] = [];
  for (const { name, value } of args) {
    const constant = constantOf(value.expression);
    if (constant !== undefined) config.push(configField(topology, name, constant, value.span));
    else topology.loseArgument(value.span);
  }
  return [...outputField(topology, node, config), ...config];
}

function configField(topology: Topology, field: string, value: Json, span: Span): readonly [string, Json] {
  if (OWN_FIELDS.has(field) || field.startsWith("_") || field.startsWith("x-"))
    topology.refuse(
      span,
      `\`${field}\` has a meaning of its own in a node of NeoGraph`,
      "give the field of the configuration another name",
    );
  return [field, value];
}

/** `output_channel` for a result that is the value of one channel. */
function outputField(topology: Topology, { output, declaration }: BoundNode, config: Fields = []): Fields {
  if (output === undefined) return [];
  const span = declaration.output?.span ?? declaration.span;
  if (output.kind === "channel") {
    if (output.set === true) loseSet(topology, span);
    return config.some(([field]) => field === "output_channel") ? [] : [["output_channel", output.channel]];
  }
  for (const { field, channel, set } of output.fields) {
    if (set === true) loseSet(topology, span);
    if (field !== channel)
      topology.lose(
        span,
        `a node of NeoGraph writes channels by their names, and \`${field}\` is written to \`${channel}\``,
        `let the function return \`${channel}\``,
      );
  }
  return [];
}

function loseSet(topology: Topology, span: Span): void {
  topology.lose(
    span,
    "`set` has no form in a topology: the reducer of the channel applies",
    "use a reducer that accepts a replacement",
  );
}

function inputMapOf(
  topology: Topology,
  node: BoundNode,
  call: Extract<BoundNode["call"], { readonly kind: "graph" }>,
): Json {
  const writer = inputWriter(call.graph);
  const pairs = new Map<string, string>();
  const add = (inner: string, outer: string | undefined, span: Span): void => {
    if (outer === undefined)
      topology.refuse(
        span,
        `the input \`${inner}\` of \`${node.name}\` is computed, and a topology passes channels`,
        "compute it in a node before, and pass its channel",
      );
    if (pairs.has(outer))
      topology.refuse(
        span,
        `a topology passes \`${outer}\` to one input of \`${node.name}\` only`,
        "copy it to another channel before",
      );
    pairs.set(outer, inner);
  };
  for (const { name, value } of call.args) {
    const { expression, span } = value;
    if (writer === undefined || name !== writer.channel.name) {
      add(name, namesOfChannels(expression, topology.graph, true)?.[0], span);
      continue;
    }
    if (expression.op !== "record")
      topology.refuse(span, "the input of a graph that is called is a record of channels", "write it as `{ a, b }`");
    for (const field of expression.fields) {
      if ("spread" in field)
        topology.refuse(span, "a topology names each channel that it passes", "write it without `...`");
      const inner = writer.channels.get(field.name) ?? field.name;
      add(inner, namesOfChannels(field.value, topology.graph, true)?.[0], span);
    }
  }
  return Object.fromEntries(pairs);
}

function outputMapOf(topology: Topology, { name, output, declaration }: BoundNode): Json {
  if (output === undefined) return {};
  if (output.kind === "channel")
    topology.refuse(
      declaration.output?.span ?? declaration.span,
      `the outputs of \`${name}\` are one record, and a topology has a channel for each`,
      "name them: `into { reply }`",
    );
  return Object.fromEntries(output.fields.map(({ field, channel }) => [field, channel]));
}
