/** The client of Restate before servers that are away, are other servers, or do not answer. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { restate } from "../../api/hosts/restate.ts";
import { Admin, scanThreads } from "../../hosts/restate/admin.ts";
import { Ingress, isUnavailable } from "../../hosts/restate/ingress.ts";
import { serviceNames } from "../../hosts/restate/service-names.ts";
import type { RunEvent } from "../../runtime/interface/events.ts";
import { deferred } from "../support/deferred.ts";
import { tableOf } from "../support/graph.ts";

async function addressOf(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => server.closeAllConnections());
  return addressOf(server);
}

const answering = (status: number, body: string): Promise<string> =>
  serve((_, response) => response.writeHead(status).end(body));

const PATH = ["ngraph.g.store", "t", "loadLatest"];

describe("a call", () => {
  test.each([
    [200, "<html></html>"],
    [200, "null"],
    [200, '{"ok":true}'],
    [404, "<html></html>"],
  ])("is refused by another server that answers %s with %s", async (status, body) => {
    const ingress = new Ingress({ url: await answering(status, body) });
    const expected = {
      code: "NG_STORE_FAILED",
      message: expect.stringContaining(`is not the ingress of Restate (status ${status})`),
    };
    await expect(ingress.call(PATH, {})).rejects.toMatchObject(expected);
    await expect(ingress.send(PATH, {})).rejects.toMatchObject(expected);
  });

  test.each([401, 403])("without the right credentials (%s) says where they belong", async (status) => {
    const ingress = new Ingress({ url: await answering(status, "{}") });
    await expect(ingress.call(PATH, {})).rejects.toThrow("give a user and a password in its address");
  });

  test("of an unknown service says how it becomes known", async () => {
    const ingress = new Ingress({ url: await answering(404, '{"message":"service not found"}') });
    await expect(ingress.call(PATH, {})).rejects.toThrow("Restate knows no service `ngraph.g.store`");
  });

  test("ends in time where Restate answers, and no worker does", async () => {
    const url = await serve((request, response) => {
      if (request.url === "/restate/health") response.end("{}");
    });
    const late = await new Ingress({ url })
      .call(PATH, {}, { repeat: true, within: 200 })
      .catch((error: unknown) => error);
    expect(late).toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringContaining("has no answer after 0.2 seconds: check that workers of the graph run"),
    });
    expect(isUnavailable(late)).toBe(true);
    const stopped = new AbortController();
    const call = new Ingress({ url }).call(PATH, {}, { within: 60_000, signal: stopped.signal });
    setTimeout(() => stopped.abort(new Error("no longer needed")), 20);
    await expect(call).rejects.toThrow("no longer needed");
  });

  test("of a server that closes each connection fails", async () => {
    const url = await addressOf(createTcpServer((socket) => socket.destroy()));
    await expect(new Ingress({ url }).call(PATH, {}, { within: 60_000 })).rejects.toThrow("does not answer");
  }, 300_000);
});

test("the administration is distinguished from other servers", async () => {
  const names = serviceNames("g");
  const range = { after: "", before: { place: "9", thread: "" }, limit: 10 };
  const scan = (admin: string) => scanThreads({ url: "http://127.0.0.1:1", admin }, names)(range);
  for (const [status, body] of [
    [200, "null"],
    [404, "<html></html>"],
    [400, '{"message":"bad path: /query","source":"ingress"}'],
  ] as const) {
    await expect(scan(await answering(status, body))).rejects.toThrow(
      `cannot list threads (status ${status}): it is not the administration of Restate, whose usual port is 9070`,
    );
  }
  await expect(scan(await answering(401, "{}"))).rejects.toThrow("give a user and a password");
  await expect(scan("http://127.0.0.1:1")).rejects.toThrow("does not answer: name its address with `--admin`");
  const known = await serve((request, response) => {
    if (request.url === "/query") response.end('{"rows":[]}');
    else response.writeHead(request.url === "/services/ngraph.g.store" ? 200 : 404).end("{}");
  });
  expect(await scan(known)).toEqual([]);
  const other = scanThreads({ url: "http://127.0.0.1:1", admin: known }, serviceNames("other"));
  await expect(other(range)).rejects.toThrow("Restate knows no service `ngraph.other.store`");
  const admin = new Admin({ url: "http://127.0.0.1:8080" });
  expect(admin.address).toBe("http://127.0.0.1:9070");
  const detail = admin.refused("refuses", { status: 500, body: '{"message":"no worker"}' });
  expect(detail.message).toBe("the administration of Restate at http://127.0.0.1:9070 refuses (status 500): no worker");
});

test("a run has its result, also if its events cannot be read", async () => {
  const table = tableOf(`graph g { output n: int = 0  node next = n + 1 into n  start -> next -> end }`);
  const read = deferred<void>();
  const url = await serve((request, response) => {
    if (request.url === "/restate/health") response.end("{}");
    else if (request.url!.startsWith("/ngraph.g.events/")) {
      read.resolve();
      response.writeHead(400).end('{"message":"no"}');
    } else {
      const result = '{"error":{"name":"RunError","code":"NG_BAD_INPUT","message":"the result"}}';
      void read.promise.then(() => setTimeout(() => response.end(result), 50));
    }
  });
  const events: RunEvent[] = [];
  const run = createEngine(table, { host: restate(url) }).run({}, { onEvent: (event) => events.push(event) });
  await expect(run).rejects.toMatchObject({ code: "NG_BAD_INPUT", message: "the result" });
  expect(events).toEqual([]);
});

describe("a run that is cancelled before the server has answered", () => {
  const table = tableOf(`graph g { output n: int = 0  node next = n + 1 into n  start -> next -> end }`);

  test("does not start", async () => {
    const asked: string[] = [];
    const stopped = new AbortController();
    const url = await serve((request, response) => {
      asked.push(request.url!);
      stopped.abort();
      setTimeout(() => response.end("{}"), 20);
    });
    const run = createEngine(table, { host: restate(url) }).run({}, { thread: "t", signal: stopped.signal });
    await expect(run).rejects.toMatchObject({ code: "NG_CANCELLED" });
    expect(asked).toEqual(["/restate/health"]);
  });

  test("cancels no run of another client after it has failed", async () => {
    let asked = 0;
    const refusing: typeof fetch = async () => {
      asked++;
      throw new TypeError("the connection is refused");
    };
    const stopped = new AbortController();
    const host = restate({ url: "http://127.0.0.1:1", fetch: refusing });
    const run = createEngine(table, { host }).run({}, { thread: "t", signal: stopped.signal });
    await expect(run).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    const before = asked;
    stopped.abort();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(asked).toBe(before);
  });
});
