import { emptyFile } from "../../diagnostics/catalog/syntax.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { File } from "../../grammar/ast.ts";
import { parse } from "../../grammar/parse.ts";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";

export type Spelling = "ngraph" | "yaml";

/** Parses a text in one of the two spellings: the given one, else the one that the path implies. */
export function readSyntax(
  text: string,
  path: string,
  spelling: Spelling = /\.ya?ml$/.test(path) ? "yaml" : "ngraph",
): { readonly file: File; readonly diagnostics: readonly Diagnostic[] } {
  const read = spelling === "yaml" ? parseYaml(text, { path }) : parse(text, { path });
  if (read.diagnostics.length > 0 || /[^\ufeff \t\r\n]/.test(text)) return read;
  return { ...read, diagnostics: [emptyFile({ file: read.file.source, span: read.file.span })] };
}
