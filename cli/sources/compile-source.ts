import type { CompileOptions, CompileResult } from "../../compiler/compile.ts";
import type { CompilerHost } from "../../compiler/load/host.ts";
import { readSource } from "./source-files.ts";

/**
 * Compiles one file that the user named. Runs no user code. Files that are compiled together share a `host` and the files that it
 * has read.
 *
 * @throws CommandError when the file cannot be read
 */
export async function compileSource(path: string, host?: CompilerHost): Promise<CompileResult> {
  return compileText(readSource(path), path, host === undefined ? {} : { host });
}

/** Compiles a text as if it were the content of `path`. */
export async function compileText(
  text: string,
  path: string,
  options: Omit<CompileOptions, "path"> = {},
): Promise<CompileResult> {
  const [{ compile }, { createNodeHost }] = await Promise.all([
    import("../../compiler/compile.ts"),
    import("../../api/node-host.ts"),
  ]);
  return compile(text, { ...options, path, host: options.host ?? createNodeHost() });
}
