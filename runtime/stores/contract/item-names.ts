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
