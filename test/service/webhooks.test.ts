import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createEngine } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";
import { checkWebhook } from "../../service/webhook-request.ts";
import { Webhooks, type WebhookOptions } from "../../service/webhooks.ts";
import { compiledTable } from "../support/compiled-engine.ts";
import { checkedService } from "./checked-service.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;

const WITHIN = { timeout: 90_000 };

const FLOW = compiledTable(`
graph flow {
  input n: int
  output verdict: "yes" | "no"
  node sure = ask("?", choices: ["yes", "no"]) into verdict
  start -> sure -> end
}`);

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Reply = number | { readonly status: number; readonly headers: Readonly<Record<string, string>> };

/** A server that answers with the statuses, the last one for all further requests. */
async function receiver(...replies: readonly Reply[]) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      received.push({ headers: request.headers, body });
      const reply = replies[Math.min(received.length, replies.length) - 1]!;
      const { status, headers } = typeof reply === "number" ? { status: reply, headers: {} } : reply;
      response.writeHead(status, { location: "/elsewhere", ...headers }).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=hidden`;
  const types = (): readonly string[] => received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
  return { received, types, url, hook: { url, secret: SECRET, private: true } };
}

function sender(options: Partial<WebhookOptions> & Pick<WebhookOptions, "hooks" | "store">) {
  const failures: string[] = [];
  const sent: string[] = [];
  const engine = createEngine(FLOW, { store: options.store, builtins: builtinNodes });
  const webhooks = new Webhooks({
    engines: () => new Map([["flow", engine]]),
    onFailure: (message, error) => failures.push(`${message}: ${String(error)}`),
    onSent: (result) => sent.push(result),
    delaysMs: [1, 1, 1],
    lookEveryMs: 5,
    scanEveryMs: 1,
    settledMs: 0,
    ...options,
  });
  onTestFinished(() => webhooks.stop());
  return { webhooks, engine, failures, sent };
}

test("a pause and an end are sent, signed", async () => {
  const { received, types, hook } = await receiver(200);
  const { post, service, get } = checkedService({
    graphs: [{ table: FLOW }],
    webhooks: [{ ...hook, secret: [SECRET, OTHER] }],
  });
  service.start();
  await post("/graphs/flow/runs", { input: { n: 1 }, thread: "t" });
  await expect.poll(types, WITHIN).toEqual(["thread.paused"]);
  await post("/threads/t/resume", { answer: "yes" });
  await expect.poll(types, WITHIN).toEqual(["thread.paused", "thread.completed"]);
  const [{ headers, body }] = received as [Received];
  expect(JSON.parse(body)).toMatchObject({
    type: "thread.paused",
    data: {
      thread: "t",
      graph: "flow",
      status: "paused",
      error: null,
      pauses: [{ node: "sure", kind: "interrupt", schema: { enum: ["yes", "no"] } }],
    },
  });
  const content = `${headers["webhook-id"] as string}.${headers["webhook-timestamp"] as string}.${body}`;
  const signatures = [7, 8].map(
    (byte) => `v1,${createHmac("sha256", Buffer.alloc(32, byte)).update(content).digest("base64")}`,
  );
  expect(headers["webhook-signature"]).toBe(signatures.join(" "));
  expect(new Set(received.map((each) => each.headers["webhook-id"])).size).toBe(2);
  await expect
    .poll(async () => (await get("/metrics")).body as unknown)
    .toContain('ngraph_webhooks_total{result="delivered"} 2\n');
});

test("only the chosen statuses are sent", async () => {
  const { types, hook } = await receiver(200);
  const { post, service } = checkedService({
    graphs: [{ table: FLOW }],
    webhooks: [{ ...hook, statuses: ["completed"] }],
  });
  service.start();
  await post("/graphs/flow/runs", { input: { n: 1 }, thread: "t" });
  await post("/threads/t/resume", { answer: "yes" });
  await expect.poll(types, WITHIN).toEqual(["thread.completed"]);
});

test("a request that failed is repeated with its id, and redirects are failures", async () => {
  const { received, hook } = await receiver(500, 302, 200);
  const store = new MemoryStore();
  const { webhooks, engine, failures, sent } = sender({ hooks: [hook], store });
  webhooks.start();
  await webhooks.add("flow", await engine.run({ n: 1 }, { thread: "t" }));
  await expect.poll(() => sent, WITHIN).toEqual(["failed", "failed", "delivered"]);
  expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  // Addresses may hold secrets.
  expect(failures.join()).toContain("status 302");
  expect(failures.join()).not.toContain("hidden");
  const stored = () => store.listItems(["ngraph"], { limit: 10, now: Date.now() });
  await expect.poll(stored, WITHIN).toHaveLength(2);
});

test("a receiver names the time of the next attempt in seconds or as a date", async () => {
  for (const header of ["3600", new Date(Date.now() + 3_600_000).toUTCString()]) {
    const { received, hook } = await receiver({ status: 503, headers: { "retry-after": header } });
    const store = new MemoryStore();
    const { webhooks, engine, sent } = sender({ hooks: [hook], store });
    webhooks.start();
    await webhooks.add("flow", await engine.run({ n: 1 }, { thread: "t" }));
    await expect.poll(() => sent, WITHIN).toEqual(["failed"]);
    const items = store.listItems(["ngraph"], { limit: 10, now: Date.now() });
    const pending = items.find(({ namespace }) => namespace.at(-1) === "pending");
    expect(Number(pending!.key.slice(0, 15))).toBeGreaterThan(Date.now() + 3_000_000);
    expect(received).toHaveLength(1);
  }
});

test("an event is abandoned after its last attempt, or when the receiver is gone", async () => {
  const [down, gone] = [await receiver(503), await receiver(410)];
  const { webhooks, engine, sent, failures } = sender({ hooks: [down.hook, gone.hook], store: new MemoryStore() });
  webhooks.start();
  await webhooks.add("flow", await engine.run({ n: 1 }, { thread: "t" }));
  await expect.poll(() => sent.filter((each) => each === "abandoned"), WITHIN).toHaveLength(2);
  expect([down.received.length, gone.received.length]).toEqual([4, 1]);
  expect(failures.filter((each) => each.includes("abandoned"))).toHaveLength(2);
});

test("what a process has not sent before it died is sent by another one", async () => {
  const { types, hook } = await receiver(200);
  const store = new MemoryStore();
  const first = sender({ hooks: [hook], store });
  first.webhooks.start();
  // Threads before the first start are not reported. The cursor of the graph is set by the first look.
  const cursors = async () =>
    (await store.listItems(["ngraph"], { limit: 10, now: Date.now() })).filter(
      ({ namespace }) => namespace[3] === "cursor",
    );
  await expect.poll(async () => (await cursors()).length, WITHIN).toBe(1);
  await first.webhooks.stop();
  // Stored, and not sent; and a process that dies before it has stored anything.
  await first.webhooks.add("flow", await first.engine.run({ n: 1 }, { thread: "stored" }));
  await first.engine.run({ n: 1 }, { thread: "unknown" });
  const second = sender({ hooks: [hook], store });
  second.webhooks.start();
  await expect.poll(() => types().length, WITHIN).toBe(2);
  await second.engine.resume("unknown", { answer: "no" });
  await expect.poll(types, WITHIN).toEqual(["thread.paused", "thread.paused", "thread.completed"]);
});

test("events above the limit are abandoned, and the others stay", async () => {
  const { hook } = await receiver(503);
  const store = new MemoryStore();
  const { webhooks, engine, sent, failures } = sender({
    hooks: [hook],
    store,
    delaysMs: [1_000_000, 1_000_000],
    scanEveryMs: 1_000_000,
    tidyEveryMs: 20,
    mostPending: 120,
  });
  for (let index = 0; index < 250; index++) {
    await webhooks.add("flow", await engine.run({ n: 1 }, { thread: `t${index}` }));
  }
  webhooks.start();
  await expect.poll(() => sent.filter((each) => each === "abandoned").length, WITHIN).toBe(130);
  expect(failures.join()).toContain("more than 120 wait for the receiver");
  const items = await store.listItems(["ngraph"], { limit: 1000, now: Date.now() });
  expect(items.filter(({ namespace }) => namespace[3] === "pending").length).toBeGreaterThanOrEqual(120);
});

test("no run takes the name that the sending process claims", async () => {
  const { post } = checkedService({ graphs: [{ table: FLOW }] });
  const answer = await post("/graphs/flow/runs", { input: { n: 1 }, thread: "ngraph.webhook.0123456789abcdef" });
  expect(answer.status).toBe(404);
  expect(JSON.stringify(answer.body)).toContain("are reserved");
});

test("one of several processes sends", async () => {
  const { received, hook } = await receiver(200);
  const store = new MemoryStore();
  const all = [1, 2, 3].map(() => sender({ hooks: [hook], store, settledMs: 100_000 }));
  for (const { webhooks } of all) webhooks.start();
  for (const [index, { webhooks, engine }] of all.entries()) {
    await webhooks.add("flow", await engine.run({ n: 1 }, { thread: `t${index}` }));
  }
  await expect.poll(() => received.length, WITHIN).toBe(3);
  expect(all.filter(({ sent }) => sent.length > 0)).toHaveLength(1);
});

describe("addresses", () => {
  test.each([
    "http://example.com/",
    "file:///etc/passwd",
    "https://127.0.0.1/",
    "https://0x7f.1/",
    "https://2130706433/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://169.254.169.254/latest",
    "https://localhost/",
    "https://a.localhost./",
    "https://user:pass@example.com/",
    "example.com",
    "",
  ])("%s is refused", (url) => {
    expect(() => checkWebhook({ url, secret: SECRET })).toThrow(RangeError);
  });

  test("a key is 24 to 64 bytes, and no message has it", () => {
    for (const secret of ["", "secret", "whsec_c2VjcmV0", `${SECRET}!`, "whsec_===="]) {
      expect(() => checkWebhook({ url: "https://example.com", secret })).toThrow(/^the key of a webhook is `whsec_`/);
    }
    expect(() => checkWebhook({ url: "https://example.com", secret: [] })).toThrow(RangeError);
  });

  test("a name that resolves to a private address is refused when it is used", async () => {
    const { webhooks, engine, failures } = sender({
      // The name of this machine for itself, which is not known as local before it is looked up.
      hooks: [{ url: "https://ip6-localhost:9/", secret: SECRET }],
      store: new MemoryStore(),
      delaysMs: [],
    });
    webhooks.start();
    await webhooks.add("flow", await engine.run({ n: 1 }, { thread: "t" }));
    await expect.poll(() => failures.join(), WITHIN).toMatch(/private address|ENOTFOUND|EAI_AGAIN/);
  });
});
