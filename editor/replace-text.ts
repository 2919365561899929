import type { TextEdit } from "vscode-languageserver-protocol";
import type { SourceFile } from "../diagnostics/source.ts";
import { toRange } from "./positions.ts";

/** The edit that turns the text into `next`: none if they are equal, otherwise one, without the lines that both begin and end with. */
export function replaceText(source: SourceFile, next: string): TextEdit[] {
  const { text } = source;
  if (text === next) return [];
  const shorter = Math.min(text.length, next.length);
  let start = 0;
  while (start < shorter && text[start] === next[start]) start++;
  // Whole lines: an edit never starts inside a surrogate pair or between `\r` and `\n`.
  start = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1;
  let kept = 0;
  while (kept < shorter - start && text[text.length - 1 - kept] === next[next.length - 1 - kept]) kept++;
  const lineBreak = text.indexOf("\n", text.length - kept);
  const end = lineBreak === -1 ? text.length : lineBreak + 1;
  return [{ range: toRange(source, { start, end }), newText: next.slice(start, next.length - (text.length - end)) }];
}
