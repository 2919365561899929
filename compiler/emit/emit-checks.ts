/**
 * What `tsc` has to check, because only it knows the types of imported code: every function takes what the graph gives it and
 * gives what the graph stores. Each is a type `$.Checked<A, B>`, which is an error unless A fits B, and is gone at run time.
 */
import type { ValueType } from "../../runtime/value-type.ts";
import type { BoundChannel, BoundGraph, BoundNode, TypedExpression } from "../bound-graph.ts";
import { isFreeIdentifier } from "./identifiers.ts";
import { commentText, propertyName } from "./quote.ts";

export interface CheckNames {
  /** A type as the module writes it. */
  readonly type: (type: ValueType) => string;
  /** The module's name of an imported function, by its name in the graph. */
  readonly function: (name: string) => string;
}

/** Lines of a tuple type, each with a comment that says where it comes from. */
export function emitChecks(bound: BoundGraph, names: CheckNames): readonly string[] {
  const channels = new Map(bound.channels.map((channel) => [channel.name, channel]));
  const lines: string[] = [];
  for (const channel of bound.channels) {
    if (channel.reducer?.kind !== "function") continue;
    const type = names.type(channel.type);
    const reducer = names.function(channel.reducer.function.name);
    lines.push(`// reduce ${channel.reducer.function.name} of ${channel.name}`);
    lines.push(`$.Checked<typeof ${reducer}, (current: ${type}, update: never) => ${type}>,`);
  }
  for (const node of bound.nodes) lines.push(...checkNode(node, channels, names));
  for (const edge of bound.edges) {
    if (edge.to.kind === "when") lines.push(...checkCondition(edge.to.condition, names));
    if (edge.to.kind === "cases") for (const arm of edge.to.arms) lines.push(...checkCondition(arm.condition, names));
  }
  return lines;
}

function checkNode(node: BoundNode, channels: ReadonlyMap<string, BoundChannel>, names: CheckNames): readonly string[] {
  const { call } = node;
  const result = resultType(node, channels, names);
  if (call.kind === "expression") {
    if (result === undefined || !isOpaque(call.expression.type)) return [];
    return [`// node ${node.name}`, `$.Checked<${names.type(call.expression.type)}, ${result}>,`];
  }
  if (call.kind !== "function") return [];
  const parameters = writeParameters(call.args, names);
  return [
    `// node ${node.name} = ${commentText(call.function.name)}(…)`,
    `$.Checked<typeof ${names.function(call.function.name)}, (${[...parameters, "context: $.NodeContext"].join(", ")}) => ` +
      `${result === undefined ? "unknown" : `$.NodeResult<${result}>`}>,`,
  ];
}

/** Parameters by the names of what is handed over, for the messages of `tsc`. */
function writeParameters(args: readonly TypedExpression[], names: CheckNames): readonly string[] {
  const used = new Set(["context"]);
  return args.map(({ syntax, type }, at) => {
    const free = syntax.kind === "Name" && isFreeIdentifier(syntax.name) && !used.has(syntax.name);
    const name = free ? syntax.name : `$${at}`;
    used.add(name);
    return `${name}: ${argumentType(type, names)}`;
  });
}

/** What is handed over is frozen, but functions are plain TypeScript: they may well declare `string[]`. */
function argumentType(type: ValueType, names: CheckNames): string {
  const text = names.type(type);
  return ["list", "map", "record", "union", "ref"].includes(type.kind) ? `$.Argument<${text}>` : text;
}

/** What a node's call may return, from where it is stored. Of a `for` node: of one item. */
function resultType(
  node: BoundNode,
  channels: ReadonlyMap<string, BoundChannel>,
  names: CheckNames,
): string | undefined {
  const { output } = node;
  const update = (name: string): string => {
    const channel = channels.get(name);
    return channel === undefined ? "unknown" : updateType(channel, node.each !== undefined, names);
  };
  if (output === undefined) return undefined;
  if (output.kind === "channel") return update(output.channel);
  const fields = output.fields.map(({ field, channel }) => `readonly ${propertyName(field)}: ${update(channel)}`);
  return `{ ${fields.join("; ")} }`;
}

/** What may be written to a channel; `isItem`: one item of a list of updates. */
function updateType(channel: BoundChannel, isItem: boolean, names: CheckNames): string {
  const type = names.type(channel.type);
  switch (channel.reducer?.kind) {
    case "append":
    case "union": {
      if (channel.type.kind !== "list") return "unknown";
      const item = names.type(channel.type.item);
      return `${item} | readonly (${item})[]`;
    }
    case "merge":
      return `$.Merged<${type}>`;
    case "function": {
      const update = `$.UpdateOf<typeof ${names.function(channel.reducer.function.name)}>`;
      return isItem ? `$.ItemOf<${update}>` : update;
    }
    case undefined:
    case "last":
      // The results of all items are one list, which is the channel's value.
      return isItem && channel.type.kind === "list" ? names.type(channel.type.item) : type;
    default:
      return type;
  }
}

function checkCondition(condition: TypedExpression, names: CheckNames): readonly string[] {
  if (!isOpaque(condition.type)) return [];
  return [`// a condition`, `$.Checked<${names.type(condition.type)}, boolean>,`];
}

/** Whether only TypeScript knows the type, or a part of it that the graph could not check. */
function isOpaque(type: ValueType): boolean {
  switch (type.kind) {
    case "opaque":
      return type.module !== "";
    case "list":
      return isOpaque(type.item);
    case "map":
      return isOpaque(type.value);
    case "record":
      return type.fields.some((field) => isOpaque(field.type));
    case "union":
      return type.members.some(isOpaque);
    default:
      return false;
  }
}
