import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { toJson } from "../../diagnostics/render/index.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { choiceOption } from "../run/parse-values.ts";
import { printDiagnostics } from "../output/print-diagnostics.ts";
import { isYaml, readSource } from "../sources/source-files.ts";
import { refuseSource, writeAtomically } from "../output/write-atomically.ts";

const SPELLINGS = ["ngraph", "yaml"] as const;

interface ConvertOptions {
  readonly to?: (typeof SPELLINGS)[number];
  readonly output?: string;
}

export const convertCommand = defineCommand<ConvertOptions>({
  usage: "convert <file>",
  summary: "print a file in the other spelling, .ngraph or YAML",
  configure: (command) => {
    command
      .addOption(choiceOption("--to <spelling>", "default: the other spelling", SPELLINGS))
      .option("-o, --output <file>", "write a file instead of printing");
  },
  examples: ["ngc convert support.ngraph --to yaml -o support.ngraph.yaml"],
  run: async ([file = ""], options, output) => {
    const text = readSource(file);
    const from = isYaml(file) ? "yaml" : "ngraph";
    const to = options.to ?? (from === "yaml" ? "ngraph" : "yaml");
    if (from === to) throw new CommandError(`${file} is already ${to === "yaml" ? "YAML" : "an .ngraph file"}`);

    refuseSource(options.output, file);
    refuseOtherSpelling(options.output, to);
    const { convert } = await import("../../grammar/convert.ts");
    const schema = schemaPath(dirname(resolve(options.output ?? file)));
    const result = convert(text, { path: file, to, ...(schema === undefined ? {} : { schema }) });
    const failed = hasErrors(result.diagnostics);
    printDiagnostics(result.diagnostics, {}, output);
    // Before the document, which reports success.
    if (options.output !== undefined && !failed) writeAtomically(options.output, result.text);
    output.document({
      version: 1,
      ok: !failed,
      text: failed ? null : result.text,
      lost: result.lost,
      diagnostics: toJson(result.diagnostics),
    });
    if (failed) return EXIT.invalid;
    for (const lost of result.lost) {
      output.problem(`${output.stderrStyles.warning("warning")}: ${file}: not converted: ${lost}`);
    }
    if (options.output !== undefined) {
      output.note(`wrote ${options.output}`);
    } else if (!output.json) {
      output.raw(result.text);
    }
    return EXIT.ok;
  },
});

/** The name of a file decides how it is read. */
function refuseOtherSpelling(output: string | undefined, to: (typeof SPELLINGS)[number]): void {
  if (output === undefined) return;
  if (to === "yaml" ? !output.endsWith(".ngraph") : !isYaml(output)) return;
  const name = to === "yaml" ? `${output}.yaml` : output.replace(/(?:\.ngraph)?\.ya?ml$/, ".ngraph");
  throw new CommandError(`-o ${output}: the name of ${to === "yaml" ? "a YAML" : "an .ngraph"} file cannot end so`, {
    help: `name it ${name}`,
  });
}

const SCHEMA = join("node_modules", "ngraph", "grammar", "ngraph.schema.json");

/**
 * The path of the JSON Schema for editors, relative to this directory: in the installed package, else where it will be installed,
 * beside the project's `package.json`.
 */
function schemaPath(directory: string): string | undefined {
  const above = (name: string): string | undefined => {
    for (let at = directory; ; at = dirname(at)) {
      if (existsSync(join(at, name))) return at;
      if (dirname(at) === at) return undefined;
    }
  };
  const project = above(SCHEMA) ?? above("package.json");
  if (project === undefined) return undefined;
  const path = relative(directory, join(project, SCHEMA)).split(sep).join("/");
  return path.startsWith(".") ? path : `./${path}`;
}
