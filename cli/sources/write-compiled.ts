import { existsSync, readFileSync } from "node:fs";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import type { CompileResult } from "../../compiler/compile.ts";
import { diagnosticsDocument } from "../documents/check-document.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import type { Output } from "../output/output.ts";
import { printDiagnostics, uniqueDiagnostics } from "../output/print-diagnostics.ts";
import { refuseLinksOut } from "../output/link-out.ts";
import { writeAtomically } from "../output/write-atomically.ts";
import { refuseCollisions, type CompileOutput } from "./compile-outputs.ts";
import { compileText } from "./compile-source.ts";
import { readSources } from "./source-files.ts";
import { runAndWatch } from "./watch-files.ts";

export interface WriteOptions {
  /** Compiles again when a file changes. */
  readonly watch?: boolean;
  /** Writes nothing, and reports stale and missing files. */
  readonly check?: boolean;
}

type OutputsOf = (result: CompileResult) => Promise<readonly CompileOutput[]>;

/** Compiles graph files, and writes the outputs of those without errors that have changed. */
export async function writeCompiled(
  paths: readonly string[],
  outputsOf: OutputsOf,
  options: WriteOptions,
  output: Output,
): Promise<ExitCode> {
  if (options.watch !== true) return writeOnce(paths, outputsOf, options, output, new Set());
  if (options.check === true) throw new CommandError("--watch and --check exclude each other");
  return runAndWatch(paths, output, (watched) => writeOnce(paths, outputsOf, options, output, watched));
}

async function writeOnce(
  paths: readonly string[],
  outputsOf: OutputsOf,
  options: WriteOptions,
  output: Output,
  watched: Set<string>,
): Promise<ExitCode> {
  const results: CompileResult[] = [];
  const written: (CompileOutput & { readonly source: string })[] = [];
  const { sources, unreadable } = readSources(paths);
  for (const { path, text } of sources) {
    watched.add(path);
    const result = await compileText(text, path, { watched });
    results.push(result);
    if (hasErrors(result.diagnostics)) continue;
    for (const item of await outputsOf(result)) {
      written.push({ ...item, source: path });
    }
  }
  refuseCollisions(written);
  printDiagnostics(uniqueDiagnostics(results.flatMap((result) => result.diagnostics)), {}, output);

  const stale = written.filter(({ path, text }) => !hasContent(path, text));
  if (options.check !== true) refuseLinksOut(stale.map(({ path }) => path));
  for (const { path, text } of stale) {
    if (options.check === true) output.result(`${path} is ${existsSync(path) ? "stale" : "missing"}`);
    else {
      writeAtomically(path, text);
      output.note(`wrote ${path}`);
    }
  }
  output.document({
    ...(await diagnosticsDocument(results)),
    ...(unreadable.length === 0 ? {} : { ok: false, unreadable }),
    [options.check === true ? "stale" : "written"]: stale.map(({ path }) => path),
  });
  for (const { message } of unreadable) output.problem(`error: ${message}`);
  const invalid = results.some((result) => hasErrors(result.diagnostics));
  if (unreadable.length > 0) return EXIT.usage;
  return invalid ? EXIT.invalid : options.check === true && stale.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Whether a file has this content already. It is then not written, to keep its modification time. */
function hasContent(path: string, text: string): boolean {
  try {
    return readFileSync(path, "utf8") === text;
  } catch {
    return false;
  }
}
