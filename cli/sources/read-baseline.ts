import type { Baseline } from "../../compiler/baseline/compare-with-baseline.ts";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { TableError } from "../../runtime/interface/errors.ts";
import { CommandError } from "../process/command-error.ts";
import { compileText } from "./compile-source.ts";
import { readSource } from "./source-files.ts";

/**
 * The graphs of an older version: a source file in either spelling (its imports are resolved from its directory), or a table that
 * `ngc compile --target json` wrote.
 *
 * @throws CommandError when it cannot be read or is invalid
 */
export async function readBaseline(path: string): Promise<Baseline> {
  const text = readSource(path);
  if (/\.json$/i.test(path)) {
    const { loadTable } = await import("../../compiler/table/load-table.ts");
    try {
      const table = loadTable(text);
      return new Map([[table.name, table]]);
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      throw new CommandError(`the baseline ${path} is not a compiled graph: ${error.message}`, {
        help: "`ngc compile FILE --target json` writes one; an older source file works too",
        cause: error,
      });
    }
  }
  const { tables, diagnostics } = await compileText(text, path);
  if (hasErrors(diagnostics)) {
    const first = diagnostics.find((item) => item.severity === "error");
    throw new CommandError(`the baseline ${path} is not valid: ${first?.code} ${first?.message}`, {
      help: `\`ngc check ${path}\` shows all errors; the file must be beside the modules that it imports`,
    });
  }
  return tables;
}
