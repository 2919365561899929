/**
 * 5.6, 5.10: clocks that disagree or jump. A lease may end early or late, but the stored checkpoints remain one chain
 * in their order.
 */
import { expect, it } from "vitest";
import type { FunctionRegistry } from "../../runtime/index.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { engineOf } from "../support/graph.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const GRAPH = `graph g { output log: string[] reduce append
  node a = work("a") into log  node b = work("b") into log
  start -> a -> b }`;
const YEAR = 365 * 86_400_000;

const inDirectory = temporaryDirectory();

it("a process whose clock is ahead takes over the thread, and the old runner writes nothing", async () => {
  const [path, now] = [inDirectory("runs.db"), Date.now()];
  const [slow, fast] = [new SqliteStore({ path, now: () => now }), new SqliteStore({ path, now: () => now + YEAR })];
  const ran: string[] = [];
  const note = (who: string): FunctionRegistry => ({ work: (name: string) => (ran.push(`${name} by ${who}`), name) });
  const functions: FunctionRegistry = {
    work: async (name: string) => {
      ran.push(`${name} by slow`);
      const other = engineOf(GRAPH, note("fast"), { store: fast });
      expect(await other.resume("t")).toMatchObject({ status: "completed" });
      return name;
    },
  };
  await expect(engineOf(GRAPH, functions, { store: slow }).run({}, { thread: "t" })).rejects.toMatchObject({
    code: "NG_THREAD_CONFLICT",
  });
  expect(ran).toEqual(["a by slow", "a by fast", "b by fast"]);
  expect(slow.list("t").map(({ step }) => step)).toEqual([1, 0, -1]);
  expect(slow.loadLatest("t")?.values).toEqual({ log: ["a", "b"] });
  slow.close();
  fast.close();
});

it("a clock that goes back does not change the order of checkpoints, runs or threads", async () => {
  let now = Date.now();
  const store = new SqliteStore({ path: inDirectory("runs.db"), now: () => now });
  const clock = {
    now: () => now,
    setTimeout: (call: () => void, ms: number) => setTimeout(call, ms),
    clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
  };
  const functions: FunctionRegistry = {
    work: (name: string) => {
      now -= YEAR;
      return name;
    },
  };
  const engine = engineOf(GRAPH, functions, { store, clock });
  for (const thread of ["first", "second", "first"]) await engine.run({}, { thread });
  const history = store.list("first");
  expect(history.map(({ step }) => step)).toEqual([1, 0, -1, 1, 0, -1]);
  for (const [index, { parentId }] of history.entries()) expect(parentId).toBe(history[index + 1]?.id ?? null);
  // The newest checkpoints have the oldest times.
  const times = history.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(store.threads().map(({ threadId }) => threadId)).toEqual(["first", "second"]);
  store.close();
});
