import { createModuleReader } from "../compiler/load/load-module.ts";
import { findFile, isGraphFile } from "../compiler/load/find-file.ts";
import type { CompilerHost } from "../compiler/load/host.ts";
import { directoryOf, joinPath } from "../compiler/load/paths.ts";
import { realPathOf } from "../compiler/load/project-root.ts";
import { readSyntax, type Spelling } from "../compiler/load/read-syntax.ts";
import { librarySignatures } from "../compiler/expressions/library-signatures.ts";
import { isLibraryPath, libraryFiles } from "../stdlib/graphs/library-files.ts";
import { nodeSignatures } from "../stdlib/signatures.ts";
import { findExport } from "../compiler/modules/find-declaration.ts";
import type { SourceFile, Span } from "../diagnostics/source.ts";
import type * as Ast from "../grammar/ast.ts";
import { collectNames, kindsOf, type BuiltinNames, type ImportedFile, type NameKind, type NameUse } from "./names.ts";

/** The names of one graph file. */
export interface FileNames {
  readonly path: string;
  readonly source: SourceFile;
  readonly file: Ast.File;
  readonly uses: readonly NameUse[];
}

/** A place in a file, which may be a TypeScript module. */
export interface Location {
  readonly source: SourceFile;
  readonly span: Span;
}

/** What a TypeScript module declares under a name. */
export interface ModuleDeclaration extends Location {
  /** The declaration, without the body of a function. */
  readonly text: string;
}

const BUILTINS: BuiltinNames = {
  isNode: (name) => nodeSignatures.has(name),
  isLibrary: (name) => librarySignatures.has(name),
};

/** Texts that have been read, kept until they change. Shared by the indexes of one server. */
export type NameCache = Map<string, { readonly text: string; readonly imports: string; readonly names: FileNames }>;

/** The names of the graph files of a workspace, as of now. */
export class NameIndex {
  readonly #host: CompilerHost;
  readonly #cache: NameCache;
  readonly #readModule: ReturnType<typeof createModuleReader>;
  /** Names that this index has looked at: nothing changes in the moment for which it exists. */
  readonly #current = new Map<string, FileNames>();
  readonly #kinds = new Map<string, ReadonlyMap<string, NameKind>>();

  constructor(host: CompilerHost, cache: NameCache) {
    this.#host = host;
    this.#cache = cache;
    this.#readModule = createModuleReader(host);
  }

  /** The names of a graph file; `undefined` if it cannot be read. */
  of(path: string, spelling?: Spelling, given?: string): FileNames | undefined {
    const text = given ?? libraryFiles.get(path) ?? this.#host.readFile(path);
    if (text === undefined) return undefined;
    const real = this.realPath(path);
    const current = this.#current.get(real);
    if (current?.source.text === text) return current;
    const known = this.#cache.get(real);
    const file = known?.text === text ? known.names.file : this.#readSyntax(text, path, spelling);
    const imports = this.#importsOf(path, file);
    const isKnown = known !== undefined && known.names.file === file && known.imports === imports;
    const names = isKnown ? known.names : this.#collect(path, real, file);
    this.#cache.set(real, { text, imports, names });
    this.#current.set(real, names);
    return names;
  }

  /** The path by which targets name a file. */
  realPath(path: string): string {
    return isLibraryPath(path) ? path : realPathOf(path, this.#host);
  }

  #collect(path: string, real: string, file: Ast.File): FileNames {
    const uses = collectNames(file, real, (specifier) => this.resolve(path, specifier), BUILTINS);
    return { path, source: file.source, file, uses };
  }

  #readSyntax(text: string, path: string, spelling?: Spelling): Ast.File {
    return (this.#host.readSyntax ?? readSyntax)(text, path, spelling).file;
  }

  /** All that the names of a file depend on in other files: where each import leads, and what it means there. */
  #importsOf(path: string, { items }: Ast.File): string {
    const found = items.flatMap((item) => {
      if (item.kind !== "Import") return [];
      const from = this.resolve(path, item.from.value);
      return [from?.path, ...item.names.map(({ imported }) => from?.kindOf(imported.name))];
    });
    return found.join("\n");
  }

  /** What a graph file declares, by name. */
  #kindsOf(path: string): ReadonlyMap<string, NameKind> {
    const known = this.#kinds.get(path);
    if (known !== undefined) return known;
    const text = libraryFiles.get(path) ?? this.#host.readFile(path);
    const kinds = text === undefined ? new Map<string, NameKind>() : kindsOf(this.#readSyntax(text, path));
    this.#kinds.set(path, kinds);
    return kinds;
  }

  /** The file that an import names. */
  resolve(from: string, specifier: string): ImportedFile | undefined {
    if (libraryFiles.has(specifier)) return this.#graphFile(specifier);
    if (!/^\.{1,2}\//.test(specifier)) return undefined;
    const { path } = findFile(joinPath(directoryOf(from), specifier), this.#host);
    if (path === undefined) return undefined;
    const real = realPathOf(path, this.#host);
    return isGraphFile(path) ? this.#graphFile(real) : { path: real, isGraph: false, kindOf: () => undefined };
  }

  #graphFile(path: string): ImportedFile {
    return { path, isGraph: true, kindOf: (name) => this.#kindsOf(path).get(name) };
  }

  /** The declaration of an exported name of a TypeScript module. Follows re-exports. */
  exportOf(target: string): ModuleDeclaration | undefined {
    const [path = "", name = "", ...rest] = target.split("\n");
    if (rest.length > 0 || isGraphFile(path) || this.#host.realPath(path) === undefined) return undefined;
    const found = findExport(this.#readModule(path), name);
    const [statement] = found?.statements ?? [];
    if (found === undefined || statement === undefined) return undefined;
    const { source } = found.module;
    const { span, whole } = declarationIn(statement, found.name);
    return { source, span, text: source.text.slice(whole.start, whole.end).trim() };
  }

  /** The names that a TypeScript module exports; empty if they are not known. */
  exportsOf(path: string): readonly string[] {
    return [...(this.#readModule(path).exports?.keys() ?? [])];
  }
}

/** The name that a statement declares, and the statement without the body of a function. */
function declarationIn(statement: object, name: string): { readonly span: Span; readonly whole: Span } {
  const spanOf = (node: unknown): Span | undefined => {
    const { start, end } = (node ?? {}) as { readonly start?: number | null; readonly end?: number | null };
    return typeof start === "number" && typeof end === "number" ? { start, end } : undefined;
  };
  const { id, body, declarations, declaration } = statement as {
    readonly id?: unknown;
    readonly body?: unknown;
    readonly declaration?: object;
    readonly declarations?: readonly { readonly id: { readonly name?: string }; readonly init?: unknown }[];
  };
  const whole = spanOf(statement) ?? { start: 0, end: 0 };
  if (declaration !== undefined && declaration !== null) return declarationIn(declaration, name);
  const declarator = declarations?.find((each) => each.id.name === name);
  const inner = (declarator?.init ?? {}) as { readonly body?: unknown };
  const isBlock = (node: unknown): boolean =>
    (node as { readonly type?: string } | undefined)?.type === "BlockStatement";
  const block = [body, inner.body].find(isBlock);
  const end = spanOf(block)?.start ?? whole.end;
  const type = (declarator?.id as { readonly typeAnnotation?: unknown } | undefined)?.typeAnnotation;
  const own = spanOf(declarator?.id ?? id);
  const named = own === undefined ? undefined : { start: own.start, end: spanOf(type)?.start ?? own.end };
  return { span: named ?? { start: whole.start, end: whole.start }, whole: { start: whole.start, end } };
}
