/** The results of nodes: what the channels of an `into` expect, and whether the result fits. */
import { notJsonValue, typeMismatch } from "../../diagnostics/catalog/types.ts";
import { listNames, suggest } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { findNotJson } from "../modules/not-json.ts";
import { listItem } from "../expressions/typed.ts";
import { isAssignable } from "../types/assignable.ts";
import { isBroken, JSON_TYPE, listOf, nullable, recordOf, unionOf } from "../types/construct.ts";
import { fieldOfBound } from "../types/upper-bound.ts";
import { typeToText } from "../types/type-text.ts";
import { alternatives, resolveType, withoutNull } from "../types/type-table.ts";
import { reportMisfit } from "../expressions/fit-value.ts";
import { acceptedUpdates } from "./accepted-updates.ts";
import { placeIn, type ChannelEntry, type GraphContext } from "./graph-context.ts";
import type { Write } from "./resolve-writes.ts";

/** The result type of a node that infers it (`llm`, `ask`): what the channels of its `into` accept. */
export function inferResult(writes: readonly Write[], isEach: boolean): ValueType {
  const [first] = writes;
  if (first === undefined) return JSON_TYPE;
  const wanted = ({ channel, isSet }: Write): ValueType => {
    if (channel.reducer?.kind === "function" && isSet !== true) return JSON_TYPE;
    return isEach ? (listItem(channel.type, LIST_ONLY) ?? JSON_TYPE) : channel.type;
  };
  if (first.field === undefined) return wanted(first);
  return recordOf(
    writes.map((write) => ({
      name: write.field ?? write.channel.name,
      type: wanted(write),
      ...(write.isOptional === true ? { optional: true as const } : {}),
    })),
  );
}

/** Named list types are expanded where they are used, so no lookup is needed to recognise a list. */
const LIST_ONLY = { types: new Map<string, ValueType>() };

/**
 * Checks that a node's result fits the channels that it writes. `isChecked`: a `json` result is accepted, because it is
 * checked at run time.
 */
export function checkResult(
  node: Ast.NodeDecl,
  result: {
    readonly type: ValueType;
    readonly isChecked: boolean;
    readonly callee?: string | undefined;
    readonly unwritten?: string | undefined;
  },
  writes: readonly Write[],
  context: GraphContext,
): void {
  for (const write of writes) {
    if (write.channel.hasWrongReducer || (node.each !== undefined && !takesList(write, context))) continue;
    let type = result.type;
    if (write.field !== undefined) {
      // `undefined` has no fields. A field that is not picked may be anything.
      if (findNotJson(type, context.types)?.path === "" && reportNotJson(type, write, result.callee, context)) continue;
      const field = fieldOfResult(type, write, result.callee, context);
      if (field === undefined) continue;
      type = field;
    }
    if (reportNotJson(type, write, result.callee, context)) continue;
    if (isBroken(type) || (result.isChecked && resolveType(type, context.types).kind === "json")) continue;
    checkWrite(node, write, type, result, context);
  }
}

/**
 * Checks what a tool declares of its result against the channels. A text takes the text of any result.
 *
 * @param wanted the result that the channels expect
 */
export function checkDeclared(
  node: Ast.NodeDecl,
  declared: ValueType | undefined,
  wanted: ValueType | undefined,
  writes: readonly Write[],
  context: GraphContext,
): void {
  if (declared === undefined || wanted?.kind === "string") return;
  checkResult(node, { type: declared, isChecked: true, callee: "tool" }, writes, context);
}

/** NG408 for a result that JSON cannot hold. Returns whether it has reported one. */
function reportNotJson(
  type: ValueType,
  { channel, span }: Write,
  callee: string | undefined,
  context: GraphContext,
): boolean {
  const found = findNotJson(type, context.types);
  if (found === undefined) return false;
  const source = callee === undefined ? "this value" : `the result of \`${callee}\``;
  context.report(notJsonValue(placeIn(context, span), { target: targetOf(channel), source, ...found }));
  return true;
}

/**
 * Reports channels of a `for` node that cannot hold a list. A reducer can accept the results one by one. Without such a
 * reducer, the channel receives the list of all results.
 */
export function checkEachWrites(writes: readonly Write[], context: GraphContext): void {
  for (const { channel, span } of writes.filter((write) => !takesList(write, context)))
    reportNoList(channel, span, context);
}

function takesList({ channel: { reducer, type, hasWrongReducer }, isSet }: Write, context: GraphContext): boolean {
  if (hasWrongReducer || isBroken(type)) return true;
  if (isSet !== true && reducer !== undefined && reducer.kind !== "last") return true;
  const parts = alternatives(withoutNull(type, context.types), context.types);
  return parts.some((part) => ["list", "json", "opaque"].includes(resolveType(part, context.types).kind));
}

function reportNoList(channel: ChannelEntry, span: Span, context: GraphContext): void {
  const { type } = channel;
  const text = typeToText(type);
  context.report(
    typeMismatch(placeIn(context, span), {
      target: targetOf(channel),
      expected: text,
      found: `${text}[]`,
      labels: [
        { ...placeIn(context, channel.declaration.type.span), message: `is \`${text}\`${reducerText(channel)}` },
      ],
      help: `the results of a \`for\` are one list: \`${text}[]\` takes it, and a reducer like \`max\` takes its items`,
    }),
  );
}

/** Suggests `into { field: channel }` where a field of the result has the channel's type. */
function pickHelp(
  type: ValueType,
  channel: ChannelEntry,
  expected: ValueType,
  context: GraphContext,
): string | undefined {
  const record = resolveType(type, context.types);
  if (record.kind !== "record") return undefined;
  const fitting = record.fields.filter((field) => isAssignable(field.type, expected, context.types) === undefined);
  const field = fitting.find(({ name }) => name === channel.name) ?? fitting[0];
  if (field === undefined) return undefined;
  const { name } = field;
  return `pick a field of the result: \`into { ${name === channel.name ? name : `${name}: ${channel.name}`} }\``;
}

function checkWrite(
  node: Ast.NodeDecl,
  write: Write,
  type: ValueType,
  result: { readonly callee?: string | undefined; readonly unwritten?: string | undefined },
  context: GraphContext,
): void {
  const { channel } = write;
  const isEach = node.each !== undefined;
  const found = isEach ? listOf(type) : type;
  const accepted = write.isSet === true ? [channel.type] : acceptedUpdates(channel, isEach, context);
  const fitting = accepted.find((update) => isAssignable(found, update, context.types) === undefined);
  if (fitting !== undefined) {
    // All fields of a record literal must exist in the expected type.
    if (node.call.kind === "Record" && !isEach && write.field === undefined) {
      reportMisfit({ type, syntax: node.call }, fitting, { target: targetOf(channel) }, context);
    }
    return;
  }
  const [expected = channel.type] = accepted;
  const declared = placeIn(context, channel.declaration.type.span);
  const isWhole = write.field === undefined && node.call.kind !== "Call";
  if (isWhole && !isEach) {
    const value = { type, syntax: node.call, unwritten: result.unwritten };
    reportMisfit(value, expected, { target: targetOf(channel), declared }, context);
    return;
  }
  const mismatch = isAssignable(found, expected, context.types);
  if (mismatch === undefined) return;
  context.report(
    typeMismatch(placeIn(context, write.span), {
      target: targetOf(channel),
      expected: typeToText(mismatch.expected),
      found: typeToText(mismatch.found),
      path: mismatch.path,
      reason: mismatch.reason,
      labels: [{ ...declared, message: `is \`${typeToText(channel.type)}\`${reducerText(channel)}` }],
      help: helpFor(),
    }),
  );

  function helpFor(): string | undefined {
    const callee = result.callee ?? "";
    if (type.kind === "null" && result.callee !== undefined) {
      return `\`${callee}\` has no result: remove the \`into\``;
    }
    if (write.isSet === true) return `\`set\` takes the whole value, \`${typeToText(channel.type)}\``;
    if (isEach) return `the results of a \`for\` are one list: \`${typeToText(found)}\``;
    if (mismatch?.reason === "null" && mismatch.path !== "") {
      const source = callee === "" ? "the expression" : `\`${callee}\``;
      return `allow \`null\` at \`${mismatch.path}\` in the type of the channel, or let ${source} return a value there`;
    }
    if (mismatch?.reason === "null") {
      const subject = callee === "" ? "this expression may be `null`" : `\`${callee}\` may end without a value`;
      return `${subject} here: let the channel be \`${typeToText(nullable(channel.type))}\``;
    }
    return write.field === undefined ? pickHelp(type, channel, expected, context) : undefined;
  }
}

function targetOf(channel: ChannelEntry): string {
  return `channel \`${channel.name}\``;
}

function reducerText(channel: ChannelEntry): string {
  return channel.reducer === undefined || channel.reducer.kind === "function" ? "" : ` reduce ${channel.reducer.kind}`;
}

/** The type of a field of the result. Reports a missing field and returns `undefined`. */
function fieldOfResult(
  type: ValueType,
  { field = "", span, isOptional }: Write,
  callee: string | undefined,
  context: GraphContext,
): ValueType | undefined {
  let lacking: ValueType | undefined;
  const found: ValueType[] = [];
  for (const member of alternatives(type, context.types)) {
    const plain = resolveType(member, context.types);
    if (plain.kind === "json") return JSON_TYPE;
    if (plain.kind === "opaque") {
      const known = fieldOfBound(plain, field, context.types);
      if (known === undefined) return undefined;
      found.push(known);
      continue;
    }
    if (plain.kind === "map") {
      found.push(isOptional === true ? plain.value : nullable(plain.value));
      continue;
    }
    const has = plain.kind === "record" ? plain.fields.find((candidate) => candidate.name === field) : undefined;
    if (has === undefined) {
      lacking ??= plain;
      continue;
    }
    found.push(has.optional === true && isOptional !== true ? nullable(has.type) : has.type);
  }
  // With `?`, one alternative with the field is enough.
  if (lacking !== undefined && (isOptional !== true || found.length === 0)) {
    reportNoField(type, lacking, field, span, callee, context);
    return undefined;
  }
  return unionOf(found);
}

function reportNoField(
  type: ValueType,
  plain: ValueType,
  field: string,
  span: Span,
  callee: string | undefined,
  context: GraphContext,
): void {
  const { similar, known: fields } = suggest(
    field,
    () => (plain.kind === "record" ? plain.fields.map(({ name }) => name) : []),
    context.scope.suggestions,
  );
  const subject = callee === undefined ? "this value" : `what \`${callee}\` gives`;
  context.report(
    typeMismatch(placeIn(context, span), {
      target: `${subject} has no field \`${field}\`: the channel`,
      expected: `{ ${field}: … }`,
      found: typeToText(type),
      help: helpFor(),
    }),
  );

  function helpFor(): string {
    if (similar !== undefined) return `a field with a similar name exists: \`${similar}\``;
    return fields.length > 0 ? `its fields are ${listNames(fields)}` : "store the whole result: `into channel`";
  }
}
