import type { readModule } from "./load-module.ts";
import type { readSyntax } from "./read-syntax.ts";

/**
 * How the compiler reaches files: it does no I/O of its own. Paths are absolute or relative to the working directory.
 */
export interface CompilerHost {
  /** The text of a file; `undefined` if it does not exist or is not a regular file. */
  readFile(path: string): string | undefined;
  /** Why `readFile` returns `undefined` for a path that exists, in a few words: "it is a directory". */
  whyUnreadable?(path: string): string | undefined;
  /** The path with symbolic links resolved; `undefined` if it does not exist. */
  realPath(path: string): string | undefined;
  /** The names in a directory, for suggestions; `undefined` if it does not exist. */
  listDirectory?(path: string): readonly string[] | undefined;
  /** Reads a graph file as `readSyntax` does, or returns the result for the same text. Editors read a text once for all that they ask. */
  readonly readSyntax?: typeof readSyntax;
  /** Reads the names of a module as `readModule` does, or returns the result for the same text. */
  readonly readModule?: typeof readModule;
  /** Keeps syntax trees of modules longer than one compilation: reading TypeScript costs more than all else. */
  readonly syntaxTrees?: SyntaxTrees;
}

/** Stored syntax trees, by all that a tree depends on: the text of a module and its path's extension. */
export interface SyntaxTrees {
  /** The tree as it was passed to `set`; `undefined` if there is none. */
  get(path: string, text: string): string | undefined;
  set(path: string, text: string, tree: string): void;
}

/** A host without files: every import is missing. For texts that import nothing, and for tests. */
export const emptyHost: CompilerHost = { readFile: () => undefined, realPath: () => undefined };

/** A host with files in memory, by path: for tests, and for editors that check unsaved texts. */
export function memoryHost(files: Readonly<Record<string, string>>): CompilerHost {
  const texts = new Map(Object.entries(files).map(([path, text]) => [withoutDot(path), text]));
  const directories = new Map<string, Set<string>>();
  for (const path of texts.keys()) {
    for (let at = path; at !== "." && at !== "/"; at = parentOf(at)) {
      const parent = parentOf(at);
      const names = directories.get(parent) ?? new Set();
      names.add(at.slice(at.lastIndexOf("/") + 1));
      directories.set(parent, names);
    }
  }
  return {
    readFile: (path) => texts.get(withoutDot(path)),
    realPath: (path) =>
      texts.has(withoutDot(path)) || directories.has(withoutDot(path)) ? withoutDot(path) : undefined,
    listDirectory: (path) => {
      const names = directories.get(withoutDot(path));
      return names === undefined ? undefined : [...names].sort();
    },
  };
}

function withoutDot(path: string): string {
  return path.replace(/^(\.\/)+/, "") || ".";
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "." : slash === 0 ? "/" : path.slice(0, slash);
}
