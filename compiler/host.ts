/** How the compiler reaches files: it does no I/O of its own. Paths are absolute or relative to the working directory. */
export interface CompilerHost {
  /** The text of a file; `undefined` when there is none or it is no regular file. */
  readFile(path: string): string | undefined;
  /** With symbolic links resolved; `undefined` when it does not exist. */
  realPath(path: string): string | undefined;
}

/** A host without files: every import is missing. For texts that import nothing, and for tests. */
export const emptyHost: CompilerHost = { readFile: () => undefined, realPath: () => undefined };
