import type { Json } from "./json.ts";
import { keepOwnList, keepOwnRecord } from "./own-values.ts";
import { isPlainObject } from "./plain-object.ts";

/** What a copy may still take. A text alone has no budget of values. */
interface Budget {
  values: number;
  text: number;
  readonly levels: number;
}

/**
 * A deeply frozen copy of plain JSON; `undefined` for anything else, and for a value beyond the budget. It accepts what `admitJson` accepts, and
 * gives no reasons.
 */
export function copyPlain(value: unknown, budget: Readonly<Budget>): Json | undefined {
  if (typeof value !== "object" || value === null) return copyPart(value, { ...budget }, 0);
  try {
    return copyPart(value, { ...budget }, 0);
  } catch {
    // Getters and proxies are user code.
    return undefined;
  }
}

function copyPart(value: unknown, budget: Budget, level: number): Json | undefined {
  switch (typeof value) {
    case "string":
      return (budget.text -= value.length) < 0 ? undefined : value;
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value + 0 : undefined;
    case "object":
      if (value === null) return null;
      if (level >= budget.levels) return undefined;
      return Array.isArray(value) ? copyList(value, budget, level) : copyRecord(value, budget, level);
    default:
      return undefined;
  }
}

function copyList(list: readonly unknown[], budget: Budget, level: number): Json | undefined {
  const { length } = list;
  if ((budget.values -= length + 1) < 0) return undefined;
  const copy: Json[] = [];
  for (let at = 0; at < length; at++) {
    const item = copyPart(list[at], budget, level + 1);
    if (item === undefined) return undefined;
    copy.push(item);
  }
  return keepOwnList(copy);
}

function copyRecord(record: object, budget: Budget, level: number): Json | undefined {
  if (!isPlainObject(record)) return undefined;
  const names = Object.keys(record);
  if ((budget.values -= names.length + 1) < 0) return undefined;
  const copy: Record<string, Json> = {};
  for (const name of names) {
    const field = (record as Record<string, unknown>)[name];
    if (field === undefined) continue;
    const value = copyPart(field, budget, level + 1);
    if (value === undefined) return undefined;
    if (name === "__proto__") {
      // An assignment would set the prototype.
      Object.defineProperty(copy, name, { value, enumerable: true, writable: true, configurable: true });
    } else copy[name] = value;
  }
  return keepOwnRecord(copy, names.length);
}
