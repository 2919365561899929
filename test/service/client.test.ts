import { expect, onTestFinished, test, vi } from "vitest";
import { createClient, ServiceError, type ClientEvent } from "../../service/client.ts";
import type { RunEvent } from "../../runtime/index.ts";
import { EventLog } from "../../service/event-log.ts";
import { createService, type ServedGraph, type ServiceOptions } from "../../service/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compiledTable } from "../support/compiled-engine.ts";
import { deferred } from "../support/deferred.ts";

function connected(options: Omit<ServiceOptions, "store"> & Partial<Pick<ServiceOptions, "store">>, token?: string) {
  const service = createService({ store: new MemoryStore(), ...options });
  onTestFinished(() => service.drain({ deadline: 1 }));
  const requests: Request[] = [];
  const client = createClient({
    url: "http://localhost/",
    fetch: (input, init) => {
      const request = new Request(input, init);
      requests.push(request);
      return service.fetch(request);
    },
    ...(token === undefined ? {} : { token: () => token }),
  });
  return { client, service, requests };
}

const LOOP = `
graph loop {
  input n: int
  output total: int = 0
  node add = work(total) into total
  start -> add
  add -> add when total < n
  add -> end otherwise
}`;

function loop(work: (total: number) => unknown = (total) => total + 1): ServedGraph {
  return { table: compiledTable(LOOP, ["work"]), functions: { work } };
}

const ASK = compiledTable(`
graph question {
  output answer: string
  node q = ask("?") into answer
  start -> q -> end
}`);

test("the client runs graphs, answers, edits and lists", async () => {
  const { client } = connected({ graphs: [loop(), { table: ASK }], tokens: { ada: "a".repeat(20) } }, "a".repeat(20));
  const result = await client.graph<{ n: number }, { total: number }>("loop").run({ n: 3 });
  expect([result.status, result.output.total]).toEqual(["completed", 3]);
  const { thread } = await client.graph("question").start({});
  await expect.poll(async () => (await client.thread(thread).state()).status).toBe("paused");
  expect((await client.threads({ status: "paused" })).threads.map((each) => each.thread)).toEqual([thread]);
  const fork = await client.thread(thread).fork({ as: "copy" });
  expect(fork.thread).toBe("copy");
  expect((await client.thread("copy").resume({ answer: "yes" })).output).toEqual({ answer: "yes" });
  await client.thread(thread).label("before");
  expect((await client.thread(thread).history({ limit: 1 }))[0]).toMatchObject({ label: "before" });
  const migrated = await client.thread("copy").migrate({ dryRun: true, metadata: { by: "ada" } });
  expect(migrated.thread).toBe("copy");
  const wrong = await client
    .graph("loop")
    .run({ n: "x" })
    .catch((error: unknown) => error);
  expect(wrong).toBeInstanceOf(ServiceError);
  expect(wrong).toMatchObject({ status: 422, code: "NG_BAD_INPUT" });
  expect(
    await client
      .graph("none")
      .describe()
      .catch((error: unknown) => error),
  ).toMatchObject({ status: 404 });
});

test("a thread becomes a test where the service makes one", async () => {
  const recordTest: ServiceOptions["recordTest"] = async (thread, { name }) =>
    thread === "long" ? { reason: "the run is too long" } : { test: `test "${thread}" for ${name} {}` };
  const { client } = connected({ graphs: [loop()], recordTest });
  for (const thread of ["short", "long"]) await client.graph("loop").run({ n: 1 }, { thread });
  expect(await client.thread("short").test()).toBe('test "short" for loop {}');
  const refused = { status: 409, code: "no-test", message: "the run is too long" };
  await expect(client.thread("long").test()).rejects.toMatchObject(refused);
  await expect(client.thread("none").test()).rejects.toMatchObject({ status: 404, code: "NG_UNKNOWN_THREAD" });
  const without = connected({ graphs: [loop()] });
  await without.client.graph("loop").run({ n: 1 }, { thread: "short" });
  await expect(without.client.thread("short").test()).rejects.toMatchObject({ status: 404, code: "not-found" });
});

test("answers of other servers are errors, too", async () => {
  const client = createClient({ url: "http://localhost", fetch: async () => new Response("<html>", { status: 502 }) });
  await expect(client.threads()).rejects.toMatchObject({ status: 502, code: "http" });
});

test("events are read to the end of the run, whoever connects when", async () => {
  const { client } = connected({ graphs: [loop()] });
  await client.graph("loop").run({ n: 3 }, { thread: "t" });
  const all: ClientEvent[] = [];
  for await (const event of client.thread("t").events({ from: "start", end: true })) all.push(event);
  expect(all[0]).toMatchObject({ type: "run", data: { phase: "start" } });
  expect(all.at(-1)).toMatchObject({ type: "run", data: { phase: "end", status: "completed" } });
  expect(all.map(({ data }) => data["seq"])).toEqual(all.map((_, index) => index));
  const rest: ClientEvent[] = [];
  for await (const event of client.thread("t").events({ after: all[4]!.id!, end: true })) rest.push(event);
  expect(rest).toEqual(all.slice(5));
  // Nothing runs: the state is the only event.
  const idle: ClientEvent[] = [];
  for await (const event of client.thread("t").events({ end: true })) idle.push(event);
  expect(idle).toMatchObject([{ type: "state", data: { status: "completed" } }]);
});

test("a connection that is lost is made again where it was", async () => {
  const gate = deferred<void>();
  const { client, service, requests } = connected({
    graphs: [loop(async (total) => (total === 2 ? (await gate.promise, total + 1) : total + 1))],
  });
  await client.graph("loop").start({ n: 4 }, { thread: "t" });
  let isCut = false;
  const cutting = createClient({
    url: "http://localhost",
    fetch: async (input, init) => {
      const response = await service.fetch(new Request(input, init));
      requests.push(new Request(input, init));
      if (isCut) return response;
      isCut = true;
      // The first connection ends in the middle of the third event.
      const reader = response.body!.getReader();
      let text = "";
      while (text.split("\n\n").length < 5) text += new TextDecoder().decode((await reader.read()).value);
      await reader.cancel();
      gate.resolve();
      const cut = `${text.split("\n\n").slice(0, 3).join("\n\n")}\n\nid: `;
      let isSent = false;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (isSent) controller.error(new TypeError("terminated"));
          else controller.enqueue(new TextEncoder().encode(cut));
          isSent = true;
        },
      });
      return new Response(body, { headers: response.headers });
    },
  });
  const events: ClientEvent[] = [];
  for await (const event of cutting.thread("t").events({ from: "start", end: true })) events.push(event);
  expect(events.map(({ data }) => data["seq"])).toEqual(events.map((_, index) => index));
  expect(events.at(-1)!.data).toMatchObject({ type: "run", phase: "end" });
  expect(requests.at(-1)!.headers.get("last-event-id")).toBe(events[1]!.id);
});

test("a connection that waits for its next attempt ends with the signal, and too many requests are not its end", async () => {
  const { client, service } = connected({ graphs: [loop(async (total) => total + 1)] });
  await client.graph("loop").run({ n: 1 }, { thread: "t" });
  const answers: (() => Promise<Response> | Response)[] = [];
  const failing = createClient({
    url: "http://localhost",
    fetch: async (input, init) => (answers.shift() ?? (() => service.fetch(new Request(input, init))))(),
  });
  const cut = (): Response => new Response(": connected\n\n");
  const problem = { code: "too-many-requests", detail: "wait", status: 429 };
  answers.push(cut, () => Response.json(problem, { status: 429 }));
  const events: ClientEvent[] = [];
  for await (const event of failing.thread("t").events({ end: true })) events.push(event);
  expect(events.at(-1)).toMatchObject({ type: "run", data: { phase: "end" } });

  const controller = new AbortController();
  const waits = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => waits.mockRestore());
  for (let each = 0; each < 6; each++) answers.push(cut);
  const reading = failing.thread("t").events({ signal: controller.signal })[Symbol.asyncIterator]().next();
  await expect.poll(() => waits.mock.calls.some(([, ms]) => ms === 500), { timeout: 60_000 }).toBe(true);
  controller.abort();
  expect(await reading).toEqual({ done: true, value: undefined });
  // No further request was made.
  expect(answers).toHaveLength(5);
});

test("the state takes the place of events that this process does not have", async () => {
  const store = new MemoryStore();
  const first = connected({ graphs: [{ table: ASK }], store });
  await first.client.graph("question").run({}, { thread: "t" });
  const second = connected({ graphs: [{ table: ASK }], store });
  const ended: ClientEvent[] = [];
  for await (const event of second.client.thread("t").events({ after: "00000000.12", end: true })) ended.push(event);
  expect(ended[0]).toMatchObject({ type: "state", data: { status: "paused" } });
  // What another process does is seen by looking.
  const seen = (async () => {
    for await (const event of second.client.thread("t").events()) {
      if (event.type === "state") return event.data;
    }
    return undefined;
  })();
  await expect.poll(() => second.requests.length).toBe(2);
  await first.client.thread("t").resume({ answer: "yes" });
  expect(await seen).toMatchObject({ status: "completed", output: { answer: "yes" } });
});

test("a run may be read as a stream from its start", async () => {
  const { service } = connected({ graphs: [loop()] });
  const response = await service.fetch(
    new Request("http://localhost/graphs/loop/runs", {
      method: "POST",
      headers: { accept: "text/event-stream", "content-type": "application/json" },
      body: JSON.stringify({ input: { n: 2 } }),
    }),
  );
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const text = await response.text();
  const events = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
  expect([events[0], events.at(-1)]).toEqual(["run", "result"]);
  expect(text).toContain('"output":{"total":2}');
});

test("the log of events is bounded, and says what is gone", () => {
  const log = new EventLog();
  const event = (thread: string, seq: number, text = ""): RunEvent =>
    ({ type: "custom", node: "n", data: text, seq, namespace: [], runId: "r", step: 0, thread }) as RunEvent;
  for (let seq = 0; seq < 5_000; seq++) log.publish(event("t", seq));
  expect(log.read("t", 1)).toEqual({ kind: "missed", count: 3_000, next: 3_001 });
  expect(log.end("t") - log.start("t")).toBe(2_000);
  const [epoch] = (log.read("t", log.start("t")) as { event: { id: string } }).event.id.split(".");
  expect(log.after("t", `${epoch}.5000`)).toBe(5_001);
  expect(log.after("t", `${epoch}.6000`)).toBeUndefined();
  expect(log.after("t", "00000000.1")).toBeUndefined();
  expect(log.after("t", "x")).toBeUndefined();
  const megabyte = "x".repeat(1_000_000);
  for (let seq = 0; seq < 10; seq++) log.publish(event("large", seq, megabyte));
  expect(log.end("large") - log.start("large")).toBe(4);
  const close = log.open("t");
  for (let thread = 0; thread < 100; thread++) log.publish(event(`other ${thread}`, 0, megabyte));
  expect(log.read("large", log.start("large"))).toBeUndefined();
  expect(log.read("t", log.start("t"))).toMatchObject({ kind: "event" });
  close();
});
