/** Requests of workers: as `fetch` makes them. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createNodeRequest } from "../../hosts/restate/node-request.ts";

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`;
}

const post = createNodeRequest();
const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"text":"\u{1f600}"}' };

test("an answer has its status and its text, and a connection is used again", async () => {
  const ports = new Set<number | undefined>();
  const url = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    request.setEncoding("utf8");
    let body = "";
    request.on("data", (part: string) => (body += part));
    request.on("end", () =>
      response.writeHead(body.includes("\u{1f600}") ? 201 : 500).end(`${request.method} ${body}`),
    );
  });
  for (let count = 0; count < 3; count++) {
    const answer = await post(url, init);
    expect([answer.ok, answer.status, await answer.text()]).toEqual([true, 201, `POST ${init.body}`]);
  }
  expect(ports.size).toBe(1);
  expect((await post(url, { ...init, body: "{}" })).ok).toBe(false);
});

test("a request fails when its connection does, and when it is aborted", async () => {
  const url = await serve((request, response) => {
    if (request.headers["x-end"] === "cut") {
      response.writeHead(200, { "content-length": "100" }).write("half");
      setTimeout(() => response.destroy(), 10);
    } else if (request.headers["x-end"] === "reset") request.socket.destroy();
  });
  const failing = (end: string): Promise<unknown> => post(url, { ...init, headers: { "x-end": end } });
  await expect(failing("cut")).rejects.toThrow();
  await expect(failing("reset")).rejects.toThrow();
  await expect(post("http://127.0.0.1:1/", init)).rejects.toThrow("ECONNREFUSED");
  const controller = new AbortController();
  const waiting = post(url, { ...init, signal: controller.signal });
  setTimeout(() => controller.abort(new Error("no longer needed")), 20);
  await expect(waiting).rejects.toThrow("no longer needed");
  await expect(post(url, { ...init, signal: controller.signal })).rejects.toThrow("no longer needed");
});
