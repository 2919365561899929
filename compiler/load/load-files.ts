/**
 * Reads a file and all graph files that it imports, in any depth, and looks at the TypeScript modules that they name. Nothing
 * is executed. Each file is read once, whatever it is called in the imports.
 */
import { importEscapesRoot, missingFile, importCycle, unreadableFile } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic, Label } from "../../diagnostics/diagnostic.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { CompilerHost } from "./host.ts";
import { findFile, isGraphFile } from "./find-file.ts";
import { readModule, type LoadedModule } from "./load-module.ts";
import { directoryOf, isInside, joinPath } from "./paths.ts";
import { findProjectRoot, realPathOf } from "./project-root.ts";

/** A graph file, with what its imports lead to. */
export interface LoadedFile {
  readonly source: SourceFile;
  readonly syntax: Ast.File;
  /** In source order; broken imports included. */
  readonly imports: readonly LoadedImport[];
  /** Where the text could not be read as it stands: offsets, ascending. */
  readonly errors: readonly number[];
}

export interface LoadedImport {
  readonly declaration: Ast.ImportDecl;
  readonly target:
    | { readonly kind: "file"; readonly file: LoadedFile }
    | { readonly kind: "module"; readonly module: LoadedModule }
    /** `import { x } from "pkg"`: not looked at. */
    | { readonly kind: "package" }
    /** An error has been reported. */
    | { readonly kind: "broken" };
}

/** Reads a text, in the spelling that its path tells. */
export type ReadSyntax = (
  text: string,
  path: string,
) => {
  readonly file: Ast.File;
  readonly diagnostics: readonly Diagnostic[];
};

export interface LoadedProject {
  readonly entry: LoadedFile;
  /** What a file imports stands before it; the entry file is the last. */
  readonly files: readonly LoadedFile[];
  readonly root: string;
  readonly diagnostics: readonly Diagnostic[];
}

export function loadFiles(
  entry: { readonly text: string; readonly path: string },
  options: { readonly host: CompilerHost; readonly root?: string | undefined; readonly readSyntax: ReadSyntax },
): LoadedProject {
  const { host } = options;
  const root = findProjectRoot(entry.path, host, options.root);
  const loading: Loading = {
    host,
    root,
    readSyntax: options.readSyntax,
    diagnostics: [],
    files: new Map(),
    modules: new Map(),
    open: [],
  };
  const first = read(entry.text, entry.path, realPathOf(entry.path, host), loading);
  for (let next = loading.open.pop(); next !== undefined; next = loading.open.pop()) resolveImports(next, loading);
  const files = orderFiles(first, loading);
  return { entry: first, files, root, diagnostics: loading.diagnostics };
}

interface Loading {
  readonly host: CompilerHost;
  readonly root: string;
  readonly readSyntax: ReadSyntax;
  readonly diagnostics: Diagnostic[];
  /** By real path. */
  readonly files: Map<string, MutableFile>;
  readonly modules: Map<string, LoadedModule>;
  /** Files whose imports have not been followed yet. */
  readonly open: MutableFile[];
}

interface MutableFile extends LoadedFile {
  readonly imports: { declaration: Ast.ImportDecl; target: LoadedImport["target"] }[];
}

function read(text: string, path: string, key: string, loading: Loading): MutableFile {
  const { file: syntax, diagnostics } = loading.readSyntax(text, path);
  for (const diagnostic of diagnostics) loading.diagnostics.push(diagnostic);
  const errors = diagnostics
    .flatMap(({ severity, span }) => (severity === "error" ? [span.start] : []))
    .sort((a, b) => a - b);
  const file: MutableFile = { source: syntax.source, syntax, imports: [], errors };
  loading.files.set(key, file);
  loading.open.push(file);
  return file;
}

function resolveImports(file: MutableFile, loading: Loading): void {
  for (const declaration of file.syntax.items) {
    if (declaration.kind === "Import") {
      file.imports.push({ declaration, target: resolveImport(declaration, file, loading) });
    }
  }
}

function resolveImport(declaration: Ast.ImportDecl, file: LoadedFile, loading: Loading): LoadedImport["target"] {
  const specifier = declaration.from.value;
  const { host, root } = loading;
  const place = { file: file.source, span: declaration.from.span };
  const isPath = /^(\.{1,2}(\/|$)|\/|[A-Za-z]:[\\/])/.test(specifier);
  if (!isPath && !isGraphFile(specifier)) return { kind: "package" };
  const directory = directoryOf(file.source.path);
  const found = isPath ? findFile(joinPath(directory, specifier), host) : { path: undefined, similar: undefined };
  const wanted = joinPath(realPathOf(directory, host), specifier);
  const real = found.path === undefined ? undefined : realPathOf(found.path, host);
  if (!isInside(real ?? wanted, root)) {
    const byLink = real !== undefined && isInside(wanted, root);
    loading.diagnostics.push(importEscapesRoot(place, { specifier, root, byLink }));
    return { kind: "broken" };
  }
  const why = found.path === undefined && isPath ? host.whyUnreadable?.(joinPath(directory, specifier)) : undefined;
  if (why !== undefined) {
    loading.diagnostics.push(unreadableFile(place, { specifier, why }));
    return { kind: "broken" };
  }
  if (found.path === undefined || real === undefined) {
    loading.diagnostics.push(
      missingFile(place, { specifier, similar: similarSpecifier(specifier, isPath, directory, host) }),
    );
    return { kind: "broken" };
  }
  if (!isGraphFile(found.path)) {
    const known = loading.modules.get(real) ?? readModule(found.path, host);
    loading.modules.set(real, known);
    return { kind: "module", module: known };
  }
  const known = loading.files.get(real);
  if (known !== undefined) return { kind: "file", file: known };
  return { kind: "file", file: read(host.readFile(found.path) ?? "", found.path, real, loading) };
}

function similarSpecifier(
  specifier: string,
  isPath: boolean,
  directory: string,
  host: CompilerHost,
): string | undefined {
  const { path, similar } = findFile(joinPath(directory, specifier), host);
  if (!isPath) return path === undefined ? undefined : `./${specifier}`;
  if (similar === undefined) return undefined;
  const slash = specifier.lastIndexOf("/");
  return `${slash === -1 ? "./" : specifier.slice(0, slash + 1)}${similar}`;
}

/** Dependencies first. An import that closes a cycle is reported and cut. */
function orderFiles(entry: MutableFile, loading: Loading): LoadedFile[] {
  const ordered: LoadedFile[] = [];
  const state = new Map<LoadedFile, "open" | "done">([[entry, "open"]]);
  const path: { file: MutableFile; next: number }[] = [{ file: entry, next: 0 }];
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const link = top.file.imports[top.next++];
    if (link === undefined) {
      state.set(top.file, "done");
      ordered.push(top.file);
      path.pop();
      continue;
    }
    if (link.target.kind !== "file") continue;
    const target = link.target.file as MutableFile;
    if (state.get(target) === "open") {
      reportCycle(path, target, link.declaration, loading);
      link.target = { kind: "broken" };
    } else if (state.get(target) === undefined) {
      state.set(target, "open");
      path.push({ file: target, next: 0 });
    }
  }
  return ordered;
}

function reportCycle(
  path: readonly { file: LoadedFile; next: number }[],
  target: LoadedFile,
  closing: Ast.ImportDecl,
  loading: Loading,
): void {
  const cycle = path.slice(path.findIndex((entry) => entry.file === target));
  const labels: Label[] = [];
  for (const { file, next } of cycle.slice(0, -1)) {
    const declaration = file.imports[next - 1]?.declaration;
    if (declaration !== undefined) {
      labels.push({ file: file.source, span: declaration.from.span, message: "leads here" });
    }
  }
  const last = cycle.at(-1)?.file ?? target;
  const names = [...cycle.map((entry) => entry.file.source.path), target.source.path];
  loading.diagnostics.push(importCycle({ file: last.source, span: closing.from.span }, names, labels.slice(0, 8)));
}
