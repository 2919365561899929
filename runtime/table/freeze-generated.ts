import { TableError } from "../interface/errors.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { TABLE_FORMAT, TABLE_VERSION, type Table } from "./table.ts";

const frozen = new WeakSet<object>();

/**
 * Freezes the table of a generated module deeply. The compiler has checked it, so only its version is checked here.
 * @throws TableError NG_BAD_TABLE
 */
export function freezeGenerated(table: Table): void {
  const given: unknown = table;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TableError("NG_BAD_TABLE", "`table`: expected an object");
  }
  if (frozen.has(given)) return;
  const { format, version } = given as { readonly format?: unknown; readonly version?: unknown };
  if (format !== TABLE_FORMAT) {
    throw new TableError(
      "NG_BAD_TABLE",
      `\`table.format\`: this is no routing table: its format is not "${TABLE_FORMAT}"`,
    );
  }
  if (version !== TABLE_VERSION) {
    const advice = Number(version) > TABLE_VERSION ? "update the package ngraph" : "compile the graph again";
    throw new TableError(
      "NG_BAD_TABLE",
      `\`table.version\`: a routing table of version ${String(version)}, and this package reads version ${TABLE_VERSION}: ${advice}`,
    );
  }
  deepFreeze(given);
  frozen.add(given);
}
