/**
 * Admission of values without the reasons of refusals: `undefined` where a value does not fit, or where only the validators of the engine
 * can tell. A refused value is handed over to the engine, which checks it again.
 */
import { COMMAND } from "../interface/context.ts";
import type { ChannelSpec } from "../table/table.ts";
import type { ValueType } from "../table/value-type.ts";
import { copyPlain } from "../value/copy-plain.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { isRecord } from "../value/plain-object.ts";

/** A frozen copy of a value that fits. */
export type Accept = (value: unknown) => Json | undefined;

export type Types = ReadonlyMap<string, ValueType>;

/** Values that are larger are left to the engine, which has limits of its own. */
const MOST_TEXT = 1_000_000;
const BUDGET = { values: 100_000, text: MOST_TEXT, levels: 100 };

export function acceptType(type: ValueType, types: Types): Accept {
  switch (type.kind) {
    case "string":
      return (value) => (typeof value === "string" && value.length <= MOST_TEXT ? value : undefined);
    case "int":
      return (value) => (Number.isSafeInteger(value) ? (value as number) + 0 : undefined);
    case "float":
      return (value) => (Number.isFinite(value) ? (value as number) + 0 : undefined);
    case "bool":
      return (value) => (typeof value === "boolean" ? value : undefined);
    default: {
      const texts = textsOf(type);
      return (value) => {
        if (typeof value === "string" && texts?.has(value) === true) return value;
        const copy = copyResult(value);
        return copy !== undefined && fits(type, copy, types, 0) ? copy : undefined;
      };
    }
  }
}

/** The texts among the members of a union. */
function textsOf(type: ValueType): ReadonlySet<unknown> | undefined {
  return type.kind === "union"
    ? new Set(type.members.map((member) => (member.kind === "literal" ? member.value : undefined)))
    : undefined;
}

/** Updates of a channel, as `ChannelCode.admitUpdate` admits them. */
export function acceptUpdate({ type: declared, reducer }: ChannelSpec, types: Types): Accept {
  const type = (declared.kind === "ref" ? types.get(declared.name) : undefined) ?? declared;
  if ((reducer?.kind === "append" || reducer?.kind === "union") && type.kind === "list") {
    const whole = acceptType(type, types);
    const one = acceptType(type.item, types);
    return (value) => {
      if (Array.isArray(value)) return whole(value);
      const item = one(value);
      if (item === undefined) return undefined;
      // `append` and `union` read the list. What they return is frozen.
      return [item];
    };
  }
  if (reducer?.kind === "merge" && type.kind === "record") {
    const fields = type.fields.map((field) => ({ ...field, optional: true as const }));
    return acceptType({ ...type, fields }, types);
  }
  return acceptType(type, types);
}

function copyResult(value: unknown): Json | undefined {
  try {
    // The command of a jump is no value.
    return typeof value === "object" && value !== null && COMMAND in value ? undefined : copyPlain(value, BUDGET);
  } catch {
    return undefined;
  }
}

/** Names without a list or record between them: a type that refers only to itself has no values. */
const MOST_REFERENCES = 64;

function fits(type: ValueType, value: Json, types: Types, references: number): boolean {
  switch (type.kind) {
    case "string":
      return typeof value === "string";
    case "int":
      return Number.isSafeInteger(value);
    case "float":
      return typeof value === "number";
    case "bool":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "literal":
      return value === type.value;
    case "list":
      return Array.isArray(value) && (value as readonly Json[]).every((item) => fits(type.item, item, types, 0));
    case "map":
      return isRecord(value) && Object.values(value as JsonObject).every((item) => fits(type.value, item, types, 0));
    case "record":
      return (
        isRecord(value) &&
        type.fields.every(({ name, type: of, optional }) =>
          Object.hasOwn(value, name) ? fits(of, (value as JsonObject)[name]!, types, 0) : optional === true,
        )
      );
    case "union":
      return type.members.some((member) => fits(member, value, types, references));
    case "ref": {
      const named = types.get(type.name);
      return named !== undefined && references < MOST_REFERENCES && fits(named, value, types, references + 1);
    }
    default:
      return true;
  }
}
