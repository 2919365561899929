import type { JsonObject } from "../runtime/value/json.ts";
import type { ClientEvent } from "./client.ts";

/** Server-sent events of a body. Comments, events without data, and an event that is cut off are left out. */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ClientEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let fields = new Map<string, string>();
  /** The parts of a line whose end has not come. */
  let begun: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = decoder.decode(value, { stream: true }).split("\n");
      const rest = lines.pop()!;
      for (const part of lines) {
        const line = [...begun, part].join("").replace(/\r$/, "");
        begun = [];
        if (line !== "") {
          addField(fields, line);
          continue;
        }
        const [id, type, data] = [fields.get("id"), fields.get("event"), fields.get("data")];
        fields = new Map();
        if (type === undefined || data === undefined) continue;
        yield {
          ...(id === undefined ? {} : { id }),
          type: type as ClientEvent["type"],
          data: JSON.parse(data) as JsonObject,
        };
      }
      if (rest !== "") begun.push(rest);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function addField(fields: Map<string, string>, line: string): void {
  const colon = line.indexOf(":");
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  const before = name === "data" ? fields.get(name) : undefined;
  fields.set(name, before === undefined ? value : `${before}\n${value}`);
}
