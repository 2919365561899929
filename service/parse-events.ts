import type { JsonObject } from "../runtime/value/json.ts";
import type { ClientEvent } from "./client.ts";

/** Server-sent events of a body. Comments and events without data are left out. */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ClientEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const fields = new Map(
          block.split("\n").map((line) => {
            const colon = line.indexOf(":");
            return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")] as const;
          }),
        );
        const [id, type, data] = [fields.get("id"), fields.get("event"), fields.get("data")];
        if (type === undefined || data === undefined) continue;
        yield {
          ...(id === undefined ? {} : { id }),
          type: type as ClientEvent["type"],
          data: JSON.parse(data) as JsonObject,
        };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
