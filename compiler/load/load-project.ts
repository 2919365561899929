/**
 * Reads and parses a file and all graph files that it imports, in any depth, and reads the TypeScript modules that they
 * name. Nothing is executed. Each file is read once, even if imports name it by different paths.
 */
import { importCycle } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { isLibraryPath } from "../../stdlib/graphs/library-files.ts";
import { depthFirst, type Step } from "../algorithms/depth-first.ts";
import type { CompilerHost } from "./host.ts";
import { createModuleReader, type LoadedModule } from "./load-module.ts";
import { findProjectRoot, realPathOf } from "./project-root.ts";
import { readSyntax, type Spelling } from "./read-syntax.ts";
import { resolveImport } from "./resolve-import.ts";
import { readToolLocks, type ToolLock } from "./tool-lock.ts";
import { findWorkspaceRoot } from "./workspace-root.ts";

/** A graph file and the targets of its imports. */
export interface LoadedFile {
  readonly source: SourceFile;
  readonly syntax: Ast.File;
  /** In source order; broken imports included. */
  readonly imports: readonly LoadedImport[];
  /** Offsets of syntax errors, ascending. */
  readonly errors: readonly number[];
  /** The lock files of MCP tools that apply to the file, the nearest first. Read when a call of a tool is first checked. */
  readonly toolLocks: () => readonly ToolLock[];
}

export interface LoadedImport {
  readonly declaration: Ast.ImportDecl;
  readonly target: ImportTarget;
}

export type ImportTarget =
  | { readonly kind: "file"; readonly file: LoadedFile }
  | { readonly kind: "module"; readonly module: LoadedModule }
  /** `import { x } from "pkg"`: the compiler does not read packages. */
  | { readonly kind: "package" }
  /** An error has been reported. */
  | { readonly kind: "broken" };

export interface LoadOptions {
  /** The path of the text. Imports are relative to it, and messages name it. */
  readonly path: string;
  readonly host: CompilerHost;
  /**
   * The directory that imports must not leave. Default: the root of the workspace that lists the nearest directory
   * above with a `package.json`, otherwise that directory, otherwise the file's directory.
   */
  readonly root?: string | undefined;
  /** Default: from the path. `.yaml` and `.yml` are YAML; all other paths are text. */
  readonly spelling?: Spelling | undefined;
}

export interface LoadedProject {
  readonly entry: LoadedFile;
  /** Imported files come before the files that import them; the entry file is the last. */
  readonly files: readonly LoadedFile[];
  /** Syntax errors and broken imports of all files. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Loads a project. Never throws for any text; reads files through `host` only. */
export function loadProject(text: string, options: LoadOptions): LoadedProject {
  const { path, host, root, spelling } = options;
  const diagnostics: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic);
  const open: ParsedFile[] = [];
  const parse = (content: string, at: string): ParsedFile => {
    const file = parseFile(content, at, at === path ? spelling : undefined, host, report);
    open.push(file);
    return file;
  };
  const entry = parse(text, path);
  const projectRoot = findProjectRoot(path, host, root);
  let workspaceRoot = root === undefined ? undefined : projectRoot;
  const resolution = {
    host,
    root: projectRoot,
    workspaceRoot: () => (workspaceRoot ??= findWorkspaceRoot(projectRoot, host) ?? projectRoot),
    report,
    parse,
    readModule: createModuleReader(host),
    files: new Map<string, LoadedFile>([[realPathOf(path, host), entry]]),
  };
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    for (const declaration of file.syntax.items) {
      if (declaration.kind !== "Import") continue;
      file.imports.push({ declaration, target: resolveImport(declaration, file, resolution) });
    }
  }
  return { entry, files: orderFiles(entry, report), diagnostics };
}

interface ParsedFile extends LoadedFile {
  readonly imports: { declaration: Ast.ImportDecl; target: ImportTarget }[];
}

function parseFile(
  text: string,
  path: string,
  spelling: Spelling | undefined,
  host: CompilerHost,
  report: (diagnostic: Diagnostic) => void,
): ParsedFile {
  const { file: syntax, diagnostics } = (host.readSyntax ?? readSyntax)(text, path, spelling);
  for (const diagnostic of diagnostics) report(diagnostic);
  const errors = diagnostics
    .flatMap(({ severity, span }) => (severity === "error" ? [span.start] : []))
    .sort((a, b) => a - b);
  let locks: readonly ToolLock[] | undefined;
  const toolLocks = (): readonly ToolLock[] => (locks ??= isLibraryPath(path) ? [] : readToolLocks(path, host));
  return { source: syntax.source, syntax, imports: [], errors, toolLocks };
}

/** Orders files so that imported files come first. Reports an import that closes a cycle (NG112) and breaks it. */
function orderFiles(entry: LoadedFile, report: (diagnostic: Diagnostic) => void): LoadedFile[] {
  const ordered: LoadedFile[] = [];
  depthFirst<LoadedFile, LoadedImport>([entry], {
    edges: (file) => file.imports,
    target: ({ target }) => (target.kind === "file" ? target.file : undefined),
    leave: (file) => void ordered.push(file),
    onCycle: (cycle) => {
      const closing = cycle.at(-1);
      if (closing === undefined) return;
      report(describeCycle(cycle, closing));
      // All files here are `ParsedFile`s, whose import targets can be assigned.
      (closing.edge as ParsedFile["imports"][number]).target = { kind: "broken" };
    },
  });
  return ordered;
}

/** Maximum number of labels; more would hide the first ones. */
const MAX_LABELS = 8;

function describeCycle(
  cycle: readonly Step<LoadedFile, LoadedImport>[],
  closing: Step<LoadedFile, LoadedImport>,
): Diagnostic {
  const labels = cycle.slice(0, -1).map(({ vertex, edge }) => ({
    file: vertex.source,
    span: edge.declaration.from.span,
    message: "leads here",
  }));
  const paths = cycle.map(({ vertex }) => vertex.source.path);
  const place = { file: closing.vertex.source, span: closing.edge.declaration.from.span };
  return importCycle(place, [...paths, ...paths.slice(0, 1)], labels.slice(0, MAX_LABELS));
}
