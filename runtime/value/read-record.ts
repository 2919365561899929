import type { Json } from "./json.ts";
import { refuse } from "./admit.ts";
import { Mismatch } from "./mismatch.ts";
import { isPlainRecord } from "./plain-object.ts";

/**
 * A copy of a record of the caller, whose values are not checked. A list, a `Map`, an instance of a class, and a record that
 * cannot be read are mismatches: getters and the traps of proxies are user code.
 */
export function readRecord(value: unknown): Readonly<Record<string, Json>> | Mismatch {
  try {
    return isPlainRecord(value) ? { ...(value as Record<string, Json>) } : refuse(value, "a record");
  } catch {
    return new Mismatch("a record", "a value that cannot be read");
  }
}
