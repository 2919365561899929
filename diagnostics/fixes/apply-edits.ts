import type { Fix } from "../diagnostic.ts";

export type Edit = Fix["edits"][number];

/** The text with the edits made; they must not overlap. Inserted line breaks follow the text's own. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  const parts: string[] = [];
  let at = 0;
  for (const { span, text: inserted } of [...edits].sort((a, b) => a.span.start - b.span.start)) {
    parts.push(text.slice(at, span.start), inserted.replaceAll(/\r?\n/g, lineBreak));
    at = span.end;
  }
  parts.push(text.slice(at));
  return parts.join("");
}

/** Whether two edits touch the same characters, or insert at the same place in an undefined order. */
export function editsCollide(a: Edit, b: Edit): boolean {
  if (a.span.start === b.span.start) return true;
  return a.span.start < b.span.end && b.span.start < a.span.end;
}
