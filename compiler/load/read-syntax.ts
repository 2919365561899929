import { emptyFile, foreignFile } from "../../diagnostics/catalog/syntax.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { File } from "../../grammar/ast.ts";
import { parse } from "../../grammar/parse.ts";
import type { EntryMemory } from "../../grammar/yaml/entry-memory.ts";
import { readYaml } from "../../grammar/yaml/parse-yaml.ts";

export type Spelling = "ngraph" | "yaml";

/** Files of other languages: one message takes the place of their many errors. */
const FOREIGN_FILE = /\.(?:[cm]?[jt]sx?|json|asl|py|md|toml)$/;

/**
 * Parses a text in one of the two spellings: the given one, else the one that the path implies.
 *
 * @param memory of an earlier text of the file, in YAML
 */
export function readSyntax(
  text: string,
  path: string,
  spelling: Spelling = /\.ya?ml$/.test(path) ? "yaml" : "ngraph",
  memory?: EntryMemory,
): { readonly file: File; readonly diagnostics: readonly Diagnostic[] } {
  const read = spelling === "yaml" ? readYaml(text, path, memory) : parse(text, { path });
  const [first] = read.diagnostics;
  const extension = FOREIGN_FILE.exec(path)?.[0];
  if (first?.severity === "error" && extension !== undefined) {
    return { ...read, diagnostics: [foreignFile({ file: first.file, span: first.span }, extension)] };
  }
  if (read.diagnostics.length > 0 || /[^\ufeff \t\r\n]/.test(text)) return read;
  return { ...read, diagnostics: [emptyFile({ file: read.file.source, span: read.file.span })] };
}
