import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createFileTaskCache,
  type FileTaskCache,
  type FileTaskCacheOptions,
} from "../../cli/plan/cache/file-task-cache.ts";
import { openHttpCache } from "../../cli/plan/cache/http-cache.ts";
import { openSharedCache } from "../../cli/plan/cache/shared-cache.ts";
import { hashFiles } from "../../cli/plan/hash-files.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { TaskCacheRequest } from "../../runtime/plan/task-cache.ts";

const remarks: string[] = [];
const open: { close(): unknown }[] = [];
let base = "";
let root = "";

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ngraph-cache-"));
  root = tree("a");
  remarks.length = 0;
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  rmSync(base, { recursive: true, force: true });
});

function isOtherFileSystem(path: string): boolean {
  return existsSync(path) && lstatSync(path).dev !== lstatSync(tmpdir()).dev;
}

/** A tree with the same inputs. */
function tree(name: string): string {
  const path = join(base, name);
  mkdirSync(join(path, "src"), { recursive: true });
  writeFileSync(join(path, "src/a.txt"), "one");
  return path;
}

function cacheOf(at: string, options: Partial<FileTaskCacheOptions> = {}): FileTaskCache {
  return createFileTaskCache(join(at, ".ngraph/cache"), {
    root: at,
    isForced: false,
    redact: (text) => text,
    onRemark: (text) => remarks.push(text),
    ...options,
  });
}

function request(more: Partial<TaskCacheRequest> = {}): TaskCacheRequest {
  return {
    plan: "p",
    task: "build",
    call: { builtin: "shell", args: [["command", "build"]] },
    touches: [{ path: "dist/**", mode: "write" }],
    cache: { inputs: ["src/**"], outputs: ["dist/**"] },
    upstream: {},
    ...more,
  };
}

/** Looks for a result, and builds if there is none. Returns what has changed. */
async function build(
  cache: FileTaskCache,
  at: string,
  more: Partial<TaskCacheRequest> = {},
  result: Json = [],
): Promise<readonly string[]> {
  const asked = request(more);
  const { changed, result: found } = await cache.look(asked);
  if (found !== undefined) return ["cached"];
  mkdirSync(join(at, "dist/lib"), { recursive: true });
  writeFileSync(join(at, "dist/lib/o.txt"), `made of ${readFileSync(join(at, "src/a.txt"), "utf8")}`, { mode: 0o755 });
  rmSync(join(at, "dist/latest"), { force: true });
  symlinkSync("lib/o.txt", join(at, "dist/latest"));
  await cache.keep(asked, result);
  await cache.close();
  return changed;
}

describe("results in a tree", () => {
  test.skipIf(!isOtherFileSystem("/dev/shm"))("are restored from another file system", async () => {
    const directory = mkdtempSync("/dev/shm/ngraph-cache-");
    open.push({ close: () => rmSync(directory, { recursive: true }) });
    const options = {
      root,
      isForced: false,
      redact: (text: string) => text,
      onRemark: (text: string) => remarks.push(text),
    };
    await build(createFileTaskCache(directory, options), root);
    rmSync(join(root, "dist"), { recursive: true });
    expect(await build(createFileTaskCache(directory, options), root)).toEqual(["cached"]);
    expect(readFileSync(join(root, "dist/latest"), "utf8")).toBe("made of one");
    expect(lstatSync(join(root, "dist/lib/o.txt")).mode & 0o100).toBe(0o100);
    expect(readdirSync(join(root, "dist/lib"))).toEqual(["o.txt"]);
    expect(remarks).toEqual([]);
  });

  test("a result has no files that another task has written", async () => {
    const cache = cacheOf(root);
    const write = async (
      task: string,
      file: string,
      text: string,
      more: Partial<TaskCacheRequest> = {},
    ): Promise<string> => {
      const asked = request({ task, ...more });
      if ((await cache.look(asked)).result !== undefined) return "cached";
      mkdirSync(join(root, "dist"), { recursive: true });
      writeFileSync(join(root, "dist", file), text);
      await cache.keep(asked, []);
      return "run";
    };
    expect(await write("a", "a.txt", "a1")).toBe("run");
    expect(await write("b", "b.txt", "b1")).toBe("run");
    expect(await write("a", "a.txt", "a2", { call: "2" })).toBe("run");
    // The result of `b` does not bring back the old file of `a`.
    rmSync(join(root, "dist/b.txt"));
    expect(await write("b", "b.txt", "wrong")).toBe("cached");
    expect(readFileSync(join(root, "dist/b.txt"), "utf8")).toBe("b1");
    expect(readFileSync(join(root, "dist/a.txt"), "utf8")).toBe("a2");
    expect(remarks).toEqual([]);
    expect(await write("c", "a.txt", "c")).toBe("run");
    expect(remarks).toEqual(["c has written outputs of another cached task: dist/a.txt"]);
  });

  test("two tasks with one key are stored at once", async () => {
    const cache = cacheOf(root);
    const asked = [request(), request()];
    for (const each of asked) await cache.look(each);
    mkdirSync(join(root, "dist"));
    writeFileSync(join(root, "dist/o.txt"), "o".repeat(100_000));
    await Promise.all(asked.map((each) => cache.keep(each, [])));
    expect(remarks).toEqual([]);
    expect(readdirSync(join(root, ".ngraph/cache/results"))).toHaveLength(1);
    expect(await build(cacheOf(root), root)).toEqual(["cached"]);
  });

  test("what a killed run has left is removed", async () => {
    await build(cacheOf(root), root);
    const results = join(root, ".ngraph/cache/results");
    mkdirSync(join(root, ".ngraph/cache/restore-abc"));
    writeFileSync(join(root, ".ngraph/cache/restore-abc/0"), "part");
    writeFileSync(join(results, "key.gz.7.tmp"), "part");
    expect(await build(cacheOf(root), root)).toEqual(["cached"]);
    expect(readdirSync(join(root, ".ngraph/cache")).filter((name) => name.startsWith("restore-"))).toEqual([]);
    expect(readdirSync(results)).toHaveLength(1);
  });

  test("a result without files is no result of a task with outputs", async () => {
    await build(cacheOf(root), root);
    const results = join(root, ".ngraph/cache/results");
    const [name = ""] = readdirSync(results);
    const header = { format: "ngraph task result 1", key: name.replace(".gz", ""), result: [], files: [] };
    writeFileSync(join(results, name), gzipSync(`${JSON.stringify(header)}\n`));
    rmSync(join(root, "dist"), { recursive: true });
    expect(await build(cacheOf(root), root)).toEqual(["the stored result"]);
    expect(remarks).toEqual(["build: the stored result cannot be used: it has none of the outputs of the task"]);
  });

  test("a result is used if the cache cannot be written", async () => {
    await build(cacheOf(root), root);
    const cache = join(root, ".ngraph/cache");
    const history = readdirSync(cache).find((name) => name.endsWith(".json")) ?? "";
    rmSync(join(cache, history));
    // No user can write a file in its place.
    mkdirSync(join(cache, history));
    rmSync(join(root, "dist"), { recursive: true });
    expect(await build(cacheOf(root), root)).toEqual(["cached"]);
    expect(readFileSync(join(root, "dist/lib/o.txt"), "utf8")).toBe("made of one");
  });

  test("what the task has printed is stored, and replayed with the result", async () => {
    const replayed: string[] = [];
    const options: Partial<FileTaskCacheOptions> = {
      outputOf: (node) => `printed by ${node}\n`,
      onReplay: (node, output) => replayed.push(`${node}: ${output}`),
    };
    await build(cacheOf(root, options), root, { node: "deploy/build" });
    expect(replayed).toEqual([]);
    expect(await build(cacheOf(root, options), root, { node: "other/build" })).toEqual(["cached"]);
    expect(replayed).toEqual(["other/build: printed by deploy/build\n"]);
  });

  test("several are kept, and their outputs come back with modes and links", async () => {
    const cache = cacheOf(root);
    expect(await build(cache, root)).toEqual(["first run"]);
    writeFileSync(join(root, "src/a.txt"), "two");
    expect(await build(cache, root)).toEqual(["src/a.txt"]);
    writeFileSync(join(root, "src/a.txt"), "one");
    expect(await build(cacheOf(root), root)).toEqual(["cached"]);
    expect(readFileSync(join(root, "dist/lib/o.txt"), "utf8")).toBe("made of one");
    rmSync(join(root, "dist"), { recursive: true });
    expect(await build(cache, root)).toEqual(["cached"]);
    expect(readFileSync(join(root, "dist/latest"), "utf8")).toBe("made of one");
    expect(readlinkSync(join(root, "dist/latest"))).toBe("lib/o.txt");
    expect(lstatSync(join(root, "dist/lib/o.txt")).mode & 0o100).toBe(0o100);
    expect(remarks).toEqual([]);
  });

  test("outputs of another result are deleted, and no file that the cache does not know", async () => {
    const cache = cacheOf(root);
    await build(cache, root);
    writeFileSync(join(root, "src/a.txt"), "two");
    const asked = request();
    await cache.look(asked);
    writeFileSync(join(root, "dist/two.txt"), "two");
    await cache.keep(asked, []);
    writeFileSync(join(root, "dist/mine.txt"), "mine");
    writeFileSync(join(root, "src/a.txt"), "one");
    expect(await build(cache, root)).toEqual(["cached"]);
    expect(readdirSync(join(root, "dist")).sort()).toEqual(["latest", "lib", "mine.txt"]);
  });

  test("variables and tools are inputs", async () => {
    const tool = join(base, "version");
    writeFileSync(tool, "1");
    process.env["NGRAPH_TEST_MODE"] = "x";
    const more = { cache: { ...request().cache, variables: ["NGRAPH_TEST_MODE"], tools: [`cat ${tool}`] } };
    try {
      await build(cacheOf(root), root, more);
      expect(await build(cacheOf(root), root, more)).toEqual(["cached"]);
      writeFileSync(tool, "2");
      process.env["NGRAPH_TEST_MODE"] = "";
      expect(await build(cacheOf(root), root, more)).toEqual(["variable NGRAPH_TEST_MODE", `tool \`cat ${tool}\``]);
      delete process.env["NGRAPH_TEST_MODE"];
      expect(await build(cacheOf(root), root, more)).toEqual(["variable NGRAPH_TEST_MODE"]);
      rmSync(tool);
      expect(await build(cacheOf(root), root, more)).toEqual(["a tool that has failed"]);
      expect(remarks).toEqual([`build is not cached: \`cat ${tool}\` ended with exit code 1`]);
    } finally {
      delete process.env["NGRAPH_TEST_MODE"];
    }
  });

  test("a result is not stored if an input changed meanwhile, if it has a secret, or if the outputs are missing", async () => {
    const cache = cacheOf(root, { redact: (text) => text.replaceAll("hunter2", "***") });
    const changing = request();
    await cache.look(changing);
    writeFileSync(join(root, "src/a.txt"), "edited by a person");
    mkdirSync(join(root, "dist"));
    writeFileSync(join(root, "dist/o"), "");
    await cache.keep(changing, []);
    expect(await build(cache, root, {}, [["token", "hunter2"]])).toEqual(["first run"]);
    const wrong = request({ cache: { inputs: ["src/**"], outputs: ["build/**"] } });
    await cache.look(wrong);
    await cache.keep(wrong, []);
    expect(remarks).toEqual([
      "the result of build is not stored: src/a.txt changed while it ran",
      "the result of build is not stored: it contains a secret",
      "the result of build is not stored: no file matches its outputs build/**",
    ]);
    expect(existsSync(join(root, ".ngraph/cache/results"))).toBe(false);
  });

  test("at most 20 results of a task are kept", async () => {
    const cache = cacheOf(root);
    for (let round = 0; round < 22; round++) {
      writeFileSync(join(root, "src/a.txt"), `round ${round}`);
      await build(cache, root);
    }
    expect(readdirSync(join(root, ".ngraph/cache/results"))).toHaveLength(20);
  });

  test("a damaged result is dropped, and the task runs", async () => {
    const cache = cacheOf(root);
    await build(cache, root);
    const [name = ""] = readdirSync(join(root, ".ngraph/cache/results"));
    const file = join(root, ".ngraph/cache/results", name);
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, whole.length - 20));
    rmSync(join(root, "dist"), { recursive: true });
    expect(await build(cache, root)).toEqual(["the stored result"]);
    expect(remarks).toEqual(["build: the stored result cannot be used: it is not a whole gzip file"]);
    expect(await build(cache, root)).toEqual(["cached"]);
  });

  test("a fingerprint changes with the files and the value, and with nothing else", async () => {
    const cache = cacheOf(root);
    const first = cache.fingerprint(["src/**"], [1]);
    writeFileSync(join(root, "other.txt"), "");
    expect(cache.fingerprint(["src/**"], [1])).toBe(first);
    expect(cache.fingerprint(["src/**"], [2])).not.toBe(first);
    writeFileSync(join(root, "src/b.txt"), "");
    expect(cache.fingerprint(["src/**"], [1])).not.toBe(first);
  });
});

describe("a shared folder", () => {
  test("that can only be read gives results", async () => {
    const shared = openSharedCache(join(base, "shared"), {});
    await build(cacheOf(root, { shared }), root);
    let puts = 0;
    const readOnly = {
      ...shared,
      put: () => Promise.reject(Object.assign(new Error(`no place ${++puts}`), { code: "EROFS" })),
    };
    const other = tree("b");
    const cache = cacheOf(other, { shared: readOnly });
    for (const text of ["two", "three"]) {
      writeFileSync(join(other, "src/a.txt"), text);
      await build(cache, other);
    }
    expect(puts).toBe(1);
    expect(remarks).toEqual([`the shared cache ${shared.name} is only read: the file system is read-only`]);
    writeFileSync(join(other, "src/a.txt"), "one");
    expect(await build(cache, other)).toEqual(["cached"]);
  });

  test.skipIf(!existsSync("/proc/self"))("below a path that cannot be made is refused", () => {
    expect(() => openSharedCache("/proc/ngraph/cache", {})).toThrow("--shared-cache /proc/ngraph/cache");
  });

  test("gives the result to another tree", async () => {
    const shared = openSharedCache(join(base, "shared"), {});
    await build(cacheOf(root, { shared }), root);
    const other = tree("b");
    expect(await build(cacheOf(other, { shared }), other)).toEqual(["cached"]);
    expect(readFileSync(join(other, "dist/latest"), "utf8")).toBe("made of one");
    // `--no-cache` takes nothing.
    expect(await build(cacheOf(tree("c"), { shared, isForced: true }), join(base, "c"))).toEqual(["--no-cache"]);
  });

  test("with a signature key, results without its signature are not used", async () => {
    const shared = openSharedCache(join(base, "shared"), {});
    await build(cacheOf(root, { shared, signatureKey: "k" }), root);
    const other = tree("b");
    expect(await build(cacheOf(other, { shared, signatureKey: "k" }), other)).toEqual(["cached"]);
    const third = tree("c");
    expect(await build(cacheOf(third, { shared, signatureKey: "other" }), third)).toEqual(["first run"]);
    expect(remarks[0]).toMatch(/^the shared cache .*: the result [0-9a-f]{12} has no valid signature$/);
  });

  type Bad = { readonly path: string; readonly link?: string; readonly text?: string; readonly sha256?: string };
  const inDist: Bad = { path: "dist/ok", text: "ok" };
  test.each<[string, readonly Bad[], string]>([
    ["a path above the tree", [{ path: "../evil", text: "x" }], '"../evil" leads outside of the tree'],
    ["a path above the tree within", [{ path: "dist/../../evil", text: "x" }], "leads outside of the tree"],
    ["an absolute path", [{ path: "/tmp/evil", text: "x" }], "leads outside of the tree"],
    ["a path of Windows", [{ path: "dist\\..\\evil", text: "x" }], "leads outside of the tree"],
    ["a path that is no output", [inDist, { path: "src/a.txt", text: "x" }], "is not among the outputs of the task"],
    ["a hook of git", [{ path: "dist/.Git/hooks/x", text: "x" }], "is a file of git or ngraph"],
    ["a link out of the tree", [{ path: "dist/x", link: "../../evil" }], "is a link that leads outside of the tree"],
    ["an absolute link", [{ path: "dist/x", link: "/etc" }], "is a link that leads outside of the tree"],
    [
      "a link out of the tree by another link",
      [
        { path: "dist/x", link: ".." },
        { path: "dist/y", link: "x/.." },
      ],
      "is a link with `..` behind a name",
    ],
    ["a link to git's files", [{ path: "dist/x", link: "../.git/hooks" }], "is a link to files of git or ngraph"],
    [
      "a file behind a link",
      [
        { path: "dist/x", link: "." },
        { path: "dist/x/y", text: "x" },
      ],
      "leads through a file or a link",
    ],
    ["a path twice", [inDist, inDist], "is in it twice"],
    ["a wrong digest", [inDist, { path: "dist/x", text: "x", sha256: "0" }], "does not have the content of its digest"],
  ])("%s is refused, and nothing is written", async (_, files, message) => {
    const shared = openSharedCache(join(base, "shared"), {});
    await build(cacheOf(root, { shared }), root);
    const [name = ""] = readdirSync(join(base, "shared"));
    const key = name.replace(".ngraph.gz", "");
    const stored = files.map(({ path, link, text = "", sha256 }) =>
      link === undefined
        ? { path, size: text.length, sha256: sha256 ?? hash(text), isExecutable: false }
        : { path, link },
    );
    const header = { format: "ngraph task result 1", key, result: [], files: stored };
    const content = files.map(({ text = "" }) => text).join("");
    writeFileSync(join(base, "shared", name), gzipSync(`${JSON.stringify(header)}\n${content}`));
    const other = tree("b");
    const cache = cacheOf(other, { shared });
    expect(await cache.look(request())).toEqual({ changed: ["the stored result"] });
    expect(remarks.join("\n")).toContain(message);
    expect(readdirSync(other).sort()).toEqual([".ngraph", "src"]);
    expect(readdirSync(join(other, ".ngraph/cache"))).toEqual(["results"]);
    expect(existsSync(join(base, "evil"))).toBe(false);
  });

  test.skipIf(process.platform === "win32")(
    "pipes are not read, and a folder in place of a result is no fault",
    async () => {
      spawnSync("mkfifo", [join(root, "src/pipe")]);
      await build(cacheOf(root), root);
      expect(await build(cacheOf(root), root)).toEqual(["cached"]);
      const results = join(root, ".ngraph/cache/results");
      const [name = ""] = readdirSync(results);
      rmSync(join(results, name));
      mkdirSync(join(results, name));
      expect(await build(cacheOf(root), root)).toEqual(["the stored result"]);
      // A pipe in the place of a shared result.
      const folder = join(base, "shared");
      mkdirSync(folder);
      spawnSync("mkfifo", [join(folder, name.replace(".gz", ".ngraph.gz"))]);
      rmSync(join(results, name), { recursive: true });
      remarks.length = 0;
      await build(cacheOf(root, { shared: openSharedCache(folder, {}) }), root);
      expect(remarks.join()).toContain("is not a file");
    },
  );

  test("the whole content of a large input counts", () => {
    const content = "0123456789".repeat(100_000);
    writeFileSync(join(root, "src/large"), content);
    expect(hashFiles(root, ["src/large"])["src/large"]).toBe(hash(content));
  });

  test("a result is not written through a link of the tree", async () => {
    const shared = openSharedCache(join(base, "shared"), {});
    await build(cacheOf(root, { shared }), root);
    const other = tree("b");
    mkdirSync(join(base, "outside"));
    symlinkSync("../outside", join(other, "dist"));
    expect(await cacheOf(other, { shared }).look(request())).toEqual({ changed: ["the stored result"] });
    expect(remarks.join()).toContain("leads through a link of the tree");
    expect(readdirSync(join(base, "outside"))).toEqual([]);
  });
});

type Handler = (request: IncomingMessage, response: ServerResponse, store: Map<string, Buffer>) => void;

/** A server with Turborepo's protocol, which `misbehave` replaces for each request that it answers. */
async function serve(
  misbehave?: Handler,
): Promise<{ readonly url: string; readonly seen: string[]; readonly store: Map<string, Buffer> }> {
  const store = new Map<string, Buffer>();
  const seen: string[] = [];
  const server = createServer((incoming, response) => {
    seen.push(
      `${incoming.method} ${incoming.url} ${incoming.headers.authorization ?? ""}`.replace(/[0-9a-f]{64}/, "KEY"),
    );
    if (misbehave !== undefined) return misbehave(incoming, response, store);
    answer(incoming, response, store);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api?slug=team`, seen, store };
}

const answer: Handler = (incoming, response, store) => {
  const key = new URL(incoming.url ?? "", "http://x").pathname;
  if (incoming.method === "GET") {
    const body = store.get(key);
    response.writeHead(body === undefined ? 404 : 200).end(body);
    return;
  }
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  incoming.on("end", () => {
    const body = Buffer.concat(chunks);
    expect(incoming.headers["content-length"]).toBe(String(body.length));
    store.set(key, body);
    response.writeHead(202).end("{}");
  });
};

describe("a server with Turborepo's protocol", () => {
  test("gives the result to another tree", async () => {
    const { url, seen } = await serve();
    await build(cacheOf(root, { shared: openHttpCache(url, "secret") }), root);
    const other = tree("b");
    expect(await build(cacheOf(other, { shared: openHttpCache(url, "secret") }), other)).toEqual(["cached"]);
    expect(readFileSync(join(other, "dist/latest"), "utf8")).toBe("made of one");
    const path = "/api/v8/artifacts/KEY?slug=team Bearer secret";
    expect(seen).toEqual([`GET ${path}`, `PUT ${path}`, `GET ${path}`]);
    expect(remarks).toEqual([]);
  });

  test.each<[string, Handler, string, idle?: number]>([
    ["401", (_, response) => response.writeHead(401).end(), "it answers 401: NGRAPH_CACHE_TOKEN is missing"],
    ["500", (_, response) => response.writeHead(500).end("a".repeat(100_000)), "it answers 500"],
    ["302", (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), "redirections"],
    ["a closed connection", (incoming) => incoming.socket.destroy(), "it closed the connection"],
    [
      "a cut body",
      (_, response) => {
        response.writeHead(200, { "content-length": 1000 });
        response.write("short");
        setTimeout(() => response.socket?.destroy(), 10);
      },
      "it closed the connection",
    ],
    ["silence", () => {}, "no answer within 0.2 s", 200],
    [
      "a body that never ends",
      (_, response) => {
        response.writeHead(200);
        response.write("short");
      },
      "no answer within 0.2 s",
      200,
    ],
  ])("%s: the task runs, and the server is not asked again", async (_, misbehave, message, idle = 60_000) => {
    const { url, seen } = await serve(misbehave);
    const cache = cacheOf(root, { shared: openHttpCache(url, "secret", { idle }) });
    expect(await build(cache, root)).toEqual(["first run"]);
    expect(remarks).toHaveLength(1);
    expect(remarks[0]).toMatch(/^the shared cache 127\.0\.0\.1:\d+ is not used any more: /);
    expect(remarks[0]).toContain(message);
    expect(seen).toHaveLength(1);
    expect(await build(cache, root)).toEqual(["cached"]);
  });

  test.each<[string, Handler, string]>([
    ["text that is no archive", (_, response) => response.end("<html>"), "it is not a whole gzip file"],
    ["gzip of something else", (_, response) => response.end(gzipSync("hello\n")), "its header is not JSON"],
    [
      "another key's result",
      (_, response) =>
        response.end(
          gzipSync(`${JSON.stringify({ format: "ngraph task result 1", key: "0", result: [], files: [] })}\n`),
        ),
      "it is the result of something else",
    ],
  ])("%s: the task runs", async (_, misbehave, message) => {
    const { url, store } = await serve((incoming, response, all) =>
      incoming.method === "GET" ? misbehave(incoming, response, all) : answer(incoming, response, all),
    );
    expect(await build(cacheOf(root, { shared: openHttpCache(url, "t") }), root)).toEqual(["the stored result"]);
    expect(remarks).toEqual([`build: the stored result cannot be used: ${message}`]);
    expect(store.size).toBe(1);
  });

  test("a server that only refuses to store is named once", async () => {
    const { url } = await serve((incoming, response, store) =>
      incoming.method === "GET" ? answer(incoming, response, store) : response.writeHead(403).end(),
    );
    const cache = cacheOf(root, { shared: openHttpCache(url, undefined) });
    await build(cache, root);
    writeFileSync(join(root, "src/a.txt"), "two");
    await build(cache, root);
    expect(remarks).toHaveLength(1);
    expect(remarks[0]).toContain("it answers 403");
  });

  test.each([
    ["ftp://cache.example", "is not a known kind of address"],
    ["https://user:hunter2@cache.example", "has a user or a password"],
    ["http://cache.example", "without encryption"],
    ["https://", "the text is not an address"],
  ])("the address %s is refused", (place, message) => {
    const opening = (): unknown => openSharedCache(place, { NGRAPH_CACHE_TOKEN: "t" });
    expect(opening).toThrow(message);
    expect(opening).not.toThrow("hunter2");
  });
});

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
