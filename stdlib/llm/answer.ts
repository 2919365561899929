import type { ExpectedType } from "../../runtime/interface/context.ts";
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";
import type { Json } from "../../runtime/value/json.ts";
import { Mismatch } from "../../runtime/value/mismatch.ts";
import { compileAdmit } from "../../runtime/value/validate.ts";
import { schemaOf } from "../type-schema.ts";
import { fitMessages, messageTypeOf, resolve, type Message } from "./messages.ts";

/** What the graph stores of a conversation. */
export interface AnswerForm {
  /** The type that the model's last answer must have; `undefined` for plain text. */
  readonly value: ExpectedType | undefined;
  /** The result of the node. @param value the value of the last answer, or its text */
  result(value: Json, messages: readonly Message[]): Json;
}

const TEXT: AnswerForm = { value: undefined, result: (value) => value };

/**
 * How the type that stores the result asks for it:
 *
 * - text, or nothing: the text of the answer
 * - a list of messages: the messages of this call
 * - a record with a field of that type: the messages in it, and the value of the other fields; a field `text: string` alone
 *   is the text of the answer
 * - any other type: a value of the type
 */
export function answerForm(expects: ExpectedType | undefined): AnswerForm {
  if (expects === undefined) return TEXT;
  const { types } = expects;
  const type = oneOf(resolve(expects.type, types) ?? expects.type, types);
  if (type.kind === "string") return TEXT;
  const messages = messageTypeOf(type, types);
  if (messages !== undefined) return { value: undefined, result: (_, all) => fitMessages(all, messages, types) };
  if (type.kind !== "record") return valueForm(expects);
  const fields = type.fields.map((each) => ({ ...each, type: oneOf(resolve(each.type, types) ?? each.type, types) }));
  const field = fields.find((each) => messageTypeOf(each.type, types) !== undefined);
  const item = field === undefined ? undefined : messageTypeOf(field.type, types);
  if (field === undefined || item === undefined) return valueForm(expects);
  const others = fields.filter((each) => each !== field);
  const [only] = others;
  const withMessages = (rest: { readonly [name: string]: Json }, all: readonly Message[]): Json => ({
    ...rest,
    [field.name]: fitMessages(all, item, types),
  });
  if (only === undefined) return { value: undefined, result: (_, all) => withMessages({}, all) };
  if (others.length === 1 && isPlainText(only, types)) {
    return { value: undefined, result: (value, all) => withMessages({ [only.name]: value }, all) };
  }
  return {
    value: { type: { kind: "record", fields: others }, types },
    result: (value, all) => withMessages(value as { readonly [name: string]: Json }, all),
  };
}

/**
 * A channel that appends accepts an item and a list of items. Of these two, a text is stored as the item, and messages as
 * the list.
 */
function oneOf(type: ValueType, types: ExpectedType["types"]): ValueType {
  if (type.kind !== "union") return type;
  const members = type.members.map((member) => resolve(member, types) ?? member);
  const list = members.find(({ kind }) => kind === "list");
  if (list?.kind !== "list") return type;
  if (messageTypeOf(list, types) !== undefined) return list;
  const [item, ...others] = members.filter((member) => member !== list);
  return others.length === 0 && item?.kind === "string" && resolve(list.item, types)?.kind === "string" ? item : type;
}

function isPlainText({ name, type }: FieldType, types: ExpectedType["types"]): boolean {
  return name === "text" && resolve(type, types)?.kind === "string";
}

function valueForm(expects: ExpectedType): AnswerForm {
  return { value: expects, result: (value) => value };
}

/** The schema of an answer. Servers require an object at the top level, so the value is the only field of an object. */
export function answerSchema(value: ExpectedType): object {
  const { $defs, ...schema } = schemaOf(value);
  return {
    type: "object",
    properties: { answer: schema },
    required: ["answer"],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
  };
}

/** Reads an answer of the model. @returns the value, or why the text is no answer */
export function readAnswer(
  text: string,
  expects: ExpectedType,
): { readonly value: Json } | { readonly problem: string } {
  // Some servers put a Markdown fence around JSON.
  const json = text.trim().replace(/^```(?:json)?\s*([\s\S]*?)\s*```$/, "$1");
  let document: unknown;
  try {
    document = JSON.parse(json);
  } catch (error) {
    return { problem: `it is not valid JSON (${error instanceof Error ? error.message : String(error)})` };
  }
  if (typeof document !== "object" || document === null || !Object.hasOwn(document, "answer")) {
    return { problem: "it is not an object with the field `answer`" };
  }
  const type: ValueType = { kind: "record", fields: [{ name: "answer", type: expects.type }] };
  const admitted = compileAdmit(type, expects.types)({ answer: (document as { readonly answer: unknown }).answer });
  if (admitted instanceof Mismatch) return { problem: admitted.describe() };
  return { value: (admitted as { readonly answer: Json }).answer };
}
