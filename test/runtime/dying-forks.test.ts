/** 5.9, 7.2: a process dies while it forks a thread in place. The old run continues in its called graphs. */
import { expect, test } from "vitest";
import { systemClock } from "../../runtime/interface/clock.ts";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";

const GRAPH = `graph inner { input n: int  output m: int = 0 reduce sum
    node first = work("first", n) into m  node x = work("x", n) into m  node y = work("y", n) into m
    start -> first -> x, y   all(x, y) -> end }
  graph child { input n: int  output m: int = 0 reduce sum
    node seed = work("seed", n) into m  node deep = inner(n: n) into { m }  start -> seed -> deep }
  graph parent { output total: int = 0 reduce sum
    node constructor = child(n: 0) into { m: total }  node call = child(n: i) for i in [1, 2] into { m: total }
    start -> constructor, call }`;

test.each(["before", "after"] as const)("a fork that dies %s a write", async (when) => {
  let stored = 0;
  for (let left = 0; left < 9; left++) {
    let now = 0;
    const store = new MemoryStore({ now: () => now });
    const broken = new Set(["x", "y"]);
    const done: string[] = [];
    const work = (name: string, n: number): number => {
      if (broken.has(name)) throw new Error("inside");
      done.push(`${name}${n}`);
      return 1;
    };
    // A constant time within a run: called graphs that used up their turn would store their results in another order.
    const open = (of: Store): Engine =>
      engineOf(GRAPH, { work }, { store: of, wake: false, clock: { ...systemClock, now: () => now } });
    expect(await open(store).run({}, { thread: "t" })).toMatchObject({ status: "failed" });
    const [before] = await open(store).history("t");
    broken.delete("x");
    // The results of `x` are stored after the checkpoints of the called graphs, and nothing else.
    const halted = new CrashingStore(store, 3);
    await open(halted)
      .resume("t")
      .catch(() => undefined);
    expect(halted.log).toEqual(["put x", "put x", "put x"]);
    now += 60_000;
    const dying = new CrashingStore(store, left, when);
    await open(dying)
      .fork("t")
      .catch(() => undefined);
    now += 60_000;
    broken.clear();
    const [after] = await open(store).history("t");
    if (after!.id !== before!.id) stored++;
    expect(await open(store).resume("t"), `${left} writes`).toMatchObject({
      status: "completed",
      output: { total: 12 },
    });
    const each = ["first", "seed", "x", "y"].flatMap((name) => [0, 1, 2].map((n) => `${name}${n}`));
    expect([...done].sort(), `${left} writes`).toEqual(each);
  }
  // The fork is one write.
  expect(stored).toBe(when === "before" ? 8 : 9);
});

test("an edit of a called graph reaches the run that the dying fork has left", async () => {
  let now = 0;
  const store = new MemoryStore({ now: () => now });
  const text = `graph child { output said: string = ""  state k: int = 0  output m: int = 0
      node ask = ask("?") into said  node out = k + 1 into m  start -> ask -> out }
    graph parent { output m: int = 0  node call = child() into { m }  start -> call }`;
  const open = (of: Store): Engine => engineOf(text, {}, { store: of, wake: false });
  await open(store).run({}, { thread: "t" });
  await open(new CrashingStore(store, 1))
    .fork("t")
    .catch(() => undefined);
  now += 60_000;
  await open(store).update("t", { k: 4 }, { in: "call" });
  expect(await open(store).resume("t", { answer: "yes" })).toMatchObject({ status: "completed", output: { m: 5 } });
});

test("a fork continues at the recorded checkpoint of a called graph, the forked run at the newest one", async () => {
  let now = 0;
  const store = new MemoryStore({ now: () => now });
  const done: string[] = [];
  const work = (name: string): number => {
    done.push(name);
    return 1;
  };
  const text = `graph child { memory turns: int = 0 reduce sum  output m: int = 0 reduce sum
      node ask = ask("?") into m  node a = work("a") into m  node b = work("b") into m  node count = 1 into turns
      start -> ask -> a -> b -> count }
    graph parent { output m: int = 0  node call = child() into { m }  start -> call }`;
  const open = (of: Store): Engine => engineOf(text, { work }, { store: of, wake: false });
  await open(store).run({}, { thread: "t" });
  const [paused] = await open(store).history("t");
  // The called graph has taken the answer and has run `a`, and its caller has not recorded it.
  const dying = new CrashingStore(store, 3);
  await open(dying)
    .resume("t", { answer: 5 })
    .catch(() => undefined);
  expect(done).toEqual(["a", "b"]);
  now += 60_000;
  // A fork that dies leaves the run as it was.
  await open(new CrashingStore(store, 0))
    .fork("t")
    .catch(() => undefined);
  now += 60_000;
  done.length = 0;
  expect(await open(store).resume("t")).toMatchObject({ status: "completed", output: { m: 7 } });
  expect(done).toEqual(["b"]);
  // The fork asks again, and its memory begins where the paused run began.
  await open(store).fork("t", { from: paused!.id });
  done.length = 0;
  expect(await open(store).resume("t", { answer: 6 })).toMatchObject({ status: "completed", output: { m: 8 } });
  expect(done).toEqual(["a", "b"]);
  expect((await store.loadLatest("t", "call"))!.values["turns"]).toBe(1);
});
