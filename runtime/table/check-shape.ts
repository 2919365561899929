import type { IndexedList, ShapeFields, ShapeNode } from "./shape.ts";
import { ShapeProblem, type InnerTable, type ValuePath } from "./shape-problem.ts";

interface Check {
  /** How many items each list has that indexes refer to. */
  readonly sizes: Readonly<Record<IndexedList, number>>;
  /** Where the check is. It changes while the check walks through the value. */
  path: (string | number)[];
  depth: number;
  /** The path of the outermost of the nested parts that the check is in. */
  outermost: ValuePath;
  /** Nested parts that wait for their check: nesting costs no stack. */
  readonly parts: {
    readonly of: ShapeNode;
    readonly value: unknown;
    readonly path: ValuePath;
    readonly depth: number;
    readonly outermost: ValuePath;
  }[];
  readonly tables: InnerTable[];
}

/**
 * Checks that a table has a shape, and that each index in it points into its list. Returns the tables inside it, unchecked.
 *
 * @param path where the table is; problems name places below it
 * @throws ShapeProblem the first problem
 */
export function checkShape(shape: ShapeNode, table: unknown, path: ValuePath): readonly InnerTable[] {
  const check: Check = { sizes: sizesOf(table), path: [...path], depth: 0, outermost: [], parts: [], tables: [] };
  checkValue(shape, table, check);
  for (let part = check.parts.pop(); part !== undefined; part = check.parts.pop()) {
    check.path = [...part.path];
    check.depth = part.depth;
    check.outermost = part.outermost;
    checkValue(part.of, part.value, check);
  }
  return check.tables;
}

function sizesOf(table: unknown): Check["sizes"] {
  const lists = (typeof table === "object" && table !== null ? table : {}) as Readonly<Record<string, unknown>>;
  const size = (name: string): number => {
    const value = lists[name];
    return Array.isArray(value) ? value.length : 0;
  };
  return {
    channel: size("channels"),
    node: size("nodes"),
    barrier: size("barriers"),
    expression: size("expressions"),
    function: size("functions"),
    graph: size("graphs"),
    plan: size("plans"),
    task: size("tasks"),
    pool: size("pools"),
  };
}

function checkValue(shape: ShapeNode, value: unknown, check: Check): void {
  switch (shape.kind) {
    case "any":
      return;
    case "text":
      if (typeof value !== "string") fail("expected a string", check);
      if (shape.pattern !== undefined && !shape.pattern.test(value)) {
        fail(`expected a string like ${shape.pattern.source}`, check);
      }
      return;
    case "scalar":
      if (isScalar(value) || (value === null && shape.null)) return;
      return fail(`expected a string, a number, a boolean${shape.null ? " or null" : ""}`, check);
    case "number": {
      const isNumber = shape.whole ? Number.isSafeInteger(value) : Number.isFinite(value);
      if (!isNumber) fail(shape.whole ? "expected a whole number" : "expected a number", check);
      if ((value as number) < shape.least) fail(`expected at least ${shape.least}`, check);
      return;
    }
    case "oneOf":
      if (shape.values.includes(value as string)) return;
      return fail(`expected ${shape.values.length > 1 ? "one of " : ""}${listed(shape.values)}`, check);
    case "nullable":
      if (value !== null) checkValue(shape.of, value, check);
      return;
    case "index":
      return checkIndex(value, shape.of, shape.others, check);
    case "list":
      return checkList(shape, value, check);
    case "record":
      return checkFields(shape.fields, asRecord(value, check), undefined, check);
    case "variants": {
      const { tag, of } = shape;
      const fields = asRecord(value, check);
      const variant = fields[tag];
      if (variant === undefined) fail(`\`${tag}\` is missing`, check);
      const expected = typeof variant === "string" ? of.get(variant) : undefined;
      if (expected === undefined) return fail(`unknown \`${tag}\` ${JSON.stringify(variant)}`, check);
      return checkFields(expected, fields, tag, check);
    }
    case "either": {
      const isFirst = asRecord(value, check)[shape.field] !== undefined;
      return checkValue(isFirst ? shape.first : shape.second, value, check);
    }
    case "textOr":
      if (typeof value !== "string") checkValue(shape.of, value, check);
      return;
    case "nested": {
      const depth = check.depth + 1;
      if (depth > shape.most) {
        throw new ShapeProblem(check.outermost, `the ${shape.noun} nests deeper than ${shape.most}`);
      }
      const path = [...check.path];
      check.parts.push({ of: shape.of(), value, path, depth, outermost: depth === 1 ? path : check.outermost });
      return;
    }
    case "table":
      check.tables.push({ kind: shape.of, value, path: [...check.path] });
      return;
    default:
      return shape satisfies never;
  }
}

function checkIndex(value: unknown, of: IndexedList, others: readonly (string | number)[], check: Check): void {
  if (others.includes(value as string | number)) return;
  if (!Number.isSafeInteger(value)) {
    const or = others.length === 0 ? "" : ` or ${listed(others)}`;
    return fail(`expected the index of ${withArticle(of)}${or}`, check);
  }
  const index = value as number;
  if (index < 0 || index >= check.sizes[of]) fail(`there is no ${of} ${index}`, check);
}

function checkList(shape: Extract<ShapeNode, { kind: "list" }>, value: unknown, check: Check): void {
  if (!Array.isArray(value)) return fail("expected a list", check);
  const { item, names } = shape;
  const { path } = check;
  const seen = names === undefined ? undefined : new Set<unknown>();
  for (let position = 0; position < value.length; position++) {
    const element: unknown = value[position];
    path.push(position);
    checkValue(item, element, check);
    if (names !== undefined && seen !== undefined) {
      const name = (element as Readonly<Record<string, unknown>>)[names.field];
      if (seen.has(name)) fail(`two ${names.noun} are named ${JSON.stringify(name)}`, check);
      seen.add(name);
    }
    path.pop();
  }
}

/** `tag`: a further field, which has been checked already. */
function checkFields(
  fields: ShapeFields,
  value: Readonly<Record<string, unknown>>,
  tag: string | undefined,
  check: Check,
): void {
  const { path } = check;
  for (const [name, { shape, optional }] of fields) {
    const field = value[name];
    if (field === undefined) {
      if (!optional) fail(`\`${name}\` is missing`, check);
      continue;
    }
    path.push(name);
    checkValue(shape, field, check);
    path.pop();
  }
  for (const name of Object.keys(value)) {
    if (name !== tag && !fields.has(name) && value[name] !== undefined) fail(`\`${name}\` is unknown`, check);
  }
}

function asRecord(value: unknown, check: Check): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail("expected an object", check);
  return value as Readonly<Record<string, unknown>>;
}

function isScalar(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

function listed(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(", ");
}

function withArticle(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

function fail(message: string, { path }: Check): never {
  throw new ShapeProblem([...path], message);
}
