/**
 * A run with a signal ends as soon as the signal aborts, whatever its bodies do. Bodies are called directly or, with `maxParallel`, through
 * slots: both ways end a run in the same place.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { RunResult } from "../../runtime/interface/engine-options.ts";
import { compiledEngine } from "../support/compiled-engine.ts";

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", onUnhandled));
afterAll(() => void process.off("unhandledRejection", onUnhandled));

const GRAPHS = {
  chain: `graph g { input n: int  state x: int = 0  output y: int = 0
    node a = later(n) into x  node b = at_once(x) into x  node c = later(x) into y
    start -> a -> b -> c }`,
  wide: `graph g { input n: int  state x: int = 0 reduce sum  output y: int = 0
    node a = later(n) into x  node b = at_once(n) into x  node c = later(n) into x  node d = later(x) into y
    start -> a, b, c   all(a, b, c) -> d }`,
  called: `graph inner { input n: int  output x: int = 0  node i = later(n) into x  node j = later(x) into x  start -> i -> j }
    graph g { input n: int  state x: int = 0  output y: int = 0
    node a = inner(n: n) into { x }  node b = later(x) into y  start -> a -> b }`,
  handled: `graph g { input n: int  state x: int = 0  output y: int = 0
    node a = fails(n) into x { tries 2 backoff 0ms }  node b = later(x) into y  start -> a -> b  a -> b on error }`,
  ended: `graph g { input n: int  output x: int = 0  output y: string = ""
    node a = later(n) into x  node z = outcome.status into y  start -> a  finally -> z }`,
};

interface Seen {
  readonly result: Omit<RunResult, "checkpointId" | "thread">;
  readonly events: readonly object[];
  readonly bodies: number;
  readonly aborted: number;
}

/** Runs a graph and aborts it at the given event. */
async function abortedAt(text: string, at: number, maxParallel: number | null): Promise<Seen> {
  const controller = new AbortController();
  let bodies = 0;
  let aborted = 0;
  const watch = (context: NodeContext): void => {
    bodies++;
    context.signal.addEventListener("abort", () => aborted++);
  };
  const functions = {
    later: async (n: number, context: NodeContext) => {
      watch(context);
      await Promise.resolve();
      return n + 1;
    },
    at_once: (n: number, context: NodeContext) => {
      watch(context);
      return n + 1;
    },
    fails: async (_n: number, context: NodeContext) => {
      watch(context);
      await Promise.resolve();
      throw new Error("no");
    },
  };
  const engine = compiledEngine(text, functions);
  const events: object[] = [];
  const {
    checkpointId: _id,
    thread: _thread,
    ...result
  } = await engine.run(
    { n: 1 },
    {
      signal: controller.signal,
      ...(maxParallel === null ? {} : { maxParallel }),
      onEvent: ({ runId: _run, ...event }) => {
        events.push(event);
        if (events.length === at + 1) controller.abort(new Error("stop"));
      },
    },
  );
  return { result, events, bodies, aborted };
}

describe("a run that is aborted at an event", () => {
  test.each(Object.entries(GRAPHS))(
    "ends in the same place whichever way its bodies are called: %s",
    async (_name, text) => {
      const whole = await abortedAt(text, -1, null);
      expect(whole.result.status).toBe("completed");
      expect(whole.aborted).toBe(0);
      for (let at = 0; at < whole.events.length; at++) {
        const direct = await abortedAt(text, at, null);
        expect(direct, `event ${at}`).toEqual(await abortedAt(text, at, 1000));
        if (at < whole.events.length - 1) expect(["cancelled", "completed", "failed"]).toContain(direct.result.status);
      }
    },
  );
});

describe("a body that never ends", () => {
  const HANGS = {
    alone: `graph g { output x: int = 0  node a = hangs() into x  start -> a }`,
    "beside others": `graph g { state x: int = 0 reduce sum  output y: int = 0
      node a = hangs() into x  node b = done() into x  node c = x into y  start -> a, b  all(a, b) -> c }`,
    "in a called graph": `graph inner { output x: int = 0  node a = hangs() into x  start -> a }
      graph g { output x: int = 0  node i = inner() into { x }  start -> i }`,
  };
  test.each(Object.entries(HANGS))("does not keep the run alive: %s", async (_name, text) => {
    const controller = new AbortController();
    const reason = new Error("enough");
    let seen: unknown;
    const hangs = ({ signal }: NodeContext): Promise<never> => {
      signal.addEventListener("abort", () => (seen = signal.reason));
      setTimeout(() => controller.abort(reason), 5);
      return new Promise<never>(() => undefined);
    };
    const result = await compiledEngine(text, { hangs, done: () => 1 }).run({}, { signal: controller.signal });
    expect(result).toMatchObject({ status: "cancelled", steps: [] });
    expect(seen).toBe(reason);
  });

  test("that aborts its own run before it returns", async () => {
    const controller = new AbortController();
    const text = HANGS.alone;
    const hangs = (): Promise<never> => {
      controller.abort();
      return Promise.reject(new Error("late"));
    };
    const result = await compiledEngine(text, { hangs }).run({}, { signal: controller.signal });
    expect(result.status).toBe("cancelled");
  });

  test.each(["alone", "beside others"] as const)(
    "a result or a failure that comes late has no effect: %s",
    async (name) => {
      for (const late of [() => 1, () => Promise.reject(new Error("late"))]) {
        const controller = new AbortController();
        const ended: string[] = [];
        const hangs = async (): Promise<number> => {
          await new Promise((resolve) => setTimeout(resolve, 2));
          controller.abort();
          await new Promise((resolve) => setTimeout(resolve, 2));
          return late();
        };
        const result = await compiledEngine(HANGS[name], { hangs, done: () => 1 }).run(
          {},
          { signal: controller.signal, onEvent: (event) => void ended.push(event.type) },
        );
        expect(result.status).toBe("cancelled");
        const count = ended.length;
        await new Promise((resolve) => setTimeout(resolve, 10));
        expect(ended).toHaveLength(count);
        expect(result).toMatchObject({ status: "cancelled", steps: [], state: {} });
      }
    },
  );
});

test("under `onFailure: abort` a failure ends the bodies beside it", async () => {
  const text = `graph g { state x: int = 0 reduce sum  node a = hangs() into x  node b = fails() into x  node c = hangs() into x
    start -> a, b, c }`;
  let aborted = 0;
  let begun = 0;
  const hangs = ({ signal }: NodeContext): Promise<never> => {
    begun++;
    signal.addEventListener("abort", () => aborted++);
    return new Promise<never>(() => undefined);
  };
  for (const fails of [
    () => Promise.reject(new Error("no")),
    () => {
      throw new Error("no");
    },
  ]) {
    begun = aborted = 0;
    const result = await compiledEngine(text, { hangs, fails }).run({}, { onFailure: "abort" });
    expect(result).toMatchObject({ status: "failed", error: { nodeId: "b" } });
    expect(aborted).toBe(begun);
  }
});

test("no rejection is left unhandled", async () => {
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(unhandled).toEqual([]);
});
