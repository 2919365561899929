import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fetchPublic, lookupPublic } from "../../stdlib/http/fetch-public.ts";
import { isPublicAddress } from "../../stdlib/http/public-address.ts";
import { http } from "../../stdlib/nodes/http.ts";
import type { Json } from "../../runtime/value/json.ts";
import { fakeContext } from "./fake-context.ts";

const run = async (args: Record<string, Json>): Promise<unknown> => http(args, fakeContext());

/** Two servers with the same behaviour, which are two origins. */
let servers: Server[];
let first: string;
let second: string;
let answer: RequestListener;
let received: { url: string; method: string; headers: IncomingMessage["headers"]; body: string }[];

beforeEach(async () => {
  received = [];
  servers = [];
  const open = async (): Promise<string> => {
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += chunk));
      request.on("end", () => {
        const { url = "", method = "", headers } = request;
        received.push({ url, method, headers, body });
        answer(request, response);
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  [first, second] = [await open(), await open()];
});
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** Redirects `/` to a location with a status; other paths answer with "done". */
function redirect(location: string, status = 302): void {
  answer = ({ url }, response) => (url === "/" ? response.writeHead(status, { location }).end() : response.end("done"));
}

describe("redirects", () => {
  test("are followed, relative ones too, with headers within one origin", async () => {
    redirect("a?b=1");
    expect(await run({ url: first, headers: { "X-Api-Key": "k" } })).toMatchObject({ status: 200, body: "done" });
    expect(received.map(({ url, headers }) => [url, headers["x-api-key"]])).toEqual([
      ["/", "k"],
      ["/a?b=1", "k"],
    ]);
  });

  test("to another origin lose all headers of the graph", async () => {
    redirect(`${second}/a`);
    const headers = { "X-Api-Key": "k", authorization: "Bearer k", cookie: "k" };
    expect(await run({ url: first, headers })).toMatchObject({ body: "done" });
    expect(JSON.stringify(received[1]?.headers)).not.toMatch(/api-key|authorization|cookie/);
  });

  test("back to the first origin do not bring the headers back", async () => {
    answer = ({ url, headers }, response) => {
      if (url === "/") response.writeHead(302, { location: `${second}/b` }).end();
      else if (url === "/b") response.writeHead(302, { location: `${first}/c` }).end();
      else response.end(String(headers["x-api-key"]));
    };
    expect(await run({ url: first, headers: { "X-Api-Key": "k" } })).toMatchObject({ body: "undefined" });
  });

  test.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [303, "HEAD", "HEAD", ""],
    [302, "PUT", "PUT", '{"a":1}'],
    [307, "POST", "POST", '{"a":1}'],
    [308, "POST", "POST", '{"a":1}'],
  ])("%i turns %s into %s", async (status, method, next, body) => {
    redirect("/a", status);
    await run({ url: first, method, ...(method === "HEAD" ? {} : { body: { a: 1 } }) });
    expect(received[1]).toMatchObject({ method: next, body });
    expect(received[1]?.headers["content-type"]).toBe(body === "" ? undefined : "application/json");
  });

  test("send a body to another origin only if `hosts` names it", async () => {
    redirect(`${second}/a`, 307);
    const request = { url: first, method: "POST", body: "text", headers: { "content-type": "text/x" } };
    await expect(run(request)).rejects.toMatchObject({
      message: `POST ${first}/ was redirected to ${second}, which would receive the body: name its host in \`hosts\` to allow it`,
      retryable: false,
    });
    const hosts = [new URL(first).host, new URL(second).host];
    expect(await run({ ...request, hosts })).toMatchObject({ body: "done" });
    expect(received.at(-1)).toMatchObject({ body: "text", headers: { "content-type": "text/x" } });
  });

  test("are limited; with 0 the redirect is the response", async () => {
    answer = ({ url = "" }, response) => response.writeHead(302, { location: `${url}a` }).end("moved");
    await expect(run({ url: `${first}/?t=secret` })).rejects.toMatchObject({
      message: `GET ${first}/ was redirected more than 5 times`,
      retryable: false,
    });
    expect(received).toHaveLength(6);
    await expect(run({ url: first, redirects: 1 })).rejects.toThrow("more than 1 times");
    await expect(run({ url: first, redirects: 0 })).rejects.toThrow("answered 302 Found: moved");
    expect(await run({ url: first, redirects: 0, check: false })).toMatchObject({ status: 302, body: "moved" });
  });

  test.each([
    "file:///etc/passwd",
    "data:,x",
    "ftp://u:p4ssw0rd@h/x",
    "//u:p4ssw0rd@h/x",
    "javascript:p4ssw0rd?p4ssw0rd",
  ])("to %s are refused", async (location) => {
    redirect(location);
    const failure: unknown = await run({ url: first }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ retryable: false });
    if (location.includes("@")) expect((failure as Error).message).not.toContain("p4ssw0rd");
    expect(received).toHaveLength(1);
  });
});

test("the hosts that the engine allows restrict requests and redirects", async () => {
  const context = { ...fakeContext(), allowedHosts: [new URL(first).host, "*.example.com"] };
  redirect("/a");
  expect(await http({ url: first }, context)).toMatchObject({ status: 200 });
  redirect(`${second}/a?token=secret`);
  await expect(http({ url: first }, context)).rejects.toMatchObject({
    message: `GET ${first}/ was redirected: requests to ${new URL(second).host} are not allowed: \`allow\` does not name \`net:${new URL(second).host}\``,
    retryable: false,
  });
  await expect(http({ url: second }, context)).rejects.toThrow("are not allowed");
});

describe("`hosts`", () => {
  const isAllowed = async (url: string, hosts: Json): Promise<boolean> => {
    const fetching = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response("ok"));
    try {
      return await run({ url, hosts }).then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ message: expect.stringContaining("`hosts` does not name"), retryable: false });
          return false;
        },
      );
    } finally {
      fetching.mockRestore();
    }
  };

  test.each([
    ["https://api.example.com/x", ["api.example.com"], true],
    ["https://API.Example.com/x", ["api.EXAMPLE.com"], true],
    ["http://api.example.com/x", ["api.example.com"], true],
    ["https://a.b.example.com/", ["*.example.com"], true],
    ["https://example.com/", ["*.example.com"], false],
    ["https://badexample.com/", ["*.example.com"], false],
    ["https://api.example.com.evil.org/", ["api.example.com"], false],
    ["https://api.example.com./", ["api.example.com"], false],
    ["https://api.example.com:8443/", ["api.example.com"], false],
    ["https://api.example.com:8443/", ["api.example.com:8443"], true],
    ["http://localhost:3000/", ["localhost:3000"], true],
    ["http://0x7f.1/", ["127.0.0.1"], true],
    ["http://[::1]/", ["[::1]"], true],
    ["https://bücher.example/", ["bücher.example"], true],
    ["https://a.com/", [], false],
  ])("%s with %j: %j", async (url, hosts, allowed) => {
    expect(await isAllowed(url, hosts)).toBe(allowed);
  });

  test("holds for redirects", async () => {
    redirect(`${second}/a?token=secret`);
    await expect(run({ url: first, hosts: [new URL(first).host] })).rejects.toMatchObject({
      message: `GET ${first}/ was redirected: \`hosts\` does not name ${new URL(second).host}`,
      retryable: false,
    });
    expect(received).toHaveLength(1);
  });

  test.each(["https://a.com", "a.com/b", "u@a.com", "*", "a.*.com", ""])("%j is not a host", async (host) => {
    await expect(run({ url: first, hosts: [host] })).rejects.toThrow("`hosts` lists names such as");
  });
});

describe("`private: false`", () => {
  test.each([
    ["8.8.8.8", true],
    ["2606:4700::1111", true],
    ["127.0.0.1", false],
    ["10.1.2.3", false],
    ["172.31.0.1", false],
    ["172.32.0.1", true],
    ["192.168.0.1", false],
    ["169.254.169.254", false],
    ["100.64.0.1", false],
    ["0.0.0.0", false],
    ["224.0.0.1", false],
    ["255.255.255.255", false],
    ["::1", false],
    ["::", false],
    ["::ffff:127.0.0.1", false],
    ["::ffff:8.8.8.8", false],
    ["64:ff9b::7f00:1", false],
    ["2002:7f00:1::", false],
    ["fe80::1", false],
    ["fe80::1%eth0", false],
    ["fc00::1", false],
    ["ff02::1", false],
    ["localhost", false],
  ])("%s is public: %j", (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic);
  });

  test.each([
    "http://127.0.0.1:1/a?token=secret",
    "http://2130706433:1/",
    "http://0x7f.1:1/",
    "http://[::1]:1/",
    "http://[::ffff:127.0.0.1]:1/",
    "http://localhost:1/",
    "http://169.254.169.254/latest/meta-data",
  ])("%s is refused", async (url) => {
    await expect(run({ url, private: false })).rejects.toMatchObject({
      message: expect.stringMatching(/ has a private address, and `private: false` allows public addresses only$/),
      retryable: false,
    });
    expect(received).toEqual([]);
  });

  test("holds for redirects", async () => {
    const fetching = vi.spyOn(globalThis, "fetch");
    redirect(`${second}/a`);
    await expect(run({ url: first, private: false })).rejects.toThrow("has a private address");
    expect(fetching).not.toHaveBeenCalled();
    fetching.mockRestore();
  });

  test("keeps the public addresses of a name, and refuses a name that has none", async () => {
    const dns = process.getBuiltinModule("node:dns");
    const refusal = new Error("private");
    const lookup = async (addresses: readonly string[], all: boolean): Promise<unknown> => {
      const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      const looking = vi
        .spyOn(dns, "lookup")
        .mockImplementation(((
          _host: string,
          _options: object,
          callback: (error: null, found: readonly object[]) => void,
        ) => callback(null, found)) as unknown as typeof dns.lookup);
      try {
        return await new Promise((resolve) => {
          lookupPublic(refusal)("name", { all }, (error, address) => resolve(error ?? address));
        });
      } finally {
        looking.mockRestore();
      }
    };
    expect(await lookup(["10.0.0.1", "8.8.8.8"], false)).toBe("8.8.8.8");
    expect(await lookup(["10.0.0.1", "8.8.8.8", "::1"], true)).toEqual([{ address: "8.8.8.8", family: 4 }]);
    expect(await lookup(["10.0.0.1", "::1"], true)).toBe(refusal);
    expect(await lookup(["10.0.0.1"], false)).toBe(refusal);
  });

  /** Requests a server on this machine as if its address were public. */
  const send = async (url: string, init: Partial<Parameters<typeof fetchPublic>[1]> = {}): Promise<Response> => {
    const net = process.getBuiltinModule("node:net");
    const checking = vi
      .spyOn(net.BlockList.prototype, "check")
      .mockImplementation((_address, family) => family === "ipv6");
    const { signal } = new AbortController();
    try {
      return await fetchPublic(new URL(url), { method: "GET", headers: new Headers(), signal, ...init });
    } finally {
      checking.mockRestore();
    }
  };

  test("sends and receives what `fetch` does", async () => {
    answer = (_, response) =>
      response.writeHead(201, { "content-type": "text/plain", "set-cookie": ["a=1", "b=2"] }).end("é");
    const response = await send(`${first}/p?q=1`, { method: "POST", body: "ä", headers: new Headers({ "X-A": "1" }) });
    expect([response.status, response.statusText, await response.text()]).toEqual([201, "Created", "é"]);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(received[0]).toMatchObject({
      url: "/p?q=1",
      method: "POST",
      body: "ä",
      headers: { "x-a": "1", "content-type": "text/plain;charset=UTF-8", "content-length": "2" },
    });
  });

  test("decodes a body that is compressed although none was asked for", async () => {
    answer = (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("text"));
    expect(await (await send(first)).text()).toBe("text");
    answer = (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip");
    await expect((await send(first)).text()).rejects.toThrow("incorrect header check");
    answer = (_, response) => response.writeHead(200, { "content-encoding": "zstd" }).end("x");
    await expect(send(first)).rejects.toThrow("encoding");
    answer = (_, response) => response.writeHead(204).end();
    expect(await (await send(first)).text()).toBe("");
  });

  test("ends with its signal", async () => {
    const controller = new AbortController();
    answer = () => controller.abort(new Error("stop it"));
    await expect(send(first, { signal: controller.signal })).rejects.toThrow("stop it");
  });
});
