import type { CompileOptions, CompileResult } from "../../compiler/compile.ts";
import { readSource } from "./source-files.ts";
import { storedTrees } from "./stored-trees.ts";
import { watchedHost } from "./watch-files.ts";

/** Beside the options of the compiler. */
interface SourceOptions extends Omit<CompileOptions, "path"> {
  /** Receives the paths that the compiler looks for. */
  readonly watched?: Set<string>;
}

/**
 * Compiles one file that the user named. Runs no user code. Files that are compiled together share a `host` and the files that it
 * has read.
 *
 * @throws CommandError when the file cannot be read
 */
export async function compileSource(path: string, options: SourceOptions = {}): Promise<CompileResult> {
  options.watched?.add(path);
  return compileText(readSource(path), path, options);
}

/** Compiles a text as if it were the content of `path`. */
export async function compileText(
  text: string,
  path: string,
  { watched, ...options }: SourceOptions = {},
): Promise<CompileResult> {
  const [{ compile }, { createNodeHost }] = await Promise.all([
    import("../../compiler/compile.ts"),
    import("../../api/node-host.ts"),
  ]);
  const host = options.host ?? { ...createNodeHost(), ...storedTrees() };
  return compile(text, { ...options, path, host: watched === undefined ? host : watchedHost(host, watched) });
}
