import type { NodeContext } from "../../runtime/interface/context.ts";
import type { RunEvent } from "../../runtime/interface/events.ts";
import { expectEqual } from "../../runtime/stores/conformance/expect.ts";
import { hostCase, noCode, type HostCase } from "./host-case.ts";

const BRANCHES = `graph branches { input n: int  output log: int[] reduce append
  node first = double(n) into log  node left = double(n + 1) into log  node right = double(n + 2) into log
  node last = double(len(log)) into log
  start -> first -> left, right  all(left, right) -> last }`;

const ITEMS = `graph items { input list: int[]  output squares: int[]  output total: int
  node square = square(i) for i in list into squares
  node sum = total(squares) into total
  start -> square -> sum }`;

const CALLED = `graph child { input n: int  output m: int  node twice = double(n) into m  start -> twice }
  graph parent { input list: int[]  output all: int[] reduce append
    node call = child(n: i) for i in list into { m: all }  start -> call }`;

/** Functions that record their calls. */
function recorded() {
  const calls: string[] = [];
  const keys: string[] = [];
  const note = (name: string, value: unknown, context: NodeContext): void => {
    calls.push(`${name} ${JSON.stringify(value)}`);
    keys.push(context.idempotencyKey);
  };
  const functions = {
    double: (n: number, context: NodeContext) => (note("double", n, context), n * 2),
    square: (n: number, context: NodeContext) => (note("square", n, context), n * n),
    total: (list: readonly number[], context: NodeContext) => (
      note("total", list, context),
      list.reduce((sum, n) => sum + n, 0)
    ),
  };
  return { calls, keys, functions };
}

function only<Name extends string>(...names: readonly Name[]) {
  return () => {
    const { functions, ...others } = recorded();
    return { ...others, functions: Object.fromEntries(names.map((name) => [name, (functions as never)[name]])) };
  };
}

export const STEPS: readonly HostCase[] = [
  hostCase(
    "2.2 results are applied in the order of the tasks",
    { text: BRANCHES, code: only("double") },
    async ({ engine }) => {
      const result = await engine.run({ n: 1 }, { thread: "t" });
      expectEqual(result.status, "completed", "the status");
      expectEqual(result.output, { log: [2, 4, 6, 6] }, "the output");
      expectEqual(result.steps, [["first"], ["left", "right"], ["last"]], "the steps");
    },
  ),
  hostCase(
    "7.1 the results of items are in the order of the list",
    { text: ITEMS, code: only("square", "total") },
    async ({ engine }, { calls }) => {
      const list = Array.from({ length: 40 }, (_, index) => index);
      const result = await engine.run({ list }, { thread: "t" });
      expectEqual(
        result.output["squares"],
        list.map((n) => n * n),
        "the list",
      );
      expectEqual(result.output["total"], 20540, "the total");
      expectEqual(calls.length, 41, "the number of calls");
    },
  ),
  hostCase(
    "7.1 an empty list finishes its node",
    { text: ITEMS, code: only("square", "total") },
    async ({ engine }) => {
      expectEqual((await engine.run({ list: [] }, { thread: "t" })).output, { squares: [], total: 0 }, "the output");
    },
  ),
  hostCase(
    "5.5 each task has an idempotency key of its own",
    { text: BRANCHES, code: only("double") },
    async ({ engine }, { keys }) => {
      await engine.run({ n: 1 }, { thread: "t" });
      expectEqual(new Set(keys).size, 4, "the number of different keys");
    },
  ),
  hostCase("7.2 a graph is called for each item", { text: CALLED, code: only("double") }, async ({ engine }) => {
    const result = await engine.run({ list: [1, 2, 3] }, { thread: "t" });
    expectEqual(result.output, { all: [2, 4, 6] }, "the output");
    const inner = await engine.history("t", { namespace: "call[1]" });
    expectEqual(inner[0]?.status, "completed", "the status of the called graph");
  }),
  hostCase(
    "2.8 a run stops at its limit, and a resume with a higher one continues",
    {
      text: `graph loop { output n: int = 0  node next = n + 1 into n  start -> next -> next when n < 20  next -> end otherwise }`,
      code: noCode,
    },
    async ({ engine }) => {
      const stopped = await engine.run({}, { thread: "t", maxSteps: 5 });
      expectEqual([stopped.status, stopped.output["n"]], ["limit", 5], "the run");
      const done = await engine.resume("t", { maxSteps: 100 });
      expectEqual([done.status, done.output["n"]], ["completed", 20], "the resume");
    },
  ),
  hostCase(
    "2.6 a body chooses the next node, and sends items",
    {
      text: `graph jumps { output log: string[] reduce append
        node pick = choose() { goes left, right, item }  node left = "left" into log  node right = "right" into log
        node item = keep(it) for it in [] into log  node other = "other" into log  start -> pick, other  pick -> left }`,
      code: () => ({
        functions: {
          choose: ({ goto, send }: NodeContext) => {
            send("item", "sent");
            return goto("right");
          },
          keep: (value: string) => value,
        },
      }),
    },
    async ({ engine }) => {
      const { output } = await engine.run({}, { thread: "t" });
      expectEqual([...(output["log"] as string[])].sort(), ["other", "right", "sent"], "the log");
    },
  ),
  hostCase("8.1 events arrive in their order", { text: BRANCHES, code: only("double") }, async ({ engine }) => {
    const events: RunEvent[] = [];
    const stream = engine.stream({ n: 1 }, { thread: "t" });
    for await (const event of stream) events.push(event);
    expectEqual((await stream.result).status, "completed", "the status");
    expectEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index),
      "the numbers of the events",
    );
    expectEqual([events[0]?.type, events.at(-1)?.type], ["run", "run"], "the first and the last event");
    const nodes = events.flatMap((event) => (event.type === "node" && event.phase === "end" ? [event.node] : []));
    expectEqual(nodes.filter((node) => node === "last").length, 1, "the ends of node `last`");
  }),
];
