import { notSupported } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { File } from "../../grammar/ast.ts";
import { parse } from "../../grammar/parse.ts";

export type Spelling = "ngraph" | "yaml";

/** Reads a text in one of the two spellings: the one that is asked for, else the one that the path tells. */
export function readSyntax(
  text: string,
  path: string,
  spelling: Spelling = /\.ya?ml$/.test(path) ? "yaml" : "ngraph",
): { readonly file: File; readonly diagnostics: readonly Diagnostic[] } {
  if (spelling === "ngraph") return parse(text, { path });
  const { file } = parse("", { path });
  const place = { file: file.source, span: { start: 0, end: 0 } };
  return { file, diagnostics: [notSupported(place, { what: "the YAML spelling is" })] };
}
