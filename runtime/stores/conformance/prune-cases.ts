import type { Checkpoint } from "../../interface/checkpoint.ts";
import { expectCode, expectEqual } from "./expect.ts";
import { SampleRun } from "./sample-run.ts";
import { optionalCase, type StoreCase } from "./store-case.ts";

export const PRUNING: readonly StoreCase[] = [
  optionalCase("pruning counts in each namespace and does not touch other threads", ["prune"], async (store) => {
    const [run, other] = [await SampleRun.start(store), await SampleRun.start(store, "other")];
    const root: Checkpoint[] = [];
    const sub: Checkpoint[] = [];
    const elsewhere: Checkpoint[] = [];
    for (let n = 0; n < 4; n++) {
      root.unshift(await run.save([{ channel: "log", append: [n] }]));
      sub.unshift(await run.save([{ channel: "log", append: [n] }], { namespace: "sub" }));
      elsewhere.unshift(await other.save([{ channel: "log", append: [n] }]));
    }
    for (const keepLast of [0, -1, 1.5, Number.NaN]) {
      await expectCode("NG_STORE_FAILED", () => store.prune("thread", { keepLast }), `keepLast: ${keepLast}`);
    }
    expectEqual(await store.prune("thread", { keepLast: 1e9 }), 0, "checkpoints removed by a policy that keeps all");
    expectEqual(await store.prune("thread", { keepLast: 2 }), 4, "checkpoints removed");
    expectEqual(await store.list("thread"), root.slice(0, 2), "history of the graph itself");
    expectEqual(await store.list("thread", { namespace: "sub" }), sub.slice(0, 2), "history of the namespace");
    expectEqual(await store.list("other"), elsewhere, "history of the other thread");
    expectEqual(await store.list("thread", { before: root[1]!.id }), [], "history before the oldest kept one");
    const before = { before: root[2]!.id };
    await expectCode("NG_UNKNOWN_CHECKPOINT", () => store.list("thread", before), "history before a removed one");
    if (store.threads) {
      const counts = (await store.threads()).map(({ threadId, checkpoints }) => [threadId, checkpoints]);
      expectEqual(counts.sort(), [["other", 4], ["thread", 4]], "number of checkpoints in the list of threads"); // prettier-ignore
    }
    const next = await run.save([{ channel: "log", append: [4] }]);
    expectEqual(await store.list("thread"), [next, ...root.slice(0, 2)], "history after another save");
  }),

  optionalCase("a run can fork from a pruned checkpoint that it still has in memory", ["prune"], async (store) => {
    const run = await SampleRun.start(store);
    const gone = await run.save([{ channel: "log", append: ["gone"] }]);
    await run.save([{ channel: "log", append: ["head"] }]);
    expectEqual(await store.prune("thread", { keepLast: 1 }), 1, "checkpoints removed");
    const fork = await run.save([{ channel: "log", append: ["fork"] }], {}, {}, gone);
    expectEqual(await store.list("thread"), [fork], "history of the fork, whose parent was removed");
    expectEqual(await store.prune("thread", { keepLast: 1 }), 1, "checkpoints removed, the former head");
    expectEqual(await store.loadLatest("thread"), fork, "the head");
  }),

  optionalCase(
    "pruning keeps the newest checkpoints of each namespace and labelled ones",
    ["prune", "label", "loadByLabel"],
    async (store) => {
      const run = await SampleRun.start(store);
      const saved: Checkpoint[] = [];
      for (let n = 0; n < 100; n++) {
        saved.unshift(
          await run.save([
            { channel: "log", append: [n] },
            { channel: n < 50 ? "early" : "late", set: n },
          ]),
        );
      }
      const subs = [await run.save([], { namespace: "sub" }), await run.save([], { namespace: "sub" })];
      await store.label("thread", saved[60]!.id, "kept");
      await store.putWrites?.(run.claim, saved[70]!.id, [{ taskId: "t", node: "a", result: 1 }]);
      await expectCode("NG_STORE_FAILED", () => store.prune("thread", { keepLast: 0 }), "keeping nothing");
      expectEqual(await store.prune("thread", { keepLast: 3 }), 96, "checkpoints removed at first");
      expectEqual(await store.prune("thread", { keepLast: 3 }), 0, "checkpoints removed again");
      expectEqual(await store.prune("nobody", { keepLast: 3 }), 0, "checkpoints removed of an unknown thread");
      expectEqual(await store.list("thread"), saved.slice(0, 3), "history");
      const labelled = { ...saved[60]!, label: "kept" };
      expectEqual(await store.loadById("thread", labelled.id), labelled, "the labelled one");
      expectEqual(await store.loadById("thread", saved[50]!.id), undefined, "a removed one");
      expectEqual(await store.list("thread", { namespace: "sub" }), [...subs].reverse(), "the namespace");
      expectEqual((await store.getWrites?.("thread", saved[70]!.id)) ?? [], [], "pending writes of a removed one");
      const next = await run.save([{ channel: "log", append: ["next"] }], {}, {}, saved[0]);
      expectEqual(await store.loadLatest("thread"), next, "the checkpoint saved after pruning");
      expectEqual(await store.prune("thread", { keepLast: 1 }), 4, "checkpoints removed in the end");
      expectEqual(await store.list("thread"), [next], "history in the end");
      expectEqual(await store.loadById("thread", labelled.id), labelled, "the labelled one in the end");
    },
  ),

  optionalCase(
    "pruning by age, with labelled checkpoints if the policy includes them",
    ["prune", "label", "loadByLabel"],
    async (store) => {
      const run = await SampleRun.start(store);
      const saved: Checkpoint[] = [];
      for (let n = 0; n < 10; n++)
        saved.unshift(await run.save([{ channel: "log", append: [n] }], { timestamp: n * 100 }));
      await store.label("thread", saved[8]!.id, "early");
      await expectCode(
        "NG_STORE_FAILED",
        () => store.prune("thread", { keepLast: 1, olderThan: Number.NaN }),
        "`olderThan` that is not a time",
      );
      expectEqual(await store.prune("thread", { keepLast: 1, olderThan: 0 }), 0, "checkpoints older than all");
      expectEqual(await store.prune("thread", { keepLast: 1, olderThan: 500 }), 4, "old checkpoints without a label");
      expectEqual(await store.list("thread"), saved.slice(0, 5), "history afterwards");
      expectEqual((await store.loadById("thread", saved[8]!.id))?.values["log"], [0, 1], "the labelled one");
      const all = { keepLast: 2, keepLabelled: false };
      expectEqual(await store.prune("thread", all), 4, "checkpoints beside the newest two");
      expectEqual(await store.loadByLabel("thread", "early"), undefined, "the label of a removed one");
      expectEqual(await store.list("thread"), saved.slice(0, 2), "history in the end");
      await run.save([{ channel: "log", append: ["next"] }], { label: "early" });
    },
  ),

  optionalCase(
    "pruning forks: each branch keeps the values that its checkpoints read",
    ["prune", "label"],
    async (store) => {
      const run = await SampleRun.start(store);
      const past: Checkpoint[] = [];
      for (let n = 0; n < 5; n++) past.push(await run.save([{ channel: "log", append: [n] }]));
      const left = await run.save([{ channel: "log", append: ["left"] }]);
      await run.save([{ channel: "log", append: ["right"] }], {}, {}, past[2]);
      const right = await run.save([{ channel: "log", append: ["right 2"] }]);
      await store.label("thread", left.id, "left");
      await store.label("thread", past[1]!.id, "early");
      expectEqual(await store.prune("thread", { keepLast: 1 }), 5, "checkpoints removed");
      expectEqual(await store.list("thread"), [right], "history of the newest branch");
      for (const [checkpoint, label] of [
        [left, "left"],
        [past[1]!, "early"],
      ] as const) {
        expectEqual(await store.loadById("thread", checkpoint.id), { ...checkpoint, label }, `checkpoint "${label}"`);
      }
      const forked = await run.save([{ channel: "log", append: ["again"] }], {}, {}, past[1]);
      expectEqual(forked.values["log"], [0, 1, "again"], "a fork of a kept one");
      expectEqual(await store.loadLatest("thread"), forked, "the head after it");
    },
  ),

  optionalCase("7.2 pruning keeps the checkpoint that a called graph resumes from", ["prune"], async (store) => {
    const run = await SampleRun.start(store);
    const deep = await run.save([{ channel: "n", set: 0 }], { namespace: "call/deep" });
    const early = await run.save([{ channel: "n", set: 1 }], {
      namespace: "call",
      children: { "call/deep": deep.id, "call/never": "not there" },
    });
    const paused = await run.save([], { children: { call: early.id }, label: "paused" });
    await run.save([{ channel: "n", set: 1 }], { namespace: "call/deep" });
    const late = await run.save([{ channel: "n", set: 2 }], { namespace: "call" });
    const head = await run.save([{ channel: "n", set: 3 }], { namespace: "call" });
    const outer = await run.save([], { children: { call: head.id } });
    expectEqual(await store.prune("thread", { keepLast: 1 }), 1, "checkpoints removed");
    for (const checkpoint of [deep, early, paused, head, outer]) {
      expectEqual(await store.loadById("thread", checkpoint.id), checkpoint, `checkpoint ${checkpoint.id}`);
    }
    expectEqual(await store.loadById("thread", late.id), undefined, "one that no kept checkpoint resumes from");
  }),
];
