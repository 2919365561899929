import { ThreadError } from "../../interface/thread-error.ts";
import type { Checkpoint } from "../../interface/checkpoint.ts";
import type { Json } from "../../value/json.ts";
import type { Claim } from "../../interface/store.ts";
import { expectCode, expectEqual, expectTrue } from "./expect.ts";
import { LEASE, SampleRun } from "./sample-run.ts";
import { storeCase, type StoreCase } from "./store-case.ts";

export const CLAIMS: readonly StoreCase[] = [
  storeCase("5.6 a thread has one runner; a second claim fails with an error that names the holder", async (store) => {
    const first = await store.claim("thread", { owner: "first", leaseMs: LEASE });
    expectEqual([first.threadId, first.owner], ["thread", "first"], "the claim");
    const error = await expectCode("NG_THREAD_CONFLICT", () => claim("second", LEASE), "a second claim");
    expectTrue(error instanceof ThreadError && error.threadId === "thread", "the error does not carry the thread");
    expectTrue(error.message.includes("first"), `the error does not name the holder: ${error.message}`);
    await store.claim("another thread", { owner: "second", leaseMs: LEASE });
    await store.release(first);
    const second = await claim("second", LEASE);
    expectTrue(second.epoch > first.epoch, "the epoch did not grow");
    await store.release(first);
    await expectCode("NG_THREAD_CONFLICT", () => claim("third", LEASE), "a claim after a late release by the first");

    async function claim(owner: string, leaseMs: number): Promise<Claim> {
      return store.claim("thread", { owner, leaseMs });
    }
  }),

  storeCase("5.6 the same owner claims again, with a newer epoch", async (store) => {
    const first = await SampleRun.start(store);
    const second = await SampleRun.start(store);
    expectTrue(second.claim.epoch > first.claim.epoch, "the epoch did not grow");
    await expectCode("NG_THREAD_CONFLICT", () => first.save(), "writing with the older claim");
    await second.save();
  }),

  storeCase("5.6 after an expired claim is taken over, it cannot write", async (store) => {
    const late = await SampleRun.start(store, "thread", "late");
    const head = await late.save();
    await store.putWrites?.(late.claim, head.id, [{ taskId: "t", node: "a", result: 1 }]);
    await store.renew(late.claim, 0);
    const heir = await SampleRun.start(store, "thread", "heir");
    expectTrue(heir.claim.epoch > late.claim.epoch, "the epoch did not grow");
    const refused: readonly [string, () => unknown][] = [
      ["saving", () => late.save([], {}, { clearWritesOf: head.id, releaseClaim: true })],
      ["renewing", () => store.renew(late.claim, LEASE)],
      ["putting writes", () => store.putWrites?.(late.claim, head.id, [{ taskId: "u", node: "a", result: 1 }])],
      ["clearing writes", () => store.clearWrites?.(late.claim, head.id)],
    ];
    for (const [what, call] of refused) {
      if (what === "putting writes" && store.putWrites === undefined) continue;
      if (what === "clearing writes" && store.clearWrites === undefined) continue;
      await expectCode("NG_THREAD_CONFLICT", async () => call(), `${what} with a claim that was taken over`);
    }
    await store.release(late.claim);
    expectEqual(await store.list("thread"), [head], "history");
    if (store.putWrites && store.getWrites)
      expectEqual((await store.getWrites("thread", head.id)).length, 1, "pending writes");
    await store.renew(heir.claim, LEASE);
    await expectCode("NG_THREAD_CONFLICT", () => store.claim("thread", { owner: "x", leaseMs: 1 }), "a third claim");
  }),

  storeCase("5.6 a claim holds for the time of its lease and no longer", async (store) => {
    await store.claim("thread", { owner: "dead", leaseMs: 0 });
    const heir = await store.claim("thread", { owner: "heir", leaseMs: LEASE });
    await store.renew(heir, LEASE);
    const error = await expectCode(
      "NG_THREAD_CONFLICT",
      () => store.claim("thread", { owner: "third", leaseMs: LEASE }),
      "a claim of the thread that the heir has renewed",
    );
    expectTrue(error.message.includes("heir"), `the error does not name the holder: ${error.message}`);
    const first = await store.claim("lasting", { owner: "first", leaseMs: 0 });
    await store.renew(first, LEASE);
    const rival = { owner: "rival", leaseMs: LEASE };
    await expectCode(
      "NG_THREAD_CONFLICT",
      () => store.claim("lasting", rival),
      "a claim of a thread that was renewed in time",
    );
  }),

  storeCase("5.6 the epoch decides: a forged claim cannot write", async (store) => {
    const run = await SampleRun.start(store);
    const head = await run.save();
    const { threadId, owner, epoch } = run.claim;
    for (const forged of [
      { threadId, owner, epoch: epoch - 1 },
      { threadId, owner, epoch: epoch + 1 },
      { threadId: "another thread", owner, epoch },
    ]) {
      const shown = JSON.stringify(forged);
      await expectCode("NG_THREAD_CONFLICT", () => store.renew(forged, 0), `renewing with the claim ${shown}`);
      await store.release(forged);
      run.claim = forged;
      await expectCode("NG_THREAD_CONFLICT", () => run.save(), `saving with the claim ${shown}`);
    }
    expectEqual(await store.list("thread"), [head], "history");
    expectEqual(await store.loadLatest("another thread"), undefined, "head of a thread without a claim");
    await expectCode(
      "NG_THREAD_CONFLICT",
      () => store.claim("thread", { owner: "x", leaseMs: 1 }),
      "a claim by others",
    );
  }),

  storeCase("an expired claim that was not taken over still holds and can be renewed", async (store) => {
    const run = await SampleRun.start(store);
    await store.renew(run.claim, 0);
    await run.save();
    await store.renew(run.claim, LEASE);
    await expectCode("NG_THREAD_CONFLICT", () => store.claim("thread", { owner: "x", leaseMs: 1 }), "a claim after it");
  }),

  storeCase("a released claim cannot write", async (store) => {
    const run = await SampleRun.start(store);
    const head = await run.save([], {}, { releaseClaim: true });
    await expectCode("NG_THREAD_CONFLICT", () => run.save(), "saving after the last save");
    await expectCode("NG_THREAD_CONFLICT", () => store.renew(run.claim, LEASE), "renewing after the last save");
    await store.release(run.claim);
    const next = await SampleRun.start(store, "thread", "next");
    expectTrue(next.claim.epoch > run.claim.epoch, "the epoch did not grow");
    expectEqual(await store.loadLatest("thread"), head, "head");
  }),

  storeCase("compare-and-set: a save that expects another head writes nothing", async (store) => {
    const run = await SampleRun.start(store);
    const first = await run.save([{ channel: "log", append: [1] }]);
    const head = await run.save([{ channel: "log", append: [2] }]);
    await store.putWrites?.(run.claim, head.id, [{ taskId: "t", node: "a", result: 1 }]);
    for (const expectedHead of [first.id, null, "unknown"]) {
      const request = { expectedHead, clearWritesOf: head.id, releaseClaim: true };
      const save = () => run.save([{ channel: "log", append: [3] }], { label: "x" }, request);
      await expectCode("NG_THREAD_CONFLICT", save, `a save that expects ${expectedHead}`);
    }
    const request = { expectedHead: head.id };
    const elsewhere = () => run.save([], { namespace: "sub" }, request);
    await expectCode("NG_THREAD_CONFLICT", elsewhere, "a save that expects the head of another namespace");
    expectEqual(await store.list("thread"), [head, first], "history");
    expectEqual(await store.loadByLabel?.("thread", "x"), undefined, "label");
    if (store.putWrites && store.getWrites)
      expectEqual((await store.getWrites("thread", head.id)).length, 1, "pending writes");
    await run.save();
  }),

  storeCase("5.3 a failed save changes nothing: values, head, label, pending writes, claim", async (store) => {
    const run = await SampleRun.start(store);
    const labelled = await run.save([{ channel: "x", set: 1 }], { label: "good" });
    const head = await run.save([{ channel: "x", set: 2 }]);
    await store.putWrites?.(run.claim, head.id, [{ taskId: "t", node: "a", result: 1 }]);
    const request = { clearWritesOf: head.id, releaseClaim: true };
    const bad = 1n as unknown as Json;
    const failing: readonly [string, () => Promise<unknown>][] = [
      ["a value", () => run.save([{ channel: "y", set: 2 }, { channel: "x", set: bad }], { label: "good" }, request)], // prettier-ignore
      ["an appended item", () => run.save([{ channel: "y", append: [1, bad] }], { label: "good" }, request)],
      ["metadata", () => run.save([{ channel: "y", set: 2 }], { label: "good", metadata: { bad } }, request)],
      ["the value of a fork", () => run.save([{ channel: "x", set: bad }], { label: "good", parentId: null }, request)],
      ["the value of another namespace", () => run.save([{ channel: "x", set: bad }], { namespace: "sub" }, request)],
    ];
    for (const [what, save] of failing) {
      await expectCode("NG_STORE_FAILED", save, `saving a bigint as ${what}`);
      expectEqual(await store.list("thread"), [head, labelled], `history after a bigint as ${what}`);
      expectEqual(await store.loadLatest("thread", "sub"), undefined, `a namespace after a bigint as ${what}`);
      if (store.loadByLabel) expectEqual(await store.loadByLabel("thread", "good"), labelled, "the label");
      if (store.putWrites && store.getWrites)
        expectEqual((await store.getWrites("thread", head.id)).length, 1, "pending writes");
      const rival = { owner: "rival", leaseMs: LEASE };
      await expectCode("NG_THREAD_CONFLICT", () => store.claim("thread", rival), "a claim by another");
    }
    await run.save([{ channel: "x", set: 2 }], { label: "good" }, request);
  }),

  storeCase("a checkpoint is never replaced", async (store) => {
    const run = await SampleRun.start(store);
    const first = await run.save([{ channel: "x", set: 1 }]);
    await expectCode(
      "NG_STORE_FAILED",
      () => run.save([{ channel: "x", set: 2 }], { id: first.id }),
      "the same id again",
    );
    expectEqual(await store.list("thread"), [first], "history");
    await run.save();
  }),

  storeCase("of concurrent claims or saves, exactly one succeeds", async (store) => {
    const owners = Array.from({ length: 8 }, (_, index) => `owner ${index}`);
    const claims = await settle(owners.map((owner) => async () => store.claim("thread", { owner, leaseMs: LEASE })));
    for (const error of claims.lost) await expectCode("NG_THREAD_CONFLICT", () => Promise.reject(error), "a claim");
    expectEqual(claims.won.length, 1, "claims granted");

    const run = await SampleRun.start(store, "another thread");
    const saves = await settle(owners.map(() => async () => run.save()));
    for (const error of saves.lost) await expectCode("NG_THREAD_CONFLICT", () => Promise.reject(error), "a save");
    expectEqual(saves.won.length, 1, "saves that went through");
    expectEqual((await store.list("another thread")).length, 1, "checkpoints afterwards");
  }),

  storeCase("5.3 a read during a save sees the whole step or none of it", async (store) => {
    const run = await SampleRun.start(store);
    const known = new Map<string, Checkpoint>();
    const note = (checkpoint: Checkpoint) => known.set(checkpoint.id, checkpoint);
    note(await run.save([{ channel: "log", append: [0] }]));
    for (let n = 1; n <= 15; n++) {
      // All calls start before any is awaited, which reveals a store that works in several visible steps.
      const saving = (async () => run.save([{ channel: "log", append: [n] }]))();
      const readings = Array.from({ length: 3 }, async () => [
        await store.loadLatest("thread"),
        await store.list("thread"),
      ]);
      note(await saving);
      for (const [head, history] of (await Promise.all(readings)) as [Checkpoint | undefined, Checkpoint[]][]) {
        const wanted = head && known.get(head.id);
        expectTrue(wanted !== undefined, `the head read beside a save is ${JSON.stringify(head?.id)}`);
        expectEqual(head, wanted, "the head read beside a save");
        expectTrue(history.length >= n, `the history read beside save ${n} has ${history.length} checkpoints`);
        for (const checkpoint of history) expectEqual(checkpoint, known.get(checkpoint.id), "history beside a save");
      }
    }
  }),
];

async function settle<T>(calls: readonly (() => Promise<T>)[]): Promise<{ won: T[]; lost: unknown[] }> {
  const settled = await Promise.allSettled(calls.map((call) => call()));
  const won = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const lost = settled.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  return { won, lost };
}
