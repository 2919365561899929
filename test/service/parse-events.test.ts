import { expect, test } from "vitest";
import { parseEvents } from "../../service/parse-events.ts";

async function eventsOf(text: string, size: number): Promise<unknown[]> {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      for (let at = 0; at < bytes.length; at += size) stream.enqueue(bytes.slice(at, at + size));
      stream.close();
    },
  });
  const events: unknown[] = [];
  for await (const event of parseEvents(body)) events.push(event);
  return events;
}

test("events are read with each end of lines and from pieces of each size", async () => {
  const text =
    '\uFEFF: waiting\n\nid: 1\nevent: state\ndata: {"a":\ndata:"é✓"}\n\ndata\n\nevent: x\n\nevent: result\ndata: {}\n\nevent: cut\ndata: {}\n';
  const expected = [
    { id: "1", type: "state", data: { a: "é✓" } },
    { type: "result", data: {} },
  ];
  for (const each of [text, text.replaceAll("\n", "\r\n")])
    for (const size of [1, 2, 3, 7, 1000]) expect(await eventsOf(each, size)).toEqual(expected);
});

test("an event of megabytes is read in one pass over its pieces", async () => {
  const long = "x".repeat(4_000_000);
  expect(await eventsOf(`event: state\ndata: {"a":"${long}"}\n\n`, 1_000)).toEqual([
    { type: "state", data: { a: long } },
  ]);
});
