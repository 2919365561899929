import type { Fix, Place } from "../diagnostic.ts";
import type { Edit } from "./apply-edits.ts";

/** The characters before and after a policy that are read. */
const REACH = 200;

/**
 * What surrounds a policy or an item that goes with it. The first row whose patterns both match applies; `left` ends at the policy,
 * `right` begins after it.
 */
type Surroundings = readonly { readonly left: RegExp; readonly right: RegExp }[];

const OF_POLICY: Surroundings = [
  // `defaults` of one policy goes as a whole: YAML has no empty map in lines of their own.
  { left: /(?<=^|\n)[ \t]*(["']?)defaults\1:?[ \t]*\{\s*$/, right: /^\s*\}[ \t]*\r?\n/ },
  { left: /(?<=^|\n)[ \t]*(["']?)defaults\1:[ \t]*\r?\n[ \t]+$/, right: /^[ \t]*(?:\r?\n(?![ \t])|$)/ },
  { left: /,\s*(["']?)defaults\1:\s*\{\s*$/, right: /^\s*\}/ },
  { left: /(?<=\{\s*)(["']?)defaults\1:\s*\{\s*$/, right: /^\s*\}\s*,\s*/ },
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

const OF_ITEM: Surroundings = [
  // A line of its own in YAML. A comment after the item stays.
  { left: /(?<=^|\n)[ \t]*-[ \t]+$/, right: /^[ \t]*(?:\r?\n|$)/ },
  { left: /-[ \t]+$/, right: /^[ \t]*(?=#)/ },
  // One of several, between commas.
  { left: /,\s*$/, right: /^/ },
  { left: /(?<=[([{]\s*)$/, right: /^\s*,\s*/ },
];

/** Deletes a policy with what separates it from others: its comma, its line, or the braces that hold nothing else. */
export function deletePolicy(place: Place): Fix {
  return { title: "delete it", edits: [widened(place, OF_POLICY) ?? { span: place.span, text: "" }] };
}

/** Deletes an item of a list with its comma, or with its line; `undefined` where neither is found. */
export function deleteItem(place: Place): Edit | undefined {
  return widened(place, OF_ITEM);
}

function widened({ file: { text }, span }: Place, surroundings: Surroundings): Edit | undefined {
  const before = text.slice(Math.max(0, span.start - REACH), span.start);
  const after = text.slice(span.end, span.end + REACH);
  for (const { left, right } of surroundings) {
    const [l, r] = [left.exec(before)?.[0], right.exec(after)?.[0]];
    if (l !== undefined && r !== undefined)
      return { span: { start: span.start - l.length, end: span.end + r.length }, text: "" };
  }
  return undefined;
}
