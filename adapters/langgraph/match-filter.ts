import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { equal } from "../../runtime/expression/equal.ts";

/** LangGraph's filters: fields with equal values, or with operators (`{ age: { $gte: 18 } }`). */
export function matchesFilter(value: Json, filter: Readonly<Record<string, unknown>> = {}): boolean {
  const record = typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  return Object.entries(filter).every(([name, wanted]) => {
    const found = Object.hasOwn(record, name) ? record[name] : undefined;
    const operators = operatorsOf(wanted);
    if (operators === undefined) return found !== undefined && equal(found, wanted as Json);
    return operators.every(([operator, operand]) => OPERATORS[operator]!(found, operand));
  });
}

function operatorsOf(wanted: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) return undefined;
  const entries = Object.entries(wanted);
  if (!entries.some(([name]) => name.startsWith("$"))) return undefined;
  const unknown = entries.find(([name]) => !Object.hasOwn(OPERATORS, name));
  if (unknown !== undefined) throw new Error(`the filter has an unknown operator \`${unknown[0]}\``);
  return entries;
}

const OPERATORS: Readonly<Record<string, (found: Json | undefined, operand: unknown) => boolean>> = {
  $eq: (found, operand) => found !== undefined && equal(found, operand as Json),
  $ne: (found, operand) => found === undefined || !equal(found, operand as Json),
  $gt: (found, operand) => Number(found) > Number(operand),
  $gte: (found, operand) => Number(found) >= Number(operand),
  $lt: (found, operand) => Number(found) < Number(operand),
  $lte: (found, operand) => Number(found) <= Number(operand),
};
