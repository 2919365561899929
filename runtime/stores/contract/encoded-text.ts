import type { Json } from "../../value/json.ts";

/** What a text begins with that a codec has encoded; the id of its key and a colon follow. */
export const ENCODED = "ngraph-codec:";

/** The id of the key that a value was encoded with. `undefined` for every other value. */
export function keyOfEncoded(value: Json): string | undefined {
  return typeof value === "string" ? /^ngraph-codec:([\w.-]{1,100}):/.exec(value)?.[1] : undefined;
}
