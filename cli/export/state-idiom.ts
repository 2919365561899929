/** How graphs with one common state are written in the language: a node that writes the input, and records of channels as arguments. */
import type { Span } from "../../diagnostics/source.ts";
import { START, type BoundChannel, type BoundGraph, type BoundNode } from "../../compiler/bind/bound-graph.ts";
import { targetsOf } from "../../compiler/bind/edge-parts.ts";
import type { Expression } from "../../runtime/expression/expression.ts";

/** `node begin = input into { a?, field?: b }` behind `start`: the input of a run writes the state. */
export interface InputWriter {
  readonly node: BoundNode;
  readonly channel: BoundChannel;
  /** By the fields of the input: the channels that they write. */
  readonly channels: ReadonlyMap<string, string>;
}

/** The node that writes the input, as `ngc import` makes it; `undefined` if the graph has none. */
export function inputWriter(graph: BoundGraph): InputWriter | undefined {
  const starts = graph.edges.filter(
    ({ source }) => source.kind === "nodes" && source.nodes.some(({ name }) => name === START),
  );
  const [start] = starts;
  if (starts.length !== 1 || start?.to.kind !== "plain" || start.to.targets.length !== 1) return undefined;
  const first = start.to.targets[0]!.name;
  const node = graph.nodes.find(({ name }) => name === first);
  if (node?.call.kind !== "expression" || node.declaration.policies.length > 0 || node.each !== undefined)
    return undefined;
  const { expression } = node.call.expression;
  const channel = expression.op === "channel" ? graph.channels[expression.channel] : undefined;
  const { output } = node;
  if (channel?.role !== "input" || output?.kind !== "fields") return undefined;
  if (!output.fields.every(({ optional, set }) => optional && !set)) return undefined;
  const channels = new Map(output.fields.map(({ field, channel: to }) => [field, to]));
  if (channels.size < output.fields.length) return undefined;
  const isRead = graph.nodes.some((each) => each !== node && each.reads.includes(channel.name));
  const isEntered = graph.edges.some(
    (edge) => edge !== start && targetsOf(edge).some((target) => target.name === node.name),
  );
  return isRead || isEntered ? undefined : { node, channel, channels };
}

/** The channels of a channel, or of a record whose fields have the names of their channels; `undefined` for other expressions. */
export function namesOfChannels(expression: Expression, graph: BoundGraph, isSingle = false): string[] | undefined {
  if (expression.op === "channel") {
    const name = graph.channels[expression.channel]?.name;
    return name === undefined ? undefined : [name];
  }
  if (isSingle || expression.op !== "record") return undefined;
  const names: string[] = [];
  for (const field of expression.fields) {
    if ("spread" in field) return undefined;
    const own = namesOfChannels(field.value, graph, true);
    if (own?.[0] !== field.name) return undefined;
    names.push(field.name);
  }
  return names;
}

/** The text of a part of the file, on one line. */
export function textOf(graph: BoundGraph, { start, end }: Span): string {
  const text = graph.file.text.slice(start, end).replace(/\s+/g, " ");
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
