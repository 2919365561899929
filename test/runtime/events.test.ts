/** Execution, section 8: events of a run, and streams of them. */
import { describe, expect, test, vi } from "vitest";
import type { NodeContext, RunEvent } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

/** An event as one line, without its position. */
function line(event: RunEvent): string {
  const {
    seq: _seq,
    namespace,
    runId: _run,
    thread: _thread,
    step,
    type,
    ...rest
  } = event as RunEvent & Record<string, unknown>;
  const values = Object.entries(rest).flatMap(([name, value]) => {
    if (name === "id" || name === "taskId") return [];
    if (Array.isArray(value))
      return [`${name} ${value.map((item) => (typeof item === "object" ? "…" : String(item))).join("+")}`];
    return [name === "phase" || name === "node" ? String(value) : `${name} ${JSON.stringify(value)}`];
  });
  return `${[...namespace, step].join("/")} ${type} ${values.join(", ")}`;
}

describe("8.1 events", () => {
  test("come in the order in which things happen", async () => {
    const events: RunEvent[] = [];
    const engine = engineOf(
      `graph g { output x: int = 0
        node a = a() into x   node b = x + 1 into x
        start -> a -> b }`,
      { a: (context: NodeContext) => (context.emit({ half: true }), 1) },
      { store: new MemoryStore() },
    );
    const result = await engine.run({}, { thread: "t", onEvent: (event) => events.push(event) });
    expect(events.map(line)).toEqual([
      '0 run start, graph "g", resumed false',
      "-1 checkpoint input",
      "0 step start, nodes a",
      "0 node a, attempt 1, start",
      '0 custom a, data {"half":true}',
      "0 node a, attempt 1, end",
      '0 write a, channel "x", update 1, value 1',
      '0 route a, via "edges", targets b',
      "0 step end, nodes a",
      "0 checkpoint completed",
      "1 step start, nodes b",
      "1 node b, attempt 1, start",
      "1 node b, attempt 1, end",
      '1 write b, channel "x", update 2, value 2',
      '1 route b, via "edges", targets ',
      "1 step end, nodes b",
      "1 checkpoint completed",
      '2 run end, status "completed"',
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    expect(new Set(events.map(({ thread }) => thread))).toEqual(new Set(["t"]));
    expect(new Set(events.map(({ runId }) => runId)).size).toBe(1);
    const ids = events.flatMap((event) => (event.type === "checkpoint" ? [event.id] : []));
    expect(ids.at(-1)).toBe(result.checkpointId);
  });

  test("tell retries, failures, pauses, barriers, jumps and what an exclusive goto discards", async () => {
    const clock = new VirtualClock();
    const events: RunEvent[] = [];
    const engine = engineOf(
      `graph g {
        output x: int = 0
        node a = a() { tries 2 }   node b = b() { goes c }   node s = 1   node h = 1   node j = 1 { pause before }   node c = 1
        start -> a, s   a -> end   a -> h on error   all(h, s) -> j   j -> b   b -> end   c -> end
      }`,
      {
        a: () => {
          throw new Error("no");
        },
        b: (context: NodeContext) => context.goto("c", { exclusive: true }),
      },
      { store: new MemoryStore(), clock, random: () => 0, onEvent: (event) => events.push(event) },
    );
    await clock.until(engine.run({}, { thread: "t" }));
    await clock.until(engine.resume("t"));
    const lines = events.map(line);
    for (const expected of [
      '0 node a, attempt 1, retry, error {"code":"NG_NODE_FAILED","message":"no"}, delayMs 200',
      '0 route a, via "error", targets h',
      '0 barrier barrier "j", target "j", arrived s, fired false',
      '1 barrier barrier "j", target "j", arrived s+h, fired true',
      "1 checkpoint before",
      "2 pause pauses …",
      '2 run end, status "paused"',
      '2 run start, graph "g", resumed true',
      '3 route b, via "exclusive", targets c',
    ]) {
      expect(lines).toContain(expected);
    }
    const failure = events.find((event) => event.type === "node" && event.phase === "error");
    expect(failure).toMatchObject({ error: { code: "NG_NODE_FAILED", node: "a", attempts: 2 } });
  });

  test("tell each item of a `for` and each send once", async () => {
    const events: RunEvent[] = [];
    const engine = engineOf(
      `graph g { node plan = plan() { goes work }  node every = work() for i in [1, 2]  node work = work()
        start -> plan -> every   any(every, work) -> end }`,
      {
        plan: (context: NodeContext) => void [1, 2, 3].forEach((item) => context.send("work", item)),
        work: () => null,
      },
      { onEvent: (event) => events.push(event) },
    );
    await engine.run({});
    const starts = events.flatMap((event) => (event.type === "node" && event.phase === "start" ? [event] : []));
    expect(starts.map(({ node, item }) => [node, item])).toEqual([
      ["plan", undefined],
      ["every", 0],
      ["every", 1],
      ["work", undefined],
      ["work", undefined],
      ["work", undefined],
    ]);
    expect(new Set(starts.map(({ taskId }) => taskId)).size).toBe(6);
    expect(events.filter((event) => event.type === "node" && event.phase === "end")).toHaveLength(6);
    expect(events.filter((event) => event.type === "route" && event.via === "send")).toHaveLength(3);
  });

  test("a listener that throws breaks nothing", async () => {
    const engine = engineOf(
      `graph g { output x: int = 0  node a = 1 into x  start -> a }`,
      {},
      {
        onEvent: () => {
          throw new Error("watching is hard");
        },
      },
    );
    expect((await engine.run({})).output).toEqual({ x: 1 });
  });

  test("values of secrets are taken out of errors, checkpoints and events", async () => {
    const events: RunEvent[] = [];
    const store = new MemoryStore();
    const engine = engineOf(
      `secret API_KEY
       graph g { node a = a(API_KEY)  start -> a }`,
      {
        a: (key: string, context: NodeContext) => {
          context.emit({ tried: key });
          throw new Error(`401 for ${key}`);
        },
      },
      { secrets: { API_KEY: "sk-very-secret" }, onEvent: (event) => events.push(event), store },
    );
    const result = await engine.run({}, { thread: "t" });
    expect(result.error?.message).toBe("node `a` failed: 401 for [secret API_KEY]");
    expect(JSON.stringify([events, store.list("t")])).not.toContain("sk-very-secret");
  });
});

test("8.1, 1.3: the redacted prefix of a growing list is reused", async () => {
  const run = async (rounds: number): Promise<{ searched: number; last: RunEvent | undefined }> => {
    let last: RunEvent | undefined;
    const engine = engineOf(
      `secret KEY
      graph g {
        output log: json[] reduce append
        output i: int = 0
        limit steps none
        node add = add(KEY, i) into { log, i }
        start -> add
        add -> add when i < ${rounds}
        add -> end otherwise
      }`,
      { add: (key, i) => ({ log: [{ text: `${String(key)} ${Number(i)}` }, String(key)], i: Number(i) + 1 }) },
      {
        secrets: { KEY: "hunter2" },
        onEvent: (event) => {
          if (event.type === "write" && event.channel === "log") last = event;
        },
      },
    );
    const search = vi.spyOn(String.prototype, "replaceAll");
    await engine.run({});
    const searched = search.mock.calls.filter(([text]) => String(text) === "hunter2").length;
    search.mockRestore();
    return { searched, last };
  };
  const [few, many] = [await run(20), await run(80)];
  const value = Array.from({ length: 80 }, (_, i) => [{ text: `[secret KEY] ${i}` }, "[secret KEY]"]).flat();
  expect(many.last).toMatchObject({ value, update: value.slice(-2) });
  expect(many.searched).toBeLessThan(few.searched * 5);
});

test("8.1: values of secrets are taken out of whatever leaves the run as text, however JSON would write them", async () => {
  const events: RunEvent[] = [];
  const store = new MemoryStore();
  const engine = engineOf(
    `secret KEY
     graph g { output x: json = null  output y: string = ""  node a = a(KEY) into x  node b = b(KEY) into y  start -> b -> a }`,
    {
      b: (key: string) => `Bearer ${key}`,
      a: (key: string, context: NodeContext) => {
        context.emit({ [key]: [{ tried: key }] });
        return context.interrupt({ question: `use ${key}?` });
      },
    },
    { secrets: { KEY: 'quo"ted\\value\n' }, onEvent: (event) => events.push(event), store },
  );
  const { pauses } = await engine.run({}, { thread: "t" });
  expect(pauses[0]?.payload).toEqual({ question: "use [secret KEY]?" });
  const custom = events.find((event) => event.type === "custom");
  expect(custom).toMatchObject({ data: { "[secret KEY]": [{ tried: "[secret KEY]" }] } });
  expect(JSON.stringify(events)).not.toContain("ted\\");
  expect(JSON.stringify((await engine.state("t"))?.pauses)).not.toContain("ted\\");
  // Channels store results as they are: only what leaves the run is redacted.
  expect(await engine.resume("t", { answer: 1 })).toMatchObject({ output: { x: 1, y: 'Bearer quo"ted\\value\n' } });
});

describe("8.1 streams", () => {
  const TEXT = `graph inner { input n: int  output m: int = 0  node deep = n * 2 into m  start -> deep }
    graph g { input n: int  state spare: int = 7  output x: int = 0  output y: int = 0
      node a = n into x   node b = inner(n: x) into { m: y }   start -> a -> b }`;

  test("of events, with the result beside them", async () => {
    const stream = engineOf(TEXT).stream({ n: 1 });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types[0]).toBe("run");
    expect(types.at(-1)).toBe("run");
    expect(await stream.result).toMatchObject({ status: "completed", output: { x: 1, y: 2 } });
  });

  test("of updates: after each step, node by node, called graphs included", async () => {
    const items: unknown[] = [];
    for await (const item of engineOf(TEXT).stream({ n: 1 }, { view: "updates" })) items.push(item);
    expect(items).toEqual([
      { step: 0, namespace: [], node: "a", updates: { x: 1 } },
      { step: 0, namespace: ["b"], node: "deep", updates: { m: 2 } },
      { step: 1, namespace: [], node: "b", updates: { y: 2 } },
    ]);
  });

  test("of updates: each of several items that one node was sent", async () => {
    const engine = engineOf(
      `graph g { output log: int[] = [] reduce append  node plan = plan() { goes work }  node work = work() into log
         start -> plan -> end  work -> end }`,
      {
        plan: (context: NodeContext) => {
          for (let item = 0; item < 3; item++) context.send("work", item);
        },
        work: (context: NodeContext) => context.item,
      },
    );
    const items: unknown[] = [];
    for await (const item of engine.stream({}, { view: "updates" })) items.push(item.updates);
    expect(items).toEqual([{ log: [0] }, { log: [1] }, { log: [2] }]);
  });

  test("of values: after the input and after each step, all channels", async () => {
    const items: unknown[] = [];
    for await (const item of engineOf(TEXT).stream({ n: 1 }, { view: "values" })) items.push(item);
    expect(items).toEqual([
      { step: -1, state: { n: 1, x: 0, y: 0, spare: 7 } },
      { step: 0, state: { n: 1, x: 1, y: 0, spare: 7 } },
      { step: 1, state: { n: 1, x: 1, y: 2, spare: 7 } },
    ]);
  });

  test("of a resume", async () => {
    const engine = engineOf(
      `graph g { output x: int = 0  node a = 1 into x { pause before }  start -> a }`,
      {},
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    const items: unknown[] = [];
    for await (const { updates } of engine.streamResume("t", { view: "updates" })) items.push(updates);
    expect(items).toEqual([{ x: 1 }]);
  });

  test("an error that keeps a run from starting comes out of the loop", async () => {
    const read = async (): Promise<void> => {
      for await (const _ of engineOf(TEXT).stream({ n: "x" }));
    };
    await expect(read()).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
  });

  test("leaving the loop cancels the run", async () => {
    let aborted = false;
    const engine = engineOf(`graph g { node a = a()  start -> a }`, {
      a: (context: NodeContext) => {
        context.signal.addEventListener("abort", () => (aborted = true));
        return new Promise(() => undefined);
      },
    });
    const stream = engine.stream({});
    for await (const event of stream) if (event.type === "node") break;
    expect((await stream.result).status).toBe("cancelled");
    expect(aborted).toBe(true);
  });
});

describe("8.2 a slow consumer", () => {
  const LOOP = `graph g { limit steps none  output n: int = 0  node count = n + 1 into n
    start -> count   count -> count when n < 500   count -> end otherwise }`;

  test("loses the oldest items, receives their number, and slows nothing", async () => {
    const stream = engineOf(LOOP).stream({}, { buffer: 10 });
    expect((await stream.result).output).toEqual({ n: 500 });
    const events: RunEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events[0]).toMatchObject({ type: "dropped" });
    expect(events).toHaveLength(11);
    expect(events.at(-1)).toMatchObject({ type: "run", phase: "end" });
    const dropped = (events[0] as RunEvent & { count: number }).count;
    expect(dropped).toBe(events.at(-1)!.seq + 1 - 10);
  });

  test("one that keeps up loses nothing", async () => {
    const engine = engineOf(
      `graph g { output n: int = 0  node count = later(n) into n
      start -> count   count -> count when n < 50   count -> end otherwise }`,
      {
        later: async (n: number) => (await settle(), n + 1),
      },
    );
    const seen: number[] = [];
    for await (const { seq } of engine.stream({}, { buffer: 20 })) seen.push(seq);
    expect(seen).toEqual(seen.map((_, index) => index));
  });
});
