/**
 * Execution, 2.3, 2.6, 4.1, 4.4, 5.5 and 8.1: code that throws unusual values, or continues after its attempt was
 * aborted.
 */
import { describe, expect, test } from "vitest";
import type { ImportedFunction, NodeContext, RunEvent } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

describe("4.1 what a body throws or returns", () => {
  const trap = (): unknown =>
    new Proxy(
      {},
      {
        get: () => fail(),
        has: () => fail(),
        getPrototypeOf: () => fail(),
      },
    );
  const fail = (): never => {
    throw new Error("trap");
  };
  const withGetter = (name: string): Error => Object.defineProperty(new Error("plain"), name, { get: fail });
  const thrown: readonly (readonly [string, () => unknown, string])[] = [
    ["null", () => null, "it threw null"],
    ["nothing", () => undefined, "it threw undefined"],
    ["a trap", trap, "it threw something that cannot be shown"],
    ["an error whose message throws", () => withGetter("message"), "it threw something that cannot be shown"],
    ["an error whose `retryable` throws", () => withGetter("retryable"), "plain"],
    ["an error whose message is no text", () => Object.assign(new Error("x"), { message: 5 }), "5"],
  ];

  for (const store of [undefined, new MemoryStore()]) {
    const where = store === undefined ? "without a store" : "with a store";
    for (const [name, make, shown] of thrown) {
      test(`${name}, ${where}: the node fails, after all its tries`, async () => {
        const clock = new VirtualClock();
        let calls = 0;
        const body = (): never => {
          calls++;
          throw make();
        };
        const engine = engineOf(
          "graph g { output n: int = 0  node a = body() into n { tries 3 backoff 1ms..1ms }  node b = 1  start -> a, b }",
          { body },
          { clock, onEvent: () => undefined, ...(store === undefined ? {} : { store }) },
        );
        const result = await clock.until(engine.run({}));
        expect(result).toMatchObject({ status: "failed", error: { nodeId: "a", attempts: 3 } });
        expect(result.error?.message).toBe(`node \`a\` failed after 3 attempts: ${shown}`);
        expect(calls).toBe(3);
      });
    }

    test.each([1, 2])(`a \`then\` that throws, ${where}: the node fails (%d beside each other)`, async (count) => {
      const nodes = count === 1 ? "start -> a" : "node b = body() into n  start -> a, b";
      const body = (): unknown => ({ then: fail });
      const text = `graph g { output n: int = 0 reduce last  node a = body() into n  ${nodes} }`;
      const engine = engineOf(text, { body }, store === undefined ? {} : { store });
      expect(await engine.run({})).toMatchObject({
        status: "failed",
        error: { nodeId: "a", cause: { message: "trap" } },
      });
    });
  }

  test("2.3: a reducer or a condition that is asynchronous fails, and its rejection has no effect", async () => {
    const late = async (): Promise<never> => fail();
    const reducer = engineOf("graph g { output n: int = 0 reduce late  node a = 1 into n  start -> a }", { late });
    expect(await reducer.run({})).toMatchObject({ status: "failed", error: { code: "NG_REDUCER_FAILED" } });
    const condition = engineOf(
      "graph g { output n: int = 0  node a = 1 into n  node b = 2 into n  start -> a  a -> b when late(n) == 1  a -> end otherwise }",
      { late },
    );
    expect(await condition.run({})).toMatchObject({ status: "failed", error: { code: "NG_CONDITION" } });
    await settle();
  });

  test("8.1: the rejection of an asynchronous listener has no effect", async () => {
    const onEvent = (async () => fail()) as unknown as (event: RunEvent) => void;
    const engine = engineOf("graph g { output n: int = 0  node a = 1 into n  start -> a }", {}, { onEvent });
    expect((await engine.run({}, { onEvent })).status).toBe("completed");
    await settle();
  });
});

describe("4.4, 5.5: a body that continues after its attempt was aborted", () => {
  test("has no further effect, emits nothing, and keeps the key and step of its own task", async () => {
    const clock = new VirtualClock();
    const events: RunEvent[] = [];
    const contexts: NodeContext[] = [];
    const results: ((value: number) => void)[] = [];
    const body = (context: NodeContext): unknown => {
      contexts.push(context);
      return contexts.length === 2 ? 2 : new Promise((resolve) => results.push(resolve));
    };
    const engine = engineOf(
      `graph g { output n: int = 0  output log: string[] reduce append
        node a = body() into n { timeout 10ms  goes b, end }  node b = "b" into log  node again = "again" into log
        start -> a -> end  a -> again on error  again -> a }`,
      { body: body as ImportedFunction },
      { clock, store: new MemoryStore(), onEvent: (event) => void events.push(event) },
    );
    const running = engine.run({}, { thread: "t" });
    await clock.advance(10);
    const result = await running;
    expect(result).toMatchObject({ status: "completed", output: { n: 2, log: ["again"] } });
    const [first, second] = contexts as [NodeContext, NodeContext];
    const count = events.length;
    first.emit("late");
    first.goto("b");
    first.send("b", 1);
    first.stop();
    expect(() => first.interrupt("late")).toThrow();
    results[0]!(1);
    await settle();
    expect(events.length).toBe(count);
    expect(await engine.state("t")).toMatchObject({ status: "completed", state: { n: 2, log: ["again"] } });
    expect(first.signal.aborted).toBe(true);
    expect([first.step, second.step]).toEqual([0, 2]);
    expect(first.idempotencyKey).not.toBe(second.idempotencyKey);
  });

  test("says nothing in the name of the try that follows it", async () => {
    const clock = new VirtualClock();
    const contexts: NodeContext[] = [];
    const results: ((value: number) => void)[] = [];
    const body = (context: NodeContext): unknown => {
      contexts.push(context);
      return new Promise((resolve) => results.push(resolve));
    };
    const engine = engineOf(
      `graph g { output n: int = 0  node a = body() into n { timeout 10ms  tries 2 backoff 1ms..1ms  goes b }  node b = 7 into n
        start -> a -> end }`,
      { body: body as ImportedFunction },
      { clock },
    );
    const running = engine.run({});
    await clock.advance(12);
    expect(contexts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(contexts[0]!.idempotencyKey).toBe(contexts[1]!.idempotencyKey);
    contexts[0]!.goto("b");
    results[0]!(1);
    await settle();
    results[1]!(2);
    expect(await running).toMatchObject({ status: "completed", output: { n: 2 }, steps: [["a"]] });
  });
});

test("2.6: events report what an exclusive goto discards, including targets of goto and send", async () => {
  const events: RunEvent[] = [];
  const engine = engineOf(
    `graph g { output log: string[] reduce append  node a = jump() into log { goes x }  node b = jump() into log { goes y }
      node c = send() { goes y }  node x = "x" into log  node y = "y" into log  start -> a, b, c  c -> end }`,
    {
      jump: ({ goto, step }: NodeContext) => {
        expect(step).toBe(0);
        return goto(jumps++ === 0 ? "x" : "y", { exclusive: jumps === 1 });
      },
      send: ({ send }: NodeContext) => send("y", 1),
    },
    { onEvent: (event) => void events.push(event) },
  );
  let jumps = 0;
  expect(await engine.run({})).toMatchObject({ status: "completed", steps: [["a", "b", "c"], ["x"]] });
  const routes = events.flatMap((event) => (event.type === "route" && event.step === 0 ? [event] : []));
  expect(routes.map(({ node, via, targets, discarded }) => [node, via, targets, discarded === true])).toEqual([
    ["a", "exclusive", ["x"], false],
    ["b", "goto", ["y"], true],
    ["c", "edges", [], true],
    ["c", "send", ["y"], true],
  ]);
});

test("2.8, 5.1, 6.2: options of the wrong kind are refused before anything runs", async () => {
  let ran = 0;
  const body = (context: NodeContext): unknown => (ran++ === 0 ? context.interrupt() : 1);
  const engine = engineOf(
    "graph g { output n: json = 0  node a = body() into n  start -> a }",
    { body },
    { store: new MemoryStore() },
  );
  for (const options of [
    { metadata: { a: 10n } },
    { metadata: [1] },
    { maxSteps: [] },
    { maxSteps: "5" },
    { maxSteps: { g: 0.5 } },
  ]) {
    await expect(engine.run({}, { thread: "t", ...(options as object) })).rejects.toMatchObject({
      code: "NG_BAD_INPUT",
    });
  }
  expect([ran, await engine.state("t")]).toEqual([0, undefined]);
  await engine.run({}, { thread: "t" });
  for (const answers of [null, [1], () => 1]) {
    await expect(engine.resume("t", { answers } as never)).rejects.toMatchObject({
      code: "NG_BAD_ANSWER",
      message: "`answers` is a record of answers by the ids of pauses; `answer` takes one without an id",
    });
  }
  for (const metadata of [{ a: 10n }, 5]) {
    await expect(engine.fork("t", { as: "u", metadata } as never)).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    await expect(engine.update("t", {}, { metadata } as never)).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
  }
  expect((await engine.state("t"))?.status).toBe("paused");
});
