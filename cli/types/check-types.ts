/**
 * `ngc check --types`: the project's own `tsc` checks the functions and types that graphs import. Each graph file without
 * errors is compiled to its typed module in a temporary directory, and `tsc --noEmit` reads it with the options of the
 * project. What it reports about a module is reported at the place in the graph. No code of the graph runs.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { CompileResult } from "../../compiler/compile.ts";
import { emitTypeScript } from "../../compiler/emit/emit-typescript.ts";
import { typeScriptProblem } from "../../diagnostics/catalog/types.ts";
import { hasErrors, type Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import { CommandError } from "../process/command-error.ts";
import { compileText } from "../sources/compile-source.ts";
import { packageRoot } from "../start/package-root.ts";
import { ancestorsOf, findConfig, findTypeScript } from "./find-typescript.ts";

/** Milliseconds that `tsc` may take. */
const LONGEST = 120_000;

/**
 * The results with the errors that `tsc` reports.
 * @throws CommandError if the project has no TypeScript, or if `tsc` itself fails
 */
export async function checkTypes(compiled: readonly CompileResult[]): Promise<readonly CompileResult[]> {
  const checked: CompileResult[] = [];
  const groups = new Map<string, CompileResult[]>();
  for (const result of compiled) {
    const hasModule = !hasErrors(result.diagnostics) && result.graphs.length + result.plans.length > 0;
    if (!hasModule) continue;
    const directory = dirname(resolve(result.path));
    const key = [findTypeScript(directory).script, findConfig(directory) ?? ""].join("\n");
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  const found = new Map<CompileResult, readonly Diagnostic[]>();
  for (const group of groups.values())
    for (const [result, problems] of await checkGroup(group)) found.set(result, problems);
  for (const result of compiled) {
    const problems = found.get(result) ?? [];
    checked.push(problems.length === 0 ? result : { ...result, diagnostics: [...result.diagnostics, ...problems] });
  }
  return checked;
}

interface Module {
  readonly result: CompileResult;
  readonly name: string;
  readonly lines: readonly string[];
}

/** Checks files of one project together. */
async function checkGroup(group: readonly CompileResult[]): Promise<ReadonlyMap<CompileResult, readonly Diagnostic[]>> {
  const project = dirname(resolve(group[0]!.path));
  const { script } = findTypeScript(project);
  const directory = createDirectory(project);
  try {
    const modules: Module[] = [];
    for (const [at, result] of group.entries()) {
      const name = `${at}-${basename(result.path)}.ts`;
      // Compiled under its absolute path, so that the imports of the module lead from the temporary directory to it.
      const absolute = await compileText(sourceOf(result).text, resolve(result.path));
      const text = emitTypeScript(absolute, { outPath: join(directory, name), runtime: runtimePath(), marks: true });
      writeFileSync(join(directory, name), text);
      modules.push({ result, name, lines: text.split("\n") });
    }
    const names = modules.map(({ name }) => name);
    writeFileSync(join(directory, "package.json"), JSON.stringify(packageOf(project, directory)));
    writeFileSync(join(directory, "defaults.json"), JSON.stringify(defaults(project)));
    writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(configOf(names, findConfig(project))));
    const output = await runCompiler(script, directory);
    return problemsOf(readErrors(output), modules);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * A new directory for the modules of a project. It is in the nearest `node_modules`, so that imports of packages are resolved as
 * from the project.
 */
function createDirectory(project: string): string {
  const modules = ancestorsOf(project)
    .map((at) => join(at, "node_modules"))
    .find((at) => existsSync(at));
  for (const parent of modules === undefined ? [tmpdir()] : [modules, tmpdir()]) {
    try {
      return realpathSync(mkdtempSync(join(parent, ".ngc-types-")));
    } catch (error) {
      // An installation may be read-only.
      if (parent === tmpdir()) throw error;
    }
  }
  throw new Error("unreachable");
}

/** The fields of a `package.json` that decide how imports are resolved. */
interface PackageFields {
  readonly name?: unknown;
  readonly exports?: unknown;
  readonly imports?: unknown;
}

/** The name of the link to the package of a project, in the directory of its modules. */
const PROJECT_LINK = "project";

/**
 * The `package.json` of the modules: imports of `#name` and of the package by its own name lead through a link to the package of the
 * project.
 */
function packageOf(project: string, directory: string): object {
  const root = ancestorsOf(project).find((at) => existsSync(join(at, "package.json")));
  const { name, exports, imports } = root === undefined ? {} : readPackage(join(root, "package.json"));
  if (root !== undefined) symlinkSync(root, join(directory, PROJECT_LINK), "junction");
  return { type: "module", name, exports: throughLink(exports), imports: throughLink(imports) };
}

function readPackage(path: string): PackageFields {
  try {
    const fields: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof fields === "object" && fields !== null ? fields : {};
  } catch {
    return {};
  }
}

/** Targets of `exports` or `imports` that are files of the package, through the link to it. */
function throughLink(targets: unknown): unknown {
  if (typeof targets === "string") return targets.replace(/^\.\//, `./${PROJECT_LINK}/`);
  if (Array.isArray(targets)) return targets.map(throughLink);
  if (typeof targets !== "object" || targets === null) return targets;
  return Object.fromEntries(Object.entries(targets).map(([key, target]) => [key, throughLink(target)]));
}

function sourceOf({ graphs, plans }: CompileResult): SourceFile {
  return (graphs[0] ?? plans[0])!.bound.file;
}

/** The module that generated modules import: that of the built package, or of its sources. */
function runtimePath(): string {
  const built = join(packageRoot(), "dist/api/generated.d.ts");
  return existsSync(built) ? built.replace(/\.d\.ts$/, ".js") : join(packageRoot(), "api/generated.ts");
}

/** Options that a project may replace. */
function defaults(project: string): object {
  const hasConfig = findConfig(project) !== undefined;
  return {
    compilerOptions: {
      target: "es2022",
      ...(hasConfig ? {} : { module: "esnext", moduleResolution: "bundler" }),
      typeRoots: ancestorsOf(project).map((at) => join(at, "node_modules/@types")),
    },
  };
}

/** The options of the project with those that checking a module needs. */
function configOf(files: readonly string[], config: string | undefined): object {
  return {
    extends: ["./defaults.json", ...(config === undefined ? [] : [config])],
    compilerOptions: {
      noEmit: true,
      allowImportingTsExtensions: true,
      allowJs: true,
      checkJs: false,
      strict: true,
      skipLibCheck: true,
      noUnusedLocals: false,
      noUnusedParameters: false,
      composite: false,
      incremental: false,
      declaration: false,
      declarationMap: false,
      emitDeclarationOnly: false,
      isolatedDeclarations: false,
      rootDir: null,
      outDir: null,
      tsBuildInfoFile: null,
    },
    files,
    include: [],
    references: [],
  };
}

/** Runs `tsc`; resolves to its output. */
function runCompiler(script: string, directory: string): Promise<string> {
  return new Promise((done, fail) => {
    const args = [script, "-p", join(directory, "tsconfig.json"), "--pretty", "false"];
    const options = { cwd: directory, timeout: LONGEST, maxBuffer: 2 ** 26 };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error?.killed === true) {
        fail(new CommandError(`tsc did not end within ${LONGEST / 1000} s`, { code: "typescript_failed" }));
      } else if (error !== null && typeof error.code !== "number") {
        fail(new CommandError(`tsc cannot be started: ${error.message}`, { code: "typescript_failed", cause: error }));
      } else if (error !== null && stdout.trim() === "") {
        const reason = stderr.trim().split("\n").slice(0, 5).join("\n");
        fail(new CommandError(`tsc failed: ${reason}`, { code: "typescript_failed" }));
      } else done(stdout);
    });
  });
}

interface TypeScriptError {
  /** `undefined` for an error of the configuration. */
  readonly file: string | undefined;
  /** 1-based. */
  readonly line: number;
  readonly code: string;
  readonly message: string;
  /** The indented lines below the message, from the outside in. */
  readonly details: readonly string[];
}

/** The errors in the output of `tsc --pretty false`. */
export function readErrors(output: string): readonly TypeScriptError[] {
  return output.split(/\r?\n(?=\S)/).flatMap((text): TypeScriptError[] => {
    const [first = "", ...details] = text.split(/\r?\n/);
    const found = /^(?:(.+)\((\d+),\d+\): )?error (TS\d+): (.*)$/.exec(first);
    if (found === null) return [];
    const [, file, line = "1", code = "", message = ""] = found;
    return [{ file, line: Number(line), code, message, details: details.map((each) => each.trim()).filter(Boolean) }];
  });
}

/**
 * The errors about the modules as diagnostics. Errors in the code of the project are not reported: its own `tsc` does.
 * @throws CommandError for an error of the configuration
 */
function problemsOf(
  errors: readonly TypeScriptError[],
  modules: readonly Module[],
): ReadonlyMap<CompileResult, readonly Diagnostic[]> {
  const found = new Map<CompileResult, Diagnostic[]>();
  for (const { file, line, code, message, details } of errors) {
    if (file === undefined || file.endsWith(".json")) {
      throw new CommandError(`tsc cannot use the configuration of the project: ${message} (${code})`, {
        code: "typescript_failed",
      });
    }
    const module = modules.find(({ name }) => basename(file) === name);
    if (module === undefined) continue;
    const source = sourceOf(module.result);
    const { span, what } = placeOf(module, line, source);
    const [inner = message] = [...details].reverse();
    const notes = [...new Set([message, ...details])].filter((each) => each !== inner);
    const problem = typeScriptProblem({ file: source, span }, { message: `${inner} (${code})`, what, notes });
    found.set(module.result, [...(found.get(module.result) ?? []), problem]);
  }
  return found;
}

/** The place in the graph of a line of its module: of the check on it, or of the import. */
function placeOf(
  { lines, result }: Module,
  line: number,
  source: SourceFile,
): { readonly span: Span; readonly what: string | undefined } {
  for (let at = line; at > 0; at--) {
    const found = /^\s*\/\/ (\d+)-(\d+) (.*)$/.exec(lines[at - 1] ?? "");
    if (found !== null) return { span: { start: Number(found[1]), end: Number(found[2]) }, what: found[3] };
    if (/^(?:import|export|const|\];)/.test(lines[at - 1] ?? "")) break;
  }
  const specifier = / from "(.*)";$/.exec(lines[line - 1] ?? "")?.[1];
  const name = specifier === undefined ? "" : basename(specifier);
  const start = name === "" ? -1 : source.text.indexOf(`${name}"`);
  if (start !== -1) return { span: { start, end: start + name.length }, what: undefined };
  const first = result.graphs[0]?.bound.declaration.name.span ?? { start: 0, end: 0 };
  return { span: first, what: undefined };
}
