import { drawPlan } from "../drawing/plan.ts";
import { drawTable, printableDrawing, type Drawing } from "../drawing/drawing.ts";
import { renderDot } from "../drawing/dot.ts";
import { renderHtml } from "../drawing/html.ts";
import { renderMermaid } from "../drawing/mermaid.ts";
import { renderSvg } from "../drawing/svg.ts";
import { renderText } from "../drawing/text.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { loadGraphOrPlan } from "../sources/load-graph.ts";
import { parseChoice } from "../run/parse-values.ts";
import { jsonText } from "../output/json-text.ts";
import { refuseSource, writeAtomically } from "../output/write-atomically.ts";

const FORMATS = ["text", "mermaid", "dot", "svg", "html", "json"] as const;
type PictureFormat = (typeof FORMATS)[number];

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
      .option("--format <format>", `${FORMATS.join(", ")} (default text)`, (text) =>
        parseChoice("--format", FORMATS, text),
      )
      .option("--graph <name>", "which graph or plan of the file (default: the one that no other calls)")
      .option("-o, --output <file>", "write a file instead of printing");
  },
  examples: ["ngc graph support.ngraph", "ngc graph support.ngraph --format svg -o support.svg"],
  run: async ([file = ""], options, output) => {
    refuseSource(options.output, file);
    const table = await loadGraphOrPlan(file, options.graph, output);
    if (table === undefined) return EXIT.invalid;
    const drawing = table.kind === "plan" ? drawPlan(table) : drawTable(table);
    const picture = await render(
      options.format === "json" ? drawing : printableDrawing(drawing),
      options.format ?? "text",
    );
    if (options.output !== undefined) {
      writeAtomically(options.output, `${picture}\n`);
      output.note(`wrote ${options.output}`);
    } else if (options.format === undefined || options.format === "text") {
      output.result(picture);
    } else {
      output.verbatim(picture);
    }
    output.document({ version: 1, ...drawing });
    return EXIT.ok;
  },
});

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
