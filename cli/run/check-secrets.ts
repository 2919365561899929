import { missingSecrets } from "../../runtime/table/missing-secrets.ts";
import type { Table } from "../../runtime/table/table.ts";
import { fromEnvironment } from "../../stdlib/from-environment.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";

/**
 * Checks the secrets that a graph and what it calls read, before code of the user is loaded.
 *
 * @param isBesideOthers a missing secret is a warning: a server serves its other graphs
 * @throws CommandError NG_MISSING_SECRET with all that are missing
 */
export function checkSecrets(table: Table, output: Output, isBesideOthers: boolean): void {
  const missing = missingSecrets([table], (name) => fromEnvironment(name) !== undefined);
  if (missing.size === 0) return;
  const names = [...missing].map(([name, reader]) => `\`${name}\`, which \`${reader}\` reads`);
  const [secrets, them] = missing.size === 1 ? ["the secret", "it"] : ["the secrets", "them"];
  const lack = `the environment does not have ${secrets} ${names.join(", and ")}`;
  if (!isBesideOthers) {
    throw new CommandError(lack, {
      code: "NG_MISSING_SECRET",
      help: `the command has run no node: set ${them}, to an empty text if no run needs ${them}, then repeat the command`,
    });
  }
  output.problem(`warning: runs of \`${table.name}\` are refused: ${lack}`);
}
