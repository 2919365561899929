import type { Checkpoint } from "../../interface/checkpoint.ts";
import type { ThreadsOptions } from "../../interface/store.ts";
import { expectCode, expectEqual, expectTrue } from "./expect.ts";
import { LEASE, SampleRun } from "./sample-run.ts";
import { optionalCase, storeCase, type StoreCase } from "./store-case.ts";

export const HISTORY: readonly StoreCase[] = [
  storeCase("5.10 history is newest first along the parents, independent of ids and clocks", async (store) => {
    const run = await SampleRun.start(store);
    const saved: Checkpoint[] = [];
    for (const [index, id] of ["m", "z", "", "a", "10", "9", "x", "b"].entries()) {
      saved.unshift(await run.save([{ channel: "n", set: index }], { id, timestamp: 1000 - index }));
    }
    expectEqual(await store.list("thread"), saved, "history");
    expectEqual(await store.loadLatest("thread"), saved[0], "the latest");
  }),

  storeCase("history is paged: `limit`, `before`, 100 by default", async (store) => {
    const run = await SampleRun.start(store);
    const saved: Checkpoint[] = [];
    for (let n = 0; n < 130; n++) saved.unshift(await run.save([{ channel: "log", append: [n] }]));
    expectEqual(await store.list("thread"), saved.slice(0, 100), "history without a limit");
    expectEqual(await store.list("thread", { limit: 2 }), saved.slice(0, 2), "the newest two");
    for (const limit of [0, -1]) expectEqual(await store.list("thread", { limit }), [], `at most ${limit}`);
    expectEqual(await store.list("thread", { limit: 1e9 }), saved, "history with a limit beyond its length");
    expectEqual(await store.list("thread", { limit: 129 }), saved.slice(0, 129), "all but the first");
    const before = saved[4]!.id;
    expectEqual(await store.list("thread", { limit: 3, before }), saved.slice(5, 8), "three before the fifth");
    expectEqual(await store.list("thread", { before: saved.at(-1)!.id }), [], "before the first");
    expectEqual(await store.list("thread", { before: saved[120]!.id }), saved.slice(121), "the last page");
  }),

  storeCase("namespaces have heads, histories and values of their own", async (store) => {
    const run = await SampleRun.start(store);
    const outer = await run.save([{ channel: "x", set: "outer" }]);
    const inner = await run.save([{ channel: "x", set: "inner" }], { namespace: "review/each[3]" });
    const other = await run.save([{ channel: "y", set: 1 }], { namespace: "review/each[31]" });
    const inner2 = await run.save([{ channel: "x", set: "inner 2" }], { namespace: "review/each[3]" });
    expectEqual(await store.loadLatest("thread"), outer, "head of the graph itself");
    expectEqual(await store.loadLatest("thread", "review/each[3]"), inner2, "head of a namespace");
    expectEqual(await store.list("thread", { namespace: "review/each[3]" }), [inner2, inner], "its history");
    expectEqual(await store.list("thread", { namespace: "review/each[31]" }), [other], "another's history");
    expectEqual(await store.list("thread"), [outer], "history of the graph itself");
    const options = { namespace: "", before: inner2.id };
    await expectCode("NG_UNKNOWN_CHECKPOINT", () => store.list("thread", options), "before one of another namespace");
  }),

  storeCase("`all` lists abandoned branches, too, in the order of the saves", async (store) => {
    const run = await SampleRun.start(store);
    const first = await run.save([{ channel: "n", set: 1 }]);
    const left = await run.save([{ channel: "n", set: 2 }]);
    await run.save([{ channel: "n", set: 9 }], { namespace: "inner" });
    const kept = await run.save([{ channel: "n", set: 3 }], {}, {}, first);
    const last = await run.save([{ channel: "n", set: 4 }]);
    expectEqual(await store.list("thread"), [last, kept, first], "the chain of the head");
    const all = await store.list("thread", { all: true });
    // A store that does not support branches returns the chain.
    if (all.length === 3) return;
    const marked = { ...left, abandoned: true };
    expectEqual(all, [last, kept, marked, first], "all branches");
    expectEqual(await store.list("thread", { all: true, limit: 2, before: last.id }), [kept, marked], "a page");
    expectEqual(await store.list("thread", { all: true, before: left.id }), [first], "before an abandoned one");
    expectEqual(await store.list("thread", { before: left.id }), [first], "the ancestors of an abandoned one");
  }),

  storeCase("threads are isolated from each other", async (store) => {
    const [one, two] = [await SampleRun.start(store, "one"), await SampleRun.start(store, "two")];
    const ofOne = await one.save([{ channel: "x", set: 1 }], { id: "same", label: "label" });
    const ofTwo = await two.save([{ channel: "x", set: 2 }], { id: "same", label: "label" });
    expectEqual(await store.loadById("one", "same"), ofOne, "checkpoint of one");
    expectEqual(await store.loadById("two", "same"), ofTwo, "checkpoint of two");
    expectEqual(await store.list("two"), [ofTwo], "history of two");
    if (store.loadByLabel) expectEqual(await store.loadByLabel("one", "label"), ofOne, "label of one");
    await two.save([{ channel: "x", set: 3 }]);
    expectEqual(await store.loadLatest("one"), ofOne, "one after two has saved");
    const before = { before: two.head()!.id };
    await expectCode("NG_UNKNOWN_CHECKPOINT", () => store.list("one", before), "history before one of another thread");
  }),

  storeCase("5.12 channels are set, appended to and reset; every checkpoint keeps its own values", async (store) => {
    const run = await SampleRun.start(store);
    const saved: Checkpoint[] = [await run.save([{ channel: "kept", set: "from the start" }])];
    for (let n = 0; n < 40; n++) {
      saved.unshift(
        await run.save([
          { channel: "log", append: n % 3 === 0 ? [] : [n, [n], { n }] },
          ...(n % 7 === 0 ? [{ channel: "now", set: { n } }] : []),
          ...(n % 11 === 5 ? [{ channel: "now", reset: true as const }].slice(n % 7 === 0 ? 1 : 0) : []),
        ]),
      );
      if (n === 20) saved.unshift(await run.save([{ channel: "log", set: ["again"] }]));
      if (n === 30) saved.unshift(await run.save([{ channel: "log", reset: true }]));
    }
    expectEqual(await store.list("thread"), saved, "history");
    for (const checkpoint of saved) {
      expectEqual(await store.loadById("thread", checkpoint.id), checkpoint, `checkpoint ${checkpoint.id}`);
    }
  }),

  storeCase("an append to a value that is not a list is refused and writes nothing", async (store) => {
    const run = await SampleRun.start(store);
    const head = await run.save([{ channel: "x", set: "text" }]);
    const { checkpoint, changes } = run.next([{ channel: "y", append: [1] }], {}, head);
    const append = changes.map((change) => ({ ...change, channel: "x" }));
    const snapshot = () => ({ values: {}, versions: {} });
    const request = { header: checkpoint, changes: append, snapshot, expectedHead: head.id };
    await expectCode("NG_STORE_FAILED", () => store.save(run.claim, request), "the append");
    expectEqual(await store.list("thread"), [head], "history afterwards");
  }),

  storeCase("5.12 a fork within a thread: branches share their past and nothing else", async (store) => {
    const run = await SampleRun.start(store);
    const first = await run.save([{ channel: "log", append: ["first"] }]);
    const second = await run.save([{ channel: "log", append: ["second"] }]);
    const left = await run.save([{ channel: "log", append: ["left"] }]);
    const left2 = await run.save([{ channel: "left", set: true }]);
    const right = await run.save([{ channel: "log", append: ["right"] }], {}, {}, second);
    const right2 = await run.save([{ channel: "log", append: ["right 2"] }]);
    expectEqual(await store.loadLatest("thread"), right2, "the head");
    expectEqual(await store.list("thread"), [right2, right, second, first], "history of the new branch");
    for (const checkpoint of [left, left2]) {
      expectEqual(await store.loadById("thread", checkpoint.id), checkpoint, "a checkpoint of the old branch");
    }
    expectEqual(await store.list("thread", { before: left2.id }), [left, second, first], "along the old branch");
  }),

  storeCase("5.12 forks of forks: no branch sees the writes of another", async (store) => {
    const run = await SampleRun.start(store);
    const branches: Checkpoint[][] = [];
    const all: Checkpoint[] = [await run.save([{ channel: "log", append: ["root"] }])];
    for (let n = 0; n < 24; n++) {
      // Alternates between continuing a branch and forking from the middle of another. All branches write the same
      // channels.
      const from = n % 3 === 0 ? all[Math.floor(all.length / 2)]! : branches[(n * 7) % branches.length]![0]!;
      const next = await run.save(
        [
          { channel: "log", append: [n] },
          n % 5 === 4 ? { channel: "now", reset: true } : { channel: "now", set: `${n}` },
          ...(n % 4 === 0 ? [{ channel: `only ${n}`, append: [] }] : []),
        ],
        {},
        {},
        from,
      );
      const branch = branches.find(([newest]) => newest === from);
      if (branch === undefined) branches.push([next, ...pastOf(from, all)]);
      else branch.unshift(next);
      all.push(next);
    }
    for (const checkpoint of all) {
      expectEqual(await store.loadById("thread", checkpoint.id), checkpoint, `checkpoint ${checkpoint.id}`);
    }
    for (const [newest, ...past] of branches) {
      expectEqual(await store.list("thread", { before: newest!.id }), past, `history before ${newest!.id}`);
    }
    expectEqual(await store.loadLatest("thread"), all.at(-1), "the head");
  }),

  storeCase("history stays in its namespace, even if a parent is in another", async (store) => {
    const run = await SampleRun.start(store);
    const outer = await run.save([{ channel: "x", set: 1 }]);
    const inner = await run.save([{ channel: "x", append: [2] }], { namespace: "sub", parentId: outer.id });
    expectEqual(await store.list("thread", { namespace: "sub" }), [inner], "history of the namespace");
    expectEqual(await store.list("thread", { namespace: "sub", before: inner.id }), [], "history before its first");
    expectEqual(await store.list("thread"), [outer], "history of the graph itself");
  }),

  storeCase("5.12 a fork into another thread is independent of its source", async (store) => {
    const source = await SampleRun.start(store, "source");
    const origin = await source.save([{ channel: "log", append: ["a"] }]);
    const fork = await SampleRun.start(store, "fork");
    const first = await fork.save([{ channel: "log", append: ["b"] }], {}, {}, origin);
    const second = await fork.save([{ channel: "log", append: ["c"] }]);
    await source.save([{ channel: "log", append: ["x"] }]);
    expectEqual(await store.list("fork"), [second, first], "history of the fork");
    await store.deleteThread("source");
    expectEqual(await store.list("fork"), [second, first], "history after the source was deleted");
    expectEqual(await store.loadLatest("fork"), second, "head after the source was deleted");
  }),

  storeCase("a new run on a thread starts without history", async (store) => {
    const run = await SampleRun.start(store);
    await run.save([{ channel: "old", set: 1 }]);
    const { checkpoint, changes } = run.next([{ channel: "new", set: 2 }], { step: -1 }, undefined);
    const { values, versions, ...header } = checkpoint;
    const snapshot = () => ({ values, versions });
    await store.save(run.claim, { header, changes, snapshot, expectedHead: run.head()!.id });
    expectEqual(await store.list("thread"), [checkpoint], "history from the new beginning");
  }),

  optionalCase("a label names one checkpoint and can move", ["label", "loadByLabel"], async (store) => {
    const run = await SampleRun.start(store);
    const first = await run.save([{ channel: "n", set: 1 }]);
    const second = await run.save([{ channel: "n", set: 2 }], { label: "good" });
    expectEqual(await store.loadByLabel("thread", "good"), second, "a label set by a save");
    await store.label("thread", first.id, "good");
    expectEqual(await store.loadByLabel("thread", "good"), { ...first, label: "good" }, "the label after it moved");
    expectEqual((await store.loadById("thread", second.id))?.label, null, "label of the former");
    await store.label("thread", first.id, "good");
    await store.label("thread", first.id, "better");
    expectEqual(await store.loadByLabel("thread", "good"), undefined, "the label that was replaced");
    expectEqual((await store.loadByLabel("thread", "better"))?.id, first.id, "its replacement");
    await run.save([], { label: "better" });
    expectEqual(
      (await store.list("thread")).map(({ label }) => label),
      ["better", null, null],
      "labels in the history",
    );
    await expectCode("NG_UNKNOWN_CHECKPOINT", () => store.label("thread", "x", "y"), "labelling an unknown checkpoint");
    await expectCode("NG_UNKNOWN_CHECKPOINT", () => store.label("nobody", "x", "y"), "labelling in an unknown thread");
  }),

  optionalCase("threads are listed, most recently written first", ["threads"], async (store) => {
    const ids = ["c", "a", "b"];
    const runs: SampleRun[] = [];
    for (const id of ids) runs.push(await SampleRun.start(store, id));
    expectEqual(await store.threads(), [], "threads that were only claimed");
    for (const run of runs) await run.save();
    await runs[0]!.save([], { namespace: "sub" });
    // A thread with checkpoints of a called graph alone is not listed and does not count towards the limit.
    await (await SampleRun.start(store, "inner only")).save([], { namespace: "sub" });
    const { timestamp } = await runs[1]!.save([], { status: "paused", step: 7, metadata: { who: "me" } });
    const threads = await store.threads();
    expectEqual(
      threads.map(({ threadId }) => threadId),
      ["a", "c", "b"],
      "order",
    );
    const { headId, threadId, status, step, checkpoints, metadata } = threads[0]!;
    const info = { threadId, status, step, checkpoints, timestamp: threads[0]!.timestamp, metadata };
    expectEqual(headId, runs[1]!.head()!.id, "head");
    const expected = { threadId: "a", status: "paused", step: 7, checkpoints: 2, timestamp, metadata: { who: "me" } };
    expectEqual(info, expected, "the entry of a thread");
    expectEqual(threads[1]!.checkpoints, 2, "checkpoints, those of subgraphs included");
    for (const limit of [3, 2, 1, 0, -1]) {
      const found = (await store.threads({ limit })).map(({ threadId }) => threadId);
      expectEqual(found, ["a", "c", "b"].slice(0, Math.max(0, limit)), `at most ${limit}`);
    }
    await store.deleteThread("b");
    expectEqual((await store.threads({ limit: 1e9 })).length, 2, "threads after one was deleted");
    for (let n = 0; n < 100; n++) await (await SampleRun.start(store, `more ${n}`)).save();
    expectEqual((await store.threads()).length, 100, "threads without a limit");
    expectEqual((await store.threads({ limit: 1e9 })).length, 102, "all threads");
  }),

  optionalCase("threads are listed in pages, by status, graph, label and metadata", ["threads"], async (store) => {
    const statuses = ["completed", "paused", "completed", "running", "completed"] as const;
    for (const [n, status] of statuses.entries()) {
      const run = await SampleRun.start(store, `thread ${n}`);
      const graph = n < 3 ? "one" : "two";
      const label = n === 2 ? "labelled" : null;
      await run.save([], { status, graph, label, metadata: { parity: n % 2, list: [n] } });
      if (status !== "running") await store.release(run.claim);
    }
    const all = await store.threads();
    // A store that sets no positions supports `limit` alone.
    if (all.some(({ position }) => position === undefined)) return;
    const names = async (options: ThreadsOptions): Promise<readonly string[]> =>
      (await store.threads(options)).map(({ threadId }) => threadId.slice("thread ".length));
    for (const [what, options, expected] of [
      ["status", { status: "completed" }, ["4", "2", "0"]],
      ["status and limit", { status: "completed", limit: 2 }, ["4", "2"]],
      ["graph", { graph: "one" }, ["2", "1", "0"]],
      ["label", { label: "labelled" }, ["2"]],
      ["metadata", { metadata: { parity: 1 } }, ["3", "1"]],
      ["a list in metadata", { metadata: { list: [4] } }, ["4"]],
      ["metadata that no thread has", { metadata: { other: 1 } }, []],
      ["all filters", { status: "completed", graph: "two", metadata: { parity: 0 } }, ["4"]],
      ["the rest behind a position", { after: all[1]!.position! }, ["2", "1", "0"]],
      ["a page", { after: all[0]!.position!, limit: 2 }, ["3", "2"]],
      ["nothing behind the last", { after: all[4]!.position! }, []],
    ] as const) {
      expectEqual(await names(options), expected, `threads by ${what}`);
    }
    expectEqual(
      all.map(({ held, graph, label }) => [held, graph, label]),
      [
        [false, "two", null],
        [true, "two", null],
        [false, "one", "labelled"],
        [false, "one", null],
        [false, "one", null],
      ],
      "claims, graphs and labels",
    );
  }),

  optionalCase("threads that have expired are listed", ["threads"], async (store) => {
    for (const [name, timestamp, ttl] of [
      ["early", 1000, 500],
      ["late", 1000, 5000],
      ["never", 1000, undefined],
    ] as const) {
      const run = await SampleRun.start(store, name);
      await run.save([], { timestamp, status: "completed", ...(ttl === undefined ? {} : { ttl }) });
    }
    const all = await store.threads();
    if (all.some(({ position }) => position === undefined)) return;
    expectEqual(
      all.map(({ expires }) => expires),
      [undefined, 6000, 1500],
      "when the threads expire",
    );
    const expired = async (expiredAt: number): Promise<readonly string[]> =>
      (await store.threads({ expiredAt })).map(({ threadId }) => threadId);
    expectEqual(await expired(1499), [], "before the first expiry");
    expectEqual(await expired(1500), ["early"], "at the first expiry");
    expectEqual(await expired(Number.MAX_SAFE_INTEGER), ["late", "early"], "in the far future");
    // The next checkpoint renews the thread.
    const head = (await store.loadLatest("early"))!;
    const { values: _, versions: __, ...header } = head;
    const run = await SampleRun.resume(store, head);
    await run.save([], { ...header, id: "renewed", parentId: head.id, timestamp: 4000 });
    expectEqual(await expired(4499), [], "after a later checkpoint");
  }),

  storeCase("deleting a thread removes all its data and no other data", async (store) => {
    const run = await SampleRun.start(store, "gone");
    const first = await run.save([{ channel: "log", append: [1] }], { label: "label" });
    await run.save([], { namespace: "sub" });
    await store.putWrites?.(run.claim, first.id, [{ taskId: "t", node: "a", result: 1 }]);
    const other = await SampleRun.start(store, "stays");
    const kept = await other.save([{ channel: "log", append: [2] }], { label: "label" });
    await store.putWrites?.(other.claim, kept.id, [{ taskId: "t", node: "a", result: 2 }]);
    await store.deleteThread("gone");
    expectEqual(await store.loadLatest("gone"), undefined, "head");
    expectEqual(await store.loadLatest("gone", "sub"), undefined, "head of a namespace");
    expectEqual(await store.loadById("gone", first.id), undefined, "checkpoint");
    expectEqual((await store.getWrites?.("gone", first.id)) ?? [], [], "pending writes");
    expectEqual(await store.loadByLabel?.("gone", "label"), undefined, "label");
    const afterDelete = { expectedHead: null };
    await expectCode(
      "NG_THREAD_CONFLICT",
      () => run.save([], {}, afterDelete),
      "writing with the claim of a deleted thread",
    );
    await expectCode(
      "NG_THREAD_CONFLICT",
      () => store.renew(run.claim, LEASE),
      "renewing the claim of a deleted thread",
    );
    const again = await SampleRun.start(store, "gone");
    expectTrue(again.claim.epoch > run.claim.epoch, "the epoch of a recreated thread went back");
    await again.save([{ channel: "log", append: [3] }]);
    expectEqual((await store.list("gone")).length, 1, "history of a recreated thread");
    expectEqual((await store.loadLatest("gone"))?.values, { log: [3] }, "values of a recreated thread");
    expectEqual(await store.loadLatest("gone", "sub"), undefined, "namespace of a recreated thread");
    expectEqual(await store.loadByLabel?.("gone", "label"), undefined, "label of a recreated thread");
    expectEqual((await store.getWrites?.("gone", first.id)) ?? [], [], "pending writes of a recreated thread");
    await again.save([{ channel: "log", append: [4] }], {}, { expectedHead: again.head()!.id });
    expectEqual(await store.list("stays"), [kept], "the other thread");
    if (store.putWrites && store.getWrites)
      expectEqual((await store.getWrites("stays", kept.id)).length, 1, "its pending writes");
  }),

  optionalCase("calls on a closed store fail, and closing it again is harmless", ["close"], async (store) => {
    await store.close();
    await store.close();
    await expectCode("NG_STORE_FAILED", () => store.loadLatest("thread"), "reading");
    await expectCode("NG_STORE_FAILED", () => store.claim("thread", { owner: "a", leaseMs: 1 }), "claiming");
  }),
];

/** From a checkpoint back along its parents, itself included. */
function pastOf(checkpoint: Checkpoint, all: readonly Checkpoint[]): Checkpoint[] {
  const past: Checkpoint[] = [];
  for (let next: Checkpoint | undefined = checkpoint; next !== undefined;) {
    past.push(next);
    const { parentId }: Checkpoint = next;
    next = all.find(({ id }) => id === parentId);
  }
  return past;
}
