/** The store calls of a driver of Restate: what goes to the object of a thread together, and what an attempt that begins again finds. */
import { describe, expect, test } from "vitest";
import { driveThread, type DriveRequest } from "../../hosts/restate/drive-thread.ts";
import { DrivenThread } from "../../hosts/restate/store/driven-thread.ts";
import { RestateStore, type CallThread } from "../../hosts/restate/store/restate-store.ts";
import { createEngine } from "../../api/create-engine.ts";
import { MemoryStore, type Engine, type Store } from "../../runtime/index.ts";
import { StoreError } from "../../runtime/interface/errors.ts";
import { tableOf } from "../support/graph.ts";
import { threadsInMemory, type ThreadsInMemory } from "./threads-in-memory.ts";

const LEASE = { leaseMs: 30_000, now: Date.now };
const ONE = tableOf(`graph one { output n: int = 0  node next = n + 1 into n  start -> next -> end }`);
const BODY = tableOf(`graph one { output n: int = 0  node next = work() into n  start -> next -> end }`, ["work"]);

function driverOf({ call }: Pick<ThreadsInMemory, "call">, invocation: string) {
  const driven = new DrivenThread(call, "t", invocation);
  const store = new RestateStore(call, { drivenOf: () => driven });
  return { driven, store };
}

describe("a driver of a thread", () => {
  test("stores a new thread of one step with one call", async () => {
    const objects = threadsInMemory();
    const { driven, store } = driverOf(objects, "inv_1");
    driven.beginNew(LEASE);
    const { status } = await createEngine(ONE, { store }).run({}, { thread: "t" });
    await driven.end();
    expect([status, objects.calls]).toEqual(["completed", ["create"]]);
    expect(objects.reads).toEqual(["thread"]);
    const reader = new RestateStore(objects.call);
    expect((await reader.list("t")).map(({ phase }) => phase)).toEqual(["completed", "input"]);
    expect((await reader.loadLatest("t"))?.values).toEqual({ n: 1 });
    // The last save has released the claim.
    await reader.release(await reader.claim("t", { owner: "another", leaseMs: 1000 }));
  });

  test("has the input stored before a body that asks for it", async () => {
    const objects = threadsInMemory();
    const { driven, store } = driverOf(objects, "inv_1");
    driven.beginNew(LEASE);
    const engine = createEngine(BODY, {
      ...{ store, functions: { work: () => objects.threads.get("t")?.has("c/0/0") === true } },
      execute: (_call, _context, local) => driven.flush()!.then(local).then(Number),
    });
    expect((await engine.run({}, { thread: "t" })).output).toEqual({ n: 1 });
  });

  test("stores the input soon, also if nothing asks for it", async () => {
    const objects = threadsInMemory();
    const { driven, store } = driverOf(objects, "inv_1");
    driven.beginNew(LEASE);
    const work = async (): Promise<number> => {
      await expect.poll(() => objects.threads.get("t")?.has("c/0/0"), { interval: 1 }).toBe(true);
      return 7;
    };
    const { output } = await createEngine(BODY, { store, functions: { work } }).run({}, { thread: "t" });
    expect(output).toEqual({ n: 7 });
  });

  test("does not take a thread for new that an earlier attempt has begun", async () => {
    const objects = threadsInMemory();
    const first = driverOf(objects, "inv_1");
    first.driven.beginNew(LEASE);
    await createEngine(BODY, { store: first.store, functions: { work: () => 7 } }).run({}, { thread: "t" });
    const again = driverOf(objects, "inv_1");
    again.driven.beginNew(LEASE);
    let calls = 0;
    const engine = createEngine(BODY, {
      ...{ store: again.store, functions: { work: () => calls++ } },
      execute: (_call, _context, local) => again.driven.flush()!.then(local),
    });
    await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    expect([again.driven.isKnown, calls]).toEqual([true, 0]);
    const begun = await new DrivenThread(objects.call, "t", "inv_1").begin(LEASE);
    expect(begun).toMatchObject({ before: null, tag: "inv_1" });
    expect(begun.head).not.toBeNull();
    const next = await new DrivenThread(objects.call, "t", "inv_2").begin(LEASE);
    expect(next).toMatchObject({ before: begun.head, head: begun.head, tag: "inv_1" });
  });

  test("fails with the error of a held call, and writes nothing after it", async () => {
    const objects = threadsInMemory();
    let failures = 1;
    const call = (async (thread: string, method: never, input: never) => {
      if (method === "create" && failures-- > 0) throw new StoreError("NG_STORE_FAILED", "the network is down");
      return objects.call(thread, method, input);
    }) as unknown as CallThread;
    const { driven, store } = driverOf({ call }, "inv_1");
    driven.beginNew(LEASE);
    await expect(createEngine(ONE, { store }).run({}, { thread: "t" })).rejects.toMatchObject({
      message: expect.stringContaining("the network is down"),
    });
    await expect(driven.end()).rejects.toThrow("the network is down");
    expect(driven.isKnown).toBe(false);
    expect(objects.threads.get("t")).toBeUndefined();
  });

  test("gives up a claim that no run has used, and ends the claims of others", async () => {
    const objects = threadsInMemory();
    const reader = new RestateStore(objects.call);
    const former = await reader.claim("t", { owner: "former", leaseMs: 60_000 });
    const { driven } = driverOf(objects, "inv_1");
    await driven.begin(LEASE);
    await expect(reader.renew(former, 1000)).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    await expect(reader.claim("t", { owner: "another", leaseMs: 1000 })).rejects.toMatchObject({
      code: "NG_THREAD_CONFLICT",
    });
    await driven.end();
    await reader.claim("t", { owner: "another", leaseMs: 1000 });
    const unused = driverOf(objects, "inv_2");
    unused.driven.beginNew(LEASE);
    objects.calls.length = 0;
    await unused.driven.end();
    expect(objects.calls).toEqual([]);
  });
});

describe("a request with the version of its client", () => {
  const progress = { before: null, head: null, tag: null };
  const signal = new AbortController().signal;
  const drive = (engine: Engine, store: Store, request: DriveRequest) =>
    driveThread({ engine, store, thread: "t", invocation: "inv_1", progress, signal, onEvent: undefined }, request);

  test("is refused under another version, and nothing is stored", async () => {
    const store = new MemoryStore();
    const engine = createEngine(ONE, { store });
    const digest = BODY.digest;
    for (const request of [
      { do: "run", input: {}, options: {}, digest },
      { do: "resume", options: {}, digest },
      { do: "rollback", options: {}, digest },
    ] as const) {
      const { answer } = await drive(engine, store, request);
      expect(answer).toMatchObject({ error: { name: "RunError", code: "NG_OTHER_VERSION" } });
      const { error } = answer as { error: { message: string } };
      expect(error.message).toMatch(
        /^the deployed version of graph `one` is [0-9a-f]{12}, and this one is [0-9a-f]{12}: /,
      );
    }
    expect(await store.loadLatest("t")).toBeUndefined();
  });

  test("begins under the same version, and continues under any", async () => {
    const store = new MemoryStore();
    const engine = createEngine(ONE, { store });
    const same = await drive(engine, store, { do: "run", input: {}, options: {}, digest: ONE.digest });
    expect(same.answer).toMatchObject({ value: { status: "completed" } });
    // The attempt that has checked the version has begun the run.
    const head = (await store.loadLatest("t"))!.id;
    const continued = await driveThread(
      {
        ...{ engine, store, thread: "t", invocation: "inv_1", signal, onEvent: undefined },
        progress: { before: null, head, tag: "inv_1" },
      },
      { do: "run", input: {}, options: {}, digest: BODY.digest },
    );
    expect(continued.answer).toMatchObject({ value: { status: "completed" } });
  });
});
