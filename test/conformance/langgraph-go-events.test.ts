/**
 * langgraph-go's cases of events (LG-61 to LG-66), and similar ones: as a listener receives them, and as a stream
 * yields them. langgraph-go's `node_end` has the update; this project emits a `write` event for each channel.
 */
import { describe, expect, test } from "vitest";
import type { NodeContext, RunEvent } from "../../api/index.ts";
import type { FunctionRegistry } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compiledEngine } from "../support/compiled-engine.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

async function record(
  text: string,
  functions: FunctionRegistry = {},
  options: { maxSteps?: number; clock?: VirtualClock } = {},
): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  const { clock, ...run } = options;
  const settings = { onEvent: (event: RunEvent) => events.push(event), random: () => 0 };
  const engine = compiledEngine(text, functions, clock === undefined ? settings : { ...settings, clock });
  const result = engine.run({}, run);
  await (clock === undefined ? result : clock.until(result));
  return events;
}

/** Starts, ends, errors and routes: the events of langgraph-go. */
const lines = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => {
    if (event.type === "node") return [`${event.step} ${event.phase} ${event.node}`];
    return event.type === "route" ? [`${event.step} ${event.via} ${event.node}: ${event.targets.join("+")}`] : [];
  });

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `node${index}`);
const chain = (count: number): string =>
  `graph g { limit steps none  output counter: int = 0 reduce sum
     ${names(count)
       .map((name) => `node ${name} = 1 into counter`)
       .join("  ")}
     start -> ${names(count).join(" -> ")}${count === 1 ? " -> end" : " -> end"} }`;

describe("nodes in a row", () => {
  test.each([1, 3, 10, 120])("LG-61, LG-62, LG-65: each of %i starts, ends and routes in its step", async (count) => {
    const events = await record(chain(count));
    const found = lines(events);
    expect(found).toEqual(
      names(count).flatMap((name, step) => [
        `${step} start ${name}`,
        `${step} end ${name}`,
        `${step} edges ${name}: ${names(count)[step + 1] ?? "end"}`,
      ]),
    );
    expect(found).toHaveLength(count * 3);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  });

  test("LG-61: `write` has the update of the node and the new value of the channel", async () => {
    const events = await record(
      `graph g { output counter: int = 40 reduce sum  output value: string = ""  node a = { counter: 2, value: "x" } into { counter, value }
         start -> a }`,
    );
    const writes = events.flatMap((event) =>
      event.type === "write" ? [[event.step, event.node, event.channel, event.update, event.value]] : [],
    );
    expect(writes).toEqual([
      [0, "a", "counter", 2, 42],
      [0, "a", "value", "x", "x"],
    ]);
  });

  test.each([
    ["steps 3 to 7", (event: RunEvent) => event.step >= 3 && event.step <= 7, 15],
    ["step 0", (event: RunEvent) => event.step === 0, 3],
    ["beyond the last", (event: RunEvent) => event.step > 9, 0],
    ["node5", (event: RunEvent) => "node" in event && event.node === "node5", 3],
    ["ends", (event: RunEvent) => event.type === "node" && event.phase === "end", 10],
    ["ends of node5", (event: RunEvent) => event.type === "node" && event.phase === "end" && event.node === "node5", 1],
    ["one that is not there", (event: RunEvent) => "node" in event && event.node === "nobody", 0],
  ])("LG-65: filtered by %s", async (_name, keep, count) => {
    const events = await record(chain(10));
    expect(lines(events.filter(keep))).toHaveLength(count);
  });

  test("LG-65: two parallel runs each have their own events, numbered from 0", async () => {
    const events: RunEvent[] = [];
    const engine = compiledEngine(
      `graph g { node a = wait()  node b = wait()  start -> a -> b }`,
      { wait: () => new Promise((resolve) => void setImmediate(resolve)) },
      { onEvent: (event) => events.push(event), store: new MemoryStore() },
    );
    await Promise.all([engine.run({}, { thread: "one" }), engine.run({}, { thread: "two" })]);
    for (const thread of ["one", "two"]) {
      const own = events.filter((event) => event.thread === thread);
      expect(own.map(({ seq }) => seq)).toEqual(own.map((_, index) => index));
      expect(new Set(own.map(({ runId }) => runId)).size).toBe(1);
      expect(lines(own)).toHaveLength(6);
    }
  });
});

describe("routes", () => {
  const around = (a: string, edges: string): string =>
    `graph g { state n: int = 7  node a = ${a}  node b = print("b")  node c = print("c")  start -> a  ${edges}  any(b, c) -> end }`;
  const jump = (to: (context: NodeContext) => unknown): FunctionRegistry => ({ jump: to as never });
  test.each<[string, string, FunctionRegistry, string]>([
    ["LG-61: to the end", around(`print("a")`, `a -> end  start -> b, c`), {}, "edges a: end"],
    ["LG-61: nowhere", around(`print("a")`, `start -> b, c`), {}, "edges a: "],
    ["LG-63: by an edge", around(`print("a")`, `a -> b  start -> c`), {}, "edges a: b"],
    ["LG-63: by edges to two", around(`print("a")`, `a -> b, c`), {}, "edges a: b+c"],
    [
      "LG-63: by a condition",
      around(`size()`, `a -> b when big(n)  a -> c otherwise`),
      { size: () => null, big: (n: number) => n > 5 },
      "edges a: b",
    ],
    [
      "LG-63: otherwise",
      around(`size()`, `a -> b when big(n)  a -> c otherwise`),
      { size: () => null, big: (n: number) => n > 9 },
      "edges a: c",
    ],
    ["LG-63: by a jump", around(`jump() { goes b, c }`, `a -> end`), jump(({ goto }) => goto("b")), "goto a: b"],
    [
      "LG-63: by a jump to two",
      around(`jump() { goes b, c }`, `a -> end`),
      jump(({ goto }) => goto("b", "c")),
      "goto a: b+c",
    ],
    [
      "LG-63: by an exclusive jump",
      around(`jump() { goes b, c }`, `a -> end`),
      jump(({ goto }) => goto("c", { exclusive: true })),
      "exclusive a: c",
    ],
    ["LG-63: by stopping", around(`jump() { goes end }`, `a -> b, c`), jump(({ stop }) => stop()), "stop a: "],
  ])("%s", async (_name, text, functions, route) => {
    const events: RunEvent[] = [];
    const builtins = { print: () => null };
    const engine = compiledEngine(text, functions, { onEvent: (event) => events.push(event), builtins });
    expect((await engine.run({})).status).toBe("completed");
    expect(lines(events).filter((line) => / (edges|goto|exclusive|stop) a:/.test(line))).toEqual([`0 ${route}`]);
  });
});

describe("errors", () => {
  const CHAIN = `graph g { output counter: int = 0 reduce sum
    ${["node1", "node2", "node3"].map((name) => `node ${name} = work("${name}") into counter`).join("  ")}
    start -> node1 -> node2 -> node3 }`;
  test.each(["node1", "node2", "node3"])("LG-64: of %s, at its step, without a `node_end`", async (bad) => {
    const step = Number(bad.slice(-1)) - 1;
    const cause = new Error("node failure");
    const work = (name: string): number => {
      if (name === bad) throw cause;
      return 1;
    };
    const events: RunEvent[] = [];
    const result = await compiledEngine(CHAIN, { work }, { onEvent: (event) => events.push(event) }).run({});
    expect(result.error?.cause).toBe(cause);
    const message = `node \`${bad}\` failed: node failure`;
    const failures = events.filter((event) => event.type === "node" && event.phase === "error");
    expect(failures).toMatchObject([
      { step, node: bad, attempt: 1, error: { code: "NG_NODE_FAILED", message, node: bad, attempts: 1 } },
    ]);
    expect(lines(events).slice(-2)).toEqual([`${step} start ${bad}`, `${step} error ${bad}`]);
    expect(
      events.filter((event) => event.type === "route" || event.type === "write").every((event) => event.step < step),
    ).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: "run", phase: "end", status: "failed", error: { message } });
  });

  test("LG-64: one event for each try", async () => {
    const events = await record(
      `graph g { node a = bad() { tries 3 backoff 1s..30s }  start -> a }`,
      { bad: () => Promise.reject(new Error("transient")) },
      { clock: new VirtualClock() },
    );
    const lines = events.flatMap((event) =>
      event.type === "node"
        ? [`${event.phase} ${event.attempt} ${"delayMs" in event ? event.delayMs : ""}`.trim()]
        : [],
    );
    expect(lines).toEqual(["start 1", "retry 1 1000", "start 2", "retry 2 2000", "start 3", "error 3"]);
  });

  test("LG-66: a jump to an unknown node is the node's error", async () => {
    const events = await record(`graph g { node a = jump()  start -> a }`, {
      jump: (context: NodeContext) => context.goto("nonexistent"),
    });
    expect(lines(events)).toEqual(["0 start a", "0 error a"]);
  });

  test.each([
    ["LG-66: the limit of steps", chain(4), {}, 2, "limit", "NG_STEP_LIMIT"],
    [
      "LG-66: a condition that matches no arm",
      `graph g { node a = print("a")  node b = print("b")  start -> a  a -> b when odd()  a -> end when !odd() }`,
      { odd: () => null },
      9,
      "failed",
      "NG_CONDITION",
    ],
  ])("%s is no error of a node, only the run's", async (_name, text, functions, maxSteps, status, code) => {
    const events: RunEvent[] = [];
    const engine = compiledEngine(text, functions, {
      onEvent: (event) => events.push(event),
      builtins: { print: () => null },
    });
    await engine.run({}, { maxSteps });
    expect(events.filter((event) => event.type === "node" && event.phase === "error")).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "run", phase: "end", status, error: { code } });
  });
});

describe("streams", () => {
  const GRAPH = `graph g { input k: int = 1  output counter: int = 0 reduce sum  output log: string[] = ["s"] reduce append
    node a = { counter: k, log: "a" } into { counter, log }  node b = { counter: 10, log: "b" } into { counter, log }
    node j = work(counter) into counter  start -> a, b  all(a, b) -> j }`;
  const functions = {
    work: async (counter: number, context: NodeContext) => {
      context.emit({ saw: counter });
      context.emit("half");
      return 100;
    },
  };
  async function all<Item>(stream: AsyncIterable<Item>): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of stream) items.push(item);
    return items;
  }

  test("LG-65: the stream has the events of a listener, and its result is that of the run", async () => {
    const heard: RunEvent[] = [];
    const stream = compiledEngine(GRAPH, functions).stream({ k: 2 }, { onEvent: (event) => heard.push(event) });
    expect(await all(stream)).toEqual(heard);
    expect(await stream.result).toMatchObject({ status: "completed", output: { counter: 112, log: ["s", "a", "b"] } });
  });

  test("LG-61: `values` has the state after the input and after each step", async () => {
    expect(await all(compiledEngine(GRAPH, functions).stream({}, { view: "values" }))).toEqual([
      { step: -1, state: { k: 1, counter: 0, log: ["s"] } },
      { step: 0, state: { k: 1, counter: 11, log: ["s", "a", "b"] } },
      { step: 1, state: { k: 1, counter: 111, log: ["s", "a", "b"] } },
    ]);
  });

  test("LG-61: `updates` has the writes of each node", async () => {
    expect(await all(compiledEngine(GRAPH, functions).stream({}, { view: "updates" }))).toEqual([
      { step: 0, namespace: [], node: "a", updates: { counter: 1, log: ["a"] } },
      { step: 0, namespace: [], node: "b", updates: { counter: 10, log: ["b"] } },
      { step: 1, namespace: [], node: "j", updates: { counter: 100 } },
    ]);
  });

  test("LG-65: `custom` has the events that nodes emit", async () => {
    expect(await all(compiledEngine(GRAPH, functions).stream({}, { view: "custom" }))).toEqual([
      { step: 1, namespace: [], node: "j", data: { saw: 11 } },
      { step: 1, namespace: [], node: "j", data: "half" },
    ]);
  });

  test("LG-64: a run that fails ends its stream, and its result has the error", async () => {
    const broken = { work: () => Promise.reject(new Error("broken")) };
    const stream = compiledEngine(GRAPH, broken).stream({});
    expect((await all(stream)).at(-1)).toMatchObject({ type: "run", phase: "end", status: "failed" });
    expect(await stream.result).toMatchObject({ status: "failed", error: { nodeId: "j" } });
    const updates = await all(compiledEngine(GRAPH, broken).stream({}, { view: "updates" }));
    expect(updates.map(({ node }) => node)).toEqual(["a", "b"]);
  });

  test("LG-64: a run that cannot begin rejects both", async () => {
    const stream = compiledEngine(GRAPH, functions).stream({ k: "x" });
    await expect(all(stream)).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    await expect(stream.result).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    expect(() => compiledEngine(GRAPH, functions).stream({}, { view: "all" as never })).toThrow(
      expect.objectContaining({ code: "NG_BAD_INPUT", message: expect.stringContaining("`view`") as string }) as Error,
    );
  });

  test("LG-65: two readers of one stream share its items, and both reach its end", async () => {
    const engine = compiledEngine(GRAPH, functions);
    const count = (await all(engine.stream({}))).length;
    const stream = engine.stream({});
    const [first, second] = await Promise.all([all(stream), all(stream)]);
    const seqs = [...first, ...second].map(({ seq }) => seq).toSorted((a, b) => a - b);
    expect(seqs).toEqual(Array.from({ length: count }, (_, index) => index));
  });

  test.each([1, 7, 50])(
    "LG-65: a slow consumer with room for %i misses the oldest events, and the stream reports how many",
    async (buffer) => {
      const stream = compiledEngine(chain(300)).stream({}, { buffer });
      const { steps, status } = await stream.result;
      expect([steps.length, status]).toEqual([300, "completed"]);
      const events = await all(stream);
      const [dropped, ...rest] = events;
      expect(dropped).toMatchObject({ type: "dropped" });
      expect(rest).toHaveLength(buffer);
      const { seq } = rest.at(-1)!;
      expect((dropped as { count: number }).count + buffer).toBe(seq + 1);
      expect(rest.at(-1)).toMatchObject({ type: "run", phase: "end" });
    },
  );

  test("LG-65: a reader that leaves early ends the run", async () => {
    const stream = compiledEngine(GRAPH, { work: () => new Promise(() => undefined) }).stream({});
    for await (const event of stream) if (event.type === "step" && event.phase === "end") break;
    expect(await stream.result).toMatchObject({ status: "cancelled", steps: [["a", "b"]] });
  });
});
