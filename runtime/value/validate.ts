/** Validators, compiled from types into closures. A primitive type, which most channels have, costs one `typeof`. */
import { isRecord } from "./plain-object.ts";
import {
  admitAny,
  admitJson,
  admitList,
  admitRecord,
  admitText,
  guardReads,
  newWalk,
  NO_WALK,
  refuse,
  type Admit,
} from "./admit.ts";
import type { Json } from "./json.ts";
import { Mismatch } from "./mismatch.ts";
import { printValueType } from "./print-value-type.ts";
import type { FieldType, ValueType } from "../table/value-type.ts";

export { admitJson } from "./admit.ts";
export { MAX_VALUE_DEPTH } from "./limits.ts";
export { Mismatch } from "./mismatch.ts";

/** Named types of a table: the targets of `ref`s. */
export type NamedTypes = readonly { readonly name: string; readonly type: ValueType }[];

/** Returns a frozen copy of a value of the type, or why it does not fit. Never throws. */
export type Validator = (value: unknown) => Json | Mismatch;

/**
 * Compiles a validator that checks a value and returns a deeply frozen plain-JSON copy of it, in one pass.
 *
 * ```ts
 * const admit = compileAdmit(channel.type, table.types);
 * const value = admit(result);
 * if (value instanceof Mismatch) throw new NodeError("NG_BAD_RESULT", node, value.describe());
 * ```
 */
export function compileAdmit(type: ValueType, types: NamedTypes = []): Validator {
  const admit = build(type, newContext(types), NOWHERE);
  // Primitive types refuse every object, so they neither walk it nor read its fields.
  if (isPrimitive(type)) return (value) => admit(value, NO_WALK, 0);
  return (value) =>
    typeof value === "object" ? guardReads(() => admit(value, newWalk(), 0)) : admit(value, NO_WALK, 0);
}

/** The check without a copy: `undefined` if the value fits. */
export function compileValidator(type: ValueType, types: NamedTypes = []): (value: unknown) => Mismatch | undefined {
  const admit = compileAdmit(type, types);
  return (value) => {
    const admitted = admit(value);
    return admitted instanceof Mismatch ? admitted : undefined;
  };
}

/** Deeply frozen copies of any plain JSON, for unknown types. */
export const admitUnknown: Validator = admitJson;

interface BuildContext {
  readonly types: ReadonlyMap<string, ValueType>;
  /** One validator for each name, so that recursive types are finite. */
  readonly named: Map<string, { admit: Admit }>;
}
/** Names being resolved without a list or record between them. Meeting one again means that the type is only itself. */
type Open = readonly string[];
const NOWHERE: Open = [];

function newContext(types: NamedTypes): BuildContext {
  return { types: new Map(types.map(({ name, type }) => [name, type])), named: new Map() };
}

function isPrimitive(type: ValueType): boolean {
  return ["string", "int", "float", "bool", "null", "literal"].includes(type.kind);
}

function build(type: ValueType, context: BuildContext, open: Open): Admit {
  switch (type.kind) {
    case "string":
      return (value, walk) => (typeof value === "string" ? admitText(value, walk) : refuse(value, "string"));
    case "int":
      return (value) => (Number.isSafeInteger(value) ? (value as number) + 0 : refuse(value, "int"));
    case "float":
      return (value) => (Number.isFinite(value) ? (value as number) + 0 : refuse(value, "float"));
    case "bool":
      return (value) => (typeof value === "boolean" ? value : refuse(value, "bool"));
    case "null":
      return (value) => (value === null ? null : refuse(value, "null"));
    case "json":
    case "opaque":
      return admitAny;
    case "literal": {
      const expected = printValueType(type);
      return (value) => (value === type.value ? type.value : refuse(value, expected));
    }
    case "list": {
      const item = build(type.item, context, NOWHERE);
      const expected = printValueType(type);
      return (value, walk, depth) =>
        Array.isArray(value) ? admitList(value, item, walk, depth) : refuse(value, expected);
    }
    case "map": {
      const item = build(type.value, context, NOWHERE);
      const expected = printValueType(type);
      return (value, walk, depth) =>
        isRecord(value) ? admitRecord(value, () => item, walk, depth) : refuse(value, expected);
    }
    case "record":
      return buildRecord(type, context);
    case "union":
      return buildUnion(type, context, open);
    case "ref":
      return buildReference(type.name, context, open);
  }
}

function buildRecord(type: Extract<ValueType, { kind: "record" }>, context: BuildContext): Admit {
  const fields = new Map(type.fields.map((field) => [field.name, build(field.type, context, NOWHERE)]));
  const required = type.fields.filter((field) => field.optional !== true);
  const fieldOf = (name: string): Admit | undefined => fields.get(name);
  const expected = printValueType(type);
  return (value, walk, depth) => {
    if (!isRecord(value)) return refuse(value, expected);
    const admitted = admitRecord(value, fieldOf, walk, depth);
    if (admitted instanceof Mismatch) return admitted;
    for (const field of required) if (!Object.hasOwn(admitted, field.name)) return missing(field);
    return admitted;
  };
}

function missing(field: FieldType): Mismatch {
  return new Mismatch(printValueType(field.type), "nothing", undefined, [field.name]);
}

function buildReference(name: string, context: BuildContext, open: Open): Admit {
  const type = context.types.get(name);
  if (type === undefined || open.includes(name)) return (value) => refuse(value, `a value of type ${name}`);
  const known = context.named.get(name);
  if (known !== undefined) return (value, walk, depth) => known.admit(value, walk, depth);
  const holder: { admit: Admit } = { admit: admitAny };
  context.named.set(name, holder);
  holder.admit = build(type, context, [...open, name]);
  return holder.admit;
}

interface Member {
  readonly admit: Admit;
  /** Fields with literal types that distinguish the members of a union of records. */
  readonly tags: readonly { readonly name: string; readonly value: string | number | boolean }[];
  readonly takes: (value: unknown) => boolean;
}

/** The first member, in declaration order, that accepts the value. Members with another kind or tag are skipped. */
function buildUnion(type: Extract<ValueType, { kind: "union" }>, context: BuildContext, open: Open): Admit {
  const expected = printValueType(type);
  if (type.members.every((member) => member.kind === "literal" || member.kind === "null")) {
    const values = new Set<unknown>(type.members.map((member) => (member.kind === "literal" ? member.value : null)));
    // A set does not tell -0 from 0, which is what a store keeps.
    return (value) => (values.has(value) ? (value === 0 ? 0 : (value as Json)) : refuse(value, expected));
  }
  const members = type.members.map((member) => buildMember(member, context, open));
  return (value, walk, depth) => {
    let failure: Mismatch | undefined;
    let failures = 0;
    for (const member of members) {
      if (!member.takes(value) || !hasTags(value, member)) continue;
      const admitted = member.admit(value, walk, depth);
      if (!(admitted instanceof Mismatch)) return admitted;
      // Without budget the next member cannot be checked either.
      if (walk.left < 0 || walk.text < 0) return admitted;
      failure = admitted;
      failures++;
    }
    // With a single candidate, the problem inside it is more specific than the whole union.
    return failure !== undefined && failures === 1 && failure.path.length > 0 ? failure : refuse(value, expected);
  };
}

function buildMember(type: ValueType, context: BuildContext, open: Open): Member {
  const resolved = type.kind === "ref" ? context.types.get(type.name) : type;
  return { admit: build(type, context, open), tags: tagsOf(resolved), takes: kindTest(resolved) };
}

function tagsOf(type: ValueType | undefined): Member["tags"] {
  if (type?.kind !== "record") return [];
  return type.fields.flatMap((field) =>
    field.type.kind === "literal" && field.optional !== true ? [{ name: field.name, value: field.type.value }] : [],
  );
}

function hasTags(value: unknown, member: Member): boolean {
  return member.tags.every(
    (tag) => Object.hasOwn(value as object, tag.name) && (value as Record<string, unknown>)[tag.name] === tag.value,
  );
}

/** A cheap test without false negatives. */
function kindTest(type: ValueType | undefined): (value: unknown) => boolean {
  switch (type?.kind) {
    case "list":
      return (value) => Array.isArray(value);
    case "map":
    case "record":
      return isRecord;
    case "null":
      return (value) => value === null;
    case "string":
      return (value) => typeof value === "string";
    case "int":
    case "float":
      return (value) => typeof value === "number";
    case "bool":
      return (value) => typeof value === "boolean";
    default:
      return () => true;
  }
}
