/** Two processes with the same content open, for stores with `secondProcess`. */
import type { Store } from "../../interface/store.ts";
import { expectCode, expectEqual, expectTrue } from "./expect.ts";
import { LEASE, SampleRun } from "./sample-run.ts";
import { optionalCase, type StoreCase, type StoreUnderTest } from "./store-case.ts";

export const SECOND_PROCESS: readonly StoreCase[] = [
  optionalCase(
    "5.6 a second process cannot claim a thread that the first one holds",
    ["secondProcess"],
    async (store, under) => {
      await withSecond(under, async (other) => {
        const run = await SampleRun.start(store, "thread", "first");
        const head = await run.save([{ channel: "n", set: 1 }]);
        const claim = () => other.claim("thread", { owner: "second", leaseMs: LEASE });
        const error = await expectCode("NG_THREAD_CONFLICT", claim, "a claim by the second process");
        expectTrue(error.message.includes("first"), `the error does not name the holder: ${error.message}`);
        await store.renew(run.claim, 0);
        const heir = await SampleRun.resume(other, head, "second");
        expectTrue(heir.claim.epoch > run.claim.epoch, "the epoch did not grow");
        await expectCode("NG_THREAD_CONFLICT", () => run.save(), "a save by the first process after the takeover");
        await expectCode("NG_THREAD_CONFLICT", () => store.renew(run.claim, LEASE), "renewing after the takeover");
        const next = await heir.save([{ channel: "n", set: 2 }]);
        expectEqual(await store.loadLatest("thread"), next, "the head that the first process reads");
        await other.release(heir.claim);
        const again = await SampleRun.resume(store, next, "first");
        expectTrue(again.claim.epoch > heir.claim.epoch, "the epoch did not grow when the first process claimed again");
      });
    },
  ),

  optionalCase(
    "5.3 a second process reads each save of the first as soon as it returns",
    ["secondProcess"],
    async (store, under) => {
      await withSecond(under, async (other) => {
        expectEqual(await other.loadLatest("thread"), undefined, "the head before the first save");
        const run = await SampleRun.start(store);
        const saved = [];
        for (let n = 0; n < 5; n++) {
          saved.unshift(await run.save([{ channel: "log", append: [n] }], n === 2 ? { label: "third" } : {}));
          expectEqual(await other.list("thread"), saved, `history after ${n + 1} saves`);
        }
        const head = saved[0]!;
        const write = { taskId: "t", node: "a", result: 1 };
        await store.putWrites?.(run.claim, head.id, [write]);
        if (store.putWrites && other.getWrites)
          expectEqual(await other.getWrites("thread", head.id), [write], "pending writes");
        if (other.loadByLabel) expectEqual(await other.loadByLabel("thread", "third"), saved[2], "label");
        if (other.threads) expectEqual((await other.threads()).length, 1, "number of threads");
        await other.deleteThread("thread");
        expectEqual(
          await store.loadLatest("thread"),
          undefined,
          "the head after the second process deleted the thread",
        );
        await expectCode("NG_THREAD_CONFLICT", () => run.save(), "a save to the deleted thread");
      });
    },
  ),

  optionalCase(
    "5.6 two processes that run a thread in turn continue each other's history",
    ["secondProcess"],
    async (store, under) => {
      await withSecond(under, async (other) => {
        let run = await SampleRun.start(store, "thread", "turn 0");
        const saved = [await run.save([{ channel: "log", append: ["start"] }])];
        for (let turn = 1; turn < 8; turn++) {
          const next = turn % 2 === 0 ? store : other;
          await run.store.release(run.claim);
          run = await SampleRun.resume(next, saved[0]!, `turn ${turn}`);
          for (let n = 0; n < turn; n++) {
            saved.unshift(await run.save([{ channel: "log", append: [turn] }, { channel: `only ${turn}`, set: n }])); // prettier-ignore
          }
        }
        for (const [name, reader] of [
          ["first", store],
          ["second", other],
        ] as const) {
          // prettier-ignore
          expectEqual(await reader.list("thread"), saved, `history that the ${name} process reads`);
        }
      });
    },
  ),

  optionalCase(
    "two processes that save to different threads at the same time lose nothing",
    ["secondProcess"],
    async (store, under) => {
      await withSecond(under, async (other) => {
        const runs = [await SampleRun.start(store, "one"), await SampleRun.start(other, "two")] as const;
        for (let n = 0; n < 10; n++) {
          await Promise.all(runs.map((run) => run.save([{ channel: "log", append: [n] }])));
        }
        for (const run of runs) {
          for (const reader of [store, other]) {
            expectEqual(await reader.loadLatest(run.threadId), run.head(), `head of thread ${run.threadId}`);
            expectEqual((await reader.list(run.threadId)).length, 10, `checkpoints of thread ${run.threadId}`);
          }
        }
      });
    },
  ),
];

async function withSecond(
  under: Required<Pick<StoreUnderTest, "secondProcess">>,
  body: (other: Store) => Promise<void>,
): Promise<void> {
  const other = await under.secondProcess();
  try {
    await body(other);
  } finally {
    await other.close?.();
  }
}
