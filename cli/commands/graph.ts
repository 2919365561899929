import { extname } from "node:path";
import { drawPlan } from "../drawing/plan.ts";
import { drawTable, printableDrawing, type Drawing } from "../drawing/drawing.ts";
import { renderDot } from "../drawing/dot.ts";
import { renderHtml } from "../drawing/html.ts";
import { renderMermaid } from "../drawing/mermaid.ts";
import { renderSvg } from "../drawing/svg.ts";
import { renderText } from "../drawing/text.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { loadGraphOrPlan } from "../sources/load-graph.ts";
import { parseChoice } from "../run/parse-values.ts";
import { jsonText } from "../output/json-text.ts";
import { refuseSource, writeAtomically } from "../output/write-atomically.ts";

const FORMATS = ["text", "mermaid", "dot", "svg", "html", "json"] as const;
type PictureFormat = (typeof FORMATS)[number];

/** The formats of files, by the ends of their names. */
const FORMAT_OF: Readonly<Record<string, PictureFormat>> = {
  ".txt": "text",
  ".mmd": "mermaid",
  ".mermaid": "mermaid",
  ".dot": "dot",
  ".gv": "dot",
  ".svg": "svg",
  ".html": "html",
  ".htm": "html",
  ".json": "json",
};

interface GraphOptions {
  readonly format?: PictureFormat;
  readonly graph?: string;
  readonly output?: string;
}

export const graphCommand = defineCommand<GraphOptions>({
  usage: "graph <file>",
  summary: "draw a graph or plan",
  configure: (command) => {
    command
      .option(
        "--format <format>",
        `${FORMATS.join(", ")} (default: by the name of the output file, else text)`,
        (text) => parseChoice("--format", FORMATS, text),
      )
      .option("--graph <name>", "which graph or plan of the file (default: the one that no other calls)")
      .option("-o, --output <file>", "write a file instead of printing");
  },
  examples: ["ngc graph support.ngraph", "ngc graph support.ngraph -o support.svg"],
  run: async ([file = ""], options, output) => {
    refuseSource(options.output, file);
    const format = options.format ?? formatOf(options.output);
    const table = await loadGraphOrPlan(file, options.graph, output);
    if (table === undefined) return EXIT.invalid;
    const drawing = table.kind === "plan" ? drawPlan(table) : drawTable(table);
    const picture = await render(format === "json" ? drawing : printableDrawing(drawing), format);
    if (options.output !== undefined) {
      writeAtomically(options.output, `${picture}\n`);
      output.note(`wrote ${options.output}`);
    } else if (format === "text") {
      output.result(picture);
    } else {
      output.verbatim(picture);
    }
    output.document({ version: 1, ...drawing });
    return EXIT.ok;
  },
});

/**
 * The format that the name of a file implies; text without a file, and for a device or a pipe without an extension.
 *
 * @throws CommandError for an extension of another format
 */
function formatOf(output: string | undefined): PictureFormat {
  const extension = extname(output ?? "").toLowerCase();
  const format = extension === "" ? "text" : FORMAT_OF[extension];
  if (format !== undefined) return format;
  throw new CommandError(`no format of a picture has the extension \`${extension}\``, {
    help: `name the format with --format, or end the name in ${Object.keys(FORMAT_OF).join(", ")}`,
  });
}

async function render(drawing: Drawing, format: PictureFormat): Promise<string> {
  switch (format) {
    case "text":
      return renderText(drawing);
    case "mermaid":
      return renderMermaid(drawing);
    case "dot":
      return renderDot(drawing);
    case "svg":
      return renderSvg(drawing);
    case "html":
      return renderHtml(drawing);
    case "json":
      return jsonText({ version: 1, ...drawing }, 2);
  }
}
