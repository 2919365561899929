import type { Json } from "../../value/json.ts";
import { expectCode, expectEqual } from "./expect.ts";
import { LEASE, SampleRun } from "./sample-run.ts";
import { optionalCase, type StoreCase } from "./store-case.ts";

export const WRITES: readonly StoreCase[] = [
  optionalCase(
    "5.3 pending writes belong to their thread",
    ["putWrites", "getWrites", "clearWrites"],
    async (store) => {
      const [one, two] = [await SampleRun.start(store, "one"), await SampleRun.start(store, "two")];
      const write = (result: string) => ({ taskId: "task", node: "node", result });
      await store.putWrites(one.claim, "same", [write("of one")]);
      await store.putWrites(two.claim, "same", [write("of two")]);
      expectEqual(await store.getWrites("one", "same"), [write("of one")], "writes of one");
      expectEqual(await store.getWrites("two", "same"), [write("of two")], "writes of two");
      expectEqual(await store.getWrites("nobody", "same"), [], "writes of an unknown thread");
      await two.save([], {}, { clearWritesOf: "same" });
      expectEqual(await store.getWrites("one", "same"), [write("of one")], "writes of one after two has saved");
      await store.putWrites(two.claim, "same", [write("again")]);
      await store.clearWrites(two.claim, "same");
      expectEqual(await store.getWrites("one", "same"), [write("of one")], "writes of one after two cleared its own");
    },
  ),

  optionalCase("5.3 writes of one call are stored all or none", ["putWrites", "getWrites"], async (store) => {
    const run = await SampleRun.start(store);
    const write = (taskId: string, result: unknown) => ({ taskId, node: "node", result: result as Json });
    await store.putWrites(run.claim, "c", [write("a", "old")]);
    const half = [write("a", "new"), write("b", 1), write("c", 1n)];
    await expectCode("NG_STORE_FAILED", () => store.putWrites(run.claim, "c", half), "putting a bigint among others");
    expectEqual(await store.getWrites("thread", "c"), [write("a", "old")], "writes afterwards");
    await store.putWrites(run.claim, "c", []);
    expectEqual(await store.getWrites("thread", "c"), [write("a", "old")], "writes after putting none");
    await store.putWrites(run.claim, "c", [write("b", null), write("b", []), write("d", {})]);
    const expected = [write("a", "old"), write("b", []), write("d", {})];
    expectEqual(await store.getWrites("thread", "c"), expected, "writes, of two of one task the later");
  }),

  optionalCase("5.3 concurrent writes of parallel tasks are all stored", ["putWrites", "getWrites"], async (store) => {
    const run = await SampleRun.start(store);
    const tasks = Array.from({ length: 12 }, (_, index) => `task ${index}`);
    const put = async (taskId: string) => store.putWrites(run.claim, "c", [{ taskId, node: "a", result: taskId }]);
    await Promise.all(tasks.map(put));
    const found = (await store.getWrites("thread", "c")).map(({ taskId }) => taskId);
    expectEqual([...found].sort(), [...tasks].sort(), "tasks");
  }),

  optionalCase(
    "5.3 pending writes: in order, replaced by task, separate for each checkpoint",
    ["putWrites", "getWrites", "clearWrites"],
    async (store) => {
      const run = await SampleRun.start(store);
      const head = await run.save();
      const write = (taskId: string, result: number) => ({ taskId, node: `node of ${taskId}`, result: { result } });
      await store.putWrites(run.claim, head.id, [write("c", 1), write("a", 2)]);
      await store.putWrites(run.claim, head.id, [write("b", 3)]);
      await store.putWrites(run.claim, "elsewhere", [write("a", 4)]);
      await store.putWrites(run.claim, head.id, [write("a", 5)]);
      const expected = [write("c", 1), write("a", 5), write("b", 3)];
      expectEqual(await store.getWrites("thread", head.id), expected, "writes");
      expectEqual(await store.getWrites("thread", "elsewhere"), [write("a", 4)], "writes of another checkpoint");
      await store.clearWrites(run.claim, head.id, []);
      expectEqual(await store.getWrites("thread", head.id), expected, "after clearing none");
      await store.clearWrites(run.claim, head.id, ["c", "unknown"]);
      expectEqual(await store.getWrites("thread", head.id), expected.slice(1), "after clearing one task");
      await store.clearWrites(run.claim, head.id);
      expectEqual(await store.getWrites("thread", head.id), [], "after clearing all");
      expectEqual((await store.getWrites("thread", "elsewhere")).length, 1, "writes of another checkpoint in the end");
    },
  ),

  optionalCase(
    "5.3 new checkpoint, head, clearing of writes and release are one transaction",
    ["putWrites", "getWrites"],
    async (store) => {
      const run = await SampleRun.start(store);
      const first = await run.save();
      await store.putWrites(run.claim, first.id, [{ taskId: "t", node: "a", result: 1 }]);
      await store.putWrites(run.claim, "other", [{ taskId: "t", node: "a", result: 1 }]);
      const second = await run.save([], {}, { clearWritesOf: first.id, releaseClaim: true });
      expectEqual(await store.loadLatest("thread"), second, "head");
      expectEqual(await store.getWrites("thread", first.id), [], "writes of the step that is done");
      expectEqual((await store.getWrites("thread", "other")).length, 1, "other writes");
      const next = await SampleRun.start(store, "thread", "next");
      await store.putWrites(next.claim, second.id, [{ taskId: "t", node: "a", result: 2 }]);
      await next.save([], { id: "third" }, { expectedHead: second.id }, second);
      expectEqual((await store.getWrites("thread", second.id)).length, 1, "writes that the save did not ask to clear");
      await expectCode("NG_THREAD_CONFLICT", () => store.claim("thread", { owner: "x", leaseMs: LEASE }), "a claim");
    },
  ),
];
