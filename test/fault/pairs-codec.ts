/** Codecs of the pairs of operations: each process encrypts with one of the keys, and decrypts with all of them. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { type StoreCodec } from "../../runtime/stores/codec.ts";

export const KEYS: readonly string[] = ["2025", "2026-a", "2026-b"];

export function codecOf(keyId: string): StoreCodec {
  return {
    keyId,
    encode: (text, { threadId = "" }) => {
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", keyOf(keyId), iv).setAAD(Buffer.from(threadId));
      const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), data]).toString("base64");
    },
    decode: (encoded, id, { threadId = "" }) => {
      if (!KEYS.includes(id)) throw new Error(`there is no key ${id}`);
      const bytes = Buffer.from(encoded, "base64");
      const cipher = createDecipheriv("aes-256-gcm", keyOf(id), bytes.subarray(0, 12)).setAAD(Buffer.from(threadId));
      cipher.setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([cipher.update(bytes.subarray(28)), cipher.final()]).toString("utf8");
    },
  };
}

function keyOf(keyId: string): Buffer {
  return createHash("sha256").update(keyId).digest();
}
