import type { Checkpoint, CheckpointHeader, PendingWrite, Phase } from "../../interface/checkpoint.ts";
import { StoreError } from "../../interface/errors.ts";
import type { Json } from "../../value/json.ts";
import type { Store } from "../../interface/store.ts";
import { expectCode, expectEqual, expectTrue } from "./expect.ts";
import { SampleRun } from "./sample-run.ts";
import { optionalCase, storeCase, withMethods, type StoreCase } from "./store-case.ts";

const PHASES: readonly Phase[] = ["input", "completed", "before", "after", "interrupted", "updated"];

const FULL_HEADER: Partial<CheckpointHeader> = {
  runId: "7d1c…",
  currentNodes: ["b", "a"],
  nextNodes: ["c", "a", "b"],
  pendingSends: [{ taskId: "t:1", node: "worker", item: { n: [1, null] } }],
  barrierState: { join: ["a", "b"], another: ["x"], ["__proto__"]: ["y"] },
  pauses: [
    {
      id: "p1",
      node: "ask",
      kind: "interrupt",
      payload: { question: "?" },
      namespace: ["review", "each[3]"],
      taskId: "t",
    },
    { id: "p2", node: "gate", kind: "before", payload: null, namespace: [] },
  ],
  answers: [{ id: "p0", value: "yes" }],
  errors: { a: { code: "NG_NODE_FAILED", message: "no", attempts: 2 } },
  label: "after-validation",
  metadata: { by: "somebody", tags: ["x"] },
  timestamp: 1_234_567_890_123,
  digest: "sha256:abc",
  finished: [{ taskId: "t:2", node: "worker", result: { value: null } }],
  failure: { code: "NG_NODE_FAILED", message: "no\nway", node: "worker", attempts: 3 },
  unrouted: ["b"],
  attempt: 2,
  children: { "review/each[3]": "some checkpoint", ["__proto__"]: "another" },
};

/** Every kind of JSON, and strings that databases may alter. */
const VALUES: Readonly<Record<string, Json>> = {
  nothing: null,
  yes: true,
  numbers: [
    0,
    -1,
    1.5,
    1e300,
    5e-324,
    Number.MAX_SAFE_INTEGER,
    0.1,
    -1e-7,
    123456789012345680000,
    1.7976931348623157e308,
  ],
  text: "plain",
  odd: ['"', "'", "\\", "\0", "a\0b", "\u{1f600}", "\ud800", "\u00e9", "e\u0301", "\u2028\u2029", "%s ? $1 :x", ""],
  nested: { a: { b: [{ c: {} }, []] }, "": "empty key", "a.b": "dot", "a\0": "nul" },
  hostile: JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1, "toString": null}') as Json,
  ["__proto__"]: ["a channel may have this name"],
  constructor: "and this",
  empty: [],
  "empty record": {},
  "": "a channel without a name",
  long: "x".repeat(200_000),
};

export const ROUND_TRIPS: readonly StoreCase[] = [
  storeCase("5.1 a checkpoint is read as it was saved, in every phase", async (store) => {
    const run = await SampleRun.start(store);
    const saved: Checkpoint[] = [await run.save([{ channel: "a", set: 1 }], FULL_HEADER)];
    for (const phase of PHASES) {
      for (const status of ["running", "paused", "completed", "failed"] as const) {
        saved.push(await run.save([], { phase, status }));
      }
    }
    for (const checkpoint of saved) {
      expectEqual(await store.loadById("thread", checkpoint.id), checkpoint, `checkpoint ${checkpoint.id}`);
    }
    expectEqual(await store.loadLatest("thread"), saved.at(-1), "the latest");
  }),

  storeCase(
    "values of every kind are read as they were saved, in the first and in later checkpoints",
    async (store) => {
      const run = await SampleRun.start(store);
      const first = await run.save(Object.entries(VALUES).map(([channel, set]) => ({ channel, set })));
      expectEqual(await store.loadLatest("thread"), first, "the first checkpoint");
      const second = await run.save([
        ...Object.entries(VALUES).map(([channel, value]) => ({ channel, set: [value] })),
        { channel: "list", append: Object.values(VALUES) },
      ]);
      const third = await run.save([{ channel: "list", append: [VALUES["hostile"]!, [], [[1]]] }]);
      expectEqual(await store.loadLatest("thread"), third, "the third checkpoint");
      expectEqual(await store.loadById("thread", second.id), second, "the second checkpoint");
      const polluted: Record<string, unknown> = {};
      expectTrue(polluted["polluted"] === undefined, "reading a key `__proto__` changed every object");
    },
  ),

  storeCase("5.11 loading returns plain data: a stored `__proto__` is an ordinary key", async (store) => {
    const run = await SampleRun.start(store);
    await run.save([{ channel: "hostile", set: VALUES["hostile"]! }]);
    const hostile = (await store.loadLatest("thread"))?.values["hostile"] as object;
    expectTrue(Object.hasOwn(hostile, "__proto__"), "the key `__proto__` is no longer an own property");
    const prototype: unknown = Object.getPrototypeOf(hostile);
    expectTrue(prototype === Object.prototype || prototype === null, "the stored data became a prototype");
  }),

  storeCase("deeply nested values are read as they were saved", async (store) => {
    const run = await SampleRun.start(store);
    let deep: Json = 1;
    for (let level = 0; level < 500; level++) deep = level % 2 === 0 ? [deep] : { deep };
    await run.save([{ channel: "deep", set: deep }]);
    expectEqual((await store.loadLatest("thread"))?.values["deep"], deep, "the value");
  }),

  storeCase("values that JSON cannot hold are refused, and nothing is written", async (store) => {
    const run = await SampleRun.start(store);
    const head = await run.save([{ channel: "x", set: 1 }]);
    const cycle: Record<string, unknown> = {};
    cycle["cycle"] = cycle;
    for (const value of [cycle, 1n, () => 1, undefined] as unknown as Json[]) {
      const save = () => run.save([{ channel: "x", set: value }]);
      await expectCode("NG_STORE_FAILED", save, `saving a value of type ${typeof value}`);
      const write = { taskId: "t", node: "a", result: [value] };
      if (typeof value !== "object" && typeof value !== "bigint") continue;
      await expectCode(
        "NG_STORE_FAILED",
        async () => putWrite(store, run, head.id, write),
        "putting a result of that type",
      );
    }
    expectEqual(await store.list("thread"), [head], "history");
    expectEqual((await store.getWrites?.("thread", head.id)) ?? [], [], "pending writes");
  }),

  storeCase("a missing record is `undefined` or an empty list, not an error", async (store) => {
    expectEqual(await store.loadLatest("nobody"), undefined, "head of an unknown thread");
    expectEqual(await store.loadById("nobody", "x"), undefined, "checkpoint of an unknown thread");
    expectEqual(await store.list("nobody"), [], "history of an unknown thread");
    const run = await SampleRun.start(store);
    expectEqual(await store.loadLatest("thread"), undefined, "head of a thread that was only claimed");
    await run.save();
    expectEqual(await store.loadLatest("thread", "sub"), undefined, "head of an unknown namespace");
    expectEqual(await store.loadById("thread", "x"), undefined, "an unknown checkpoint");
    expectEqual(await store.list("thread", { namespace: "sub" }), [], "history of an unknown namespace");
    await expectCode(
      "NG_UNKNOWN_CHECKPOINT",
      () => store.list("thread", { before: "x" }),
      "history before an unknown one",
    );
    expectEqual((await store.getWrites?.("thread", "x")) ?? [], [], "writes of an unknown checkpoint");
    expectEqual(await store.loadByLabel?.("thread", "x"), undefined, "an unknown label");
    await store.deleteThread("nobody");
  }),

  storeCase("changing saved or returned objects does not change the store's content", async (store) => {
    const run = await SampleRun.start(store);
    const list: Json[] = [{ n: 1 }];
    const record: Record<string, Json> = { list };
    const metadata: Record<string, Json> = { list };
    const first = await run.save(
      [
        { channel: "record", set: record },
        { channel: "log", set: list },
      ],
      { metadata },
    );
    const appended: Json[] = [{ n: 2 }];
    await run.save([{ channel: "log", append: appended }]);
    const writer = withMethods(store, "putWrites", "getWrites");
    await writer?.putWrites(run.claim, first.id, [{ taskId: "t", node: "a", result: record }]);
    const before = JSON.stringify([await store.list("thread"), await writer?.getWrites("thread", first.id)]);

    record["more"] = 1;
    metadata["more"] = 1;
    list.push("more");
    appended.push("more");
    (appended[0] as Record<string, Json>)["n"] = "changed";
    for (const checkpoint of await store.list("thread")) scribble(checkpoint);
    scribble(await store.loadLatest("thread"));
    scribble(await store.loadById("thread", first.id));
    scribble(await writer?.getWrites("thread", first.id));
    const after = JSON.stringify([await store.list("thread"), await writer?.getWrites("thread", first.id)]);
    expectEqual(after, before, "content after changing saved and returned objects");
  }),

  storeCase("5.1 schema version 0 is read; 5.11 a newer version is refused, naming the row", async (store) => {
    const run = await SampleRun.start(store);
    const old = await run.save([], { schemaVersion: 0 });
    expectEqual(await store.loadLatest("thread"), old, "a checkpoint of schema version 0");
    const future = await run.save([], { schemaVersion: 4711, label: "future" });
    const calls = [
      () => store.loadLatest("thread"),
      () => store.loadById("thread", future.id),
      () => store.list("thread"),
      ...(store.loadByLabel ? [() => store.loadByLabel?.("thread", "future")] : []),
    ];
    for (const call of calls) {
      const error = await expectCode("NG_UNKNOWN_VERSION", call, "a checkpoint of schema version 4711");
      expectTrue(error.message.includes(future.id), `the message does not name the row: ${error.message}`);
      expectTrue(error.message.includes("4711"), `the message does not name the version: ${error.message}`);
    }
    expectEqual(await store.loadById("thread", old.id), old, "the one before it");
    for (const schemaVersion of [2.5, -1]) {
      const { id } = await run.save([], { schemaVersion });
      await expectCode("NG_UNKNOWN_VERSION", () => store.loadById("thread", id), `schema version ${schemaVersion}`);
    }
  }),

  storeCase("5.11 numbers are read as JSON holds them: -0 becomes 0", async (store) => {
    const run = await SampleRun.start(store);
    await run.save([{ channel: "zero", set: -0 }]);
    await run.save([{ channel: "zeros", append: [-0, { zero: -0 }] }]);
    expectEqual((await store.loadLatest("thread"))?.values, { zero: 0, zeros: [0, { zero: 0 }] }, "the values");
  }),

  storeCase("5.12 no value, an empty list and an emptied list are distinct", async (store) => {
    const run = await SampleRun.start(store);
    const first = await run.save([
      { channel: "empty", set: [] },
      { channel: "null", set: null },
      { channel: "reset", reset: true },
    ]);
    const second = await run.save([
      { channel: "list", append: [] },
      { channel: "empty", append: [] },
    ]);
    const third = await run.save([
      { channel: "list", append: [[]] },
      { channel: "reset", append: [null] },
      { channel: "null", reset: true },
    ]);
    const fourth = await run.save([
      { channel: "list", set: [] },
      { channel: "null", append: [] },
      { channel: "empty", reset: true },
    ]);
    expectEqual(await store.list("thread"), [fourth, third, second, first], "history");
  }),

  optionalCase(
    "saved checkpoints, writes, labels and claims are read after reopening",
    ["reopen"],
    async (store, under) => {
      const run = await SampleRun.start(store);
      const first = await run.save([{ channel: "log", append: ["a"] }], { label: "start" });
      const sub = await run.save([{ channel: "x", set: 1 }], { namespace: "sub" });
      const last = await run.save([{ channel: "log", append: ["b"] }]);
      const write = { taskId: "t", node: "a", result: [1] };
      await store.putWrites?.(run.claim, last.id, [write]);
      const again = await under.reopen();
      try {
        expectEqual(await again.list("thread"), [last, first], "history");
        expectEqual(await again.loadLatest("thread", "sub"), sub, "head of a namespace");
        if (again.putWrites && again.getWrites)
          expectEqual(await again.getWrites("thread", last.id), [write], "pending writes");
        if (again.loadByLabel) expectEqual(await again.loadByLabel("thread", "start"), first, "label");
        const rival = { owner: "rival", leaseMs: 1000 };
        await expectCode("NG_THREAD_CONFLICT", () => again.claim("thread", rival), "a claim that was held before");
      } finally {
        await again.close?.();
      }
    },
  ),
];

async function putWrite(store: Store, run: SampleRun, id: string, write: PendingWrite): Promise<void> {
  if (store.putWrites === undefined) throw new StoreError("NG_STORE_FAILED", "it has no pending writes");
  await store.putWrites(run.claim, id, [write]);
}

/** Changes a value everywhere. Frozen data throws, which the store may do. */
function scribble(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) scribble(inner);
  try {
    if (Array.isArray(value)) value.push("scribbled");
    else Object.assign(value, { scribbled: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}
