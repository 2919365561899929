import { StoreError } from "../../interface/errors.ts";

/** What JSON may write as an escape. */
// oxlint-disable-next-line no-control-regex
const SPECIAL = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Longest key, encoded: what an index entry of every database holds. */
const LONGEST_KEY = 2000;

/**
 * A name as databases keep it. Names are arbitrary strings, but databases cut text at NUL or refuse it, and have no form
 * for lone surrogates: such characters are written as JSON escapes, everything usual stays readable. Different
 * names have different keys.
 *
 * @throws StoreError NG_STORE_FAILED when the name is too long for an index.
 */
export function encodeKey(name: string): string {
  const key = SPECIAL.test(name) ? JSON.stringify(name).slice(1, -1) : name;
  if (key.length > LONGEST_KEY) {
    throw new StoreError(
      "NG_STORE_FAILED",
      `the name ${JSON.stringify(name.slice(0, 60))}… is too long to be stored: ${key.length} characters as it is written, at most ${LONGEST_KEY}`,
    );
  }
  return key;
}

/**
 * Refuses what no database could keep, for a store that needs no keys: what works in memory works everywhere.
 *
 * @throws StoreError NG_STORE_FAILED when one of the names is too long
 */
export function checkNames(...names: readonly (string | null | undefined)[]): void {
  for (const name of names) {
    // An escape takes six characters.
    if (name != null && name.length * 6 > LONGEST_KEY) encodeKey(name);
  }
}

export function decodeKey(key: string): string {
  return key.includes("\\") ? (JSON.parse(`"${key}"`) as string) : key;
}
