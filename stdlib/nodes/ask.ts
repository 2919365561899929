import type { BuiltinNode, ExpectedType } from "../../runtime/interface/context.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { schemaOf } from "../type-schema.ts";

/**
 * `ask("Send this?", choices: ["send", "again"])`: pauses the run until an answer arrives. The payload of the pause is
 * `{ question, choices?, schema?, details? }`. Without `choices`, the choices come from the type of the channel that stores the
 * answer. If that type is a record, or a list or map of values, `schema` is its JSON Schema, from which a program can build a form. A
 * resume is refused if the answer is not a choice or does not have the type.
 */
export const ask: BuiltinNode = ({ question = null, choices, details }, context) => {
  const given = textList(choices);
  const offered = given ?? choicesOf(context.expects);
  const form = given === undefined && context.expects !== undefined ? formOf(context.expects) : undefined;
  const payload = {
    question,
    ...(offered === undefined ? {} : { choices: offered }),
    ...(form === undefined ? {} : { schema: form }),
    ...(details === undefined ? {} : { details }),
  };
  return context.interrupt<Json>(payload, { expects: given === undefined ? context.expects : oneOf(given) });
};

function textList(value: Json | undefined): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.filter((item): item is string => typeof item === "string");
}

/** The JSON Schema of an answer with parts; `undefined` for a single value. */
function formOf(expected: ExpectedType): JsonObject | undefined {
  const hasParts = (type: ValueType, seen: readonly string[]): boolean => {
    if (type.kind === "union") return type.members.some((member) => hasParts(member, seen));
    if (type.kind !== "ref") return type.kind === "record" || type.kind === "list" || type.kind === "map";
    const named = expected.types.find((candidate) => candidate.name === type.name);
    return named !== undefined && !seen.includes(type.name) && hasParts(named.type, [...seen, type.name]);
  };
  return hasParts(expected.type, []) ? (schemaOf(expected) as JsonObject) : undefined;
}

/** The values of a type that consists of string literals; `undefined` for other types. */
function choicesOf(expected: ExpectedType | undefined): readonly string[] | undefined {
  if (expected === undefined) return undefined;
  const choices: string[] = [];
  const seen = new Set<string>();
  const collect = (type: ValueType): boolean => {
    if (type.kind === "union") return type.members.every(collect);
    if (type.kind === "ref") {
      const named = expected.types.find((candidate) => candidate.name === type.name);
      if (named === undefined || seen.has(type.name)) return false;
      seen.add(type.name);
      return collect(named.type);
    }
    if (type.kind !== "literal" || typeof type.value !== "string") return false;
    choices.push(type.value);
    return true;
  };
  return collect(expected.type) ? choices : undefined;
}

function oneOf(choices: readonly string[]): ExpectedType {
  const literals = choices.map((value): ValueType => ({ kind: "literal", value }));
  const [only, second] = literals;
  return {
    type: only !== undefined && second === undefined ? only : { kind: "union", members: literals },
    types: [],
  };
}
