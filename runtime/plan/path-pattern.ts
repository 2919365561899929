/**
 * Paths and globs of `touches`: normalisation, and whether two of them can match a common file. The overlap test is
 * conservative: it returns `true` unless two patterns are provably disjoint.
 *
 * A pattern is a list of segments between `/`. `**` matches any number of segments, `*` any characters within one, `?`
 * one character, `[…]` one of several characters, `{a,b}` alternatives. A path covers itself and, if it is a folder, its
 * contents: a plan does not know which of its paths will be folders.
 */

export interface PathPattern {
  readonly segments: readonly Segment[];
  /** No wildcards: it overlaps another exact path only if one of them is the other, or a folder that contains it. */
  readonly exact: boolean;
  readonly text: string;
}

/** `**`, literal text, or a list of pieces: literal characters, any one character, any characters. */
export type Segment =
  | { readonly kind: "any-depth" }
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "glob"; readonly pieces: readonly Piece[] };
type Piece = string | "any-character" | "any-text";
const ANY_CHARACTER = "any-character";
const ANY_TEXT = "any-text";

/** Thrown for a path that does not stay below the root. */
export class PathEscapesRoot extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`\`${path}\` leads out of the root`);
    this.path = path;
    this.name = "PathEscapesRoot";
  }
}

/**
 * Normalises a path: `/` as separator, no empty, `.` or `..` segments, no leading `./`. `""` and `.` name the root,
 * which covers everything: `**`.
 *
 * @throws PathEscapesRoot for absolute paths, drive letters, and `..` beyond the root
 */
export function normalizePath(path: string): string {
  const text = path.replaceAll("\\", "/");
  if (text.startsWith("/") || /^[A-Za-z]:/.test(text) || text.startsWith("~/")) throw new PathEscapesRoot(path);
  const segments: string[] = [];
  for (const segment of text.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) throw new PathEscapesRoot(path);
  }
  if (segments.length === 0 || text.endsWith("/")) segments.push("**");
  return segments.join("/");
}

/** Parses a normalised path. */
export function parsePathPattern(path: string): PathPattern {
  // Alternatives that contain `/` span several segments: the rest of the pattern matches anything.
  const brace = /(^|\/)[^/{]*\{[^}]*\//.exec(path);
  const text = brace === null ? path : `${path.slice(0, brace.index)}${brace[1] ?? ""}**`;
  const segments = text.split("/").map(parseSegment);
  const exact = segments.every((segment) => segment.kind === "literal");
  if (segments.at(-1)?.kind === "literal") segments.push({ kind: "any-depth" });
  return { segments, exact, text: path };
}

/** Whether a path may match both patterns. Never `false` for two patterns with a common path. */
export function patternsOverlap(a: PathPattern, b: PathPattern): boolean {
  if (a.exact && b.exact) return a.text === b.text || isWithin(a.text, b.text) || isWithin(b.text, a.text);
  return productReaches(a.segments, b.segments, (segment) => segment.kind === "any-depth", segmentsOverlap);
}

function isWithin(path: string, folder: string): boolean {
  return path.length > folder.length && path[folder.length] === "/" && path.startsWith(folder);
}

function segmentsOverlap(a: Segment, b: Segment): boolean {
  if (a.kind === "any-depth" || b.kind === "any-depth") return true;
  if (a.kind === "literal" && b.kind === "literal") return a.text === b.text;
  return productReaches(
    piecesOf(a),
    piecesOf(b),
    (piece) => piece === ANY_TEXT,
    (left, right) => left === ANY_CHARACTER || right === ANY_CHARACTER || left === right,
  );
}

/**
 * Whether two sequences with repeaters (`**`, `*`) match a common word: reachability in the product of two automata, a
 * grid of (length + 1)² points. The cost is the product of the lengths.
 */
function productReaches<T>(
  a: readonly T[],
  b: readonly T[],
  repeats: (item: T) => boolean,
  meet: (x: T, y: T) => boolean,
): boolean {
  const width = b.length + 1;
  const reached = new Uint8Array((a.length + 1) * width);
  reached[0] = 1;
  for (let i = 0; i <= a.length; i++) {
    for (let j = 0; j <= b.length; j++) {
      if (reached[i * width + j] === 0) continue;
      const left = a[i];
      const right = b[j];
      const leftRepeats = left !== undefined && repeats(left);
      const rightRepeats = right !== undefined && repeats(right);
      // A repeater matches nothing, or consumes one more item of the other side and stays.
      if (leftRepeats) reached[(i + 1) * width + j] = 1;
      if (rightRepeats) reached[i * width + j + 1] = 1;
      if (left === undefined || right === undefined) continue;
      if (leftRepeats && !rightRepeats) reached[i * width + j + 1] = 1;
      else if (rightRepeats && !leftRepeats) reached[(i + 1) * width + j] = 1;
      else if (!leftRepeats && meet(left, right)) reached[(i + 1) * width + j + 1] = 1;
    }
  }
  return reached[reached.length - 1] === 1;
}

function parseSegment(text: string): Segment {
  if (text === "**") return { kind: "any-depth" };
  if (!/[*?[\]{}]/.test(text)) return { kind: "literal", text };
  const pieces: Piece[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === "*") {
      if (pieces.at(-1) !== ANY_TEXT) pieces.push(ANY_TEXT);
    } else if (character === "?") pieces.push(ANY_CHARACTER);
    else if (character === "[" && text.indexOf("]", at + 1) !== -1) {
      pieces.push(ANY_CHARACTER);
      at = text.indexOf("]", at + 1);
    } else if (character === "{" && text.indexOf("}", at + 1) !== -1) {
      // Alternatives match any text here: an overestimate, never an underestimate.
      pieces.push(ANY_TEXT);
      at = text.indexOf("}", at + 1);
    } else pieces.push(character);
  }
  return { kind: "glob", pieces };
}

function piecesOf(segment: Segment): readonly Piece[] {
  if (segment.kind === "glob") return segment.pieces;
  return segment.kind === "literal" ? segment.text.split("") : [ANY_TEXT];
}
