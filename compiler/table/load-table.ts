import { TableError } from "../../runtime/interface/errors.ts";
import { checkTables } from "../../runtime/table/check-table.ts";
import { ShapeProblem, type InnerTable, type ValuePath } from "../../runtime/table/shape-problem.ts";
import { deepFreeze } from "../../runtime/table/deep-freeze.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { planDigest, tableDigest } from "./digest.ts";
import { validatePlan, validateTable } from "./table-validator.js";

/** Nesting of the JSON of one table, its called graphs apart. Deeper than any expression the compiler accepts. */
const MAX_JSON_DEPTH = 4000;

/**
 * Reads a table from JSON: a text, or a parsed value (which is copied). The table has the right shape, its indexes
 * point at something, its digest is right (1.2), and it is deeply frozen.
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
 * Reads a plan's table from JSON, as `loadTable` does. The order that `ngc plan --optimize` found (`ranks`) is kept.
 *
 * Throws `TableError`: NG_BAD_TABLE with the path of the first problem, or NG_BAD_DIGEST.
 */
export function loadPlanTable(json: unknown): PlanTable {
  return deepFreeze(readTable(json, "plan") as PlanTable);
}

function readTable(json: unknown, kind: "graph" | "plan"): unknown {
  const value = readJson(json);
  try {
    checkPlainJson(value);
    const tables = [...checkTables(value, kind)];
    // From the innermost outwards: the digest of a table covers those of the graphs and plans it calls.
    for (const table of tables.reverse()) {
      checkSchema(table);
      checkDigest(table);
    }
  } catch (error) {
    if (!(error instanceof ShapeProblem)) throw error;
    throw new TableError("NG_BAD_TABLE", `bad table at ${pointer(error.path) || "its top"}: ${error.message}`, {
      cause: error,
    });
  }
  return value;
}

function readJson(json: unknown): unknown {
  try {
    // A caller's object is copied: it must not be frozen, and the caller may change it later.
    const text = typeof json === "string" ? json : JSON.stringify(json);
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const message = "the table is not valid JSON: pass the text or the parsed value of a compiled graph";
    throw new TableError("NG_BAD_TABLE", message, { cause });
  }
}

/** Limits the depth, and rejects `Infinity`, to which `JSON.parse` converts `1e999`. */
function checkPlainJson(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) throw new ShapeProblem([], `nested deeper than ${MAX_JSON_DEPTH} levels`);
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === "number" && !Number.isFinite(item)) throw new ShapeProblem([], "a number is too large");
      if (typeof item === "object" && item !== null) for (const child of Object.values(item)) next.push(child);
    }
    level = next;
  }
}

/**
 * Validates a table with the published JSON Schema. `checkTables` has checked the same shape with better messages; the
 * two are independent implementations, and a table has to pass both.
 */
function checkSchema({ value, path, kind }: InnerTable): void {
  const validate = kind === "plan" ? validatePlan : validateTable;
  if (validate(value)) return;
  const [error] = validate.errors ?? [];
  const at = `${pointer(path)}${error?.instancePath ?? ""}`;
  const message = `bad table at ${at || "its top"}: it violates \`${error?.keyword}\` of the JSON Schema`;
  throw new TableError("NG_BAD_TABLE", message);
}

function checkDigest({ value, path }: InnerTable): void {
  const table = value as Table | PlanTable;
  const digest = table.kind === "plan" ? planDigest(table) : tableDigest(table);
  if (digest === table.digest) return;
  const which = path.length === 0 ? "the table" : `the table at ${pointer(path)}`;
  throw new TableError(
    "NG_BAD_DIGEST",
    `${which} is not the one that was compiled: its content has the digest ${digest}, but it states ${table.digest}. Compile the graph again`,
  );
}

/** A JSON pointer (RFC 6901). */
function pointer(path: ValuePath): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
