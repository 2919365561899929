/** The time to live of threads: which threads a listing reports as expired. */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../runtime/interface/clock.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const GRAPH = `graph g { state ok: string  output n: int = 0  node wait = ask("go?") into ok  node count = n + 1 into n
  start -> wait -> count }`;

function setup(ttl?: number | null) {
  let now = 1_000_000;
  const clock = { ...systemClock, now: () => now, advance: (ms: number) => void (now += ms) };
  const store = new MemoryStore();
  const engine = engineOf(GRAPH, {}, { store, clock, ...(ttl === undefined ? {} : { ttl }) });
  const expired = async () => (await engine.threads({ expiredAt: clock.now() })).map(({ thread }) => thread);
  return { clock, store, engine, expired };
}

describe("a thread with a time to live", () => {
  test("expires after its last checkpoint; a resume keeps the time and renews the thread", async () => {
    const { clock, engine, expired } = setup();
    await engine.run({}, { thread: "short", ttl: 1000 });
    await engine.run({}, { thread: "never" });
    const short = (await engine.threads()).find(({ thread }) => thread === "short");
    expect(short?.expires).toBe(clock.now() + 1000);
    clock.advance(999);
    expect(await expired()).toEqual([]);
    clock.advance(1);
    expect(await expired()).toEqual(["short"]);
    await engine.resume("short", { answer: "yes" });
    expect(await expired()).toEqual([]);
    clock.advance(1000);
    expect(await expired()).toEqual(["short"]);
  });

  test("a new run on the thread, a fork and an edit keep the time; `null` removes it", async () => {
    const { clock, engine, expired } = setup();
    await engine.run({}, { thread: "a", ttl: 1000 });
    await engine.resume("a", { answer: "yes" });
    await engine.run({}, { thread: "a" });
    await engine.fork("a", { as: "b" });
    await engine.update("a", { n: 5 });
    clock.advance(1000);
    expect((await expired()).sort()).toEqual(["a", "b"]);
    await engine.resume("a", { answer: "yes", ttl: null });
    expect(await expired()).toEqual(["b"]);
    clock.advance(10_000);
    expect(await expired()).toEqual(["b"]);
  });

  test("the engine's default applies to its threads", async () => {
    const { clock, engine, expired } = setup(1000);
    await engine.run({}, { thread: "a" });
    await engine.run({}, { thread: "b", ttl: null });
    clock.advance(1000);
    expect(await expired()).toEqual(["a"]);
  });

  test.each([0, -1, Number.NaN, "1h" as unknown as number])("refuses the time %j", async (ttl) => {
    const { engine } = setup();
    await expect(engine.run({}, { thread: "a", ttl })).rejects.toMatchObject({
      code: "NG_BAD_INPUT",
      message: expect.stringContaining("`ttl` is a number of milliseconds above 0"),
    });
  });
});
