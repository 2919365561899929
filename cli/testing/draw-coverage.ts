import { extname } from "node:path";
import type { CompileResult } from "../../compiler/compile.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Coverage } from "../../testing/coverage.ts";
import { drawCompiled } from "../drawing/compiled-drawing.ts";
import { drawCoverage } from "../drawing/coverage-drawing.ts";
import { pictureFormatOf, renderDrawing } from "../drawing/render-drawing.ts";
import type { Output } from "../output/output.ts";
import { writeAtomically } from "../output/write-atomically.ts";
import { CommandError } from "../process/command-error.ts";

/**
 * Makes the function that writes the pictures of coverage: one file, or one for each graph with its name before the extension.
 *
 * @param file the name of the file, which is checked before tests run
 * @param tables the graphs that are covered, in the order of their coverage
 */
export function coverageDrawer(
  file: string,
  compiled: readonly CompileResult[],
  tables: readonly Table[],
): (coverage: readonly Coverage[], output: Output) => Promise<void> {
  const format = pictureFormatOf(file);
  const extension = extname(file);
  const names = new Map(
    tables.map((table) => [
      table,
      tables.length === 1 ? file : `${file.slice(0, file.length - extension.length)}.${table.name}${extension}`,
    ]),
  );
  if (tables.length === 0) throw new CommandError("there is no graph to draw", { help: "leave --picture out" });
  const written = new Set<string>();
  for (const [{ name }, path] of names) {
    if (written.has(path)) {
      throw new CommandError(`two graphs are named \`${name}\`, and --picture writes one file for each name`, {
        help: "name the path of one of them",
      });
    }
    written.add(path);
  }
  return async (coverage, output) => {
    for (const [index, table] of tables.entries()) {
      const source = compiled.find(({ graphs }) => graphs.some((graph) => graph.table === table));
      const counted = coverage[index];
      const name = names.get(table);
      if (source === undefined || counted === undefined || name === undefined) continue;
      const drawn = drawCompiled(source, table);
      const drawing = drawCoverage(drawn.drawing, table, counted);
      const picture = await renderDrawing(drawing, format, { ...drawn, drawing, isUnfolded: false, file: source.path });
      writeAtomically(name, typeof picture === "string" ? `${picture}\n` : picture);
      output.note(`wrote ${name}`);
    }
  };
}
