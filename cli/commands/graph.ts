import { drawRun } from "../drawing/drawn-run.ts";
import { threadRun } from "../drawing/thread-run.ts";
import { traceRun } from "../drawing/trace-run.ts";
import { drawCompiled, type CompiledDrawing } from "../drawing/compiled-drawing.ts";
import { PICTURE_FORMATS, pictureFormatOf, renderDrawing, type PictureFormat } from "../drawing/render-drawing.ts";
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
import { choiceOption } from "../run/parse-values.ts";
import { refuseSource, writeAtomically } from "../output/write-atomically.ts";

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
      .addOption(
        choiceOption("--format <format>", "default: by the name of the output file, else text", PICTURE_FORMATS),
      )
      .option("--graph <name>", "which graph or plan of the file (default: the one that no other calls)")
      .option("-o, --output <file>", "write a file instead of printing")
      .option(
        "--unfold",
        "draw the nodes of called graphs and plans, and of graphs among the tools of a model; pages have both pictures",
      )
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
    const format = options.format ?? pictureFormatOf(options.output, "--format");
    if (format === "png" && options.output === undefined) {
      throw new CommandError("a PNG is not printed", { help: "name its file with -o" });
    }
    const drawn = await drawFile(file, options, output);
    if (drawn === undefined) return EXIT.invalid;
    const drawing = options.unfold === true ? unfold(drawn.drawing, drawn.called) : drawn.drawing;
    const picture = await renderDrawing(drawing, format, { ...drawn, isUnfolded: options.unfold === true, file });
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
