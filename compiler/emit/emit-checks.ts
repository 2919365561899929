/**
 * What `tsc` has to check, because only it knows the types of imported code: every function takes what the graph gives
 * it and gives what the graph stores. Each is a type `$.Checked<A, B>`, which is an error unless A fits B, and is gone
 * at run time.
 */
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { BoundChannel, BoundGraph, BoundNode } from "../bind/bound-graph.ts";
import { isOpaque, type TypeScriptCheck } from "../expressions/typescript-check.ts";
import { baseName } from "../load/paths.ts";
import { isBroken } from "../types/construct.ts";
import { isFreeIdentifier } from "./identifiers.ts";
import { commentText, literal, propertyName } from "./quote.ts";

export interface CheckNames {
  /** A type as the module writes it. */
  readonly type: (type: ValueType) => string;
  /**
   * The same for what something has to fit. `json` is anything there: an interface of TypeScript is no index type, so
   * it would not fit a type of all JSON values.
   */
  readonly expected: (type: ValueType) => string;
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
  for (const node of bound.nodes) for (const each of checkNode(node, channels, names)) lines.push(each);
  const written = new Set<string>();
  for (const check of bound.typeScriptChecks) {
    for (const text of writeCheck(check, names)) {
      // What stands in the graph many times is checked once, at its first place.
      if (written.has(text)) continue;
      written.add(text);
      lines.push(`// ${placeText(check.span, bound)}`, text);
    }
  }
  return lines;
}

function checkNode(node: BoundNode, channels: ReadonlyMap<string, BoundChannel>, names: CheckNames): readonly string[] {
  const { call } = node;
  const result = resultType(node, channels, names);
  if (call.kind === "expression") {
    const channel = node.output?.kind === "channel" ? channels.get(node.output.channel) : undefined;
    const isOpen = isOpaque(call.expression.type) || (channel !== undefined && isOpaque(channel.type));
    if (result === undefined || !isOpen) return [];
    return [`// node ${node.name}`, `$.Checked<${names.type(call.expression.type)}, ${result}>,`];
  }
  if (call.kind !== "function") return [];
  const given = call.args.map(({ syntax, type }) => ({ type, name: syntax.kind === "Name" ? syntax.name : undefined }));
  const parameters = writeParameters(given, ["context"], names);
  return [
    `// node ${node.name} = ${commentText(call.function.name)}(…)`,
    `$.Checked<typeof ${names.function(call.function.name)}, (${[...parameters, "context: $.NodeContext"].join(", ")}) => ` +
      `${result === undefined ? "unknown" : `$.NodeResult<${result}>`}>,`,
  ];
}

/** Parameters by the names of what is handed over, for the messages of `tsc`. */
function writeParameters(
  args: readonly { readonly type: ValueType; readonly name: string | undefined }[],
  taken: readonly string[],
  names: CheckNames,
): readonly string[] {
  const used = new Set(taken);
  return args.map(({ type, name: stated }, at) => {
    const isFree = stated !== undefined && isFreeIdentifier(stated) && !used.has(stated);
    const name = isFree ? stated : `$${at}`;
    used.add(name);
    return `${name}: ${argumentType(type, names)}`;
  });
}

/** What is handed over is frozen, but functions are plain TypeScript: they may well declare `string[]`. */
function argumentType(type: ValueType, names: CheckNames): string {
  // Nothing is known of it, here or there: it may be anything.
  if (isBroken(type)) return "never";
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
  const type = names.expected(channel.type);
  switch (channel.reducer?.kind) {
    case "append":
    case "union": {
      if (channel.type.kind !== "list") return "unknown";
      const item = names.expected(channel.type.item);
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
      return isItem && channel.type.kind === "list" ? names.expected(channel.type.item) : type;
    default:
      return type;
  }
}

/** A check of an expression's part, where the graph could only leave it to `tsc`. */
function writeCheck(check: TypeScriptCheck, names: CheckNames): readonly string[] {
  switch (check.kind) {
    case "call": {
      const function_ = names.function(check.function.name);
      const parameters = writeParameters(check.args, [], names);
      return [
        `$.Checked<typeof ${function_}, (${parameters.join(", ")}) => unknown>,`,
        `$.Checked<$.Result<typeof ${function_}>, "a value">,`,
      ];
    }
    case "fits": {
      const [type, expected] = [names.type(check.type), names.expected(check.expected)];
      return type === expected ? [] : [`$.Checked<${type}, ${expected}>,`];
    }
    case "field":
      return [`$.Checked<${literal(check.field)}, $.FieldOf<${names.type(check.type)}>>,`];
  }
}

/** Where a part stands in the graph file, and what stands there: `support.ngraph:12:5 rank(ticket)`. */
function placeText({ start, end }: Span, { file }: BoundGraph): string {
  const { line, column } = file.position(start);
  const [first = ""] = file.text.slice(start, Math.min(end, start + 80)).split(/[\r\n]/, 1);
  return commentText(`${baseName(file.path)}:${line}:${column} ${first}`).replaceAll(/[\r\n\u2028\u2029]/g, " ");
}
