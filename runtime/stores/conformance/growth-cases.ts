import type { Checkpoint } from "../../interface/checkpoint.ts";
import type { Json } from "../../value/json.ts";
import { expectEqual, expectTrue } from "./expect.ts";
import { SampleRun } from "./sample-run.ts";
import { storeCase, type StoreCase } from "./store-case.ts";

const TURNS = 1000;
const MOST_BYTES = 2_000_000;

export const GROWTH: readonly StoreCase[] = [
  storeCase(
    "5.12 storage grows with what changed: 1,000 turns of 200 bytes in an appended list",
    async (store, under) => {
      const run = await SampleRun.start(store);
      const large = "x".repeat(100_000);
      const small = await run.save([]);
      const sizeBefore = await under.size?.();
      const saved: Checkpoint[] = [small];
      for (let turn = 0; turn < TURNS; turn++) {
        const content = `${turn} `.padEnd(200, "abcdefghij");
        const checkpoint = await run.save([{ channel: "messages", append: [content] }]);
        if (turn % 100 === 99) saved.push(checkpoint);
      }
      const grown = under.size === undefined ? 0 : (await under.size()) - sizeBefore!;
      expectTrue(grown < MOST_BYTES, `the store grew by ${grown} bytes, more than ${MOST_BYTES}`);
      for (const checkpoint of saved) {
        expectEqual(await store.loadById("thread", checkpoint.id), checkpoint, `checkpoint ${checkpoint.id}`);
      }
      // A value that does not change is not written again.
      await run.save([{ channel: "large", set: large }]);
      const sizeWithLarge = await under.size?.();
      for (let step = 0; step < 100; step++) await run.save([{ channel: "n", set: step }]);
      const grownBeside = under.size === undefined ? 0 : (await under.size()) - sizeWithLarge!;
      expectTrue(grownBeside < large.length * 3, `100 small steps beside a large value took ${grownBeside} bytes`);
      expectEqual((await store.loadLatest("thread"))?.values["large"], large, "the large value");
      // A snapshot costs O(state), so a store must take it rarely.
      expectTrue(
        run.snapshots <= 150,
        `the store called \`snapshot\` ${run.snapshots} times in ${TURNS + 102} saves, more than 150: call it at the start of a chain only`,
      );
    },
  ),

  storeCase(
    "5.12 a list that changes in the middle stays readable, and grows with what changed",
    async (store, under) => {
      const run = await SampleRun.start(store);
      const message = (n: number): Json => ({ id: `m${n}`, text: `${n} `.padEnd(200, "abcdefghij") });
      const saved: Checkpoint[] = [
        await run.save([{ channel: "log", set: Array.from({ length: 500 }, (_, n) => message(n)) }]),
      ];
      const sizeBefore = await under.size?.();
      for (let step = 1; step <= 200; step++) {
        const length = (run.head()!.values["log"] as readonly Json[]).length;
        const at = (step * 37) % (length + 1);
        const remove = Math.min(step % 3, length - at);
        const items = Array.from({ length: (step * 2 + 1) % 3 }, (_, n) => message(1000 * step + n));
        const rest = Math.min(2, length - at - remove);
        const second = step % 4 === 0 ? [{ at: length - rest, remove: rest, items: [message(-step)] }] : [];
        const beside = step % 5 === 0 ? [{ channel: "tail", append: [step] }] : [];
        saved.unshift(await run.save([{ channel: "log", edits: [{ at, remove, items }, ...second] }, ...beside]));
        if (step % 40 === 0) saved.unshift(await run.save([{ channel: "log", append: [message(step)] }]));
      }
      expectEqual(await store.list("thread", { limit: 300 }), saved, "history");
      expectEqual(await store.loadLatest("thread"), saved[0], "the newest checkpoint");
      if (under.size === undefined || store.acceptsSplices !== true) return;
      const grown = (await under.size()) - sizeBefore!;
      expectTrue(grown < MOST_BYTES, `200 changes of one or two messages took ${grown} bytes, more than ${MOST_BYTES}`);
    },
  ),

  storeCase("5.12 a list that is not there yet takes splices", async (store) => {
    const run = await SampleRun.start(store);
    await run.save([{ channel: "n", set: 1 }]);
    await run.save([{ channel: "log", edits: [{ at: 0, remove: 0, items: ["a", "b"] }] }]);
    await run.save([{ channel: "log", edits: [{ at: 1, remove: 1, items: ["c"] }] }]);
    await run.save([{ channel: "log", reset: true }]);
    const saved = await run.save([{ channel: "log", edits: [{ at: 0, remove: 0, items: ["d"] }] }]);
    expectEqual(await store.loadLatest("thread"), saved, "the list");
  }),

  storeCase("5.12 many appends stay readable at every length", async (store) => {
    const run = await SampleRun.start(store);
    const saved: Checkpoint[] = [];
    for (let n = 0; n < 300; n++) {
      saved.unshift(
        await run.save([
          { channel: "log", append: [n] },
          { channel: "wide", append: n % 50 === 0 ? [] : [{ n, text: "t".repeat(n) }] },
        ]),
      );
    }
    expectEqual(await store.list("thread", { limit: 300 }), saved, "history");
    for (const checkpoint of saved.filter((_, index) => index % 17 === 0)) {
      expectEqual(await store.loadById("thread", checkpoint.id), checkpoint, `checkpoint ${checkpoint.id}`);
    }
  }),
];
