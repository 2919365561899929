/**
 * Source maps of generated modules (version 3, ECMA-426): the names of graphs, types and channels lead to their
 * declarations in the graph file, so that "go to definition" and stack traces do.
 */
import type { SourceFile, Span } from "../../diagnostics/source.ts";

export interface SourceMap {
  readonly version: 3;
  readonly file: string;
  readonly sources: readonly string[];
  readonly sourcesContent?: readonly string[];
  readonly names: readonly string[];
  readonly mappings: string;
}

/** Writes the begin and the end of a name's place around it. `commentText` and `quote` let no NUL of a graph file through. */
export function placeMark({ start, end }: Span, name: string): string {
  return `\0${start}\0${name}\0${end}\0`;
}

interface Place {
  /** 0-based, of the generated text. */
  readonly line: number;
  readonly column: number;
  /** The offset in the graph file. */
  readonly offset: number;
}

/** Removes the marks from a generated text, and returns their places. */
export function takePlaces(marked: string): { readonly text: string; readonly places: readonly Place[] } {
  const places: Place[] = [];
  let text = "";
  let line = 0;
  let lineStart = 0;
  for (const [at, part] of marked.split("\0").entries()) {
    if (at % 2 === 1) {
      places.push({ line, column: text.length - lineStart, offset: Number(part) });
      continue;
    }
    for (let next = part.indexOf("\n"); next !== -1; next = part.indexOf("\n", next + 1)) {
      line++;
      lineStart = text.length + next + 1;
    }
    text += part;
  }
  return { text, places };
}

/** The source map of a generated file. `source`: the path of the graph file, relative to it. */
export function createSourceMap(
  places: readonly Place[],
  file: SourceFile,
  names: { readonly file: string; readonly source: string; readonly withContent: boolean },
): SourceMap {
  const lines: string[][] = [];
  let before = { column: 0, sourceLine: 0, sourceColumn: 0 };
  for (const { line, column, offset } of places) {
    if (lines.length <= line) before.column = 0;
    while (lines.length <= line) lines.push([]);
    const position = file.position(offset);
    const next = { column, sourceLine: position.line - 1, sourceColumn: position.column - 1 };
    lines[line]?.push(
      encode(next.column - before.column) +
        encode(0) +
        encode(next.sourceLine - before.sourceLine) +
        encode(next.sourceColumn - before.sourceColumn),
    );
    before = next;
  }
  return {
    version: 3,
    file: names.file,
    sources: [names.source],
    ...(names.withContent ? { sourcesContent: [file.text] } : {}),
    names: [],
    mappings: lines.map((segments) => segments.join(",")).join(";"),
  };
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** A base 64 VLQ: five bits a digit, the lowest first; the sign is the lowest bit of the number. */
function encode(value: number): string {
  let rest = value < 0 ? -value * 2 + 1 : value * 2;
  let text = "";
  do {
    const digit = rest % 32;
    rest = Math.floor(rest / 32);
    text += DIGITS[digit + (rest > 0 ? 32 : 0)];
  } while (rest > 0);
  return text;
}
