import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { createEngine } from "../../runtime/engine/create-engine.ts";
import { eitherSignal } from "../../runtime/run/either-signal.ts";
import { collectGarbage } from "../support/collect-garbage.ts";

/** Collects garbage until a signal aborts, or for two seconds. */
async function abortsDespiteGarbage(isAborted: () => boolean): Promise<boolean> {
  for (let round = 0; round < 100 && !isAborted(); round++) {
    await delay(20);
    collectGarbage();
  }
  return isAborted();
}

test("a timeout that nothing else holds aborts", async () => {
  const own = new AbortController();
  const signal = eitherSignal(own.signal, AbortSignal.timeout(200));
  expect(await abortsDespiteGarbage(() => signal.aborted)).toBe(true);
  expect((signal.reason as Error).name).toBe("TimeoutError");
});

test("either aborts with its reason", () => {
  for (const which of [0, 1] as const) {
    const both = [new AbortController(), new AbortController()] as const;
    const signal = eitherSignal(both[0].signal, both[1].signal);
    expect(signal.aborted).toBe(false);
    both[which].abort("why");
    expect([signal.aborted, signal.reason]).toEqual([true, "why"]);
  }
  expect(eitherSignal(AbortSignal.abort("early"), new AbortController().signal).reason).toBe("early");
});

test("a stream whose only deadline is a timeout ends (4.4)", async () => {
  const text = `import { wait } from "./nodes.ts"\ngraph g {\n  output x: string\n  node a = wait() into x\n  start -> a -> end\n}`;
  const { table } = compile(text, { host: memoryHost({ "nodes.ts": "export function wait(): string { return '' }" }) });
  const engine = createEngine(table!, { functions: { wait: () => new Promise<string>(() => undefined) } });
  const stream = engine.stream({}, { signal: AbortSignal.timeout(200) });
  let isOver = false;
  void stream.result.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  expect(await abortsDespiteGarbage(() => isOver)).toBe(true);
});
