import { TextDocument } from "vscode-languageserver-textdocument";
import type { TextDocumentContentChangeEvent } from "vscode-languageserver-protocol";
import type { Steps } from "../compiler/algorithms/steps.ts";
import type { CompilerHost } from "../compiler/load/host.ts";
import { NameIndex, type FileNames, type NameCache } from "./name-index.ts";
import { readModule } from "../compiler/load/load-module.ts";
import { realPathOf } from "../compiler/load/project-root.ts";
import { readSyntax, type Spelling } from "../compiler/load/read-syntax.ts";
import type { ModuleScope } from "../compiler/modules/module-scope.ts";
import { EntryMemory } from "../grammar/yaml/entry-memory.ts";
import { readablePart } from "../grammar/yaml/readable-part.ts";
import { checkInSteps, spellingOf, type CheckedDocument, type OpenDocument } from "./document.ts";

/** What a check has read: texts by path, `undefined` for files that do not exist. */
type Reads = ReadonlyMap<string, string | undefined>;

/** The documents that are open in the editor. Imports read the texts of open documents before the disk. */
export class Workspace {
  readonly #documents = new Map<string, TextDocument>();
  readonly #checked = new Map<string, CheckedDocument>();
  /** Checks that have begun. They have the texts of their beginning, so a change of any text ends them all. */
  readonly #running = new Map<string, Steps<void>>();
  readonly #recent = new Map<string, CheckedDocument>();
  /** What is known about the readable part of a checked text. */
  readonly #parts = new WeakMap<CheckedDocument, CheckedDocument>();
  readonly #preparing = new Map<string, Steps<void>>();
  /** What the last check of each document has read. */
  readonly #reads = new Map<string, Reads>();
  readonly #names: NameCache = new Map();
  /** Syntax trees by path, each of the last text. */
  readonly #syntax = new Map<string, KnownSyntax>();
  readonly #modules = new Map<string, { readonly text: string; readonly scope: ModuleScope | undefined }>();
  /** The disk as of a moment, and its host with the texts of the open documents. */
  #disk: { readonly host: CompilerHost; readonly since: number } | undefined;
  #host: CompilerHost | undefined;
  /** The open documents of that host, by real path. */
  readonly #uris = new Map<string, string>();
  readonly #createHost: () => CompilerHost;
  readonly #pathOf: (uri: string) => string;

  /** @param createHost reads the disk as of now */
  constructor(createHost: () => CompilerHost, pathOf: (uri: string) => string) {
    this.#createHost = createHost;
    this.#pathOf = pathOf;
  }

  open(uri: string, languageId: string, version: number, text: string): void {
    this.#documents.set(uri, TextDocument.create(uri, languageId, version, text));
    this.#checked.delete(uri);
    this.#endChecks();
  }

  /** Applies changes in their order. A document that is not open is ignored. */
  change(uri: string, version: number, changes: readonly TextDocumentContentChangeEvent[]): void {
    const document = this.#documents.get(uri);
    if (document === undefined) return;
    this.#documents.set(uri, TextDocument.update(document, [...changes], version));
    this.#checked.delete(uri);
    this.#endChecks();
  }

  close(uri: string): void {
    this.#documents.delete(uri);
    for (const known of [this.#checked, this.#recent, this.#reads, this.#preparing]) known.delete(uri);
    this.#endChecks();
  }

  #endChecks(): void {
    this.#host = undefined;
    this.#running.clear();
    this.#preparing.clear();
  }

  /** Drops what is known about documents whose findings may depend on the content of other files. */
  forget(uris: Iterable<string>): void {
    for (const uri of uris) {
      this.#checked.delete(uri);
      this.#preparing.delete(uri);
    }
  }

  /** All open graphs. */
  uris(): string[] {
    return [...this.#documents.keys()].filter((uri) => this.document(uri) !== undefined);
  }

  /** The open graphs whose last check has read the file of a document: they import it, in any depth. */
  importersOf(uri: string): string[] {
    const path = this.#realPath(this.#pathOf(uri));
    return this.uris().filter((other) => other !== uri && this.#reads.get(other)?.has(path) === true);
  }

  /** The open graphs whose last check has read files that have other texts now. Reads the disk again. */
  outdated(): string[] {
    this.#disk = undefined;
    this.#endChecks();
    const host = this.host();
    const isOther = (reads: Reads): boolean => [...reads].some(([path, text]) => host.readFile(path) !== text);
    return this.uris().filter((uri) => isOther(this.#reads.get(uri) ?? new Map()));
  }

  /** A graph that is open; `undefined` for other documents. */
  document(uri: string): OpenDocument | undefined {
    const document = this.#documents.get(uri);
    if (document === undefined) return undefined;
    const path = this.#pathOf(uri);
    const spelling = spellingOf(path, document.languageId);
    return spelling && { uri, path, spelling, version: document.version, text: document.getText() };
  }

  /** A document with its findings, which are kept until it changes. Finishes a check that has begun. */
  check(uri: string): CheckedDocument | undefined {
    while (!this.advance(uri));
    return this.#checked.get(uri);
  }

  /** Does one step of the check of a document. Returns whether nothing is left to do. */
  advance(uri: string): boolean {
    if (this.#checked.has(uri)) return true;
    const running = this.#running.get(uri) ?? this.#begin(uri);
    if (running === undefined) return true;
    this.#running.set(uri, running);
    if (running.next().done !== true) return false;
    this.#running.delete(uri);
    return true;
  }

  #begin(uri: string): Steps<void> | undefined {
    const document = this.document(uri);
    return document && this.#checkInSteps(document);
  }

  *#checkInSteps(document: OpenDocument): Steps<void> {
    const { uri } = document;
    const reads = new Map<string, string | undefined>();
    const host = this.host();
    const readFile = (path: string): string | undefined => {
      const text = host.readFile(path);
      reads.set(this.#realPath(path), text);
      return text;
    };
    const checked = yield* checkInSteps(document, { ...host, readFile });
    this.#checked.set(uri, checked);
    if (hasUnits(checked)) this.#recent.set(uri, checked);
    this.#reads.set(uri, reads);
  }

  /**
   * The current document with its last findings, which may be those of an earlier text: for answers that cannot wait for a check. What is
   * known about names is mostly the same. Where the current text has been checked, the answer depends on it alone.
   */
  recent(uri: string): CheckedDocument | undefined {
    const document = this.document(uri);
    const known = this.#checked.has(uri) ? undefined : this.#recent.get(uri);
    if (document !== undefined && known !== undefined) return { ...known, document };
    const checked = this.check(uri);
    while (!this.prepare(uri));
    return checked && (this.#parts.get(checked) ?? checked);
  }

  /**
   * Does one step of reading the part of a checked YAML text that can be read, where all of it cannot. Returns whether nothing is left to
   * do.
   */
  prepare(uri: string): boolean {
    const checked = this.#checked.get(uri);
    if (checked === undefined || hasUnits(checked) || checked.document.spelling !== "yaml") return true;
    if (this.#parts.has(checked)) return true;
    const preparing = this.#preparing.get(uri) ?? this.#partInSteps(checked);
    this.#preparing.set(uri, preparing);
    if (preparing.next().done !== true) return false;
    this.#preparing.delete(uri);
    return this.#parts.has(checked);
  }

  /** A document whose text cannot be read, with what is known about the part that can. The part has the offsets of the text. */
  *#partInSteps(checked: CheckedDocument): Steps<void> {
    const { document, source } = checked;
    const host = this.host();
    const text = yield* readablePart(document.text);
    // The syntax tree that is kept for the file is the one of its text.
    const read: typeof readSyntax = (given, path, spelling) =>
      (path === document.path ? readSyntax : (host.readSyntax ?? readSyntax))(given, path, spelling);
    const { result } = yield* checkInSteps({ ...document, text }, { ...host, readSyntax: read });
    const part = { document, source, result };
    this.#parts.set(checked, part);
    this.#recent.set(document.uri, part);
  }

  /** The names of the graph files, as of now. */
  index(): NameIndex {
    return new NameIndex(this.host(), this.#names);
  }

  /** The names of an open graph. */
  names(uri: string, index: NameIndex): FileNames | undefined {
    const document = this.document(uri);
    return document && index.of(document.path, document.spelling, document.text);
  }

  /** The names of all open graphs, and of further files. */
  allNames(index: NameIndex, paths: readonly string[]): readonly FileNames[] {
    const found = new Map<string, FileNames>();
    for (const uri of this.uris()) {
      const names = this.names(uri, index);
      if (names !== undefined) found.set(this.#realPath(names.path), names);
    }
    for (const path of paths) {
      const real = this.#realPath(path);
      const names = found.has(real) ? undefined : index.of(path);
      if (names !== undefined) found.set(real, names);
    }
    return [...found.values()];
  }

  /** The URI by which the editor knows the open document of a file: it may lead through symbolic links. */
  openUriOf(path: string): string | undefined {
    this.host();
    return this.#uris.get(this.#realPath(path));
  }

  /** Reads open texts first, then the disk. */
  host(): CompilerHost {
    const disk = this.#diskHost();
    if (this.#host !== undefined) return this.#host;
    const texts = new Map<string, string>();
    this.#uris.clear();
    for (const [uri, document] of this.#documents) {
      const path = this.#realPath(this.#pathOf(uri));
      texts.set(path, document.getText());
      this.#uris.set(path, uri);
    }
    return (this.#host = {
      ...disk,
      readSyntax: (text, path, spelling) => this.#readSyntax(text, path, spelling),
      readModule: (text, path, trees) => this.#readModule(text, path, trees),
      readFile: (path) => texts.get(this.#realPath(path)) ?? disk.readFile(path),
      realPath: (path) => {
        const real = disk.realPath(path);
        return real === undefined && texts.has(this.#realPath(path)) ? this.#realPath(path) : real;
      },
    });
  }

  /** One state of the disk for answers that follow each other, such as the checks of all files of a project. */
  #diskHost(): CompilerHost {
    const now = performance.now();
    if (this.#disk === undefined || now - this.#disk.since > SAME_DISK) {
      this.#disk = { host: this.#createHost(), since: now };
      this.#host = undefined;
    }
    return this.#disk.host;
  }

  /** Also of a text that is not saved: symbolic links of its directory are resolved. */
  #realPath(path: string): string {
    return realPathOf(path, this.#diskHost());
  }

  #readSyntax(text: string, path: string, spelling?: Spelling): Syntax {
    const known = this.#syntax.get(path);
    if (known !== undefined && known.text === text && known.spelling === spelling) return known.read;
    // Only texts that change are worth the memory.
    const memory = known === undefined ? undefined : (known.memory ?? new EntryMemory());
    const read = readSyntax(text, path, spelling, memory);
    // Files that have been closed or deleted do not stay for long.
    if (this.#syntax.size >= MOST_TREES) this.#syntax.clear();
    this.#syntax.set(path, { text, spelling, read, memory });
    return read;
  }

  #readModule(text: string, path: string, trees: CompilerHost["syntaxTrees"]): ModuleScope | undefined {
    const known = this.#modules.get(path);
    if (known !== undefined && known.text === text) return known.scope;
    const scope = readModule(text, path, trees);
    if (this.#modules.size >= MOST_TREES) this.#modules.clear();
    this.#modules.set(path, { text, scope });
    return scope;
  }
}

function hasUnits({ result }: CheckedDocument): boolean {
  return result.graphs.length + result.plans.length > 0;
}

type Syntax = ReturnType<typeof readSyntax>;

interface KnownSyntax {
  readonly text: string;
  readonly spelling: Spelling | undefined;
  readonly read: Syntax;
  readonly memory: EntryMemory | undefined;
}

/** The most syntax trees that are kept: those of the files that an index of the workspace reads. */
const MOST_TREES = 3000;

/** Milliseconds for which answers share what they have read. A file that changes on the disk is read again after them. */
const SAME_DISK = 200;
