/** Edits that add a route to a `.ngraph` text. There are none for YAML, where a route has several spellings. */
import type { Fix } from "../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";

/** Adds an arm after the last one of a `match`. */
export function insertArm(file: SourceFile, match: Span, last: Span, arm: string): Fix[] {
  if (!isNgraph(file) || file.text[match.end - 1] !== "}") return [];
  const isOneLine = !file.text.slice(last.end, match.end).includes("\n");
  const text = isOneLine ? `  ${arm}` : `\n${indentAt(file, last.start)}${arm}`;
  return [{ title: `add \`${arm}\``, edits: [{ span: { start: last.end, end: last.end }, text }] }];
}

/** Adds an edge statement after another. */
export function insertEdge(file: SourceFile, after: Span, edge: string): Fix[] {
  if (!isNgraph(file)) return [];
  const text = `\n${indentAt(file, after.start)}${edge}`;
  return [{ title: `add \`${edge}\``, edits: [{ span: { start: after.end, end: after.end }, text }] }];
}

export function isNgraph(file: SourceFile): boolean {
  return !/\.ya?ml$/i.test(file.path);
}

function indentAt(file: SourceFile, offset: number): string {
  const start = file.text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(file.text.slice(start, offset))?.[0] ?? "";
}
