import { TextDocument } from "vscode-languageserver-textdocument";
import type { TextDocumentContentChangeEvent } from "vscode-languageserver-protocol";
import type { CompilerHost } from "../compiler/load/host.ts";
import { NameIndex, type FileNames, type NameCache } from "./name-index.ts";
import { readSyntax, type Spelling } from "../compiler/load/read-syntax.ts";
import { checkDocument, spellingOf, type CheckedDocument, type OpenDocument } from "./document.ts";

/** The documents that are open in the editor. Imports read the texts of open documents before the disk. */
export class Workspace {
  readonly #documents = new Map<string, TextDocument>();
  readonly #checked = new Map<string, CheckedDocument>();
  readonly #recent = new Map<string, CheckedDocument>();
  readonly #names: NameCache = new Map();
  /** Syntax trees by path, each of the last text. */
  readonly #syntax = new Map<string, { readonly text: string; readonly spelling?: Spelling; readonly read: Syntax }>();
  readonly #createHost: () => CompilerHost;
  readonly #pathOf: (uri: string) => string;

  /** @param createHost reads the disk; each check reads it again */
  constructor(createHost: () => CompilerHost, pathOf: (uri: string) => string) {
    this.#createHost = createHost;
    this.#pathOf = pathOf;
  }

  open(uri: string, languageId: string, version: number, text: string): void {
    this.#documents.set(uri, TextDocument.create(uri, languageId, version, text));
    this.#checked.delete(uri);
  }

  /** Applies changes in their order. A document that is not open is ignored. */
  change(uri: string, version: number, changes: readonly TextDocumentContentChangeEvent[]): void {
    const document = this.#documents.get(uri);
    if (document === undefined) return;
    this.#documents.set(uri, TextDocument.update(document, [...changes], version));
    this.#checked.delete(uri);
  }

  close(uri: string): void {
    this.#documents.delete(uri);
    this.#checked.delete(uri);
    this.#recent.delete(uri);
  }

  /** Drops what is known about documents whose findings may depend on the content of other files. */
  forget(uris: Iterable<string>): void {
    for (const uri of uris) this.#checked.delete(uri);
  }

  /** All open graphs. */
  uris(): string[] {
    return [...this.#documents.keys()].filter((uri) => this.document(uri) !== undefined);
  }

  /** The open graphs that import the file of a document, in any depth, as of their last check. */
  importersOf(uri: string): string[] {
    const disk = this.#createHost();
    const known = new Map<string, string>();
    const realPath = (of: string): string => {
      const found = known.get(of) ?? disk.realPath(of) ?? of;
      known.set(of, found);
      return found;
    };
    const path = realPath(this.#pathOf(uri));
    return this.uris().filter(
      (other) =>
        other !== uri && (this.#checked.get(other)?.result.files.some((file) => realPath(file) === path) ?? false),
    );
  }

  /** A graph that is open; `undefined` for other documents. */
  document(uri: string): OpenDocument | undefined {
    const document = this.#documents.get(uri);
    if (document === undefined) return undefined;
    const path = this.#pathOf(uri);
    const spelling = spellingOf(path, document.languageId);
    return spelling && { uri, path, spelling, version: document.version, text: document.getText() };
  }

  /** A document with its findings, which are kept until it changes. */
  check(uri: string): CheckedDocument | undefined {
    const known = this.#checked.get(uri);
    if (known !== undefined) return known;
    const document = this.document(uri);
    if (document === undefined) return undefined;
    const checked = checkDocument(document, this.host());
    this.#checked.set(uri, checked);
    this.#recent.set(uri, checked);
    return checked;
  }

  /**
   * The current document with its last findings, which may be those of an earlier text: for answers that cannot wait for a check. What is
   * known about names is mostly the same.
   */
  recent(uri: string): CheckedDocument | undefined {
    const document = this.document(uri);
    const known = this.#recent.get(uri);
    return document !== undefined && known !== undefined ? { ...known, document } : this.check(uri);
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
    const disk = this.#createHost();
    const found = new Map<string, FileNames>();
    for (const uri of this.uris()) {
      const names = this.names(uri, index);
      if (names !== undefined) found.set(disk.realPath(names.path) ?? names.path, names);
    }
    for (const path of paths) {
      const real = disk.realPath(path) ?? path;
      const names = found.has(real) ? undefined : index.of(path);
      if (names !== undefined) found.set(real, names);
    }
    return [...found.values()];
  }

  /** Reads open texts first, then the disk. */
  host(): CompilerHost {
    const disk = this.#createHost();
    const texts = new Map<string, string>();
    for (const [uri, document] of this.#documents) {
      const path = this.#pathOf(uri);
      texts.set(disk.realPath(path) ?? path, document.getText());
    }
    return {
      ...disk,
      readSyntax: (text, path, spelling) => this.#readSyntax(text, path, spelling),
      readFile: (path) => texts.get(disk.realPath(path) ?? path) ?? disk.readFile(path),
      realPath: (path) => disk.realPath(path) ?? (texts.has(path) ? path : undefined),
    };
  }

  #readSyntax(text: string, path: string, spelling?: Spelling): Syntax {
    const known = this.#syntax.get(path);
    if (known !== undefined && known.text === text && known.spelling === spelling) return known.read;
    const read = readSyntax(text, path, spelling);
    // Files that have been closed or deleted do not stay for long.
    if (this.#syntax.size >= MOST_TREES) this.#syntax.clear();
    this.#syntax.set(path, { text, read, ...(spelling === undefined ? {} : { spelling }) });
    return read;
  }
}

type Syntax = ReturnType<typeof readSyntax>;

/** The most syntax trees that are kept: those of the files that an index of the workspace reads. */
const MOST_TREES = 3000;
