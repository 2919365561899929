import type { Fix, Place } from "../diagnostic.ts";
import { deleteWith, wholeSection, type Surroundings } from "./surroundings.ts";

const OF_POLICY: Surroundings = [
  { left: /(?<=^|\n)[ \t]*defaults[ \t]*\{\s*$/, right: /^\s*\}[ \t]*\r?\n/ },
  ...wholeSection("defaults"),
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
export function deletePolicy(place: Place): Fix {
  return { title: "delete it", edits: [deleteWith(place, OF_POLICY) ?? { span: place.span, text: "" }] };
}
