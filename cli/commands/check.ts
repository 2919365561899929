import type { CompileResult } from "../../compiler/compile.ts";
import { hasErrors, type Diagnostic, type Place } from "../../diagnostics/diagnostic.ts";
import { diagnosticsDocument } from "../documents/check-document.ts";
import { jsonText } from "../output/json-text.ts";
import { CommandError } from "../process/command-error.ts";
import { compileText } from "../sources/compile-source.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { fixSources, fixTexts, type FixedSource, type FixedSources } from "../sources/fix-sources.ts";
import type { Output } from "../output/output.ts";
import { choiceOption, parseCount } from "../run/parse-values.ts";
import { readBaseline } from "../sources/read-baseline.ts";
import { countText, FORMATS, printDiagnostics, uniqueDiagnostics, type Format } from "../output/print-diagnostics.ts";
import { readStdin } from "../process/read-stdin.ts";
import { runAndWatch } from "../sources/watch-files.ts";
import type { ThreadCheck } from "../threads/check-threads.ts";
import { withStore } from "../threads/open-store.ts";
import { findSources, readSource, readSources, type Unreadable } from "../sources/source-files.ts";

interface CheckOptions {
  readonly format?: Format;
  readonly verbose?: boolean;
  readonly maxDiagnostics?: number;
  readonly fix?: boolean;
  readonly stdinFilepath?: string;
  readonly baseline?: string;
  readonly store?: string;
  readonly types?: boolean;
  readonly watch?: boolean;
}

export const checkCommand = defineCommand<CheckOptions>({
  usage: "check [path...]",
  summary: "report errors and warnings of graphs; never runs user code",
  configure: (command) => {
    command
      .addOption(choiceOption("--format <format>", "default: pretty on a terminal, else plain", FORMATS))
      .option("-v, --verbose", "also print proofs and remarks")
      .option("--max-diagnostics <n>", "print at most this number (default 50)", parseCount("--max-diagnostics", 1))
      .option("--fix", "apply suggested fixes that reduce the number of findings")
      .option(
        "--stdin-filepath <path>",
        "check standard input as the content of this file; with --fix, print the fixed text",
      )
      .option(
        "--baseline <old>",
        "report changes since this older file or compiled table that break its threads (NG610)",
      );
    command.option("--watch", "check again when a file changes");
    command.option("--types", "also ask the TypeScript of the project (tsc) about imported functions and types");
    command.option("--store <store>", "also report the threads of this store that the graphs can no longer resume");
  },
  examples: [
    "ngc check support.ngraph",
    "ngc check graphs/ -v",
    "ngc check . --format github",
    "ngc check support.ngraph --fix",
    "ngc check graphs/ --types",
    "ngc check graphs/ --watch",
    "cat support.ngraph | ngc check -",
    "git show main:support.ngraph > old.ngraph && ngc check support.ngraph --baseline old.ngraph",
    "ngc check support.ngraph --store sqlite:runs.db",
  ],
  run: async (paths, options, given) => {
    if (options.watch !== true) return checkOnce(paths, options, given, new Set());
    for (const [option, name] of EXCLUDED) {
      if (options[option] !== undefined) throw new CommandError(`--watch and ${name} exclude each other`);
    }
    if (options.format === "json" || paths.includes("-")) {
      throw new CommandError(
        `--watch checks files, again and again: it takes no ${paths.includes("-") ? "standard input" : "--format json"}`,
      );
    }
    if (paths.length === 0) throw missingPath();
    return runAndWatch(paths, given, (watched) => checkOnce(paths, options, given, watched));
  },
});

function missingPath(): CommandError {
  return new CommandError("missing required argument 'path'", { help: "ngc check FILE…" });
}

/** Options that make no sense for a check that is repeated. */
const EXCLUDED = [
  ["fix", "--fix"],
  ["stdinFilepath", "--stdin-filepath"],
  ["store", "--store"],
] as const;

async function checkOnce(
  paths: readonly string[],
  options: CheckOptions,
  given: Output,
  watched: Set<string>,
): Promise<ExitCode> {
  const output = options.format === "json" ? { ...given, json: true } : given;
  const { compiled: own, fixed, unreadable = [] } = await compileAll(paths, options, watched);
  const compiled = options.types === true ? await (await import("../types/check-types.ts")).checkTypes(own) : own;
  const diagnostics = uniqueDiagnostics(compiled.flatMap((source) => source.diagnostics));
  const threads = await checkStore(compiled, options.store);
  const isStdin = options.stdinFilepath !== undefined || paths.includes("-");
  const fixedText = isStdin ? fixed?.[0]?.text : undefined;

  if (output.json) {
    const document = {
      ...(await diagnosticsDocument(compiled)),
      ...(unreadable.length === 0 ? {} : { ok: false, unreadable }),
      ...fixesDocument(fixed, fixedText),
      ...(threads === undefined ? {} : { threads }),
    };
    given.raw(`${jsonText(document, 2)}\n`);
  } else {
    if (fixedText !== undefined) output.raw(fixedText);
    for (const line of fixLines(fixed ?? [])) output.note(line);
  }
  printDiagnostics(
    diagnostics,
    {
      ...(options.format === undefined ? {} : { format: options.format }),
      verbose: options.verbose === true,
      ...(options.maxDiagnostics === undefined ? {} : { max: options.maxDiagnostics }),
      sarif: { suppressed: compiled.flatMap((source) => source.suppressed), placeOfNode: nodePlaces(compiled) },
    },
    output,
  );
  if (options.verbose === true) printProofs(compiled, output);
  for (const { message } of unreadable) given.problem(`${given.stderrStyles.error("error")}: ${message}`);
  if (!output.json && options.format !== "sarif" && options.format !== "github") printVerdicts(compiled, given);
  const count = countText(diagnostics);
  if (!output.json && options.format !== "sarif" && options.format !== "github") {
    given.note(`${checkedText(compiled)} checked${count === "" ? ", nothing to report" : `: ${count}`}`);
  }
  if (threads !== undefined && !output.json) await printThreads(threads, output);
  if (unreadable.length > 0) return EXIT.usage;
  if (threads !== undefined && threads.refused.length > 0 && !hasErrors(diagnostics)) return EXIT.failed;
  return hasErrors(diagnostics) ? EXIT.invalid : EXIT.ok;
}

/** The threads of a store that the graphs can no longer resume; `undefined` without a store, or for invalid graphs. */
async function checkStore(
  compiled: readonly CompileResult[],
  location: string | undefined,
): Promise<ThreadCheck | undefined> {
  if (location === undefined) return undefined;
  const [only] = compiled;
  if (only === undefined || compiled.length > 1) {
    throw new CommandError(`--store checks the threads of one file, not of ${compiled.length} files`);
  }
  if (hasErrors(only.diagnostics)) return undefined;
  const { checkThreads } = await import("../threads/check-threads.ts");
  return withStore(location, { mustExist: true }, ({ store }) => checkThreads(only, store));
}

async function printThreads({ checked, refused }: ThreadCheck, output: Output): Promise<void> {
  const { refusalLines } = await import("../threads/refusal-lines.ts");
  for (const line of refusalLines(refused)) output.problem(line);
  const fitting = checked - refused.length;
  output.note(`${checked} ${checked === 1 ? "thread" : "threads"} checked: ${fitting} can be resumed`);
}

/** `2 graphs and 1 plan` */
function checkedText(compiled: readonly CompileResult[]): string {
  const graphs = compiled.reduce((total, source) => total + source.graphs.length, 0);
  const plans = compiled.reduce((total, source) => total + source.plans.length, 0);
  const text = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
  if (plans === 0) return text(graphs, "graph");
  return graphs === 0 ? text(plans, "plan") : `${text(graphs, "graph")} and ${text(plans, "plan")}`;
}

/** The compiled sources; with `--fix`, compiled after the fixes. */
async function compileAll(
  paths: readonly string[],
  { fix, stdinFilepath, baseline }: CheckOptions,
  watched: Set<string>,
): Promise<{
  compiled: readonly CompileResult[];
  fixed?: readonly FixedSource[];
  unreadable?: readonly Unreadable[];
}> {
  if (stdinFilepath === undefined && paths.includes("-")) {
    if (paths.length > 1) throw new CommandError("`-` is standard input: it takes no other file beside it");
    const text = await readStdin();
    const path = /^(?:\s|#.*\n|---)*(?:graph|plan|test|imports|types|secrets|constants)\s*:/.test(text)
      ? "stdin.ngraph.yaml"
      : "stdin.ngraph";
    if (baseline !== undefined)
      return { compiled: [await compileText(text, path, { baseline: await readBaseline(baseline) })] };
    if (fix !== true) return { compiled: [await compileText(text, path)] };
    const { compiled, fixed }: FixedSources = await fixTexts([{ path, text }]);
    return { compiled, fixed: fixed.length > 0 ? fixed : [{ path, text, fixes: [] }] };
  }
  if (stdinFilepath !== undefined) {
    if (paths.length > 0 || baseline !== undefined)
      throw new CommandError("--stdin-filepath checks standard input only: it takes no files and no --baseline");
    const source = { path: stdinFilepath, text: await readStdin() };
    if (fix !== true) return { compiled: [await compileText(source.text, source.path)] };
    const { compiled, fixed }: FixedSources = await fixTexts([source]);
    return { compiled, fixed: fixed.length > 0 ? fixed : [{ ...source, fixes: [] }] };
  }
  if (paths.length === 0) throw missingPath();
  if (baseline !== undefined) return compileAgainst(findSources(paths), baseline, fix === true, watched);
  if (fix === true) return fixSources(paths);
  const { sources, unreadable } = readSources(paths);
  const compiled: CompileResult[] = [];
  for (const { path, text } of sources) {
    watched.add(path);
    compiled.push(await compileText(text, path, { watched }));
  }
  return { compiled, unreadable };
}

/** Compiles one file and compares it with its older version. */
async function compileAgainst(
  files: readonly string[],
  old: string,
  fix: boolean,
  watched: Set<string>,
): Promise<{ compiled: readonly CompileResult[]; fixed?: readonly FixedSource[] }> {
  const [file] = files;
  if (file === undefined || files.length > 1) {
    throw new CommandError(`--baseline compares one file with its older version, not ${files.length} files`);
  }
  watched.add(old).add(file);
  const baseline = await readBaseline(old);
  if (fix) return fixSources([file], baseline);
  return { compiled: [await compileText(readSource(file), file, { baseline, watched })] };
}

function fixLines(fixed: readonly FixedSource[]): string[] {
  return fixed.flatMap(({ path, fixes }) =>
    fixes.map(({ code, title, position }) => `${path}(${position.line},${position.column}): fixed ${code}: ${title}`),
  );
}

/** The fields that `--fix` adds to the document: the fixes, and the fixed text of standard input. */
function fixesDocument(fixed: readonly FixedSource[] | undefined, text: string | undefined): object {
  if (fixed === undefined) return {};
  return {
    fixed: fixed.flatMap(({ path, fixes }) => fixes.map((fix) => ({ file: path, ...fix }))),
    ...(text === undefined ? {} : { text }),
  };
}

/** Finds the declaration of a node in the graph that a diagnostic is about. */
function nodePlaces(compiled: readonly CompileResult[]): (diagnostic: Diagnostic, node: string) => Place | undefined {
  const graphs = compiled.flatMap((source) => source.graphs.map(({ bound }) => bound));
  return ({ file, span }, name) => {
    const graph = graphs.find(
      ({ file: own, declaration }) =>
        own === file && declaration.span.start <= span.start && span.end <= declaration.span.end,
    );
    const node = graph?.nodes.find((item) => item.name === name);
    return node === undefined ? undefined : { file, span: node.declaration.name.span };
  };
}

/** Prints the verdict of each graph on one line. */
function printVerdicts(compiled: readonly CompileResult[], output: Output): void {
  for (const { graphs } of compiled) {
    for (const { name, bound, verdict } of graphs) {
      if (verdict === undefined) continue;
      const { line, column } = bound.file.position(bound.declaration.name.span.start);
      output.note(`${bound.file.path}(${line},${column}): ${name}: ${verdict.text}`);
    }
  }
}

/** Prints each proof on a line, with the position of what it proves. With `--json` the document contains them. */
function printProofs(compiled: readonly CompileResult[], output: Output): void {
  if (output.json) return;
  for (const { graphs } of compiled) {
    for (const { name, bound, proofs } of graphs) {
      const { file } = bound;
      for (const { code, message, span } of proofs) {
        const { line, column } = file.position(span.start);
        output.problem(
          `${file.path}(${line},${column}): ${output.stderrStyles.info(`info ${code}`)}: ${name}: ${message}`,
        );
      }
    }
  }
}
