import type { ValueType } from "../../runtime/table/value-type.ts";
import { findNotJson } from "../modules/not-json.ts";
import type { FunctionSignature } from "../modules/read-signature.ts";
import { resolveType, type TypeTable } from "../types/type-table.ts";

/**
 * Whether a call of an imported function passes the context after its `given` arguments. A function that takes no context would
 * receive it as an optional parameter that the call leaves out, or as one more value of `...rest`.
 *
 * @param signature the overload of the call
 * @param overloads all overloads: their implementation may have parameters that this one lacks
 */
export function passesContext(
  given: number,
  signature: FunctionSignature,
  overloads: readonly FunctionSignature[],
  types: TypeTable,
): boolean {
  const [own, ...others] = [signature, ...overloads].map((overload) => receiverOf(overload, given, types));
  if (own !== undefined) return own === "context";
  return others.includes("context") || !others.includes("value");
}

/** What the parameter after the arguments takes; `undefined` if there is none. */
function receiverOf(
  { parameters, rest, takesContext }: FunctionSignature,
  given: number,
  types: TypeTable,
): "context" | "value" | undefined {
  if (takesContext) return "context";
  const parameter = parameters[given];
  if (parameter?.isValue === true) return "value";
  const type = parameter?.type ?? rest;
  if (type === undefined) return undefined;
  return mayHoldContext(type, types) ? "context" : "value";
}

/** Fields of `NodeContext` whose values are JSON. A type with one of the others is recognized by `findNotJson`. */
const CONTEXT_FIELDS: ReadonlySet<string> = new Set(
  "step attempt thread failure idempotencyKey context item expects allowedHosts".split(" "),
);

/** Whether a function may declare its context by this type, such as `{ signal: AbortSignal }`. */
function mayHoldContext(type: ValueType, types: TypeTable): boolean {
  if (findNotJson(type, types) !== undefined) return true;
  const plain = resolveType(type, types);
  const members = plain.kind === "union" ? plain.members.map((member) => resolveType(member, types)) : [plain];
  return members.some(
    (member) =>
      member.kind === "opaque" ||
      member.kind === "json" ||
      (member.kind === "record" && member.fields.some(({ name }) => CONTEXT_FIELDS.has(name))),
  );
}
