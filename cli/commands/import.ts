import { basename, dirname, join } from "node:path";
import { existsSync, statSync } from "node:fs";
import { SOURCE_KINDS, type SourceKind } from "../../importers/kinds.ts";
import { refuseSource, writeAtomically } from "../output/write-atomically.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { printableText } from "../output/printable-text.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { choiceOption } from "../run/parse-values.ts";
import { defineCommand } from "../start/define-command.ts";
import { readSource } from "../sources/source-files.ts";

interface ImportOptions {
  readonly from?: SourceKind;
  readonly output?: string;
}

export const importCommand = defineCommand<ImportOptions>({
  usage: "import <file>",
  summary: "print a graph or plan of another system as .ngraph",
  configure: (command) => {
    command
      .addOption(choiceOption("--from <kind>", "the kind of the file (default: by its content)", SOURCE_KINDS))
      .option("-o, --output <file>", "write a file, and stubs of the node functions beside it, instead of printing");
  },
  helpWith: ({ kind }) =>
    kind === "missing argument" ? `\`ngc import FILE\` reads ${SOURCE_KINDS.join(", ")}` : undefined,
  examples: [
    "ngc import support.json",
    "ngc import agent.ts -o agent.ngraph",
    "ngc import package.json -o scripts.ngraph",
  ],
  run: async ([file = ""], options, output) => {
    const text = readSource(file);
    if (/\.ngraph(?:\.ya?ml)?$/.test(file)) {
      throw new CommandError(`${file} is a graph already`, { help: `\`ngc check ${quoteArgument(file)}\` checks it` });
    }
    refuseSource(options.output, file);
    if (options.output !== undefined && !options.output.endsWith(".ngraph")) {
      throw new CommandError(`-o ${options.output} is not the name of an .ngraph file`, {
        help: "end it with .ngraph",
      });
    }
    const name = basename(options.output ?? file).replace(/(?:\.\w+)+$/, "") || "imported";
    const module = `${name}.nodes.ts`;
    const { ImportError, importText } = await import("../../importers/index.ts");
    const imported = await importText(text, file, {
      name,
      module: `./${module}`,
      readModule: (specifier, from) => readProgram(join(dirname(from ?? file), specifier)),
      ...(options.from === undefined ? {} : { kind: options.from }),
    }).catch((error: unknown) => {
      if (!(error instanceof ImportError)) throw error;
      throw new CommandError(`${file}: ${error.at}: ${error.message}`, {
        ...(error.help === undefined ? {} : { help: error.help }),
        exitCode: EXIT.invalid,
      });
    });
    const { stubs } = imported;
    const stubFile = options.output === undefined ? undefined : join(dirname(options.output), module);
    const writesStubs = stubFile !== undefined && stubs !== undefined && !existsSync(stubFile);
    if (options.output !== undefined) {
      writeAtomically(options.output, imported.text);
      // Functions that have been written stay.
      if (writesStubs) writeAtomically(stubFile, stubs);
    }
    output.document({ version: 1, ok: true, text: imported.text, stubs: stubs ?? null, changes: imported.changes });
    for (const change of imported.changes) {
      output.problem(`${output.stderrStyles.warning("warning")}: ${printableText(`${file}: ${change}`)}`);
    }
    if (options.output !== undefined) {
      output.note(`wrote ${options.output}${writesStubs ? ` and ${stubFile}` : ""}`);
      if (stubs !== undefined && !writesStubs) output.note(`${stubFile} exists and stays as it is`);
    } else if (!output.json) output.raw(imported.text);
    if (options.output === undefined && stubs !== undefined) {
      output.note(`the functions are imported from ./${module}: -o FILE.ngraph writes stubs of them`);
    }
    return EXIT.ok;
  },
});

const PROGRAMS = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"];

/** The module of an import without or with its ending, of which a TypeScript source may have another one. It never runs. */
function readProgram(path: string): { readonly path: string; readonly text: string } | undefined {
  const stem = path.replace(/\.[cm]?[jt]sx?$/, "");
  const candidates = [
    ...(PROGRAMS.some((ending) => path.endsWith(ending)) ? [path] : []),
    ...[stem, path, join(path, "index")].flatMap((each) => PROGRAMS.map((ending) => each + ending)),
  ];
  for (const candidate of candidates) {
    if (statSync(candidate, { throwIfNoEntry: false })?.isFile() !== true) continue;
    try {
      return { path: candidate, text: readSource(candidate) };
    } catch (error) {
      // A module that cannot be read, or is too large, stays unknown.
      if (!(error instanceof CommandError)) throw error;
    }
  }
  return undefined;
}
