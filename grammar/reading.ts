/**
 * What one reading of a text carries along: the text, where it lies in its source file, and the diagnostics so far.
 * A fragment (an expression inside a YAML string) is read from its own text, while every span and diagnostic points into
 * the enclosing file.
 */
import type { Diagnostic, Place } from "../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../diagnostics/source.ts";

/** Diagnostics kept for one file: a file with more is not worth reading to the end. */
export const MOST_DIAGNOSTICS = 200;

export interface Reading {
  readonly source: SourceFile;
  readonly text: string;
  /** From an offset of `text` to one of `source.text`; absent where they are the same. */
  readonly toSource: ((offset: number) => number) | undefined;
  readonly diagnostics: Diagnostic[];
  /** Where diagnostics were reported: the first at an offset stays, what follows there only repeats it. */
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

/** Adds a diagnostic unless one stands at the same offset already, or the file has too many. */
export function report(reading: Reading, diagnostic: Diagnostic): void {
  if (reading.diagnostics.length >= MOST_DIAGNOSTICS || reading.reported.has(diagnostic.span.start)) return;
  reading.reported.add(diagnostic.span.start);
  reading.diagnostics.push(reading.toSource === undefined ? diagnostic : withSafeFixes(diagnostic));
}

/** Text that means the same in every kind of YAML scalar: no quotes, commas, colons or line breaks. */
const SAFE_IN_YAML = /^[\w!&|=<>.()+\- ]*$/;

/** A fragment lies inside another language: a fix may not write what that language would read in its own way. */
function withSafeFixes(diagnostic: Diagnostic): Diagnostic {
  const fixes = diagnostic.fixes.filter(({ edits }) => edits.every(({ text }) => SAFE_IN_YAML.test(text)));
  return fixes.length === diagnostic.fixes.length ? diagnostic : { ...diagnostic, fixes };
}
