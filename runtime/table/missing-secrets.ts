import { secretsIn } from "../expression/secret-arguments.ts";
import { RunError } from "../interface/errors.ts";
import type { PlanTable } from "./plan-table.ts";
import type { Table } from "./table.ts";

/** The secrets that graphs or plans, and all that they call, read and lack: by name, the first graph or plan that reads it. */
export type MissingSecrets = ReadonlyMap<string, string>;

/**
 * The secrets that expressions read and that have no value. Other secrets of a file may be missing: another graph reads them.
 *
 * @param has whether a secret has a value
 */
export function missingSecrets(
  tables: readonly (Table | PlanTable)[],
  has: (secret: string) => boolean,
): MissingSecrets {
  const missing = new Map<string, string>();
  const all = new Set(tables);
  for (const { name: reader, secrets, expressions, graphs, plans = [] } of all) {
    for (const called of [...graphs, ...plans]) all.add(called);
    if (secrets.every(has)) continue;
    for (const name of secretsIn(expressions)) if (!has(name) && !missing.has(name)) missing.set(name, reader);
  }
  return missing;
}

/** @throws RunError NG_MISSING_SECRET with all names, if a secret is missing */
export function refuseMissingSecrets(missing: MissingSecrets): void {
  if (missing.size === 0) return;
  const names = [...missing].map(([name, reader]) => `\`${name}\` (read by \`${reader}\`)`).join(", ");
  throw new RunError(
    "NG_MISSING_SECRET",
    `the run lacks secrets: ${names}; no node has run: give each a value, an empty text if no run needs it`,
  );
}
