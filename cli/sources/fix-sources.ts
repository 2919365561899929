import { realpathSync, statSync } from "node:fs";
import type { Baseline } from "../../compiler/baseline/compare-with-baseline.ts";
import type { CompileResult } from "../../compiler/compile.ts";
import type { CompilerHost } from "../../compiler/load/host.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { introducesErrors } from "../../diagnostics/fixes/compare-findings.ts";
import type { AppliedFix } from "../../diagnostics/fixes/fix-text.ts";
import { CommandError } from "../process/command-error.ts";
import { findSources, readSource } from "./source-files.ts";
import { refuseLinksOut } from "../output/link-out.ts";
import { writeAtomically } from "../output/write-atomically.ts";

/** A file that `ngc check --fix` changed. */
export interface FixedSource {
  readonly path: string;
  readonly text: string;
  readonly fixes: readonly AppliedFix[];
}

export interface FixedSources {
  readonly fixed: readonly FixedSource[];
  /** All sources, compiled with the fixes applied. */
  readonly compiled: readonly CompileResult[];
}

/**
 * Applies the suggested fixes of the findings in these files, and writes the changed files once all fixes are
 * computed. A formatted file stays formatted. Imported files are not changed unless they are named too. A fix is
 * dropped if a named file that imports the fixed one would have new errors.
 *
 * @param named files, and directories of which all graph files are fixed
 * @param baseline older versions of the graphs: the fixes of the differences are applied, too
 * @throws CommandError when a file cannot be read or written, or has changed in the meantime
 */
export async function fixSources(named: readonly string[], baseline?: Baseline): Promise<FixedSources> {
  const paths = findSources(named);
  const sources = uniqueFiles(paths).map((path) => ({ path, text: readRegularFile(path) }));
  const { fixed, compiled } = await fixTexts(sources, baseline);
  const originals = new Map(sources.map(({ path, text }) => [path, text]));
  for (const { path } of fixed) {
    if (readSource(path) !== originals.get(path)) {
      throw new CommandError(`${path} changed while it was being fixed: nothing was written`);
    }
  }
  refuseLinksOut(fixed.flatMap(({ path }) => (named.includes(path) ? [] : [path])));
  for (const { path, text } of fixed) writeAtomically(path, text);
  return { fixed, compiled };
}

/** Like `fixSources`, for texts in memory; writes no file. */
export async function fixTexts(
  sources: readonly { readonly path: string; readonly text: string }[],
  baseline?: Baseline,
): Promise<FixedSources> {
  const [{ compile }, { createNodeHost }, { fixText }, { keepFormatted }, { formatIfReadable }] = await Promise.all([
    import("../../compiler/compile.ts"),
    import("../../api/node-host.ts"),
    import("../../diagnostics/fixes/fix-text.ts"),
    import("../../diagnostics/fixes/keep-formatted.ts"),
    import("./format-text.ts"),
  ]);
  const texts = new Map(sources.map(({ path, text }) => [realPathOf(path), text]));
  const host = withTexts(createNodeHost(), texts);
  const options = { host, ...(baseline === undefined ? {} : { baseline }) };
  const compileNow = (path: string): CompileResult => compile(texts.get(realPathOf(path)) ?? "", { ...options, path });
  const compiled = new Map(sources.map(({ path }) => [path, compileNow(path)]));
  const fixed: FixedSource[] = [];
  for (const { path, text } of sources) {
    const result = fixText(text, (changed) => ownFindings(compile(changed, { ...options, path })));
    if (result.applied.length === 0) continue;
    const keep = await keepFormatted(text, (each) => formatIfReadable(each, path));
    const fixedText = await keep(result.text);
    texts.set(realPathOf(path), fixedText);
    const importers = [...compiled.values()].filter((other) => other.path !== path && imports(other, path));
    const now = importers.map((other) => compileNow(other.path));
    const suffers = now.some((other, index) =>
      introducesErrors(ownFindings(other), ownFindings(importers[index] ?? other), ANY_STAGE),
    );
    if (suffers) {
      texts.set(realPathOf(path), text);
      continue;
    }
    fixed.push({ path, text: fixedText, fixes: result.applied });
    compiled.set(path, compileNow(path));
    for (const other of now) compiled.set(other.path, other);
  }
  return { fixed, compiled: [...compiled.values()] };
}

/** New errors of every compiler stage count. */
const ANY_STAGE: readonly Diagnostic[] = [];

function ownFindings({ path, diagnostics }: CompileResult): Diagnostic[] {
  return diagnostics.filter((item) => item.file.path === path);
}

function imports(result: CompileResult, path: string): boolean {
  const real = realPathOf(path);
  return result.files.some((file) => realPathOf(file) === real);
}

/** A host that reads these texts, by real path, instead of the files on disk. */
function withTexts(host: CompilerHost, texts: ReadonlyMap<string, string>): CompilerHost {
  return { ...host, readFile: (path) => texts.get(realPathOf(path)) ?? host.readFile(path) };
}

/** Removes duplicates, so that a file that is named twice is fixed once. */
function uniqueFiles(paths: readonly string[]): string[] {
  const byRealPath = new Map<string, string>();
  for (const path of paths) if (!byRealPath.has(realPathOf(path))) byRealPath.set(realPathOf(path), path);
  return [...byRealPath.values()];
}

function readRegularFile(path: string): string {
  const text = readSource(path);
  if (!statSync(path).isFile()) {
    throw new CommandError(`--fix writes files, and ${path} is not a regular file`, {
      help: "--stdin-filepath PATH checks standard input and prints the fixed text",
    });
  }
  return text;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
