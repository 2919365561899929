import { StoreError } from "../interface/errors.ts";

/**
 * Refuses a record of a thread that a codec has encoded: its store was opened without the codec.
 *
 * @param key the id of the codec's key; `undefined` for a record in plain text
 * @throws StoreError NG_STORE_FAILED
 */
export function refuseEncoded(threadId: string, key: string | undefined): void {
  if (key === undefined) return;
  const encoded = `thread \`${threadId}\` is encoded with the key ${JSON.stringify(key)}`;
  throw new StoreError("NG_STORE_FAILED", `${encoded}: open its store with the codec (\`withCodec\`)`);
}
