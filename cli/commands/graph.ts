import { extname } from "node:path";
import { drawRun } from "../drawing/drawn-run.ts";
import { threadRun } from "../drawing/thread-run.ts";
import { traceRun } from "../drawing/trace-run.ts";
import { printableDrawing, type Drawing } from "../drawing/drawing.ts";
import { drawCompiled, type CompiledDrawing } from "../drawing/compiled-drawing.ts";
import { renderDot } from "../drawing/dot.ts";
import { renderHtml, type PageParts } from "../drawing/html.ts";
import { renderMermaid } from "../drawing/mermaid.ts";
import { renderPng } from "../drawing/png.ts";
import { renderSvg } from "../drawing/svg.ts";
import { renderText } from "../drawing/text.ts";
import { unfold } from "../drawing/unfold.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { loadGraphOrPlanWithSource } from "../sources/load-graph.ts";
import { compileSource } from "../sources/compile-source.ts";
import { boundGraphs, chooseGraph } from "../replay/choose-graph.ts";
import { readTraces } from "../replay/read-traces.ts";
import { diagnosticsDocument } from "../documents/check-document.ts";
import { printDiagnostics } from "../output/print-diagnostics.ts";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import type { Output } from "../output/output.ts";
import { STORE_FLAG, STORE_HELP, withStore } from "../threads/open-store.ts";
import { lowerGraph } from "../../compiler/lower/lower.ts";
import { parseChoice } from "../run/parse-values.ts";
import { jsonText } from "../output/json-text.ts";
import { refuseSource, writeAtomically } from "../output/write-atomically.ts";

const FORMATS = ["text", "mermaid", "dot", "svg", "png", "html", "json"] as const;
type PictureFormat = (typeof FORMATS)[number];

/** The formats of files, by the ends of their names. */
const FORMAT_OF: Readonly<Record<string, PictureFormat>> = {
  ".txt": "text",
  ".mmd": "mermaid",
  ".mermaid": "mermaid",
  ".dot": "dot",
  ".gv": "dot",
  ".svg": "svg",
  ".png": "png",
  ".html": "html",
  ".htm": "html",
  ".json": "json",
};

interface GraphOptions {
  readonly format?: PictureFormat;
  readonly graph?: string;
  readonly output?: string;
  readonly unfold?: boolean;
  readonly findings?: boolean;
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
      .option("--unfold", "draw the nodes of called graphs and plans; pages have both pictures")
      .option("--findings", "draw the findings of `ngc check`; also for a graph with errors of the proofs")
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
    if (format === "png" && options.output === undefined) {
      throw new CommandError("a PNG is not printed", { help: "name its file with -o" });
    }
    const drawn = await drawFile(file, options, output);
    if (drawn === undefined) return EXIT.invalid;
    const drawing = options.unfold === true ? unfold(drawn.drawing, drawn.called) : drawn.drawing;
    const picture = await render(drawing, format, { ...drawn, isUnfolded: options.unfold === true, file });
    if (options.output !== undefined) {
      writeAtomically(options.output, typeof picture === "string" ? `${picture}\n` : picture);
      output.note(`wrote ${options.output}`);
    } else if (typeof picture === "string") {
      if (format === "text") output.result(picture);
      else output.verbatim(picture);
    }
    output.document({ version: 1, ...drawing });
    return EXIT.ok;
  },
});

/** The picture of a file; `undefined` after the diagnostics of an invalid one. */
async function drawFile(file: string, options: GraphOptions, output: Output): Promise<CompiledDrawing | undefined> {
  const { trace, thread, store, graph, findings = false } = options;
  if (trace !== undefined && thread !== undefined) {
    throw new CommandError("--trace and --thread cannot be combined", { help: "draw each in a picture of its own" });
  }
  if (store !== undefined && thread === undefined) {
    throw new CommandError("--store is used with --thread only", { help: "add --thread ID" });
  }
  if (trace !== undefined) return drawTrace(file, trace, graph, output, findings);
  const loaded = findings
    ? await loadWithErrors(file, graph, output)
    : await loadGraphOrPlanWithSource(file, graph, output);
  if (loaded === undefined) return undefined;
  const { table, compiled } = loaded;
  const drawn = drawCompiled(compiled, table, { findings });
  if (thread === undefined) return drawn;
  if (table.kind === "plan") {
    throw new CommandError(`\`${table.name}\` is a plan, and --thread draws runs of graphs`, {
      help: "`ngc run --report FILE.html` draws when its tasks ran",
    });
  }
  return withStore(store, { mustExist: true, readOnly: true }, async (open) => ({
    ...drawn,
    drawing: drawRun(drawn.drawing, await threadRun(open.store, thread, table)),
  }));
}

/** As `loadGraphOrPlanWithSource`, but a graph whose proofs have errors has a table, too. */
async function loadWithErrors(
  file: string,
  name: string | undefined,
  output: Output,
): ReturnType<typeof loadGraphOrPlanWithSource> {
  const compiled = await compileSource(file);
  if (!hasErrors(compiled.diagnostics)) return loadGraphOrPlanWithSource(file, name, output);
  const called = new Set(compiled.graphs.flatMap(({ bound }) => bound.graphs));
  const fits = compiled.graphs.filter(({ bound }) =>
    name === undefined ? !called.has(bound) && !bound.hasErrors : bound.name === name && !bound.hasErrors,
  );
  const [graph, ...others] = fits;
  // Errors of names and types leave no graph to draw.
  if (graph === undefined || others.length > 0) return loadGraphOrPlanWithSource(file, name, output);
  return { table: lowerGraph(graph.bound), compiled };
}

/** Also draws graphs whose proofs have errors: a counterexample belongs to such a graph. */
async function drawTrace(
  file: string,
  traceFile: string,
  name: string | undefined,
  output: Output,
  findings: boolean,
): Promise<CompiledDrawing | undefined> {
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
  const drawn = drawCompiled(compiled, lowerGraph(chooseGraph(graphs, given)), { findings });
  return { ...drawn, drawing: drawRun(drawn.drawing, traceRun(given)) };
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

interface Source extends CompiledDrawing {
  readonly isUnfolded: boolean;
  readonly file: string;
}

async function render(whole: Drawing, format: PictureFormat, source: Source): Promise<string | Uint8Array> {
  const drawing = format === "json" ? whole : printableDrawing(whole);
  switch (format) {
    case "text":
      return renderText(drawing);
    case "mermaid":
      return renderMermaid(drawing);
    case "dot":
      return renderDot(drawing);
    case "svg":
      return renderSvg(drawing);
    case "png":
      return renderPng(await renderSvg(drawing), source.file);
    case "html":
      return renderHtml(drawing, pageParts(source));
    case "json":
      return jsonText({ version: 1, ...drawing }, 2);
  }
}

/** Pages with more pictures are too large: there the calls are unfolded all at once. */
const MOST_PICTURES = 12;

/** The pictures of a page beside the first one, and the source texts. */
function pageParts({ drawing, called, sources, isUnfolded }: Source): PageParts {
  const calls = drawing.nodes.filter((node) => node.calls !== undefined && called(node.label) !== undefined);
  const single = calls.length < 2 || calls.length > MOST_PICTURES ? [] : calls;
  const all = unfold(drawing, called);
  const unfolded =
    isUnfolded || all === drawing
      ? []
      : [
          calls.length === 1 ? { unfolds: calls[0]!.id, drawing: all } : { drawing: all },
          ...single.map(({ id, label }) => ({
            unfolds: id,
            drawing: unfold(drawing, called, (name) => name === label),
          })),
        ];
  return {
    unfolded: unfolded.map((each) => ({ ...each, drawing: printableDrawing(each.drawing) })),
    sources,
  };
}
