import type { Fix, Place } from "../diagnostic.ts";
import type { Span } from "../source.ts";

/** The characters before and after a policy that are read. */
const REACH = 200;

/**
 * What surrounds a policy that goes with it. The first row whose patterns both match applies; `left` ends at the policy, `right` begins
 * after it.
 */
const SURROUNDINGS: readonly { readonly left: RegExp; readonly right: RegExp }[] = [
  // `defaults` of one policy goes as a whole: YAML has no empty map in lines of their own.
  { left: /(?<=^|\n)[ \t]*defaults:?[ \t]*\{\s*$/, right: /^\s*\}[ \t]*\r?\n/ },
  { left: /(?<=^|\n)[ \t]*defaults:[ \t]*\r?\n[ \t]+$/, right: /^[ \t]*(?:\r?\n(?![ \t])|$)/ },
  // The braces of one policy of a node.
  { left: /[ \t]*\{\s*$/, right: /^\s*\}/ },
  // A line of its own.
  { left: /(?<=\n)[ \t]*$/, right: /^[ \t]*\r?\n/ },
  // One of several in a line.
  { left: /,\s*$/, right: /^/ },
  { left: /$/, right: /^\s*,\s*/ },
  { left: /(?<=\{[ \t]*)$/, right: /^[ \t]+/ },
  { left: /[ \t]+$/, right: /^/ },
];

/** Deletes a policy with what separates it from others: its comma, its line, or the braces that hold nothing else. */
export function deletePolicy({ file: { text }, span }: Place): Fix {
  const before = text.slice(Math.max(0, span.start - REACH), span.start);
  const after = text.slice(span.end, span.end + REACH);
  return { title: "delete it", edits: [{ span: widened(span, before, after), text: "" }] };
}

function widened(span: Span, before: string, after: string): Span {
  for (const { left, right } of SURROUNDINGS) {
    const [l, r] = [left.exec(before)?.[0], right.exec(after)?.[0]];
    if (l !== undefined && r !== undefined) return { start: span.start - l.length, end: span.end + r.length };
  }
  return span;
}
