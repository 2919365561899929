import type { YamlScalar } from "./yaml-tree.ts";

/**
 * Maps the characters of a string scalar to offsets of the YAML text. The map is exact for plain and quoted scalars on
 * one line. An escape maps to its start; a character of a folded or block scalar maps into its word. Offsets never
 * decrease and stay in the scalar.
 */
export function scalarOffsets(text: string, scalar: YamlScalar): (offset: number) => number {
  const value = String(scalar.value);
  const start = scalar.style === "plain" ? scalar.span.start : scalar.span.start + 1;
  if (scalar.style !== "block" && text.startsWith(value, start) && !value.includes("\n")) {
    return (offset) => start + Math.max(0, Math.min(offset, value.length));
  }
  let table: readonly number[] | undefined;
  return (offset) => {
    table ??= alignScalar(text, scalar, value);
    return table[Math.max(0, Math.min(offset, value.length))] ?? scalar.span.end;
  };
}

/** Walks over the value and the text in parallel. The two differ only in blanks and escapes. */
function alignScalar(text: string, { span, style }: YamlScalar, value: string): number[] {
  const table: number[] = [];
  const end = style === "plain" || style === "block" ? span.end : Math.max(span.start, span.end - 1);
  let at = contentStart(text, span.start, style);
  let index = 0;
  while (index < value.length) {
    const character = value[index] ?? "";
    if (style === "double") at = skipContinuation(text, at, end);
    if (style === "double" && text[at] === "\\") {
      const { length, units } = escapeAt(text, at);
      for (let unit = 0; unit < units && index < value.length; unit += 1, index += 1) table.push(Math.min(at, end));
      at += length;
      continue;
    }
    if (isBlank(character)) {
      table.push(Math.min(at, end));
      if (text[at] === character) at += 1;
      index += 1;
      continue;
    }
    while (at < end && text[at] !== character && isBlank(text[at])) at += 1;
    // An escape follows the skipped blanks; it represents `character`.
    if (style === "double" && text[at] === "\\") continue;
    table.push(Math.min(at, end));
    if (text[at] === character) at += style === "single" && character === "'" ? 2 : 1;
    index += 1;
  }
  table.push(Math.min(at, end));
  return table;
}

/** The offset after the opening quote, or after the header line of a block scalar. */
function contentStart(text: string, start: number, style: YamlScalar["style"]): number {
  if (style === "plain") return start;
  if (style !== "block") return start + 1;
  const lineEnd = text.indexOf("\n", start);
  return lineEnd === -1 ? text.length : lineEnd + 1;
}

/** Skips a backslash at the end of a line, which joins two lines without a blank. */
function skipContinuation(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && text[at] === "\\" && (text[at + 1] === "\n" || text[at + 1] === "\r")) {
    at += 1;
    while (at < end && isBlank(text[at])) at += 1;
  }
  return at;
}

const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** The length of an escape, and the number of UTF-16 units of its value. */
function escapeAt(text: string, at: number): { readonly length: number; readonly units: number } {
  const digits = HEX_DIGITS[text[at + 1] ?? ""];
  if (digits === undefined) return { length: 2, units: 1 };
  const code = Number.parseInt(text.slice(at + 2, at + 2 + digits), 16);
  return { length: 2 + digits, units: code > 0xffff ? 2 : 1 };
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t" || character === "\n" || character === "\r";
}
