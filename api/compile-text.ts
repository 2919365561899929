import { readFile } from "node:fs/promises";
import { check as checkText, type CheckReport } from "../compiler/check.ts";
import { compile as compileText, type CompileOptions, type CompileResult } from "../compiler/compile.ts";
import { createNodeHost } from "./node-host.ts";

/**
 * Compiles a text. Imports are read from the disk, relative to `path`. Never throws: for a text with errors there is no
 * table, and `diagnostics` has the errors.
 * @example const { table, diagnostics } = compile(text, { path: "support.ngraph" });
 */
export function compile(text: string, options: CompileOptions = {}): CompileResult {
  return compileText(text, { ...options, host: options.host ?? createNodeHost() });
}

/**
 * Checks a text: returns its findings and the proofs about its graphs. Reads imports as `compile` does. Never throws.
 */
export function check(text: string, options: CompileOptions = {}): CheckReport {
  return checkText(text, { ...options, host: options.host ?? createNodeHost() });
}

/**
 * Reads and compiles a file.
 *
 * @throws the error of `node:fs` when the file cannot be read
 */
export async function compileFile(path: string, options: Omit<CompileOptions, "path"> = {}): Promise<CompileResult> {
  return compile(await readFile(path, "utf8"), { ...options, path });
}
