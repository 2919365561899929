/** What all stores share about items of the long-term memory, without built-in modules of a host. */
import { encodeKey } from "./key.ts";

/**
 * A namespace as one text: each part as a key, followed by a line break, which no key contains. So the text of a prefix is a
 * prefix of the text.
 */
export function encodeNamespace(namespace: readonly string[]): string {
  return namespace.map((part) => `${encodeKey(part)}\n`).join("");
}

/** When an item was created that replaces another one. */
export function createdOf(
  created: number,
  updated: number,
  former: { readonly created: number; readonly expires: number | null } | undefined,
): number {
  const isNew = former === undefined || (former.expires !== null && former.expires <= updated);
  return isNew ? created : former.created;
}

/**
 * The text of an item's name, for `compareNames`. The separator comes before every character of a key, and before the line breaks
 * within the text of a namespace.
 */
export function nameOfItem(namespace: readonly string[], key: string): string {
  return `${encodeNamespace(namespace)}\t${encodeKey(key)}`;
}

/** The order of items: that of code points, which is that of the bytes of UTF-8. */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left === right) continue;
    // A surrogate is a part of a code point above all others.
    const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
    if (isHigh(left) !== isHigh(right)) return isHigh(left) ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}
