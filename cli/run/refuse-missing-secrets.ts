import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { CommandError } from "../process/command-error.ts";
import { allTables } from "../sources/called-tables.ts";

/**
 * Checks the secrets that expressions of a graph and of what it calls read, before the first node runs. Other secrets of its file may be
 * missing: another graph reads them.
 *
 * @throws CommandError with all that are missing
 */
export function refuseMissingSecrets(
  table: Table | PlanTable,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const missing = new Map<string, string>();
  for (const each of allTables(table)) {
    if (each.secrets.every((name) => Object.hasOwn(environment, name))) continue;
    for (const name of secretsRead(each.expressions))
      if (!Object.hasOwn(environment, name) && !missing.has(name)) missing.set(name, each.name);
  }
  if (missing.size === 0) return;
  const names = [...missing].map(([name, reader]) => `\`${name}\`, which \`${reader}\` reads`);
  const [variable, it] = missing.size === 1 ? ["the secret", "it"] : ["the secrets", "them"];
  throw new CommandError(`the environment does not have ${variable} ${names.join(", and ")}`, {
    help: `the command has run no node: set ${it}, to an empty text if no run needs ${it}, then repeat the command`,
  });
}

function secretsRead(expressions: readonly Expression[]): ReadonlySet<string> {
  const names = new Set<string>();
  const open = [...expressions];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.op === "secret") names.add(part.name);
    for (const each of expressionParts(part)) open.push(each);
  }
  return names;
}
