/** A process that dies within a write, for stores with `crash`. */
import type { Checkpoint } from "../../interface/checkpoint.ts";
import { StoreError } from "../../interface/errors.ts";
import type { Store } from "../../interface/store.ts";
import { ConformanceError, expectEqual } from "./expect.ts";
import { SampleRun } from "./sample-run.ts";
import { optionalCase, type CrashedStore, type StoreCase, type StoreUnderTest } from "./store-case.ts";

/** Parts of the written bytes that arrive. The last one leaves out a single byte of a write of up to a million. */
const FRACTIONS = [0, 0.001, 0.01, 0.05, 0.2, 0.4, 0.5, 0.6, 0.8, 0.95, 0.99, 0.999, 0.999_999];

type Crashing = Required<Pick<StoreUnderTest, "crash">>;

export const CRASHES: readonly StoreCase[] = [
  optionalCase(
    "5.3 a process that dies within a save leaves the state before it or after it, or a StoreError",
    ["crash"],
    async (store, under) => {
      const run = await SampleRun.start(store);
      await run.save([{ channel: "log", append: ["first"] }]);
      for (const fraction of FRACTIONS) {
        const before = run.head()!;
        const write = { taskId: "t", node: "a", result: before.id };
        await store.putWrites?.(run.claim, before.id, [write]);
        let after = before;
        const save = async (): Promise<void> => {
          const changes = [
            { channel: "log", append: [`a line\n"${fraction}"`, { fraction }] },
            { channel: "long", set: "x".repeat(500) },
          ];
          after = await run.save(changes, { metadata: { fraction } }, { clearWritesOf: before.id });
        };
        const what = `a save of which ${fraction * 100} % was written`;
        await afterCrash(under, save, fraction, what, async (crashed) => {
          const head = await oneOf(crashed, [before, after], what);
          if (crashed.getWrites === undefined) return head;
          const expected = head.id === before.id ? [write] : [];
          expectEqual(await crashed.getWrites("thread", before.id), expected, `pending writes after ${what}`);
          return head;
        });
      }
    },
  ),

  optionalCase(
    "5.3 a process that dies within putWrites leaves all of its results or none, or a StoreError",
    ["crash", "putWrites", "getWrites"],
    async (store, under) => {
      const run = await SampleRun.start(store);
      const head = await run.save([{ channel: "n", set: 1 }]);
      await store.putWrites(run.claim, head.id, [{ taskId: "0", node: "a", result: "stored" }]);
      for (const [index, fraction] of FRACTIONS.entries()) {
        const before = await store.getWrites("thread", head.id);
        const added = [0, 1, 2].map((n) => ({
          taskId: `${index} ${n}`,
          node: "a",
          result: { n, text: "x\n".repeat(50) },
        }));
        const put = async (): Promise<void> => store.putWrites(run.claim, head.id, added);
        const what = `putWrites of which ${fraction * 100} % was written`;
        await afterCrash(under, put, fraction, what, async (crashed) => {
          const found = (await crashed.getWrites!("thread", head.id)).map(({ taskId }) => taskId);
          const expected = [...before, ...(found.length > before.length ? added : [])].map(({ taskId }) => taskId);
          expectEqual(found, expected, `tasks after ${what}`);
          return oneOf(crashed, [head], what);
        });
      }
    },
  ),

  optionalCase("5.3 a process that dies after a save loses nothing of it", ["crash"], async (store, under) => {
    const run = await SampleRun.start(store);
    const first = await run.save([{ channel: "log", append: [1] }], { label: "start" });
    const sub = await run.save([{ channel: "x", set: 1 }], { namespace: "sub" });
    const head = await run.save([{ channel: "log", append: [2] }]);
    const write = { taskId: "t", node: "a", result: [1] };
    await store.putWrites?.(run.claim, head.id, [write]);
    const crashed = await under.crash(async () => {}, 0);
    try {
      expectEqual(await crashed.store.list("thread"), [head, first], "history");
      expectEqual(await crashed.store.loadLatest("thread", "sub"), sub, "head of a namespace");
      const labelled = await crashed.store.loadByLabel?.("thread", "start");
      if (crashed.store.loadByLabel) expectEqual(labelled, first, "label");
      const writes = await crashed.store.getWrites?.("thread", head.id);
      if (crashed.store.getWrites) expectEqual(writes, [write], "pending writes");
    } finally {
      await dispose(crashed);
    }
  }),
];

/**
 * Opens the content after a crash and checks it. A store may refuse to open or read it with a StoreError. A store that
 * accepts it must accept further writes too, and keep them: an incomplete record must not damage the next one.
 *
 * @param check throws unless the state is a valid one; returns its head
 */
async function afterCrash(
  under: Crashing,
  write: () => Promise<void>,
  fraction: number,
  what: string,
  check: (store: Store) => Promise<Checkpoint>,
): Promise<void> {
  let crashed: CrashedStore | undefined;
  try {
    let head: Checkpoint;
    try {
      crashed = await under.crash(write, fraction);
      head = await check(crashed.store);
    } catch (error) {
      if (error instanceof StoreError) return;
      if (error instanceof ConformanceError) throw error;
      const found = `expected the state before or after it, or a StoreError, got ${String(error)}`;
      throw new ConformanceError(`after ${what}: ${found}`, { cause: error });
    }
    const run = await SampleRun.resume(crashed.store, head);
    const next = await run.save([{ channel: "log", append: ["after the crash"] }]);
    expectEqual(await crashed.store.loadLatest("thread"), next, `the head that was saved after ${what}`);
    if (crashed.reopen === undefined) return;
    crashed = { ...crashed, store: await crashed.reopen() };
    expectEqual(await crashed.store.loadLatest("thread"), next, `the head that was saved after ${what}, reopened`);
  } finally {
    if (crashed !== undefined) await dispose(crashed);
  }
}

/** The head must be one of these checkpoints, with all of its values. */
async function oneOf(store: Store, allowed: readonly Checkpoint[], what: string): Promise<Checkpoint> {
  const head = await store.loadLatest("thread");
  const expected = allowed.find(({ id }) => id === head?.id) ?? allowed[0]!;
  expectEqual(head, expected, `the head after ${what}`);
  return expected;
}

async function dispose({ store, dispose: cleanUp }: CrashedStore): Promise<void> {
  try {
    await store.close?.();
  } finally {
    await cleanUp?.();
  }
}
