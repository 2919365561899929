/** Hosts in which a timer ends with the request that has set it: Cloudflare Workers. */
import { expect, onTestFinished, test, vi } from "vitest";

test("a run in Cloudflare Workers does not wait for a timer of an earlier request", async () => {
  vi.stubGlobal("WebSocketPair", () => undefined);
  vi.resetModules();
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });
  const { engineOf } = await import("../support/graph.ts");
  const { MemoryStore } = await import("../../runtime/stores/memory.ts");
  const chain = `graph chain { output y: int = 0  node a = 1 into y  node b = y + 1 into y  start -> a -> b }`;
  const engine = engineOf(chain, {}, { store: new MemoryStore() });
  // The first request ends before its timers fire.
  vi.stubGlobal("setImmediate", () => undefined);
  vi.stubGlobal("setTimeout", () => undefined);
  await engine.run({}, { thread: "first" });
  // Longer than runs may block the event loop.
  const begin = performance.now();
  while (performance.now() - begin < 20);
  expect(await engine.run({}, { thread: "second" })).toMatchObject({ status: "completed", output: { y: 2 } });
});
