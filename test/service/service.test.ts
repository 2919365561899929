import { describe, expect, test } from "vitest";
import { setTimeout } from "node:timers/promises";
import { StoreError, type Store } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { deferred } from "../support/deferred.ts";
import { compiledTable } from "../support/compiled-engine.ts";
import { checkedService } from "./checked-service.ts";

const WAIT = { timeout: 60_000 };

const FLOW = compiledTable(`
/// Doubles a number and asks whether that is right.
graph flow {
  input n: int
  input note: string = ""
  output twice: int
  output verdict: "yes" | "no"
  node double = { twice: n * 2 } into { twice }
  node sure = ask("Is that right?", choices: ["yes", "no"]) into verdict
  start -> double -> sure -> end
}`);

const WORK = `
graph worker {
  input n: int
  limit steps 10
  output done: int
  node first = work(n) into done
  start -> first -> end
}`;

const SIGNALS = compiledTable(`
type Payment = { amount: int }
graph pay {
  output paid: Payment
  node wait = receive("payment") into paid
  start -> wait -> end
}`);

function worker(work: (n: number) => unknown) {
  return { table: compiledTable(WORK, ["work"]), functions: { work } };
}

describe("runs", () => {
  test("a run is started, its pause answered, and its thread read", async () => {
    const { post, get } = checkedService({ graphs: [{ table: FLOW }] });
    const started = await post("/graphs/flow/runs", { input: { n: 4 }, thread: "a" });
    expect(started.status).toBe(200);
    expect(started.headers.get("location")).toBe("/threads/a");
    expect(started.body).toMatchObject({
      status: "paused",
      thread: "a",
      output: { twice: 8, verdict: null },
      pauses: [{ node: "sure", kind: "interrupt", schema: { type: "string", enum: ["yes", "no"] } }],
    });
    expect((await get("/threads/a")).body).toMatchObject({ graph: "flow", status: "paused", running: false });
    const wrong = await post("/threads/a/resume", { answer: "maybe" });
    expect(wrong).toMatchObject({ status: 422, body: { code: "NG_BAD_ANSWER" } });
    expect((await post("/threads/a/resume", { answer: "no" })).body).toMatchObject({
      status: "completed",
      output: { verdict: "no" },
    });
    // A second person answers too late.
    expect((await post("/threads/a/resume", { answer: "yes" })).status).toBe(409);
    const { body } = await get("/threads/a/history?limit=2&values=true");
    expect(body.checkpoints).toMatchObject([{ status: "completed", values: { verdict: "no" } }, {}]);
    expect(body.checkpoints).toHaveLength(2);
  });

  test("inputs that do not fit, unknown names and wrong shapes are named", async () => {
    const { post, get, send } = checkedService({ graphs: [{ table: FLOW }] });
    expect(await post("/graphs/flow/runs", { input: { n: "4" } })).toMatchObject({
      status: 422,
      body: { code: "NG_BAD_INPUT" },
    });
    expect(await post("/graphs/flow/runs", {})).toMatchObject({ status: 422, body: { code: "NG_BAD_INPUT" } });
    expect((await post("/graphs/flow/runs", { inptu: {}, thread: 3 })).body).toMatchObject({
      code: "bad-field",
      details: ["`inptu` is not a field; did you mean `input`?", "`thread` is a text of at least one character"],
    });
    expect(await post("/graphs/flwo/runs", {})).toMatchObject({
      status: 404,
      body: { detail: "there is no graph `flwo`; did you mean `flow`?" },
    });
    expect(await post("/graphs/flow/runs", "{")).toMatchObject({ status: 400, body: { code: "bad-request" } });
    expect(await post("/graphs/flow/runs", "[]")).toMatchObject({ status: 400 });
    expect(await post("/graphs/flow/runs", "{}", { "content-type": "text/plain" })).toMatchObject({ status: 415 });
    expect(await get("/threads/none")).toMatchObject({ status: 404, body: { code: "NG_UNKNOWN_THREAD" } });
    expect(await get("/threads?limit=0")).toMatchObject({ status: 422 });
    expect(await get("/threads?limit=2&limit=3")).toMatchObject({ status: 422 });
    expect(await get("/threads?status=asleep")).toMatchObject({ status: 422 });
    expect(await get("/nothing")).toMatchObject({ status: 404 });
    const wrong = await send("PUT", "/threads/none");
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toBe("GET");
  });

  test("threads have names that an address can have", async () => {
    const { post, get, send } = checkedService({ graphs: [{ table: FLOW }] });
    await post("/graphs/flow/runs", { input: { n: 1 }, thread: "t" });
    for (const name of [".", "..", "a\ud800b", "\udc00"]) {
      const refused = { status: 422, body: { code: "bad-field" } };
      expect(await post("/graphs/flow/runs", { input: { n: 1 }, thread: name })).toMatchObject(refused);
      expect(await post("/threads/t/fork", { as: name })).toMatchObject(refused);
    }
    for (const name of ["...", "a/b", "😀", "%2e", "?#", " "]) {
      const { headers } = await post("/graphs/flow/runs", { input: { n: 1 }, thread: name });
      const address = headers.get("location")!;
      expect(await send("GET", address)).toMatchObject({ status: 200, body: { thread: name } });
    }
    expect((await get("/threads")).body.threads).toHaveLength(7);
  });

  test("names of objects are names like others", async () => {
    const { post, get } = checkedService({ graphs: [{ table: FLOW }] });
    expect(await get("/graphs/__proto__")).toMatchObject({ status: 404 });
    expect(await get("/threads/__proto__")).toMatchObject({ status: 404 });
    expect(await post("/graphs/flow/runs", '{"__proto__":{"input":{"n":1}}}')).toMatchObject({
      status: 422,
      body: { code: "bad-field" },
    });
    expect(await post("/graphs/flow/runs", '{"input":{"n":1,"__proto__":1},"thread":"constructor"}')).toMatchObject({
      status: 422,
    });
    expect(await post("/graphs/flow/runs", { input: { n: 1 }, thread: "constructor" })).toMatchObject({ status: 200 });
    expect((await get("/threads/constructor")).body.thread).toBe("constructor");
  });

  test("a request may leave before the end of its run", async () => {
    const gate = deferred<number>();
    const { post, get } = checkedService({ graphs: [worker(() => gate.promise)] });
    const started = await post("/graphs/worker/runs", { input: { n: 1 }, thread: "t" }, { prefer: "respond-async" });
    expect(started).toMatchObject({ status: 202, body: { thread: "t", status: "running" } });
    expect((await get("/threads/t")).body).toMatchObject({ status: "running", running: true });
    expect(await post("/graphs/worker/runs", { input: { n: 1 }, thread: "t" })).toMatchObject({
      status: 409,
      body: { code: "NG_THREAD_BUSY" },
    });
    expect(await post("/graphs/worker/runs", { input: { n: 1 } }, { prefer: "wait=0" })).toMatchObject({ status: 202 });
    gate.resolve(7);
    await expect.poll(async () => (await get("/threads/t")).body.status).toBe("completed");
    expect((await get("/threads/t")).body).toMatchObject({ running: false, output: { done: 7 } });
    // What is wrong at the start is said at once.
    expect(await post("/graphs/worker/runs", { input: {} }, { prefer: "respond-async" })).toMatchObject({
      status: 422,
    });
  });

  test("a run that fails is an answer; the reasons of the service's own failures stay in its log", async () => {
    const { post } = checkedService({
      graphs: [
        worker(() => {
          throw new Error("no such order");
        }),
      ],
    });
    expect((await post("/graphs/worker/runs", { input: { n: 1 } })).body).toMatchObject({
      status: "failed",
      error: { code: "NG_NODE_FAILED", node: "first", message: expect.stringContaining("no such order") },
    });
    const store = new MemoryStore();
    store.loadLatest = () => {
      throw new Error("the password is 1234");
    };
    const broken = checkedService({ graphs: [{ table: FLOW }], store });
    const answer = await broken.get("/threads/a");
    expect(answer.status).toBe(500);
    expect(JSON.stringify(answer.body)).not.toContain("1234");
    expect(broken.entries).toContainEqual(
      expect.objectContaining({ type: "failure", message: "the password is 1234" }),
    );
  });

  test("a run is cancelled where it runs, and resumed", async () => {
    const started = deferred<void>();
    const { post } = checkedService({
      graphs: [
        worker((n) => {
          started.resolve();
          return n === 1 ? new Promise(() => undefined) : n;
        }),
      ],
    });
    const running = post("/graphs/worker/runs", { input: { n: 1 }, thread: "t" });
    await started.promise;
    expect((await post("/threads/t/cancel")).body).toMatchObject({
      status: "cancelled",
      error: { code: "NG_CANCELLED" },
    });
    expect((await running).body.status).toBe("cancelled");
    expect(await post("/threads/t/cancel")).toMatchObject({ status: 409, body: { code: "not-running" } });
    await post("/threads/t/update", { values: { done: 3 }, as: "first" });
    expect((await post("/threads/t/resume")).body).toMatchObject({ status: "completed", output: { done: 3 } });
  });

  test("a cancel does not wait longer than it is asked to for a `finally` part", async () => {
    const { started, ended } = { started: deferred<void>(), ended: deferred<number>() };
    const table = compiledTable(
      `
graph tidy {
  output done: int = 0
  node first = work() into done
  node last = clean() into done
  start -> first
  finally -> last
}`,
      ["work", "clean"],
    );
    const work = (): Promise<number> => {
      started.resolve();
      return new Promise(() => undefined);
    };
    const { post } = checkedService({ graphs: [{ table, functions: { work, clean: () => ended.promise } }] });
    const running = post("/graphs/tidy/runs", { thread: "t" });
    await started.promise;
    const first = await post("/threads/t/cancel", undefined, { prefer: "respond-async" });
    expect(first).toMatchObject({ status: 202, body: { thread: "t", status: "running" } });
    ended.resolve(7);
    expect((await running).body).toMatchObject({ status: "cancelled" });
  });

  test("a run of another process is cancelled", async () => {
    const store = new MemoryStore();
    const started = deferred<void>();
    const hangs = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        started.resolve();
      });
    const graph = {
      table: compiledTable(WORK, ["work"]),
      functions: { work: (_: number, { signal }: { signal: AbortSignal }) => hangs(signal) },
    };
    const other = checkedService({ graphs: [graph], store });
    const here = checkedService({ graphs: [graph], store });
    other.service.start();
    const running = other.post("/graphs/worker/runs", { input: { n: 1 }, thread: "t" });
    await started.promise;
    expect((await here.get("/threads/t")).body).toMatchObject({ status: "running", running: false, prepared: false });
    const later = await here.post("/threads/t/cancel", undefined, { prefer: "respond-async" });
    expect(later).toMatchObject({ status: 202, body: { thread: "t", status: "running" } });
    expect(await here.post("/threads/t/cancel")).toMatchObject({ status: 200, body: { status: "cancelled" } });
    expect((await running).body).toMatchObject({ status: "cancelled", error: { code: "NG_CANCELLED" } });
    expect(await here.post("/threads/t/cancel")).toMatchObject({ status: 409, body: { code: "not-running" } });
    // The request is used up: it does not meet the next run.
    expect(await store.listItems([], { limit: 10, now: Date.now() })).toEqual([]);
  });

  test("a request to cancel a run of another process goes with the run", async () => {
    const store = new MemoryStore();
    const [started, release] = [deferred<void>(), deferred<void>()];
    const work = async (): Promise<number> => {
      started.resolve();
      await release.promise;
      return 1;
    };
    // It does not look for requests.
    const other = checkedService({ graphs: [worker(work)], store });
    const here = checkedService({ graphs: [worker(work)], store });
    const running = other.post("/graphs/worker/runs", { input: { n: 1 }, thread: "t" });
    await started.promise;
    expect((await here.post("/threads/t/cancel", undefined, { prefer: "respond-async" })).status).toBe(202);
    const requests = () => store.listItems([], { limit: 10, now: Date.now() });
    expect(await requests()).toHaveLength(1);
    release.resolve();
    expect((await running).body.status).toBe("completed");
    await expect.poll(requests, { timeout: 90_000 }).toEqual([]);
  });

  test("limits cannot be raised from outside", async () => {
    const { post } = checkedService({ graphs: [worker((n) => n)] });
    expect(await post("/graphs/worker/runs", { input: { n: 1 }, maxSteps: 11 })).toMatchObject({
      status: 422,
      body: { detail: "`maxSteps` is at most 10, the limit of the graph" },
    });
    expect(await post("/graphs/worker/runs", { input: { n: 1 }, maxSteps: 10 })).toMatchObject({ status: 200 });
  });

  test.each([
    [4, 4],
    [{ worker: 4 }, 4],
    [{ worker: 20 }, 20],
    [{}, 10],
    [null, undefined],
    [{ worker: null }, undefined],
  ])("the limits %j of the operator are the bound", async (maxSteps, bound) => {
    const { post } = checkedService({ graphs: [{ ...worker((n) => n), maxSteps }] });
    const steps = async (most: number) => post("/graphs/worker/runs", { input: { n: 1 }, maxSteps: most });
    expect(await steps(bound ?? 1_000)).toMatchObject({ status: 200 });
    if (bound === undefined) return;
    expect(await steps(bound + 1)).toMatchObject({
      status: 422,
      body: { detail: `\`maxSteps\` is at most ${bound}, the limit of the graph` },
    });
  });
});

describe("threads", () => {
  test("are forked, edited, labelled and listed", async () => {
    const { post, get, send } = checkedService({ graphs: [{ table: FLOW, metadata: { file: "/secret/path" } }] });
    await post("/graphs/flow/runs", { input: { n: 4 }, thread: "a", metadata: { team: "x" } });
    expect(await send("PUT", "/threads/a/label", { label: "asked" })).toMatchObject({ status: 204 });
    expect(await post("/threads/a/fork", { from: "asked", as: "b" })).toMatchObject({
      status: 201,
      body: { thread: "b" },
    });
    expect(await post("/threads/b/update", { values: { twice: 9 } })).toMatchObject({ status: 201 });
    expect(await post("/threads/b/update", { values: { twice: "9" } })).toMatchObject({ status: 422 });
    expect((await post("/threads/b/resume", { answer: "yes" })).body).toMatchObject({
      output: { twice: 9, verdict: "yes" },
    });
    expect((await get("/threads/a")).body).toMatchObject({ status: "paused", label: "asked", metadata: { team: "x" } });
    expect((await get("/threads?status=paused")).body.threads).toMatchObject([
      { thread: "a", metadata: { team: "x" } },
    ]);
    const first = (await get("/threads?limit=1")).body;
    expect(first.threads).toMatchObject([{ thread: "b" }]);
    const second = (await get(`/threads?limit=1&after=${first.next}`)).body;
    expect(second.threads).toMatchObject([{ thread: "a" }]);
    expect(await post("/threads/a/fork", { from: "nowhere" })).toMatchObject({
      status: 404,
      body: { code: "NG_UNKNOWN_CHECKPOINT" },
    });
    expect(await post("/threads/a/migrate", { dryRun: true })).toMatchObject({ status: 201 });
    expect(JSON.stringify([(await get("/threads/a/history")).body, (await get("/threads")).body])).not.toContain(
      "/secret/path",
    );
  });

  test("are listed under the present name of their graph", async () => {
    const store = new MemoryStore();
    const graph = (head: string) =>
      compiledTable(`graph ${head} {\n  output t: string\n  node a = ask("?") into t\n  start -> a\n}`);
    const before = checkedService({ graphs: [{ table: graph("first") }], store });
    for (const thread of ["a", "b", "c"]) await before.post("/graphs/first/runs", { thread });
    await before.service.drain({ deadline: 1 });
    const hidden: string[] = [];
    const { post, get } = checkedService({
      graphs: [{ table: graph("second was first") }],
      store,
      authorize: ({ graph: name, thread }) => name === "second" && thread !== hidden[0],
    });
    await post("/graphs/second/runs", { thread: "d" });
    await post("/threads/b/resume", { answer: "yes" });
    const listed = async (query: string) => {
      const { threads, next } = (await get(`/threads${query}`)).body;
      return [threads.map((each: { thread: string; graph: string }) => `${each.thread} ${each.graph}`), next];
    };
    expect(await listed("")).toEqual([["b second", "d second", "c second", "a second"], null]);
    expect(await listed("?graph=second")).toEqual(await listed(""));
    const [first, next] = await listed("?graph=second&limit=3");
    expect(first).toEqual(["b second", "d second", "c second"]);
    expect(await listed(`?graph=second&limit=3&after=${next}`)).toEqual([["a second"], null]);
    hidden.push("c");
    expect(await listed("")).toEqual([["b second", "d second", "a second"], null]);
  });

  test("receive signals, once for each id", async () => {
    const { post, get } = checkedService({ graphs: [{ table: SIGNALS }] });
    await post("/graphs/pay/runs", { thread: "p" });
    expect(await post("/threads/p/signals", { name: "payment", value: { amount: "1" } })).toMatchObject({
      status: 422,
    });
    const sent = { name: "payment", value: { amount: 5 } };
    expect((await post("/threads/p/signals", sent, { "idempotency-key": "s" })).body).toMatchObject({
      id: "s",
      added: true,
    });
    await expect.poll(async () => (await get("/threads/p")).body.status).toBe("completed");
    expect((await get("/threads/p")).body.output).toEqual({ paid: { amount: 5 } });
    expect((await post("/threads/p/signals", sent, { "idempotency-key": "s" })).body).toMatchObject({ added: false });
  });
});

describe("idempotency keys", () => {
  test("repeat nothing, and belong to one request", async () => {
    let calls = 0;
    const { post } = checkedService({
      graphs: [worker((n) => (calls++, n))],
      tokens: { ada: "a".repeat(20), bob: "b".repeat(20) },
    });
    const key = { "idempotency-key": "order 7", authorization: `Bearer ${"a".repeat(20)}` };
    const [first, second] = [
      await post("/graphs/worker/runs", { input: { n: 2 } }, key),
      await post("/graphs/worker/runs", { input: { n: 2 } }, key),
    ];
    expect(calls).toBe(1);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.body).toMatchObject({ status: "completed", output: { done: 2 }, thread: first.body.thread });
    expect(await post("/graphs/worker/runs", { input: { n: 3 } }, key)).toMatchObject({
      status: 422,
      body: { code: "key-reused" },
    });
    expect(await post("/graphs/worker/runs", { input: { n: 2 }, thread: "x" }, key)).toMatchObject({ status: 400 });
    // The keys of another principal are others.
    const bob = { ...key, authorization: `Bearer ${"b".repeat(20)}` };
    await post("/graphs/worker/runs", { input: { n: 2 } }, bob);
    expect(calls).toBe(2);
  });

  test("belong to no request that is nested too deeply", async () => {
    const { post } = checkedService({ graphs: [{ table: FLOW }] });
    const body = `{ "input": { "n": ${"[".repeat(100_000)}${"]".repeat(100_000)} } }`;
    const answer = await post("/graphs/flow/runs", body, { "idempotency-key": "deep" });
    expect(answer).toMatchObject({ status: 422, body: { code: "bad-field" } });
  });

  test("hold for requests at the same time", async () => {
    let calls = 0;
    const gate = deferred<void>();
    const graphs = [worker(async (n) => (calls++, await gate.promise, n))];
    const { post } = checkedService({ graphs });
    const both = Array.from({ length: 5 }, () =>
      post("/graphs/worker/runs", { input: { n: 2 } }, { "idempotency-key": "k" }),
    );
    await expect.poll(() => calls).toBe(1);
    gate.resolve();
    const answers = await Promise.all(both);
    expect(answers.map(({ status }) => status).filter((status) => status > 202)).toEqual([]);
    expect(new Set(answers.map(({ body }) => body.thread)).size).toBe(1);
    expect(calls).toBe(1);
  });

  test("hold in all processes on a store, before the input of the first request is stored", async () => {
    let calls = 0;
    const store: Store = new MemoryStore();
    const save = store.save.bind(store);
    store.save = async (...given) => {
      await setTimeout(30);
      return save(...given);
    };
    const graphs = [worker((n) => (calls++, n))];
    const services = [
      checkedService({ graphs, store }),
      checkedService({ graphs, store }),
      checkedService({ graphs, store }),
    ];
    const answers = await Promise.all(
      services.map(({ post }) => post("/graphs/worker/runs", { input: { n: 2 } }, { "idempotency-key": "k" })),
    );
    expect(answers.map(({ status }) => status).filter((status) => status > 202)).toEqual([]);
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(2);
    expect(calls).toBe(1);
  });
});

describe("access", () => {
  const token = (name: string) => ({ authorization: `Bearer ${name.repeat(20)}` });

  test("needs a token where there are tokens", async () => {
    const { get, post } = checkedService({ graphs: [{ table: FLOW }], tokens: { ada: "a".repeat(20) } });
    const refused = await get("/graphs");
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain("Bearer");
    expect(await post("/graphs/flow/runs", { input: { n: 1 } }, token("x"))).toMatchObject({ status: 401 });
    expect(await get("/graphs", token("a"))).toMatchObject({ status: 200 });
    expect(await get("/health")).toMatchObject({ status: 200 });
    // They name the graphs, and say how many runs each has.
    for (const path of ["/openapi.json", "/metrics"]) {
      expect(await get(path)).toMatchObject({ status: 401 });
      expect(await get(path, token("a"))).toMatchObject({ status: 200 });
    }
  });

  test("is decided for each graph and thread", async () => {
    const { get, post } = checkedService({
      graphs: [{ table: FLOW }, { table: SIGNALS }],
      tokens: { ada: "a".repeat(20), bob: "b".repeat(20) },
      authorize: ({ principal, graph, thread, action }) =>
        graph === "flow" && (thread === null || thread.startsWith(principal.name)) && action !== "update",
    });
    expect(await post("/graphs/flow/runs", { input: { n: 1 }, thread: "ada-1" }, token("a"))).toMatchObject({
      status: 200,
    });
    expect(await post("/graphs/pay/runs", {}, token("a"))).toMatchObject({ status: 403 });
    expect((await get("/graphs", token("a"))).body.graphs).toHaveLength(1);
    const { paths } = (await get("/openapi.json", token("a"))).body;
    expect(paths).toHaveProperty("/graphs/flow/runs");
    expect(paths).not.toHaveProperty("/graphs/pay/runs");
    // The thread of another principal looks like one that does not exist.
    const hidden = await get("/threads/ada-1", token("b"));
    const missing = await get("/threads/ada-2", token("b"));
    expect(hidden.body).toEqual({ ...missing.body, detail: hidden.body.detail });
    expect(hidden.body.detail.replace("ada-1", "ada-2")).toBe(missing.body.detail);
    expect((await get("/threads", token("b"))).body.threads).toEqual([]);
    expect(await post("/threads/ada-1/update", { values: {} }, token("a"))).toMatchObject({ status: 403 });
    expect(
      await post("/graphs/flow/runs", { input: { n: 1 }, thread: "ada-1", abandon: true }, token("b")),
    ).toMatchObject({ status: 403 });
  });

  test("pages of other sites are refused", async () => {
    const { get, post, send } = checkedService({
      graphs: [{ table: FLOW }],
      hosts: ["localhost"],
      origins: ["https://shop.example"],
    });
    expect(await post("/graphs/flow/runs", undefined, { origin: "https://evil.example" })).toMatchObject({
      status: 403,
    });
    expect(await post("/graphs/flow/runs", { input: { n: 1 } }, { origin: "https://shop.example" })).toMatchObject({
      status: 200,
    });
    expect(await post("/graphs/flow/runs", { input: { n: 1 } }, { origin: "http://localhost" })).toMatchObject({
      status: 200,
    });
    const allowed = await get("/graphs", { origin: "https://shop.example" });
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://shop.example");
    expect(
      (await get("/graphs", { origin: "https://evil.example" })).headers.get("access-control-allow-origin"),
    ).toBeNull();
    const { service } = checkedService({ graphs: [{ table: FLOW }], hosts: ["localhost"] });
    expect((await service.fetch(new Request("http://evil.example/graphs"))).status).toBe(421);
    expect(await send("GET", "/graphs")).toMatchObject({ status: 200 });
  });

  test("has limits of rate, size, runs and streams", async () => {
    const { post, get, service } = checkedService({
      graphs: [worker(() => new Promise(() => undefined))],
      limits: { requestsPerMinute: 6, body: 100, runs: 1, streams: 1 },
    });
    expect(await post("/graphs/worker/runs", { input: { n: 1 }, metadata: { text: "x".repeat(100) } })).toMatchObject({
      status: 413,
    });
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(" ".repeat(60))),
    });
    const endless = await service.fetch(
      new Request("http://localhost/graphs/worker/runs", {
        method: "POST",
        body: stream,
        duplex: "half",
      } as RequestInit),
    );
    expect(endless.status).toBe(413);
    expect(await post("/graphs/worker/runs", { input: { n: 1 }, thread: "t" }, { prefer: "wait=0" })).toMatchObject({
      status: 202,
    });
    expect(await post("/graphs/worker/runs", { input: { n: 1 } })).toMatchObject({ status: 503 });
    const open = await service.fetch(new Request("http://localhost/threads/t/events"));
    expect(open.status).toBe(200);
    expect(await get("/threads/t/events")).toMatchObject({ status: 503, body: { code: "too-busy" } });
    const late = await get("/threads/t");
    expect(late.status).toBe(429);
    expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
    await open.body!.cancel();
  });

  test("refuses the stream of a run before the run begins", async () => {
    const { post, get, service } = checkedService({ graphs: [{ table: FLOW }], limits: { streams: 1 } });
    await post("/graphs/flow/runs", { input: { n: 1 }, thread: "t" });
    const open = await service.fetch(new Request("http://localhost/threads/t/events"));
    const begun = { input: { n: 1 }, thread: "refused" };
    expect(await post("/graphs/flow/runs", begun, { accept: "text/event-stream" })).toMatchObject({ status: 503 });
    expect(await get("/threads/refused")).toMatchObject({ status: 404 });
    await open.body!.cancel();
    expect(await post("/graphs/flow/runs", begun, { accept: "text/event-stream" })).toMatchObject({ status: 200 });
  });
});

test("a HEAD request opens no stream that stays", async () => {
  const { post, get, service } = checkedService({ graphs: [{ table: FLOW }], limits: { streams: 1 } });
  await post("/graphs/flow/runs", { input: { n: 1 }, thread: "t" });
  for (let each = 0; each < 3; each++) {
    const head = await service.fetch(new Request("http://localhost/threads/t/events", { method: "HEAD" }));
    expect([head.status, head.headers.get("content-type"), head.body]).toEqual([200, "text/event-stream", null]);
  }
  expect((await get("/threads/t/events?end=true")).body).toContain("event: state");
});

test("a host without WebSockets says so, and pages of other sites open none", async () => {
  const { get, post } = checkedService({ graphs: [{ table: FLOW }] });
  await post("/graphs/flow/runs", { input: { n: 1 }, thread: "t" });
  expect(await get("/threads/t/events", { upgrade: "websocket" })).toMatchObject({ status: 406 });
  const other = { upgrade: "websocket", origin: "https://evil.example" };
  expect(await get("/threads/t/events", other)).toMatchObject({ status: 403 });
  // A page chooses the subprotocols of its sockets.
  const forged = { ...other, "sec-websocket-protocol": "ngraph, ngraph.bearer.YQ" };
  expect(await get("/threads/t/events", forged)).toMatchObject({ status: 403 });
  const cookies = checkedService({ graphs: [{ table: FLOW }], authenticate: () => ({ name: "ada" }) });
  await cookies.post("/graphs/flow/runs", { input: { n: 1 }, thread: "t" });
  expect(await cookies.get("/threads/t/events", forged)).toMatchObject({ status: 403 });
});

test("metrics count runs, requests and streams", async () => {
  const { post, get } = checkedService({ graphs: [{ table: FLOW }] });
  await post("/graphs/flow/runs", { input: { n: 1 } });
  await post("/graphs/flow/runs", { input: {} });
  const { body } = await get("/metrics");
  expect(body).toContain('ngraph_runs_total{graph="flow",status="paused"} 1\n');
  expect(body).toContain('ngraph_runs_active{graph="flow"} 0\n');
  expect(body).toContain('ngraph_http_requests_total{method="POST",status="422"} 1\n');
});

test("a service that ends refuses runs, and leaves its threads to others", async () => {
  const store = new MemoryStore();
  const started = deferred<void>();
  let isFree = false;
  const graphs = [
    worker((n) => {
      started.resolve();
      return isFree ? n : new Promise(() => undefined);
    }),
  ];
  const first = checkedService({ graphs, store });
  const running = first.post("/graphs/worker/runs", { input: { n: 3 }, thread: "t" });
  await started.promise;
  await first.service.drain({ deadline: 1 });
  expect((await running).body).toMatchObject({ status: "cancelled", error: { code: "NG_DRAINED" } });
  expect(await first.post("/graphs/worker/runs", { input: { n: 3 } })).toMatchObject({
    status: 503,
    body: { code: "NG_DRAINED" },
  });
  expect(await first.get("/ready")).toMatchObject({ status: 503 });
  isFree = true;
  const second = checkedService({ graphs, store, recoverEveryMs: 10 });
  second.service.start();
  await expect
    .poll(async () => (await second.get("/threads/t")).body)
    .toMatchObject({ status: "completed", output: { done: 3 } });
});

describe("a look for threads that wait", () => {
  test("does not wait for runs that last, and reports each run at its end", async () => {
    const store = new MemoryStore();
    let isFree = false;
    let working = 0;
    const graphs = [
      worker((n) => {
        working++;
        return isFree && n > 9 ? n : new Promise(() => undefined);
      }),
      { table: SIGNALS },
    ];
    const first = checkedService({ graphs, store });
    const async = { prefer: "respond-async" };
    for (let n = 1; n <= 10; n++) {
      await first.post("/graphs/worker/runs", { input: { n }, thread: `t${n}` }, async);
      await expect.poll(() => working).toBe(n);
    }
    await first.post("/graphs/pay/runs", { thread: "p" });
    await first.service.drain({ deadline: 1 });
    isFree = true;
    working = 0;
    const second = checkedService({ graphs, store, recoverEveryMs: 10 });
    second.service.start();
    // Nine runs do not end. The tenth does, and a signal that another process has taken is seen, too.
    await expect.poll(async () => (await second.get("/threads/t10")).body.status, WAIT).toBe("completed");
    expect(working).toBe(10);
    await first.post("/threads/p/signals", { name: "payment", value: { amount: 3 } });
    await expect.poll(async () => (await second.get("/threads/p")).body.status, WAIT).toBe("completed");
    expect((await second.get("/metrics")).body).toContain('ngraph_runs_total{graph="worker",status="completed"} 1\n');
  });

  test("resumes the others beside a thread that is damaged, and reports the damage once", async () => {
    class DamagedStore extends MemoryStore {
      looks = 0;
      override threads(options: Parameters<MemoryStore["threads"]>[0] = {}) {
        this.looks++;
        const damage = new StoreError("NG_CORRUPT_RECORD", "a row of thread `d` is damaged");
        if (options.onCorrupt === undefined) throw damage;
        options.onCorrupt(damage, "d");
        return super.threads(options);
      }
    }
    const store = new DamagedStore();
    const first = checkedService({ graphs: [{ table: SIGNALS }], store });
    await first.post("/graphs/pay/runs", { thread: "p" });
    await first.service.drain({ deadline: 1 });
    const value = { name: "payment", value: { amount: 3 } };
    await first.post("/threads/p/signals", value);
    const second = checkedService({ graphs: [{ table: SIGNALS }], store, recoverEveryMs: 1 });
    second.service.start();
    await expect.poll(async () => (await second.get("/threads/p")).body.status, WAIT).toBe("completed");
    const { looks } = store;
    await expect.poll(() => store.looks, WAIT).toBeGreaterThan(looks + 8);
    const failures = second.entries.filter(({ type }) => type === "failure");
    expect(failures).toMatchObject([{ message: "a thread cannot be read" }]);
  });

  test("leaves the runs that it has begun to the end of the service", async () => {
    const store = new MemoryStore();
    let started = deferred<void>();
    let released = deferred<number>();
    const graphs = [
      worker(() => {
        started.resolve();
        return released.promise;
      }),
    ];
    const first = checkedService({ graphs, store });
    void first.post("/graphs/worker/runs", { input: { n: 3 }, thread: "t" });
    await started.promise;
    await first.service.drain({ deadline: 1 });
    [started, released] = [deferred(), deferred()];
    const second = checkedService({ graphs, store, recoverEveryMs: 10 });
    second.service.start();
    await started.promise;
    const drained = second.service.drain({ deadline: 60_000 });
    released.resolve(7);
    await drained;
    expect((await second.get("/threads/t")).body.state).toMatchObject({ done: 7 });
  });
});

test("a thread that cannot be resumed is logged once for each cause", async () => {
  let looks = 0;
  let cause = "";
  class WatchedStore extends MemoryStore {
    override threads(...args: Parameters<MemoryStore["threads"]>): ReturnType<MemoryStore["threads"]> {
      looks++;
      if (cause !== "") throw new Error(cause);
      return super.threads(...args);
    }
  }
  const store = new WatchedStore();
  const table = compiledTable(
    `secret KEY
graph bound {
  output done: string
  node first = work() into done
  node last = { key: [KEY], done: done } into { done }
  start -> first -> last
}`,
    ["work"],
  );
  const started = deferred<void>();
  const released = deferred<string>();
  const work = (): Promise<string> => {
    started.resolve();
    return released.promise;
  };
  const first = checkedService({ graphs: [{ table, functions: { work }, secrets: { KEY: "1234" } }], store });
  const running = first.post("/graphs/bound/runs", { thread: "t" });
  await started.promise;
  await first.service.drain({ deadline: 1 });
  await running;
  const { service, entries } = checkedService({ graphs: [{ table, functions: { work } }], store, recoverEveryMs: 1 });
  const more = async (): Promise<void> => {
    const enough = looks + 8;
    await expect.poll(() => looks).toBeGreaterThan(enough);
  };
  service.start();
  for (const next of ["", "store is away", "another cause", "", "store is away"]) {
    cause = next;
    await more();
  }
  await service.drain({ deadline: 1 });
  const logged = entries.flatMap((entry) =>
    entry.type === "failure" ? [`${entry.message}: ${(entry.error as Error).message}`] : [],
  );
  const secret = expect.stringContaining("thread `t` could not be resumed: the run lacks secrets: `KEY`") as string;
  const away = expect.stringContaining("store is away") as string;
  const other = expect.stringContaining("another cause") as string;
  // Two kinds of looks fail: for interrupted and for due threads.
  expect(logged).toEqual([secret, away, away, other, other, secret, away, away]);
});

test("a graph has a picture, which is drawn once; a drawing that fails is tried again", async () => {
  let drawn = 0;
  const picture = async (): Promise<string> => {
    drawn++;
    if (drawn === 1) throw new Error("no memory");
    return "<svg/>";
  };
  const { get, entries } = checkedService({ graphs: [{ table: FLOW }], picture });
  expect(await get("/graphs/flow/picture")).toMatchObject({ status: 500 });
  expect(entries).toContainEqual(expect.objectContaining({ type: "failure" }));
  const answer = await get("/graphs/flow/picture");
  expect(answer).toMatchObject({ status: 200, body: "<svg/>" });
  expect(answer.headers.get("content-security-policy")).toContain("sandbox");
  await get("/graphs/flow/picture");
  expect(drawn).toBe(2);
  expect(await get("/graphs/flwo/picture")).toMatchObject({ status: 404 });
});

test("a graph without a picture is not found", async () => {
  const without = checkedService({ graphs: [{ table: FLOW }] });
  expect(await without.get("/graphs/flow/picture")).toMatchObject({ status: 404, body: { code: "not-found" } });
  const tooLarge = checkedService({ graphs: [{ table: FLOW }], picture: async () => undefined });
  expect(await tooLarge.get("/graphs/flow/picture")).toMatchObject({ status: 404, body: { code: "not-found" } });
});

test("a picture needs the permission to read the graph", async () => {
  const { get } = checkedService({
    graphs: [{ table: FLOW }],
    picture: async () => "<svg/>",
    authorize: ({ action }) => action !== "read",
  });
  expect(await get("/graphs/flow/picture")).toMatchObject({ status: 403, body: { code: "forbidden" } });
});
