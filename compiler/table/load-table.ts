import { TableError } from "../../runtime/interface/errors.ts";
import { PLAN_FORMAT, PLAN_VERSION, type PlanTable } from "../../runtime/table/plan-table.ts";
import { TABLE_FORMAT, TABLE_VERSION, type Table } from "../../runtime/table/table.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { planDigest, tableDigest } from "./digest.ts";
import { findBadPlanIndex } from "./plan-indexes.ts";
import { findBadIndex } from "./table-indexes.ts";
import { expressionChildren, typeChildren, type TablePart } from "./table-parts.ts";
import {
  validateExpression,
  validatePlan,
  validateTable,
  validateType,
  type SchemaValidator,
} from "./table-validator.js";

/** Nesting of the JSON of one table, its called graphs apart. Deeper than any expression the compiler accepts. */
const MAX_JSON_DEPTH = 4000;

/**
 * A table from JSON: text, or a value that was parsed already (which is copied). The table is deeply frozen, of the right shape,
 * its indexes point at something, and its digest is right (1.2).
 *
 * Throws `TableError`: NG_BAD_TABLE with the path of the first problem, or NG_BAD_DIGEST.
 *
 * ```ts
 * const table = loadTable(await readFile("support.ngraph.json", "utf8"));
 * ```
 */
export function loadTable(json: unknown): Table {
  return deepFreeze(readTable(json, "graph") as Table);
}

/**
 * A plan's table from JSON: likewise. The order that `ngc plan --optimize` found (`ranks`) is kept.
 *
 * Throws `TableError`: NG_BAD_TABLE with the path of the first problem, or NG_BAD_DIGEST.
 */
export function loadPlanTable(json: unknown): PlanTable {
  return deepFreeze(readTable(json, "plan") as PlanTable);
}

type Kind = "graph" | "plan";

interface KindPart extends TablePart {
  readonly kind: Kind;
}

function readTable(json: unknown, kind: Kind): unknown {
  const value = readJson(json);
  checkPlainJson(value);
  const tables = listTables(value, kind);
  // From the innermost outwards: the digest of a table covers those of the graphs and plans it calls.
  for (let at = tables.length - 1; at >= 0; at--) {
    checkTable(tables[at] as KindPart);
  }
  return value;
}

function readJson(json: unknown): unknown {
  try {
    // A caller's object is copied: it is not ours to freeze, and it may change while we look at it.
    const text = typeof json === "string" ? json : JSON.stringify(json);
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new TableError(
      "NG_BAD_TABLE",
      "the table is no JSON: give the text or the parsed value of a compiled graph",
      {
        cause,
      },
    );
  }
}

/** Bounded in depth, and without the infinity that `JSON.parse` makes of `1e999`. */
function checkPlainJson(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) bad("", `nested deeper than ${MAX_JSON_DEPTH} levels`);
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === "number" && !Number.isFinite(item)) bad("", `a number is too large`);
      if (typeof item === "object" && item !== null) for (const child of Object.values(item)) next.push(child);
    }
    level = next;
  }
}

/** The table and all graphs and plans called in it, each before those it calls. */
function listTables(value: unknown, kind: Kind): readonly KindPart[] {
  const tables: KindPart[] = [{ value, path: "", kind }];
  for (let at = 0; at < tables.length; at++) {
    const { value: table, path } = tables[at] as KindPart;
    if (typeof table !== "object" || table === null) continue;
    const { graphs, plans } = table as { graphs?: unknown; plans?: unknown };
    const add = (list: unknown, name: string, of: Kind): void => {
      if (!Array.isArray(list)) return;
      for (const [index, item] of (list as unknown[]).entries()) {
        tables.push({ value: item, path: `${path}/${name}/${index}`, kind: of });
      }
    };
    add(graphs, "graphs", "graph");
    add(plans, "plans", "plan");
  }
  return tables;
}

function checkTable(part: KindPart): void {
  const { value, path, kind } = part;
  checkFormat(value, path, kind);
  checkShape(part, kind === "plan" ? validatePlan : validateTable);
  const table = value as Table | PlanTable;
  checkParts(
    table.expressions.map((expression, at) => ({ value: expression, path: `${path}/expressions/${at}` })),
    validateExpression,
    expressionChildren,
  );
  checkParts(
    [
      ...table.channels.map(({ type }, at) => ({ value: type, path: `${path}/channels/${at}/type` })),
      ...table.types.map(({ type }, at) => ({ value: type, path: `${path}/types/${at}/type` })),
    ],
    validateType,
    typeChildren,
  );
  const problem = table.kind === "plan" ? findBadPlanIndex(table) : findBadIndex(table);
  if (problem !== undefined) bad(`${path}${problem.path}`, problem.message);
  const digest = table.kind === "plan" ? planDigest(table) : tableDigest(table);
  if (digest === table.digest) return;
  const which = path === "" ? "the table" : `the table at ${path}`;
  throw new TableError(
    "NG_BAD_DIGEST",
    `${which} is not the one that was compiled: its digest is ${digest}, and ${table.digest} stands in it. Compile the graph again`,
  );
}

function checkShape({ value, path }: TablePart, validate: SchemaValidator): void {
  if (validate(value)) return;
  const [error] = validate.errors ?? [];
  bad(`${path}${error?.instancePath ?? ""}`, describe(error?.keyword ?? "", error?.params ?? {}));
}

/** Each part with all that it is made of, outermost first. */
function checkParts(
  parts: readonly TablePart[],
  validate: SchemaValidator,
  children: (part: TablePart) => readonly TablePart[],
): void {
  const open = [...parts].reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    checkShape(next, validate);
    for (const child of children(next)) open.push(child);
  }
}

/** Before the schema, because what is no table of this version would only give a confusing path. */
function checkFormat(value: unknown, path: string, kind: Kind): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) bad(path, "a table is an object");
  const { format, version } = value as { format?: unknown; version?: unknown };
  const expected = kind === "plan" ? PLAN_FORMAT : TABLE_FORMAT;
  const what = kind === "plan" ? "table of a plan" : "routing table";
  if (format !== expected) bad(`${path}/format`, `this is no ${what}: its format is not "${expected}"`);
  const known = kind === "plan" ? PLAN_VERSION : TABLE_VERSION;
  if (version !== known) bad(`${path}/version`, `this package reads version ${known}: compile the ${kind} again`);
}

function describe(keyword: string, params: Readonly<Record<string, unknown>>): string {
  switch (keyword) {
    case "required":
      return `\`${String(params["missingProperty"])}\` is missing`;
    case "additionalProperties":
      return `\`${String(params["additionalProperty"])}\` is unknown`;
    case "type":
      return `expected ${[params["type"]].flat().join(" or ")}`;
    case "enum":
      return `expected one of ${JSON.stringify(params["allowedValues"])}`;
    case "const":
      return `expected ${JSON.stringify(params["allowedValue"])}`;
    case "minimum":
      return `expected at least ${String(params["limit"])}`;
    case "discriminator":
      return `\`${String(params["tag"])}\` is none of the known kinds`;
    default:
      return "the shape is not that of a table";
  }
}

function bad(path: string, message: string): never {
  throw new TableError("NG_BAD_TABLE", `bad table at ${path === "" ? "its top" : path}: ${message}`);
}
