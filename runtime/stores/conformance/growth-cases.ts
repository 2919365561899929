import type { Checkpoint } from "../../interface/checkpoint.ts";
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
