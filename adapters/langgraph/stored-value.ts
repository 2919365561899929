import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { Json } from "../../runtime/value/json.ts";

/** A value of LangGraph's serializer as JSON for a store. */
export type StoredValue = { readonly json: Json } | { readonly type: string; readonly base64: string };

/** JSON is stored as JSON, not as text: stores then detect the items that were appended to a list. */
export async function storeValue(serde: SerializerProtocol, value: unknown): Promise<StoredValue> {
  const [type, bytes] = await serde.dumpsTyped(value);
  if (type === "json") return { json: JSON.parse(new TextDecoder().decode(bytes)) as Json };
  return { type, base64: Buffer.from(bytes).toString("base64") };
}

/** A fresh value: what a store returns is frozen, and LangGraph writes to what it reads. */
export async function reviveValue(serde: SerializerProtocol, stored: StoredValue): Promise<unknown> {
  if ("json" in stored) return serde.loadsTyped("json", JSON.stringify(stored.json));
  return serde.loadsTyped(stored.type, Buffer.from(stored.base64, "base64"));
}
