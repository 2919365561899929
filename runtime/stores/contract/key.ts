import { StoreError } from "../../interface/errors.ts";

/** Characters that JSON may write as an escape. */
// oxlint-disable-next-line no-control-regex
const SPECIAL = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Maximum length of an encoded key: an index entry of every supported database can hold it. */
const MAX_KEY_LENGTH = 2000;

/**
 * Encodes a name for a database. Names are arbitrary strings, but databases truncate or refuse text with NUL, and UTF-8 has
 * no form for lone surrogates. Such characters become JSON escapes; usual names stay as they are. Different names have
 * different keys.
 *
 * @throws StoreError NG_STORE_FAILED when the name is too long for an index.
 */
export function encodeKey(name: string): string {
  const key = SPECIAL.test(name) ? JSON.stringify(name).slice(1, -1) : name;
  if (key.length > MAX_KEY_LENGTH) {
    throw new StoreError(
      "NG_STORE_FAILED",
      `the name ${JSON.stringify(name.slice(0, 60))}… is too long to be stored: ${key.length} characters as it is written, at most ${MAX_KEY_LENGTH}`,
    );
  }
  return key;
}

/**
 * Refuses names that are too long for `encodeKey`, for a store that does not need keys: a program that works in memory then
 * works with every store.
 *
 * @throws StoreError NG_STORE_FAILED when one of the names is too long
 */
export function checkNames(...names: readonly (string | null | undefined)[]): void {
  for (const name of names) checkName(name);
}

/** `checkNames` for one name. */
export function checkName(name: string | null | undefined): void {
  // An escape takes six characters.
  if (name != null && name.length * 6 > MAX_KEY_LENGTH) encodeKey(name);
}

/** The inverse of `encodeKey`. */
export function decodeKey(key: string): string {
  return key.includes("\\") ? (JSON.parse(`"${key}"`) as string) : key;
}
