/** How values are written in the journal and the state of Restate. */
import type { Serde } from "@restatedev/restate-sdk";

export const TEXT: Serde<string> = {
  contentType: "text/plain",
  serialize: (text) => new TextEncoder().encode(text),
  deserialize: (bytes) => new TextDecoder().decode(bytes),
};

export function jsonSerde<T>(): Serde<T> {
  return {
    contentType: "application/json",
    serialize: (value) => TEXT.serialize(JSON.stringify(value)),
    deserialize: (bytes) => JSON.parse(TEXT.deserialize(bytes)) as T,
  };
}
