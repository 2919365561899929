import { extname } from "node:path";
import { drawPlan } from "../drawing/plan.ts";
import { drawRun } from "../drawing/drawn-run.ts";
import { threadRun } from "../drawing/thread-run.ts";
import { traceRun } from "../drawing/trace-run.ts";
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
import { compileSource } from "../sources/compile-source.ts";
import { boundGraphs, chooseGraph } from "../replay/choose-graph.ts";
import { readTraces } from "../replay/read-traces.ts";
import { diagnosticsDocument } from "../documents/check-document.ts";
import { printDiagnostics } from "../output/print-diagnostics.ts";
import type { Output } from "../output/output.ts";
import { STORE_FLAG, STORE_HELP, withStore } from "../threads/open-store.ts";
import { lowerGraph } from "../../compiler/lower/lower.ts";
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
  readonly trace?: string;
  readonly thread?: string;
  readonly store?: string;
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
      .option("-o, --output <file>", "write a file instead of printing")
      .option(
        "--trace <file>",
        "draw a counterexample over the graph: a document of `ngc check --json`, or a part of it",
      )
      .option("--thread <id>", "draw the newest run of a thread over the graph")
      .option(STORE_FLAG, `with --thread: ${STORE_HELP}`);
  },
  examples: [
    "ngc graph support.ngraph",
    "ngc graph support.ngraph -o support.svg",
    "ngc graph support.ngraph --thread t1 -o t1.html",
  ],
  run: async ([file = ""], options, output) => {
    refuseSource(options.output, file);
    const format = options.format ?? formatOf(options.output);
    const drawing = await drawFile(file, options, output);
    if (drawing === undefined) return EXIT.invalid;
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

/** The picture of a file; `undefined` after the diagnostics of an invalid one. */
async function drawFile(file: string, options: GraphOptions, output: Output): Promise<Drawing | undefined> {
  const { trace, thread, store, graph } = options;
  if (trace !== undefined && thread !== undefined) {
    throw new CommandError("--trace and --thread cannot be combined", { help: "draw each in a picture of its own" });
  }
  if (store !== undefined && thread === undefined) {
    throw new CommandError("--store is used with --thread only", { help: "add --thread ID" });
  }
  if (trace !== undefined) return drawTrace(file, trace, graph, output);
  const table = await loadGraphOrPlan(file, graph, output);
  if (table === undefined) return undefined;
  if (thread === undefined) return table.kind === "plan" ? drawPlan(table) : drawTable(table);
  if (table.kind === "plan") {
    throw new CommandError(`\`${table.name}\` is a plan, and --thread draws runs of graphs`, {
      help: "`ngc plan FILE --schedule` shows when its tasks run",
    });
  }
  return withStore(store, { mustExist: true, readOnly: true }, async (open) =>
    drawRun(drawTable(table), await threadRun(open.store, thread, table)),
  );
}

/** Also draws graphs whose proofs have errors: a counterexample belongs to such a graph. */
async function drawTrace(
  file: string,
  traceFile: string,
  name: string | undefined,
  output: Output,
): Promise<Drawing | undefined> {
  const [given, ...others] = readTraces(traceFile);
  if (given === undefined) return undefined;
  const compiled = await compileSource(file);
  const graphs = boundGraphs(compiled, name, file);
  if (graphs.every((graph) => graph.hasErrors)) {
    printDiagnostics(
      compiled.diagnostics.filter(({ severity }) => severity === "error"),
      {},
      output,
    );
    if (output.json) output.document(await diagnosticsDocument([compiled]));
    return undefined;
  }
  if (others.length > 0) {
    const more = others.length === 1 ? "one more trace" : `${others.length} more traces`;
    output.note(`${traceFile} has ${more}; the picture shows the first one`);
  }
  return drawRun(drawTable(lowerGraph(chooseGraph(graphs, given))), traceRun(given));
}

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
