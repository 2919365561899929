import { hasErrors } from "../diagnostics/diagnostic.ts";
import { findSimilar, listNames } from "../diagnostics/similar.ts";
import type { Table } from "../runtime/table.ts";
import { diagnosticsDocument } from "./check-document.ts";
import { CommandError } from "./command-error.ts";
import { compileSource } from "./compile-source.ts";
import type { Output } from "./output.ts";
import { printDiagnostics } from "./print-diagnostics.ts";

/**
 * The table of one graph of a file. Where the file is invalid its diagnostics are printed (with `--json`, the document of `ngc
 * check`), and there is none.
 *
 * @throws CommandError when the file cannot be read or has no such graph
 */
export async function loadGraph(file: string, name: string | undefined, output: Output): Promise<Table | undefined> {
  const compiled = await compileSource(file);
  printDiagnostics(compiled.diagnostics, {}, output);
  if (hasErrors(compiled.diagnostics)) {
    if (output.json) output.document(await diagnosticsDocument([compiled]));
    return undefined;
  }
  const { tables } = compiled;
  if (name === undefined) {
    const [first] = tables.values();
    if (first === undefined) throw new CommandError(`${file} holds no graph`);
    return first;
  }
  const table = tables.get(name);
  if (table !== undefined) return table;
  const similar = findSimilar(name, tables.keys());
  throw new CommandError(`${file} has no graph \`${name}\``, {
    help:
      similar !== undefined
        ? `a graph with a similar name exists: \`${similar}\``
        : tables.size === 0
          ? "it holds no graph"
          : `it holds ${listNames(tables.keys())}`,
  });
}
