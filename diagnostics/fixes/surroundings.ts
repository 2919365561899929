import type { Place } from "../diagnostic.ts";
import type { Edit } from "./apply-edits.ts";

/** The characters before and after a deleted text that are read. */
const REACH = 200;

/**
 * What surrounds a deleted text and goes with it. The first row whose patterns both match applies; `left` ends at the text, `right` begins
 * after it.
 */
export type Surroundings = readonly { readonly left: RegExp; readonly right: RegExp }[];

/** Deletes a text with what surrounds it; `undefined` where no row applies. */
export function deleteWith({ file: { text }, span }: Place, surroundings: Surroundings): Edit | undefined {
  const before = text.slice(Math.max(0, span.start - REACH), span.start);
  const after = text.slice(span.end, span.end + REACH);
  for (const { left, right } of surroundings) {
    const [l, r] = [left.exec(before)?.[0], right.exec(after)?.[0]];
    if (l !== undefined && r !== undefined)
      return { span: { start: span.start - l.length, end: span.end + r.length }, text: "" };
  }
  return undefined;
}

/** The only entry of a section of YAML: the section goes with it, because some sections cannot be empty. */
export function wholeSection(section: string): Surroundings {
  const key = String.raw`(["']?)${section}\1:`;
  const line = String.raw`(?<=^|\n)[ \t]*${key}[ \t]*`;
  const end = String.raw`[ \t]*(?:#[^\n]*)?(?:\r?\n|$)`;
  // No further entry or comment of the section, also behind empty lines.
  const last = String.raw`[ \t]*(?:#[^\n]*)?(?:\r?\n(?!(?:[ \t]*\r?\n)*(?:[ \t]+\S|-[ \t]))|$)`;
  return [
    { left: new RegExp(String.raw`${line}[{[]\s*$`), right: new RegExp(String.raw`^\s*[}\]]${end}`) },
    { left: new RegExp(String.raw`${line}\r?\n[ \t]*(?:-[ \t]+)?$`), right: new RegExp(`^${last}`) },
    { left: new RegExp(`${line}$`), right: new RegExp(`^${end}`) },
    { left: new RegExp(String.raw`,\s*${key}\s*[{[]\s*$`), right: /^\s*[}\]]/ },
    { left: new RegExp(String.raw`(?<=\{\s*)${key}\s*[{[]\s*$`), right: /^\s*[}\]]\s*,\s*/ },
  ];
}
