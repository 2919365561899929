import { describe, expect, test } from "vitest";
import { MemoryStore, type Store } from "../../runtime/index.ts";
import { deferred } from "../support/deferred.ts";
import { engineOf } from "../support/graph.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const TEXT = "graph g { output n: int  node one = body() into n  start -> one }";
const LEASE = 30_000;

/** A thread whose run has failed, and engines that resume it. Engines with `held` wait while they hold the claim. */
async function failedThread() {
  const clock = new VirtualClock();
  const store = new MemoryStore({ now: () => clock.now() });
  const ran: string[] = [];
  const engine = (name: string, held?: Promise<void>) => {
    const slow: Store = {
      claim: (...args) => store.claim(...args),
      renew: (...args) => store.renew(...args),
      release: (...args) => store.release(...args),
      save: (...args) => store.save(...args),
      loadLatest: (...args) => store.loadLatest(...args),
      loadById: (...args) => store.loadById(...args),
      list: (...args) => store.list(...args),
      deleteThread: (...args) => store.deleteThread(...args),
      putWrites: (...args) => store.putWrites(...args),
      getWrites: async (...args) => {
        const writes = store.getWrites(...args);
        await held;
        return writes;
      },
    };
    const body = (): number => {
      if (ran.push(name) === 1) throw new Error("not yet");
      return ran.length;
    };
    return engineOf(TEXT, { body }, { clock, leaseMs: LEASE, store: slow });
  };
  await engine("failed").run({}, { thread: "t" });
  return { engine, ran, suspend: () => clock.skip(LEASE + 1) };
}

describe("a runner that was held up for longer than its lease (5.6)", () => {
  test("runs nothing when another has taken the thread over", async () => {
    const { engine, ran, suspend } = await failedThread();
    const wake = deferred();
    const late = engine("late", wake.promise).resume("t");
    await new Promise((resolve) => setImmediate(resolve));
    suspend();
    expect((await engine("first").resume("t")).status).toBe("completed");
    wake.resolve();
    await expect(late).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    expect(ran).toEqual(["failed", "first"]);
  });

  test("continues if no other runner has claimed the thread", async () => {
    const { engine, ran, suspend } = await failedThread();
    const wake = deferred();
    const late = engine("late", wake.promise).resume("t");
    await new Promise((resolve) => setImmediate(resolve));
    suspend();
    wake.resolve();
    expect((await late).status).toBe("completed");
    expect(ran).toEqual(["failed", "late"]);
  });
});
