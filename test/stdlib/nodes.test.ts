import { groupMembers } from "../../stdlib/shell/group-members.ts";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, mkdtempSync, readFileSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MAX_BODY_BYTES } from "../../stdlib/nodes/http.ts";
import { createPrint } from "../../stdlib/nodes/print.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";
import { nodeSignatures, SUPPLIED_BY_RUNNER } from "../../stdlib/signatures.ts";
import type { ExpectedType } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { fakeContext, Paused } from "./fake-context.ts";

/** What a node returns, rejections included. */
async function run(name: string, args: Record<string, Json>, context = fakeContext()): Promise<unknown> {
  const node = builtinNodes[name];
  if (node === undefined) throw new Error(`no node ${name}`);
  return node(args, context);
}

test("every signature has code, or is marked as supplied by the runner", () => {
  expect([...nodeSignatures.keys()].sort()).toEqual([...Object.keys(builtinNodes), ...SUPPLIED_BY_RUNNER].sort());
  expect(builtinNodes["constructor"]).toBeUndefined();
});

describe("print", () => {
  test("writes strings as they are and other values as JSON", async () => {
    const lines: string[] = [];
    const print = createPrint((line) => lines.push(line));
    await print({ text: "a\nb" }, fakeContext());
    await print({ text: { a: [1, null] } }, fakeContext());
    expect(lines).toEqual(["a\nb", '{"a":[1,null]}']);
  });
});

describe("fail", () => {
  test("fails with its message and is not tried again", async () => {
    await expect(run("fail", { message: "no such customer" })).rejects.toMatchObject({
      message: "no such customer",
      retryable: false,
    });
  });
});

describe("ask", () => {
  test("pauses with the question, then gives the answer", async () => {
    const error = await run("ask", { question: "ok?" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Paused);
    expect(error).toMatchObject({ payload: { question: "ok?" } });
    expect(await run("ask", { question: "ok?" }, fakeContext({ answers: [{ any: 1 }] }))).toEqual({ any: 1 });
  });

  const literals: ValueType = {
    kind: "union",
    members: [
      { kind: "literal", value: "send" },
      { kind: "literal", value: "again" },
    ],
  };

  test("choices are part of the pause, and nothing else is accepted", async () => {
    const error = await run("ask", { question: "ok?", choices: ["send", "again"], details: [1] }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      payload: { question: "ok?", choices: ["send", "again"], details: [1] },
      expects: { type: literals, types: [] },
    });
  });

  test("without choices the type of the result gives them, where it has few values", async () => {
    const pause = async (expects: ExpectedType): Promise<unknown> =>
      run("ask", { question: "ok?" }, fakeContext({ expects })).catch((thrown: unknown) => thrown);
    const named = { type: { kind: "ref", name: "Verdict" }, types: [{ name: "Verdict", type: literals }] } as const;
    expect(await pause(named)).toMatchObject({ payload: { choices: ["send", "again"] }, expects: named });
    const open = { type: { kind: "string" }, types: [] } as const;
    expect(await pause(open)).toMatchObject({ payload: { question: "ok?" }, expects: open });
    const loop = {
      type: { kind: "ref", name: "L" },
      types: [{ name: "L", type: { kind: "ref", name: "L" } }],
    } as const;
    expect(await pause(loop)).toMatchObject({ payload: { question: "ok?" } });
  });

  test("an answer with parts has the JSON Schema of its type, for a form", async () => {
    const payload = async (expects: ExpectedType, more: Record<string, Json> = {}): Promise<Json> => {
      const thrown: unknown = await run("ask", { question: "ok?", ...more }, fakeContext({ expects })).catch(
        (error: unknown) => error,
      );
      expect(thrown).toBeInstanceOf(Paused);
      return (thrown as Paused).payload;
    };
    const review: ValueType = {
      kind: "record",
      fields: [
        { name: "verdict", type: literals },
        { name: "score", type: { kind: "int" }, optional: true },
      ],
    };
    const schema = {
      type: "object",
      properties: { verdict: { type: "string", enum: ["send", "again"] }, score: { type: "integer" } },
      required: ["verdict"],
      additionalProperties: false,
    };
    expect(await payload({ type: review, types: [] })).toEqual({ question: "ok?", schema });
    const named: ExpectedType = { type: { kind: "ref", name: "R" }, types: [{ name: "R", type: review }] };
    expect(await payload(named)).toEqual({
      question: "ok?",
      schema: { $ref: "#/$defs/R", $defs: { R: schema } },
    });
    expect(await payload({ type: { kind: "list", item: { kind: "string" } }, types: [] })).toMatchObject({
      schema: { type: "array", items: { type: "string" } },
    });
    expect(await payload({ type: { kind: "string" }, types: [] })).toEqual({ question: "ok?" });
    expect(await payload({ type: { kind: "json" }, types: [] })).toEqual({ question: "ok?" });
    expect(await payload({ type: review, types: [] }, { choices: ["send"] })).not.toHaveProperty("schema");
  });
});

describe("sleep", () => {
  const slept: number[] = [];
  const context = { ...fakeContext(), sleep: (duration: number) => void slept.push(duration) };

  test("sleeps for its duration, and refuses a value that is no duration", async () => {
    expect(await run("sleep", { duration: 0 }, context)).toBeNull();
    expect(await run("sleep", { duration: 250 }, context)).toBeNull();
    expect(slept).toEqual([0, 250]);
    await expect(run("sleep", { duration: -1 }, context)).rejects.toThrow("number of milliseconds");
    await expect(run("sleep", { duration: Number.MAX_SAFE_INTEGER }, context)).rejects.toThrow("36500 days at most");
    await expect(run("sleep", { duration: 1 })).rejects.toThrow("runs in an engine");
  });
});

describe("receive", () => {
  test("receives the signal of its name, and refuses a value that is no name", async () => {
    const context = { ...fakeContext(), receive: <T>(name: string) => `signal ${name}` as T };
    expect(await run("receive", { name: "parcel" }, context)).toBe("signal parcel");
    await expect(run("receive", { name: "" }, context)).rejects.toThrow("the name of a signal");
    await expect(run("receive", { name: "parcel" })).rejects.toThrow("runs in an engine");
  });
});

describe("shell", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "ngraph-shell-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test("returns the exit code, the error output, and the output without its last line break", async () => {
    expect(await run("shell", { command: "echo out; echo err >&2" })).toEqual({
      code: 0,
      stdout: "out",
      stderr: "err\n",
    });
  });

  test("takes a directory, variables and input; the command knows thread and idempotency key", async () => {
    const args = {
      command: 'cat; pwd; echo "$A $NGRAPH_THREAD $NGRAPH_IDEMPOTENCY_KEY"',
      cwd: directory,
      env: { A: "1" },
      input: "in\n",
    };
    expect(await run("shell", args)).toMatchObject({
      stdout: expect.stringMatching(/^in\n.*ngraph-shell-.*\n1 thread-1 key-1$/),
    });
  });

  test("another exit code fails the node with the command's error output", async () => {
    await expect(run("shell", { command: "echo bad >&2; exit 3" })).rejects.toMatchObject({
      message: "`echo bad >&2; exit 3` ended with exit code 3:\nbad",
      retryable: true,
      details: { code: 3 },
    });
    expect(await run("shell", { command: "exit 3", check: false })).toEqual({ code: 3, stdout: "", stderr: "" });
    expect(await run("shell", { command: "kill -9 $$", check: false })).toMatchObject({ code: 137 });
  });

  test("a directory that does not exist is named", async () => {
    await expect(run("shell", { command: "true", cwd: join(directory, "none") })).rejects.toThrow(
      /directory .*none.* does not exist/,
    );
  });

  test("a command that does not read its input is no failure", async () => {
    expect(await run("shell", { command: "true", input: "x".repeat(1_000_000) })).toMatchObject({ code: 0 });
  });

  test("too much output that is stored ends the command and fails the node", async () => {
    const field = { name: "stdout", type: { kind: "string" } } as const;
    const context = fakeContext({ expects: { type: { kind: "record", fields: [field] }, types: [] } });
    await expect(run("shell", { command: "yes" }, context)).rejects.toMatchObject({
      message: "`yes` wrote more than 10 MiB to stdout, which the graph stores",
      retryable: false,
    });
  });

  test("of output that is not stored, only the end is kept", async () => {
    const { code, stdout } = (await run("shell", { command: "yes | head -c 20000000; echo end" })) as {
      code: number;
      stdout: string;
    };
    expect([code, stdout.slice(-5), stdout.length < 1_000_000]).toEqual([0, "y\nend", true]);
  });

  test("cancelling ends the command and what it started", async () => {
    const controller = new AbortController();
    const started = join(directory, "pid");
    const appeared = new Promise<void>((resolve) => {
      const watcher = watch(directory, () => {
        if (!existsSync(started) || readFileSync(started, "utf8").trim() === "") return;
        watcher.close();
        resolve();
      });
    });
    // The child holds the command's output open for ten minutes: the node only ends when the child has ended too.
    const running = run(
      "shell",
      { command: `sh -c 'echo $$ > ${started}; exec sleep 600'; true` },
      fakeContext({ signal: controller.signal }),
    );
    await appeared;
    controller.abort(new Error("stop it"));
    await expect(running).rejects.toThrow("stop it");
  });

  test.skipIf(process.platform === "win32")(
    "does not wait for background processes that hold its output open",
    async () => {
      const { stdout } = (await run("shell", { command: "sleep 600 & echo $$" })) as { stdout: string };
      expect(groupMembers(Number(stdout))).toEqual([]);
      const away =
        "import('node:child_process').then(({ spawn }) => { " +
        "const { pid } = spawn('sleep', ['600'], { detached: true, stdio: 'inherit' }); console.log(pid); process.exit() })";
      const left = (await run("shell", { command: [process.execPath, "-e", away] })) as { stdout: string };
      // It has left the group, and runs on.
      process.kill(Number(left.stdout), "SIGKILL");
      // What a command feeds may still write after it has ended.
      const slow = "(sleep 0.05; echo late) & echo first";
      expect(await run("shell", { command: slow })).toMatchObject({ stdout: "first\nlate" });
    },
  );
});

describe("http", () => {
  let server: Server;
  let base: string;
  let answer: RequestListener;
  beforeEach(async () => {
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  test("gives status, headers, text and JSON", async () => {
    answer = (_, response) =>
      response.writeHead(200, { "Content-Type": "application/json", "X-A": "1" }).end('{"a":[1]}');
    expect(await run("http", { url: base })).toMatchObject({
      status: 200,
      headers: { "x-a": "1" },
      body: '{"a":[1]}',
      json: { a: [1] },
    });
    answer = (_, response) => response.writeHead(200, { "content-type": "text/plain" }).end("1");
    expect(await run("http", { url: base })).toMatchObject({ body: "1", json: null });
    answer = (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("{");
    expect(await run("http", { url: base })).toMatchObject({ body: "{", json: null });
  });

  test("sends method, headers and body; a value as JSON, a string as it is", async () => {
    answer = (request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += chunk));
      request.on("end", () =>
        response.end(`${request.method} ${request.headers["content-type"]} ${request.headers["x-b"]} ${body}`),
      );
    };
    expect(await run("http", { url: base, method: "POST", headers: { "X-B": "2" }, body: { a: 1 } })).toMatchObject({
      body: 'POST application/json 2 {"a":1}',
    });
    expect(await run("http", { url: base, method: "PUT", body: "text" })).toMatchObject({
      body: "PUT text/plain;charset=UTF-8 undefined text",
    });
    await expect(run("http", { url: base, body: "x" })).rejects.toThrow("a GET request has no body");
  });

  test("another status fails the node and says whether to try again", async () => {
    for (const [status, retryable] of [
      [404, false],
      [429, true],
      [400, false],
      [503, true],
      [501, false],
    ] as const) {
      answer = (_, response) => response.writeHead(status).end("why");
      await expect(run("http", { url: `${base}/p?token=secret` })).rejects.toMatchObject({
        retryable,
        details: { status },
        message: expect.stringMatching(new RegExp(`^GET ${base}/p answered ${status} .*: why$`)),
      });
    }
    expect(await run("http", { url: base, check: false })).toMatchObject({ status: 501, body: "why" });
  });

  test("what is no http(s) URL, and a header that cannot be sent, are refused without a try", async () => {
    for (const url of ["file:///etc/passwd", "data:,x", "nowhere", ""]) {
      await expect(run("http", { url })).rejects.toMatchObject({ retryable: false });
    }
    await expect(run("http", { url: base, headers: { a: "x\ny" } })).rejects.toMatchObject({
      message: 'the header "a" is not one that can be sent',
      retryable: false,
    });
  });

  test("a connection that fails says why and may be tried again", async () => {
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await expect(run("http", { url: `http://127.0.0.1:${port}/x` })).rejects.toMatchObject({
      message: expect.stringContaining("ECONNREFUSED"),
      retryable: true,
    });
  });

  test("a response that is too large fails the node", async () => {
    answer = (_, response) => response.end(Buffer.alloc(MAX_BODY_BYTES + 1, 0x61));
    await expect(run("http", { url: base })).rejects.toMatchObject({
      message: expect.stringContaining("larger than 10 MiB"),
      retryable: false,
    });
  });

  test("`maxBytes` limits the response after decompression, and may be larger than the default", async () => {
    answer = (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("a".repeat(5000)));
    expect(await run("http", { url: base, maxBytes: 5000 })).toMatchObject({ body: "a".repeat(5000) });
    await expect(run("http", { url: base, maxBytes: 4999 })).rejects.toMatchObject({
      message: expect.stringContaining("the response is larger than 4999 bytes"),
      retryable: false,
    });
    await expect(run("http", { url: base, maxBytes: -1 })).rejects.toThrow("`maxBytes` is a number of bytes from 0");
    answer = (_, response) => response.end(Buffer.alloc(MAX_BODY_BYTES + 1, 0x61));
    const { body } = (await run("http", { url: base, maxBytes: MAX_BODY_BYTES + 1 })) as { body: string };
    expect(body).toHaveLength(MAX_BODY_BYTES + 1);
  });

  test("is cancelled with the run", async () => {
    const controller = new AbortController();
    answer = () => controller.abort(new Error("stop it"));
    await expect(run("http", { url: base }, fakeContext({ signal: controller.signal }))).rejects.toThrow("stop it");
  });
});
