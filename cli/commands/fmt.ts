import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import type { Output } from "../output/output.ts";
import { printDiagnostics } from "../output/print-diagnostics.ts";
import { readStdin } from "../process/read-stdin.ts";
import { formatText } from "../sources/format-text.ts";
import { readSources, type Unreadable } from "../sources/source-files.ts";
import { linkOut } from "../output/link-out.ts";
import { writeAtomically } from "../output/write-atomically.ts";

interface FmtOptions {
  readonly check?: boolean;
  readonly stdinFilepath?: string;
}

export const fmtCommand = defineCommand<FmtOptions>({
  usage: "fmt [path...]",
  summary: "format files in place; for a directory, all graph files in it",
  configure: (command) => {
    command
      .option("--check", "write nothing; exit 1 when a file is not formatted")
      .option("--stdin-filepath <path>", "format standard input as the content of this file, and print it");
  },
  examples: ["ngc fmt .", "ngc fmt --check graphs/", "ngc fmt --stdin-filepath a.ngraph < a.ngraph"],
  run: async (paths, options, output) => {
    if (options.stdinFilepath !== undefined) return formatStdin(options.stdinFilepath, options, paths, output);
    if (paths.length === 0) throw new CommandError("name a file or a directory to format", { help: "ngc fmt ." });

    const changed: string[] = [];
    const findings: string[] = [];
    const broken: Diagnostic[] = [];
    const refusedLinks: Unreadable[] = [];
    const { sources, unreadable: unread } = readSources(paths);
    for (const { path: file, text } of sources) {
      const formatted = await formatText(text, file);
      if (typeof formatted !== "string") {
        for (const each of formatted) broken.push(each);
        continue;
      }
      if (formatted === text) continue;
      if (options.check !== true) {
        const refused = paths.includes(file) ? undefined : linkOut(file);
        if (refused !== undefined) {
          refusedLinks.push({ file, message: refused });
          continue;
        }
        writeAtomically(file, formatted);
      }
      changed.push(file);
      findings.push(unformatted(file, text, formatted));
    }
    const unreadable = [...unread, ...refusedLinks];
    printDiagnostics(broken, {}, output);
    output.document({
      version: 1,
      ok: broken.length === 0 && unreadable.length === 0 && (options.check !== true || changed.length === 0),
      files: sources.length,
      changed,
      ...(unreadable.length === 0 ? {} : { unreadable }),
    });
    if (options.check === true) {
      for (const finding of findings) output.result(finding);
    } else {
      for (const file of changed) output.note(`formatted ${file}`);
    }
    for (const { message } of unreadable) output.problem(`error: ${message}`);
    if (unreadable.length > 0) return EXIT.usage;
    if (broken.length > 0) return EXIT.invalid;
    return options.check === true && changed.length > 0 ? EXIT.failed : EXIT.ok;
  },
});

async function formatStdin(
  path: string,
  options: FmtOptions,
  paths: readonly string[],
  output: Output,
): Promise<ExitCode> {
  if (paths.length > 0) throw new CommandError("--stdin-filepath formats standard input only: it takes no files");
  const text = await readStdin();
  const formatted = await formatText(text, path);
  if (typeof formatted !== "string") {
    printDiagnostics(formatted, {}, output);
    output.document({ version: 1, ok: false, files: 1, changed: [] });
    return EXIT.invalid;
  }
  if (options.check === true) {
    output.document({ version: 1, ok: formatted === text, files: 1, changed: formatted === text ? [] : [path] });
    if (formatted !== text) output.result(unformatted(path, text, formatted));
    return formatted === text ? EXIT.ok : EXIT.failed;
  }
  if (output.json)
    output.document({ version: 1, ok: true, files: 1, changed: formatted === text ? [] : [path], text: formatted });
  else output.raw(formatted);
  return EXIT.ok;
}

/** Line ends are named, because editors do not show them. */
function unformatted(file: string, text: string, formatted: string): string {
  const reason = text.includes("\r\n") && !formatted.includes("\r\n") ? ": its lines end with CRLF, not LF" : "";
  return `${file} is not formatted${reason}`;
}
