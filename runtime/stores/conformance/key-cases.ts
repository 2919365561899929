import { expectCode, expectEqual } from "./expect.ts";
import { SampleRun } from "./sample-run.ts";
import { storeCase, withMethods, type StoreCase } from "./store-case.ts";

/** Names that a store may confuse by truncation, escaping, case folding, normalization or joining. */
const NAMES: readonly string[] = [
  ["", "a", "A", "a ", " a", "a\0", "a\0b", "a\\0", "\0", "\\u0000", "\\", "\\\\", "a\tb", "a\nb"],
  ['"', "'", "''", "a'b", 'a"b', "%", "_", "a%", "*", "?", "$1", ":a", "@a", ";--", "a/b", "a:b", "a|b"],
  ["\u00e9", "e\u0301", "\u00df", "ss", "\ufb00", "ff", "\u{1f600}", "\ud83d", "\ude00", "\ud83d?"],
  ["\ufffd", "\ufeff", "\u202e", "1", "1.0", "01", "1e0", "null", "true", "undefined", "[object Object]"],
  ["__proto__", "constructor", "hasOwnProperty", "x".repeat(300), "x".repeat(301)],
].flat();

/** Separators that a store may use to join two names to one key. */
const SEPARATORS = [":", "::", "/", "|", ",", "#", "@", ".", "-", "_", " ", "\0", "\u001f", "\n", "\t", "\\", '","'];

export const KEYS: readonly StoreCase[] = [
  storeCase("names of threads are never confused", async (store) => {
    for (const [index, name] of NAMES.entries()) {
      const run = await SampleRun.start(store, name);
      await run.save([{ channel: "n", set: index }], { id: "id" });
    }
    for (const [index, name] of NAMES.entries()) {
      const found = await store.loadLatest(name);
      expectEqual([found?.threadId, found?.values["n"]], [name, index], `thread ${JSON.stringify(name)}`);
    }
    await store.deleteThread(NAMES[0]!);
    for (const name of NAMES.slice(1)) {
      expectEqual((await store.loadLatest(name))?.threadId, name, `thread ${JSON.stringify(name)} after a deletion`);
    }
  }),

  storeCase("names of namespaces, checkpoints, channels, labels and tasks are never confused", async (store) => {
    const run = await SampleRun.start(store);
    await run.save(NAMES.map((name) => ({ channel: name, set: name })));
    expectEqual(Object.keys((await store.loadLatest("thread"))!.values).length, NAMES.length, "channels");
    for (const name of NAMES) {
      await run.save([{ channel: name, append: [name] }], { id: `id ${name}`, namespace: `in ${name}`, label: name });
      await store.putWrites?.(run.claim, `id ${name}`, [{ taskId: name, node: name, result: name }]);
    }
    for (const name of NAMES) {
      const shown = JSON.stringify(name);
      const found = await store.loadLatest("thread", `in ${name}`);
      expectEqual([found?.id, found?.namespace], [`id ${name}`, `in ${name}`], `namespace ${shown}`);
      expectEqual(found?.values[name], [name], `channel ${shown}`);
      expectEqual((await store.loadById("thread", `id ${name}`))?.id, `id ${name}`, `checkpoint ${shown}`);
      if (store.loadByLabel) expectEqual((await store.loadByLabel("thread", name))?.label, name, `label ${shown}`);
      const writes = [{ taskId: name, node: name, result: name }];
      if (store.putWrites && store.getWrites)
        expectEqual(await store.getWrites("thread", `id ${name}`), writes, `task ${shown}`);
    }
    const tasks = withMethods(store, "putWrites", "getWrites");
    const head = run.head()!.id;
    const writes = NAMES.map((taskId, index) => ({ taskId, node: "a", result: index }));
    await tasks?.putWrites(run.claim, head, writes);
    if (tasks) expectEqual(await tasks.getWrites("thread", head), writes, "tasks of one checkpoint");
  }),

  storeCase("pairs of names are never confused, even if joining them gives the same text", async (store) => {
    const tasks = await SampleRun.start(store, "tasks");
    for (const between of SEPARATORS) {
      // `a:b` and `c`, `a` and `b:c`: joined, they are the same.
      const pairs = [
        [`a${between}b`, "c"],
        ["a", `b${between}c`],
      ] as const;
      const markOf = (pair: readonly [string, string]) => JSON.stringify(pair);
      for (const pair of pairs) {
        const [outer, inner] = pair;
        const mark = markOf(pair);
        const run = await SampleRun.start(store, outer);
        await run.save([{ channel: inner, set: mark }], { id: inner, namespace: inner, label: inner });
        await store.putWrites?.(run.claim, inner, [{ taskId: "t", node: "a", result: mark }]);
        await store.putWrites?.(tasks.claim, outer, [{ taskId: inner, node: "a", result: mark }]);
      }
      for (const pair of pairs) {
        const [outer, inner] = pair;
        const mark = markOf(pair);
        const checkpoint = await store.loadById(outer, inner);
        expectEqual(checkpoint?.values[inner], mark, `value of thread, checkpoint ${mark}`);
        expectEqual(await store.loadLatest(outer, inner), checkpoint, `head of thread, namespace ${mark}`);
        if (store.loadByLabel) expectEqual(await store.loadByLabel(outer, inner), checkpoint, `thread, label ${mark}`);
        if (store.putWrites === undefined || store.getWrites === undefined) continue;
        expectEqual((await store.getWrites(outer, inner))[0]?.result, mark, `writes of thread, checkpoint ${mark}`);
        const ofTask = (await store.getWrites("tasks", outer)).find(({ taskId }) => taskId === inner);
        expectEqual(ofTask?.result, mark, `write of checkpoint, task ${mark}`);
      }
    }
  }),

  storeCase("a very long name is refused or stored whole", async (store) => {
    const name = "long".repeat(50_000);
    try {
      const run = await SampleRun.start(store, name);
      await run.save();
    } catch (error) {
      await expectCode("NG_STORE_FAILED", () => Promise.reject(error), "a thread with a very long name");
      return;
    }
    expectEqual((await store.loadLatest(name))?.threadId, name, "the thread");
  }),
];
