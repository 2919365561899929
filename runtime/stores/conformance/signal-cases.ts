/** The inbox of a thread, and the listing of threads that may continue. */
import type { Json } from "../../value/json.ts";
import { expectCode, expectEqual } from "./expect.ts";
import { LEASE, SampleRun } from "./sample-run.ts";
import { optionalCase, type StoreCase } from "./store-case.ts";

const signal = (id: string, value: Json = id) => ({ id, name: `name of ${id}`, value });

export const SIGNALS: readonly StoreCase[] = [
  optionalCase(
    "signals are kept in order, with their values, in the inbox of their thread",
    ["putSignal", "getSignals"],
    async (store) => {
      await (await SampleRun.start(store, "one")).save();
      await (await SampleRun.start(store, "two")).save();
      const all = [signal("z", { deep: [null, "ä", 1.5] }), signal("a", null), signal("", "no id")];
      for (const one of all) expectEqual(await store.putSignal("one", one), true, "a new signal is added");
      expectEqual(await store.getSignals("one"), all, "the inbox");
      expectEqual(await store.getSignals("two"), [], "the inbox of the other thread");
      expectEqual(await store.getSignals("nobody"), [], "the inbox of an unknown thread");
      await expectCode("NG_STORE_FAILED", () => store.putSignal("one", signal("bad", 1n as never)), "a bigint");
      expectEqual(await store.getSignals("one"), all, "the inbox after a value that is not JSON");
    },
  ),

  optionalCase(
    "a signal needs no claim, and the holder of the claim continues",
    ["putSignal", "getSignals"],
    async (store) => {
      const run = await SampleRun.start(store);
      await expectCode("NG_UNKNOWN_THREAD", () => store.putSignal("thread", signal("early")), "before a checkpoint");
      await expectCode("NG_UNKNOWN_THREAD", () => store.putSignal("nobody", signal("early")), "an unknown thread");
      await run.save([{ channel: "n", set: 1 }]);
      await store.putSignal("thread", signal("a"));
      await run.save([{ channel: "n", set: 2 }]);
      await store.putSignal("thread", signal("b"));
      const head = await run.save([{ channel: "n", set: 3 }], {}, { releaseClaim: true });
      await store.putSignal("thread", signal("c"));
      expectEqual(await store.loadLatest("thread"), head, "head");
      expectEqual(
        (await store.getSignals("thread")).map(({ id }) => id),
        ["a", "b", "c"],
        "the inbox",
      );
    },
  ),

  optionalCase("a signal with a known id is not added again", ["putSignal", "getSignals"], async (store) => {
    const run = await SampleRun.start(store);
    await run.save();
    expectEqual(await store.putSignal("thread", signal("a", 1)), true, "the first");
    expectEqual(await store.putSignal("thread", signal("a", 2)), false, "the same id");
    expectEqual(await store.getSignals("thread"), [signal("a", 1)], "the inbox");
    await run.save([], {}, { takenSignals: ["a", "unknown"] });
    expectEqual(await store.getSignals("thread"), [], "the inbox after the signal was taken");
    expectEqual(await store.putSignal("thread", signal("a", 3)), false, "the id of a signal that was taken");
    expectEqual(await store.getSignals("thread"), [], "the inbox in the end");
  }),

  optionalCase(
    "signals are taken in the transaction that stores what they became",
    ["putSignal", "getSignals", "putWrites", "getWrites"],
    async (store) => {
      const run = await SampleRun.start(store);
      const head = await run.save();
      for (const id of ["a", "b", "c"]) await store.putSignal("thread", signal(id));
      const write = { taskId: "t", node: "n", result: 1 };
      await store.putWrites(run.claim, head.id, [write], ["b"]);
      expectEqual(
        (await store.getSignals("thread")).map(({ id }) => id),
        ["a", "c"],
        "after a result took one",
      );
      const stale = { expectedHead: "another", takenSignals: ["a"] };
      await expectCode("NG_THREAD_CONFLICT", () => run.save([], {}, stale), "a save that fails");
      const bad = [{ ...write, result: 1n as never }];
      await expectCode("NG_STORE_FAILED", () => store.putWrites(run.claim, head.id, bad, ["a"]), "a bad result");
      expectEqual(
        (await store.getSignals("thread")).map(({ id }) => id),
        ["a", "c"],
        "after calls that failed",
      );
      await run.save([], { namespace: "sub" }, { takenSignals: ["c"] });
      expectEqual(
        (await store.getSignals("thread")).map(({ id }) => id),
        ["a"],
        "after a called graph took one",
      );
      const heir = await store.claim("thread", { owner: "owner", leaseMs: LEASE });
      await expectCode("NG_THREAD_CONFLICT", () => run.save([], {}, { takenSignals: ["a"] }), "a lost claim");
      await expectCode("NG_THREAD_CONFLICT", () => store.putWrites(run.claim, head.id, [], ["a"]), "a lost claim");
      expectEqual(
        (await store.getSignals("thread")).map(({ id }) => id),
        ["a"],
        "the inbox in the end",
      );
      await store.release(heir);
    },
  ),

  optionalCase("a save returns signals to the inbox", ["putSignal", "getSignals"], async (store) => {
    const run = await SampleRun.start(store);
    await run.save();
    for (const id of ["a", "b", "c"]) await store.putSignal("thread", signal(id));
    await run.save([], {}, { takenSignals: ["a", "b"] });
    await run.save([], {}, { returnedSignals: [signal("new"), signal("b"), signal("c", "again")] });
    const expected = [signal("b"), signal("c"), signal("new")];
    expectEqual(await store.getSignals("thread"), expected, "the inbox");
    await run.save([], {}, { takenSignals: ["b", "new"], returnedSignals: [signal("b", 2)] });
    expectEqual(
      (await store.getSignals("thread")).map(({ id }) => id),
      ["b", "c"],
      "one that is taken and returned",
    );
  }),

  optionalCase(
    "a deleted thread has no inbox, and none when it is created again",
    ["putSignal", "getSignals"],
    async (store) => {
      await (await SampleRun.start(store)).save();
      await store.putSignal("thread", signal("a"));
      await store.deleteThread("thread");
      expectEqual(await store.getSignals("thread"), [], "the inbox of the deleted thread");
      await (await SampleRun.start(store)).save();
      expectEqual(await store.getSignals("thread"), [], "the inbox of the new thread");
      expectEqual(await store.putSignal("thread", signal("a")), true, "the id in the new thread");
    },
  ),

  optionalCase(
    "signals and due times outlive the process",
    ["putSignal", "getSignals", "reopen"],
    async (store, under) => {
      const run = await SampleRun.start(store);
      await run.save([], { status: "paused", due: 1000 });
      await store.putSignal("thread", signal("a", { deep: [1] }));
      await store.putSignal("thread", signal("b"));
      await run.save([], { status: "paused", due: 2000 }, { takenSignals: ["b"] });
      const opened = await under.reopen();
      expectEqual(await opened.getSignals?.("thread"), [signal("a", { deep: [1] })], "the inbox");
      expectEqual(await opened.putSignal?.("thread", signal("b")), false, "the id of the signal that was taken");
      const [info] = (await opened.threads?.({ due: 5000 })) ?? [];
      // A store without positions supports `limit` alone.
      if (info?.position !== undefined) expectEqual([info?.due, info?.signals], [2000, 1], "due time and signals");
    },
  ),

  optionalCase(
    "threads lists the paused threads that are due, or have signals",
    ["threads", "putSignal"],
    async (store) => {
      const due = async (now: number): Promise<string[]> =>
        (await store.threads({ due: now })).map(({ threadId }) => threadId).sort();
      const start = async (thread: string, header: object): Promise<SampleRun> => {
        const run = await SampleRun.start(store, thread);
        await run.save([], header);
        return run;
      };
      const early = await start("early", { status: "paused", due: 1000 });
      // A store without positions supports `limit` alone.
      if ((await store.threads())[0]?.position === undefined) return;
      await start("late", { status: "paused", due: 2000 });
      await start("never", { status: "paused" });
      await start("over", { status: "completed" });
      await early.save([], { namespace: "sub", status: "paused", due: 5 });
      expectEqual(await due(999), [], "before the first due time");
      expectEqual(await due(1000), ["early"], "at the first due time");
      expectEqual(await due(2000), ["early", "late"], "at the second due time");
      await store.putSignal("never", signal("a"));
      await store.putSignal("over", signal("a"));
      expectEqual(await due(0), ["never"], "with a signal, and with one for a run that is over");
      await early.save([], { status: "running" });
      expectEqual(await due(3000), ["late", "never"], "after the first thread has continued");
      await early.save([], { status: "paused", due: 3000 });
      expectEqual(await due(3000), ["early", "late", "never"], "after it waits again");
      expectEqual(await due(2999), ["late", "never"], "before the time that it waits for now");
      await store.deleteThread("late");
      expectEqual(await due(3000), ["early", "never"], "after a thread was deleted");
    },
  ),
];
