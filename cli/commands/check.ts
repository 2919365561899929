import type { CompileResult } from "../../compiler/compile.ts";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { diagnosticsDocument } from "../check-document.ts";
import { compileSource } from "../compile-source.ts";
import { defineCommand } from "../define-command.ts";
import { EXIT } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { parseChoice, parseCount } from "../parse-values.ts";
import { countText, FORMATS, printDiagnostics, uniqueDiagnostics, type Format } from "../print-diagnostics.ts";
import { findSources } from "../source-files.ts";

interface CheckOptions {
  readonly format?: Format;
  readonly verbose?: boolean;
  readonly maxDiagnostics?: number;
}

export const checkCommand = defineCommand<CheckOptions>({
  usage: "check <path...>",
  summary: "report what is wrong with graphs; never runs user code",
  configure: (command) => {
    command
      .option("--format <format>", `${FORMATS.join(", ")} (default pretty on a terminal, else plain)`, (text) =>
        parseChoice("--format", FORMATS, text),
      )
      .option("-v, --verbose", "with what was proven, and remarks")
      .option("--max-diagnostics <n>", "print at most so many (default 50)", parseCount("--max-diagnostics", 1));
  },
  examples: ["ngc check support.ngraph", "ngc check graphs/ -v", "ngc check . --format github"],
  run: async (paths, options, given) => {
    const output = options.format === "json" ? { ...given, json: true } : given;
    const compiled: CompileResult[] = [];
    for (const file of findSources(paths)) compiled.push(await compileSource(file));
    const diagnostics = uniqueDiagnostics(compiled.flatMap((source) => source.diagnostics));

    if (options.format === "json") given.raw(`${JSON.stringify(await diagnosticsDocument(compiled), null, 2)}\n`);
    else if (given.json) given.document(await diagnosticsDocument(compiled));
    printDiagnostics(
      diagnostics,
      {
        ...(options.format === undefined ? {} : { format: options.format }),
        verbose: options.verbose === true,
        ...(options.maxDiagnostics === undefined ? {} : { max: options.maxDiagnostics }),
      },
      output,
    );
    if (options.verbose === true) printProofs(compiled, output);
    const graphs = compiled.reduce((total, source) => total + source.graphs.length, 0);
    const count = countText(diagnostics);
    if (!output.json && options.format !== "sarif" && options.format !== "github") {
      given.note(
        `${graphs} graph${graphs === 1 ? "" : "s"} checked${count === "" ? ", nothing to report" : `: ${count}`}`,
      );
    }
    return hasErrors(diagnostics) ? EXIT.invalid : EXIT.ok;
  },
});

/** What holds for every run, a line each, at the graph's name. Documents have it inside. */
function printProofs(compiled: readonly CompileResult[], output: Output): void {
  if (output.json) return;
  for (const { graphs } of compiled) {
    for (const { name, bound, proofs } of graphs) {
      const { file, declaration } = bound;
      const { line, column } = file.position(declaration.name.span.start);
      for (const { code, message } of proofs) {
        output.problem(
          `${file.path}(${line},${column}): ${output.stderrStyles.info(`info ${code}`)}: ${name}: ${message}`,
        );
      }
    }
  }
}
