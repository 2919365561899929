/** 5.4, 7.2: a fork of the head continues the called graphs where a process that died has left them, in the same thread and in another. */
import { expect, test } from "vitest";
import { systemClock } from "../../runtime/interface/clock.ts";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";

const GRAPH = `graph inner { input n: int  output m: int = 0 reduce sum
    node third = work("third", n) into m  node fourth = work("fourth", n) into m
    start -> third -> fourth }
  graph child { input n: int  output m: int = 0 reduce sum
    node first = work("first", n) into m  node second = inner(n: n) into { m }  node last = work("last", n) into m
    start -> first -> second -> last }
  graph parent { output total: int = 0 reduce sum
    node beside = work("beside", 0) into total
    node call = child(n: i) for i in [1, 2] into { m: total } { max parallel 1 }
    start -> beside, call }`;
const ALL = ["beside0", ...["first", "third", "fourth", "last"].flatMap((name) => [`${name}1`, `${name}2`])];

interface Threads {
  readonly store: Store;
  readonly open: (of?: Store) => Engine;
  readonly done: string[];
  /** A body that fails. */
  broken: string;
  later(): void;
}

function threads(): Threads {
  let now = 0;
  const store = new MemoryStore({ now: () => now });
  const clock = { ...systemClock, now: () => now };
  const world: Threads = {
    store,
    done: [],
    broken: "",
    later: () => (now += 60_000),
    open: (of = store) =>
      engineOf(
        GRAPH,
        {
          work: (name: string, n: number) => {
            if (`${name}${n}` === world.broken) throw new Error("broken");
            world.done.push(`${name}${n}`);
            return 1;
          },
        },
        { store: of, wake: false, clock },
      ),
  };
  return world;
}

/** Dies at each write of a call, from the first on, and then does the rest. Returns how many points there were. */
async function dyingAtEachWrite(
  call: (engine: Engine) => Promise<unknown>,
  prepare: (world: Threads) => Promise<unknown>,
  rest: (world: Threads, left: number) => Promise<unknown>,
): Promise<number> {
  for (let left = 0; ; left++) {
    const world = threads();
    await prepare(world);
    const dying = new CrashingStore(world.store, left, "after");
    await call(world.open(dying)).catch(() => undefined);
    if (!dying.dead) return left;
    world.later();
    await rest(world, left);
  }
}

/** 5.5: the process dies after a write, so that each result of a body that has ended is stored: no body runs twice. */
async function expectNoRepetition(world: Threads, thread: string, left: number): Promise<void> {
  const { status, output } = await world.open().resume(thread);
  expect({ status, output }, `${left} writes`).toEqual({ status: "completed", output: { total: 9 } });
  expect([...world.done].sort(), `${left} writes`).toEqual([...ALL].sort());
}

test.each(["u", "t"])("a fork into thread %s after a crash in a run repeats no stored result", async (as) => {
  const points = await dyingAtEachWrite(
    (engine) => engine.run({}, { thread: "t" }),
    async () => undefined,
    async (world, left) => {
      const head = await world.open().state("t");
      if (head?.status === "completed") return;
      await world.open().fork("t", as === "t" ? {} : { as });
      await expectNoRepetition(world, as, left);
    },
  );
  expect(points).toBeGreaterThan(8);
});

test.each(["u", "t"])(
  "a fork into thread %s continues a call that has progressed since its caller recorded it",
  async (as) => {
    await dyingAtEachWrite(
      (engine) => engine.resume("t"),
      async (world) => {
        world.broken = "third1";
        expect((await world.open().run({}, { thread: "t" })).status).toBe("failed");
        world.broken = "";
      },
      async (world, left) => {
        if ((await world.open().state("t"))?.status === "completed") return;
        await world.open().fork("t", as === "t" ? {} : { as });
        await expectNoRepetition(world, as, left);
      },
    );
  },
);

/** The graph of items whose arguments may fail before their called graph has begun. */
const ARGUMENTS = `graph child { input n: int  output m: int = 0 reduce sum
    node first = work("first", n) into m { undo un(n) }  node last = work("last", n) into m
    start -> first -> last }
  graph parent { input items: int[]  output total: int = 0 reduce sum
    node call = child(n: bad(i)) for i in items into { m: total }
    start -> call }`;

test.each(["u", "t"])("a fork into thread %s keeps the calls of items behind those that have not begun", async (as) => {
  const items = Array.from({ length: 40 }, (_, at) => at);
  const done: string[] = [];
  let now = 0;
  let fails = true;
  const store = new MemoryStore({ now: () => now });
  const open = (of: Store): Engine =>
    engineOf(
      ARGUMENTS,
      {
        un: () => null,
        bad: (i: number) => {
          if (fails && i < 38) throw new Error("no argument");
          return i;
        },
        work: (name: string, n: number) => {
          if (fails && name === "last") return new Promise(() => undefined);
          done.push(`${name}${n}`);
          return 1;
        },
      },
      { store: of, wake: false, clock: { ...systemClock, now: () => now } },
    );
  const dying = new CrashingStore(store, 1000, "after");
  void open(dying).run({ items }, { thread: "t" });
  await expect.poll(() => done).toEqual(["first38", "first39"]);
  await expect.poll(() => store.loadLatest("t", "call[39]")?.step).toBe(0);
  dying.dead = true;
  now += 60_000;
  fails = false;
  await open(store).fork("t", as === "t" ? {} : { as });
  const { status, output } = await open(store).resume(as);
  expect({ status, output }).toEqual({ status: "completed", output: { total: 80 } });
  expect(done.filter((name) => name.startsWith("first"))).toHaveLength(40);
});
