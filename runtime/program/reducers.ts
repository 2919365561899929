import { equal } from "../expression/equal.ts";
import type { Json, JsonObject } from "../json.ts";
import type { ReducerSpec, Table } from "../table.ts";
import { Mismatch } from "../mismatch.ts";
import { compileAdmit, type Validator } from "../validate.ts";
import type { ValueType } from "../value-type.ts";

/** The next value of a channel. Both values are frozen plain JSON, and so must be what it returns. */
export type Reduce = (current: Json, update: Json) => Json;

/** How a channel takes updates: what an update may look like, and what it does. */
export interface ReducerCode {
  readonly admitUpdate: Validator;
  /** Absent: the update replaces the value. */
  readonly reduce: Reduce | undefined;
}

/**
 * The reducer of a channel (language reference, "State").
 *
 * @param imported the function of an imported reducer; what it returns is checked against the channel's type
 */
export function compileReducer(
  spec: ReducerSpec | undefined,
  type: ValueType,
  types: Table["types"],
  imported: ((current: never, update: never) => unknown) | undefined,
): ReducerCode {
  const admitValue = compileAdmit(type, types);
  if (spec === undefined || spec.kind === "last") return { admitUpdate: admitValue, reduce: undefined };
  switch (spec.kind) {
    case "append":
    case "union": {
      const item = itemType(type, types);
      return {
        admitUpdate: listOrItem(compileAdmit({ kind: "list", item }, types), compileAdmit(item, types)),
        reduce: spec.kind === "append" ? append : union,
      };
    }
    case "sum":
      return { admitUpdate: admitValue, reduce: sum };
    case "min":
    case "max":
      return { admitUpdate: admitValue, reduce: spec.kind === "min" ? smaller : larger };
    case "merge":
      return { admitUpdate: compileAdmit(partial(type, types), types), reduce: merge };
    case "function": {
      const call = imported as ((current: Json, update: Json) => unknown) | undefined;
      return {
        admitUpdate: compileAdmit({ kind: "json" }),
        reduce(current, update) {
          if (call === undefined) throw new Error("its function was not given");
          const value = admitValue(call(current, update));
          if (value instanceof Mismatch) throw new TypeError(`it returned what does not fit: ${value.describe()}`);
          return value;
        },
      };
    }
  }
}

/** The items that an update adds, where a reducer only adds to the end of a list; `undefined` for every other one. */
export function appendedItems(spec: ReducerSpec | undefined, update: Json): readonly Json[] | undefined {
  if (spec?.kind !== "append") return undefined;
  return Array.isArray(update) ? (update as readonly Json[]) : [update];
}

const append: Reduce = (current, update) => {
  const list = (current ?? []) as readonly Json[];
  return Object.freeze(Array.isArray(update) ? list.concat(update as readonly Json[]) : [...list, update]);
};

const union: Reduce = (current, update) => {
  const list = (current ?? []) as readonly Json[];
  const items = Array.isArray(update) ? (update as readonly Json[]) : [update];
  const result = [...list];
  const primitives = new Set<Json>();
  const structures: Json[] = [];
  const isNew = (item: Json): boolean => {
    if (typeof item === "object" && item !== null) return structures.every((known) => !equal(known, item));
    return !primitives.has(item);
  };
  const remember = (item: Json): void => {
    if (typeof item === "object" && item !== null) structures.push(item);
    else primitives.add(item);
  };
  for (const item of list) remember(item);
  for (const item of items) {
    if (!isNew(item)) continue;
    remember(item);
    result.push(item);
  }
  return Object.freeze(result);
};

const sum: Reduce = (current, update) => {
  const total = Number(current ?? 0) + Number(update);
  if (!Number.isFinite(total)) throw new RangeError("the sum is no finite number");
  return total;
};
const smaller: Reduce = (current, update) =>
  current === null || (update !== null && update < current) ? update : current;
const larger: Reduce = (current, update) =>
  current === null || (update !== null && update > current) ? update : current;

const merge: Reduce = (current, update) => {
  const merged: Record<string, Json> = {};
  for (const part of [current ?? {}, update ?? {}] as readonly JsonObject[]) {
    for (const [key, value] of Object.entries(part)) {
      // `__proto__` is a key like any other.
      Object.defineProperty(merged, key, { value, enumerable: true, configurable: true, writable: true });
    }
  }
  return Object.freeze(merged);
};

function listOrItem(list: Validator, item: Validator): Validator {
  return (value) => {
    if (!Array.isArray(value)) return item(value);
    const admitted = list(value);
    if (!(admitted instanceof Mismatch)) return admitted;
    // A list may itself be the item: then it is pushed, wrapped so that it is not concatenated.
    const single = item(value);
    return single instanceof Mismatch ? admitted : Object.freeze([single]);
  };
}

function itemType(type: ValueType, types: Table["types"]): ValueType {
  const list = findKind(type, types, "list");
  return list?.kind === "list" ? list.item : { kind: "json" };
}

/** What `merge` takes: records with every field optional. */
function partial(type: ValueType, types: Table["types"]): ValueType {
  const found = findKind(type, types, "record") ?? findKind(type, types, "map");
  if (found?.kind !== "record") return found ?? type;
  return { kind: "record", fields: found.fields.map((field) => ({ ...field, optional: true as const })) };
}

function findKind(type: ValueType, types: Table["types"], kind: ValueType["kind"]): ValueType | undefined {
  if (type.kind === kind) return type;
  if (type.kind === "ref") {
    const named = types.find((candidate) => candidate.name === type.name)?.type;
    return named === undefined || named.kind === "ref" ? undefined : findKind(named, types, kind);
  }
  if (type.kind !== "union") return undefined;
  for (const member of type.members) {
    const found = findKind(member, types, kind);
    if (found !== undefined) return found;
  }
  return undefined;
}
