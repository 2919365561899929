import { ENCODED, keyOfEncoded } from "../stores/contract/encoded-text.ts";
import type { Json } from "../value/json.ts";
import { admitJson, Mismatch } from "../value/validate.ts";

/**
 * The JSON of an answer, or of the value of a signal.
 *
 * @param refused makes the error of a value that is not accepted, from what is wrong with it
 */
export function admitGiven(value: unknown, refused: (problem: string) => Error): Json {
  const admitted = admitJson(value);
  if (admitted instanceof Mismatch) throw refused(`is not plain JSON: ${admitted.describe()}`);
  // An engine without the codec could not distinguish it from an encoded value.
  if (keyOfEncoded(admitted) !== undefined) throw refused(`must not begin with \`${ENCODED}\` and the id of a key`);
  return admitted;
}
