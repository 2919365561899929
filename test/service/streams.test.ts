/** What streams of events learn of the runs of their own process and of others. */
import { expect, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { EventLog } from "../../service/event-log.ts";
import { eventStream, socketMessages } from "../../service/event-stream.ts";
import { parseEvents } from "../../service/parse-events.ts";
import { compiledTable } from "../support/compiled-engine.ts";
import { checkedService } from "./checked-service.ts";

const GRAPH = {
  table: compiledTable(
    "graph add { input n: int  output m: int  node up = { m: n + 1 } into { m }  start -> up -> end }",
  ),
};

test("a stream reports runs of its own process by their events, and those of others by the state", async () => {
  const store = new MemoryStore();
  const here = checkedService({ graphs: [GRAPH], store });
  const other = checkedService({ graphs: [GRAPH], store });
  const run = (service: typeof here, n: number) => service.post("/graphs/add/runs", { input: { n }, thread: "t" });
  await run(here, 0);
  const response = await here.service.fetch(new Request("http://localhost/threads/t/events"));
  const events = parseEvents(response.body!);
  const next = async () => (await events.next()).value!;
  await run(here, 1);
  const own: string[] = [];
  for (let event = await next(); ; event = await next()) {
    own.push(event.type);
    if (event.type === "run" && event.data["phase"] === "end") break;
  }
  expect(own).not.toContain("state");
  // The next event is of the other process, although the stream has looked for others since the end of its own run.
  const event = next();
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await run(other, 5);
  expect(await event).toMatchObject({ type: "state", data: { status: "completed", output: { m: 6 } } });
  await events.return(undefined);
}, 300_000);

test("a stream that the service ends has the events that happened before", async () => {
  const log = new EventLog();
  const closing = new AbortController();
  const stream = eventStream(
    { log, thread: "t", from: log.end("t"), signal: closing.signal, onClose: () => undefined },
    socketMessages,
  );
  const reader = stream.getReader();
  expect((await reader.read()).value).toEqual([expect.stringContaining("connected")]);
  const next = reader.read();
  // The stream waits for events.
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const phase of ["start", "end"]) log.publish({ type: "run", phase, thread: "t", namespace: [] } as never);
  closing.abort();
  expect((await next).value).toEqual([
    expect.stringContaining('"phase":"start"'),
    expect.stringContaining('"phase":"end"'),
  ]);
  expect((await reader.read()).done).toBe(true);
});
