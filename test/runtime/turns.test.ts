/** Runs together leave the event loop a turn every few milliseconds, also when a program starts many at once. */
import { expect, it } from "vitest";
import type { Clock } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const CHAIN = `graph chain { input n: int  state x: int = 0  output y: int = 0
  node a = add(n) into x  node b = add(x) into y  start -> a -> b }`;
const functions = { add: (n: number) => n + 1 };
const RUNS = 200;

/** Each reading is one millisecond later. */
function slowClock(): Clock {
  let time = 0;
  return {
    now: () => time++,
    setTimeout: (callback, ms) => setTimeout(callback, ms),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
    nextTurn: (callback) => void setImmediate(callback),
  };
}

it.each([
  ["without a store", () => ({})],
  ["with a store", () => ({ store: new MemoryStore() })],
])("of many runs %s only some end within a turn", async (_, options) => {
  const engine = engineOf(CHAIN, functions, { clock: slowClock(), ...options() });
  const ended: number[] = [];
  const perTurn: number[] = [];
  const runs = Array.from({ length: RUNS }, async (_each, n) => {
    const { output } = await engine.run({ n });
    expect(output).toEqual({ y: n + 2 });
    ended.push(n);
  });
  for (let before = 0; before < RUNS; before = ended.length) {
    await new Promise((resolve) => setImmediate(resolve));
    perTurn.push(ended.length - before);
  }
  await Promise.all(runs);
  expect(Math.max(...perTurn)).toBeLessThan(RUNS / 2);
});
