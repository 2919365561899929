import { expect, onTestFinished, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CancelWatch, requestCancel } from "../../runtime/thread/cancel-requests.ts";
import { compiledEngine } from "../support/compiled-engine.ts";
import { deferred } from "../support/deferred.ts";

const TEXT = `
graph g {
  output done: int
  node first = work() into done
  start -> first -> end
}`;

/** An engine whose n-th run waits for the n-th release. */
function twoRuns(store: MemoryStore) {
  const started = [deferred<void>(), deferred<void>()];
  const releases = [deferred<void>(), deferred<void>()];
  let count = 0;
  const work = async (): Promise<number> => {
    const index = count++;
    started[index]!.resolve();
    await releases[index]!.promise;
    return index;
  };
  return { engine: compiledEngine(TEXT, { work }, { store }), started, releases };
}

test("a request to cancel a run does not meet a later run of its thread", async () => {
  const store = new MemoryStore();
  const { engine, started, releases } = twoRuns(store);
  const first = engine.run({}, { thread: "t" });
  await started[0]!.promise;
  await requestCancel(store, "t");
  releases[0]!.resolve();
  expect((await first).status).toBe("completed");
  const second = engine.run({}, { thread: "t" });
  await started[1]!.promise;
  const cancelled: string[] = [];
  const watch = new CancelWatch({
    store,
    cancel: (thread) => {
      cancelled.push(thread);
      return engine.cancel(thread);
    },
    onFailure: (error) => expect.unreachable(String(error)),
    everyMs: 1,
  });
  onTestFinished(() => watch.stop());
  watch.start();
  await expect.poll(() => store.listItems([], { limit: 10, now: Date.now() })).toEqual([]);
  expect(cancelled).toEqual([]);
  // One for this run does.
  await requestCancel(store, "t");
  expect(await second).toMatchObject({ status: "cancelled", error: { code: "NG_CANCELLED" } });
  expect(await engine.cancel("t")).toBe(false);
});
