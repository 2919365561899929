import type { Exported } from "../export/losses.ts";
import { refuseSource, writeAtomically } from "../output/write-atomically.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { printableText } from "../output/printable-text.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { choiceOption } from "../run/parse-values.ts";
import { loadBoundGraph, loadGraphOrPlanWithSource } from "../sources/load-graph.ts";
import { defineCommand } from "../start/define-command.ts";

const TARGETS = ["neograph", "asl", "mermaid"] as const;
type Target = (typeof TARGETS)[number];

const CHOICE = "the argument behind the file";

interface ExportOptions {
  readonly to: Target;
  readonly output?: string;
}

export const exportCommand = defineCommand<ExportOptions>({
  usage: "export <file> [graph]",
  summary: "print a graph in the language of another system",
  configure: (command) => {
    command
      .addOption(choiceOption("--to <target>", "the other system", TARGETS).makeOptionMandatory())
      .option("-o, --output <file>", "write a file instead of printing");
  },
  helpWith: ({ kind, args: [file = "FILE"] }) =>
    kind === "missing option" || kind === "missing argument"
      ? TARGETS.map((target) => `\`ngc export ${quoteArgument(file)} --to ${target}\``).join(", ")
      : undefined,
  examples: [
    "ngc export support.ngraph --to neograph",
    "ngc export support.ngraph support --to asl -o support.asl.json",
  ],
  run: async ([file = "", graph], options, output) => {
    refuseSource(options.output, file);
    const exported = await exportFile(file, graph, options.to, output);
    if (exported === undefined) return EXIT.invalid;
    if (options.output !== undefined) writeAtomically(options.output, exported.text);
    output.document({
      version: 1,
      ok: true,
      text: exported.text,
      losses: exported.losses.map((loss) => ({
        file: loss.file.path,
        range: loss.file.range(loss.span),
        message: loss.message,
        help: loss.help,
      })),
    });
    const { placeOf } = await import("../export/losses.ts");
    for (const loss of exported.losses) {
      const place = `${loss.file.path}:${placeOf(loss)}`;
      output.problem(`${output.stderrStyles.warning("warning")}: ${printableText(`${place}: ${loss.message}`)}`);
      output.problem(`  help: ${printableText(loss.help)}`);
    }
    if (options.output !== undefined) output.note(`wrote ${options.output}`);
    else if (!output.json) output.raw(exported.text);
    return EXIT.ok;
  },
});

/** `undefined` after the diagnostics of an invalid file. */
async function exportFile(
  file: string,
  name: string | undefined,
  target: Target,
  output: Output,
): Promise<Exported | undefined> {
  if (target === "mermaid") {
    const loaded = await loadGraphOrPlanWithSource(file, name, output, CHOICE);
    if (loaded === undefined) return undefined;
    const [{ drawCompiled }, { printableDrawing }, { renderMermaid }] = await Promise.all([
      import("../drawing/compiled-drawing.ts"),
      import("../drawing/drawing.ts"),
      import("../drawing/mermaid.ts"),
    ]);
    const { drawing } = drawCompiled(loaded.compiled, loaded.table);
    return { text: `${renderMermaid(printableDrawing(drawing))}\n`, losses: [] };
  }
  const graph = await loadBoundGraph(file, name, output, CHOICE);
  if (graph === undefined) return undefined;
  const { ExportError, placeOf } = await import("../export/losses.ts");
  try {
    if (target === "asl") return (await import("../export/amazon-states.ts")).exportAmazonStates(graph);
    return (await import("../export/neograph.ts")).exportNeoGraph(graph);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    throw new CommandError(`${error.file.path}:${placeOf(error)}: ${error.message}`, {
      help: error.help,
      exitCode: EXIT.invalid,
      code: "unsayable",
    });
  }
}
