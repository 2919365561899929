/**
 * The state of reading a text: the text, its place in the source file, and the diagnostics so far. A fragment (an
 * expression inside a YAML string) is read from its own text, while every span and diagnostic points into the enclosing
 * file.
 */
import type { Diagnostic, Place } from "../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../diagnostics/source.ts";

/** The most diagnostics of one file; reading stops after them. */
export const MOST_DIAGNOSTICS = 200;

export interface Reading {
  readonly source: SourceFile;
  readonly text: string;
  /** Maps an offset of `text` to one of `source.text`; absent if they are equal. */
  readonly toSource: ((offset: number) => number) | undefined;
  readonly diagnostics: Diagnostic[];
  /** The offsets of the reported diagnostics: only the first at an offset is kept, later ones follow from it. */
  readonly reported: Set<number>;
}

export function newReading(source: SourceFile, text: string, toSource?: (offset: number) => number): Reading {
  return { source, text, toSource, diagnostics: [], reported: new Set() };
}

/** The span in the source file of a range of the text. */
export function spanAt(reading: Reading, start: number, end: number): Span {
  const { toSource } = reading;
  return toSource === undefined ? { start, end } : { start: toSource(start), end: toSource(end) };
}

export function placeAt(reading: Reading, start: number, end: number): Place {
  return { file: reading.source, span: spanAt(reading, start, end) };
}

/** Adds a diagnostic unless the offset already has one, or the file has too many. */
export function report(reading: Reading, diagnostic: Diagnostic): void {
  if (reading.diagnostics.length >= MOST_DIAGNOSTICS || reading.reported.has(diagnostic.span.start)) return;
  reading.reported.add(diagnostic.span.start);
  reading.diagnostics.push(reading.toSource === undefined ? diagnostic : withSafeFixes(diagnostic));
}

/** Text with the same meaning in every kind of YAML scalar: no quotes, commas, colons or line breaks. */
const SAFE_IN_YAML = /^[\w!&|=<>.()+\- ]*$/;

/** Removes the fixes of a fragment that insert text with a meaning in the enclosing YAML. */
function withSafeFixes(diagnostic: Diagnostic): Diagnostic {
  const fixes = diagnostic.fixes.filter(({ edits }) => edits.every(({ text }) => SAFE_IN_YAML.test(text)));
  return fixes.length === diagnostic.fixes.length ? diagnostic : { ...diagnostic, fixes };
}
