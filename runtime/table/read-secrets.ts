import type { EngineOptions } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import { ownValue } from "../value/own-value.ts";
import type { Table } from "./table.ts";

/**
 * The values of a table's secrets, by name, as the options of an engine have them now; `undefined` for a table without secrets.
 *
 * @throws RunError NG_BAD_INPUT for a value that is no text
 */
export function readSecrets(table: Table, { secrets }: EngineOptions): ReadonlyMap<string, string> | undefined {
  if (table.secrets.length === 0) return undefined;
  const values = new Map<string, string>();
  for (const name of table.secrets) {
    const value = typeof secrets === "function" ? secrets(name) : ownValue(secrets, name);
    if (value === undefined || value === null) continue;
    // A program in JavaScript may return a promise. Other values are not shown: they may be secret.
    if (typeof value !== "string") {
      throw new RunError("NG_BAD_INPUT", `the secret \`${name}\` in \`secrets\` has to be a text, known at once`);
    }
    values.set(name, value);
  }
  return values;
}
