/**
 * Checks for `tsc`, which knows all types of imported code: each function accepts the arguments that the graph passes
 * and returns what the graph stores. A check is a type `$.Checked<A, B>`, which is an error unless A is assignable to
 * B. It does not exist at run time.
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
   * A type that a value must be assignable to. `json` becomes `unknown` there: an interface of TypeScript has no index
   * signature, so it is not assignable to a type of all JSON values.
   */
  readonly expected: (type: ValueType) => string;
  /** The module's name of an imported function, by its name in the graph. */
  readonly function: (name: string) => string;
  /** Written at the begin of the comment of a check: the place of what it checks. */
  readonly mark: (span: Span) => string;
}

/** Lines of a tuple type. Each check has a comment with its place in the graph. */
export function emitChecks(bound: BoundGraph, names: CheckNames): readonly string[] {
  const channels = new Map(bound.channels.map((channel) => [channel.name, channel]));
  const lines: string[] = [];
  for (const channel of bound.channels) {
    if (channel.reducer?.kind !== "function") continue;
    const type = names.type(channel.type);
    const reducer = names.function(channel.reducer.function.name);
    lines.push(`// ${names.mark(channel.declaration.span)}reduce ${channel.reducer.function.name} of ${channel.name}`);
    lines.push(
      `$.Checked<typeof ${reducer}, (current: ${argumentType(channel.type, names)}, update: never) => ${type}>,`,
    );
  }
  for (const node of bound.nodes) for (const each of checkNode(node, channels, names)) lines.push(each);
  const written = new Set<string>();
  for (const check of bound.typeScriptChecks) {
    for (const text of writeCheck(check, names)) {
      // Equal checks are written once, with their first place.
      if (written.has(text)) continue;
      written.add(text);
      lines.push(`// ${names.mark(check.span)}${placeText(check.span, bound)}`, text);
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
    return [
      `// ${names.mark(call.expression.span)}node ${node.name}`,
      `$.Checked<${names.type(call.expression.type)}, ${result}>,`,
    ];
  }
  if (call.kind !== "function") return [];
  const given = call.args.map(({ syntax, type }) => ({ type, name: syntax.kind === "Name" ? syntax.name : undefined }));
  const isPassed = call.withoutContext === undefined;
  const parameters = [...writeParameters(given, ["context"], names), ...(isPassed ? ["context: $.NodeContext"] : [])];
  return [
    `// ${names.mark(node.declaration.call.span)}node ${node.name} = ${commentText(call.function.name)}(…)`,
    `$.Checked<typeof ${names.function(call.function.name)}, (${parameters.join(", ")}) => ` +
      `${result === undefined ? "unknown" : `$.NodeResult<${result}>`}>,`,
  ];
}

/** Parameters with the names of the arguments, for the messages of `tsc`. */
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

/** Arguments are frozen, but functions may declare mutable types such as `string[]`. */
function argumentType(type: ValueType, names: CheckNames): string {
  // The type is unknown: `never` is assignable to every parameter.
  if (isBroken(type)) return "never";
  const text = names.type(type);
  return ["list", "map", "record", "union", "ref"].includes(type.kind) ? `$.Argument<${text}>` : text;
}

/** The type that a node's call must return, derived from its `into`; for a `for` node, the type of one item. */
function resultType(
  node: BoundNode,
  channels: ReadonlyMap<string, BoundChannel>,
  names: CheckNames,
): string | undefined {
  const { output } = node;
  const update = ({ channel: name, set }: { readonly channel: string; readonly set?: true }): string => {
    const channel = channels.get(name);
    if (channel === undefined) return "unknown";
    const { reducer: _reducer, ...plain } = channel;
    return updateType(set === true ? plain : channel, node.each !== undefined, names);
  };
  if (output === undefined) return undefined;
  if (output.kind === "channel") return update(output);
  const fields = output.fields.map((target) => {
    const mark = target.optional === true ? "?" : "";
    return `readonly ${propertyName(target.field)}${mark}: ${update(target)}${mark === "" ? "" : " | undefined"}`;
  });
  return `{ ${fields.join("; ")} }`;
}

/** The type of an update of a channel. `isItem`: of one item of a `for`. */
export function updateType(
  channel: BoundChannel,
  isItem: boolean,
  names: Pick<CheckNames, "expected" | "function">,
): string {
  const type = names.expected(channel.type);
  switch (channel.reducer?.kind) {
    case "append":
    case "union": {
      if (channel.type.kind !== "list") return "unknown";
      const item = names.expected(channel.type.item);
      return `${item} | readonly (${item})[]`;
    }
    case "merge":
      if (channel.type.kind === "list") {
        const item = `$.MergedItem<${names.expected(channel.type.item)}>`;
        return `${item} | readonly (${item})[]`;
      }
      return `$.Merged<${type}>`;
    case "function": {
      const update = `$.UpdateOf<typeof ${names.function(channel.reducer.function.name)}>`;
      return isItem ? `$.ItemOf<${update}>` : update;
    }
    case undefined:
    case "last":
      // The channel's value is the list of the results of all items.
      return isItem && channel.type.kind === "list" ? names.expected(channel.type.item) : type;
    default:
      return type;
  }
}

/** The text of a check that the compiler leaves to `tsc`. */
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

/** The place of a part in the graph file, with its text: `support.ngraph:12:5 rank(ticket)`. */
function placeText({ start, end }: Span, { file }: BoundGraph): string {
  const { line, column } = file.position(start);
  const [first = ""] = file.text.slice(start, Math.min(end, start + 80)).split(/[\r\n]/, 1);
  return commentText(`${baseName(file.path)}:${line}:${column} ${first}`).replaceAll(/[\r\n\u2028\u2029]/g, " ");
}
