/** Graphs that a built-in node calls as tools: their place in the thread, crashes, cancellations, edits and undos. */
import { expect, test } from "vitest";
import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { EngineOptions, FunctionRegistry } from "../../runtime/interface/engine-options.ts";
import type { Json } from "../../runtime/value/json.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { createEngine } from "../../runtime/index.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf, tableOf } from "../support/graph.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { fail } from "../../stdlib/nodes/fail.ts";

type Script = readonly (readonly [tool: string, args: readonly Json[]])[];

/** A model that calls tools by a script, and returns their results. Each turn and each result is stored, as `llm` does. */
const scripted =
  (script: Script, turns: { count: number } = { count: 0 }): BuiltinNode =>
  async (_, { tools = [], once }) => {
    const results: Json[] = [];
    for (const [index, [name, args]] of script.entries()) {
      await once!(`turn ${index}`, () => {
        turns.count++;
        return null;
      });
      const tool = tools.find((each) => each.name === name)!;
      const call = async (): Promise<Json> => {
        try {
          return (await tool.call(args, `tool ${index}`)) as Json;
        } catch (error) {
          if (error instanceof Error && error.constructor.name === "ChildStopped") return error.message;
          throw error;
        }
      };
      results.push(await once!(`tool ${index}`, call));
    }
    return results;
  };

const GRAPH = `graph charge {
  input order: string
  output receipt: string
  state amount: int = 0
  node look = price(order) into amount
  node pay = take(order, amount) into receipt { undo giveBack(order) }
  start -> look -> pay -> end
}
graph g {
  output results: json[]
  node agent = llm("q", tools: [charge, note]) into results
  start -> agent -> end
}
`;

function shop(
  text: string,
  script: Script,
  store: EngineOptions["store"],
  done: string[],
  options: EngineOptions = {},
) {
  const turns = { count: 0 };
  const functions: FunctionRegistry = {
    price: (order) => (done.push(`price ${order as string}`), 7),
    take: (order) => (done.push(`take ${order as string}`), `paid ${order as string}`),
    giveBack: (order) => void done.push(`give back ${order as string}`),
    note: (word) => (done.push(`note ${word as string}`), "noted"),
    broken: () => {
      throw new Error("broken");
    },
    ...options.functions,
  };
  const engine = engineOf(text, functions, {
    ...(store === undefined ? {} : { store }),
    ...options,
    builtins: { llm: scripted(script, turns), ask, fail, ...options.builtins },
    functions,
  });
  return { engine, turns };
}

const CALLS: Script = [
  ["charge", ["a"]],
  ["note", ["x"]],
  ["charge", ["b"]],
];

test("a process that dies at any write of its store repeats no finished node of a tool and loses no call", async () => {
  const whole: string[] = [];
  const counting = new CrashingStore(new MemoryStore(), Number.POSITIVE_INFINITY);
  const expected = await shop(GRAPH, CALLS, counting, whole).engine.run({}, { thread: "t" });
  expect(expected.output).toEqual({ results: [{ receipt: "paid a" }, "noted", { receipt: "paid b" }] });
  const writes = counting.log.length;
  expect(writes).toBeGreaterThan(15);
  for (const when of ["before", "after"] as const) {
    for (let left = 0; left < writes; left++) {
      const what = `${when} write ${left}: ${counting.log[left]}`;
      let now = 0;
      const disk = new MemoryStore({ now: () => now });
      const done: string[] = [];
      await shop(GRAPH, CALLS, new CrashingStore(disk, left, when), done)
        .engine.run({}, { thread: "t" })
        .catch(() => undefined);
      now += 1_000_000;
      const second = shop(GRAPH, CALLS, disk, done).engine;
      const head = disk.loadLatest("t");
      const result =
        head === undefined
          ? (await second.run({}, { thread: "t" })).output
          : head.status === "completed"
            ? head.values
            : (await second.resume("t")).output;
      expect(result, what).toMatchObject(expected.output);
      // At most the one body whose result was not stored runs again.
      expect([...new Set(done)].toSorted(), what).toEqual(whole.toSorted());
      expect(done.length - whole.length, what).toBeLessThanOrEqual(1);
    }
  }
});

test("a rollback after a crash undoes what the tools have done, also those whose results were stored", async () => {
  const text = GRAPH.replace("start -> agent -> end", "start -> agent -> rollback");
  const whole: string[] = [];
  const counting = new CrashingStore(new MemoryStore(), Number.POSITIVE_INFINITY);
  const first = await shop(text, CALLS, counting, whole).engine.run({}, { thread: "t" });
  expect(first).toMatchObject({
    status: "rolled_back",
    rollback: { undone: [{ task: "agent.charge.1/pay", node: "pay" }, { task: "agent.charge.0/pay" }] },
  });
  for (let left = 1; left < counting.log.length; left++) {
    let now = 0;
    const disk = new MemoryStore({ now: () => now });
    const done: string[] = [];
    await shop(text, CALLS, new CrashingStore(disk, left, "after"), done)
      .engine.run({}, { thread: "t" })
      .catch(() => undefined);
    now += 1_000_000;
    const head = disk.loadLatest("t");
    if (head === undefined) continue;
    const end = head.status === "rolled_back" ? head : await shop(text, CALLS, disk, done).engine.resume("t");
    expect(end.status, counting.log[left]).toBe("rolled_back");
    const backs = done.filter((each) => each.startsWith("give back"));
    expect([...new Set(backs)].toSorted(), counting.log[left]).toEqual(["give back a", "give back b"]);
  }
});

test("a requested rollback of an open agent undoes its finished and its open tools", async () => {
  const text = `graph charge {
    input order: string
    output ok: string
    output done: string
    node pay = take(order) into ok { undo giveBack(order) }
    node confirm = ask("Right?") into done
    start -> pay -> confirm -> end
  }
  graph g {
    output results: json[]
    node agent = llm("q", tools: [charge]) into results
    start -> agent -> end
  }`;
  const store = new MemoryStore();
  const done: string[] = [];
  const script: Script = [
    ["charge", ["a"]],
    ["charge", ["b"]],
  ];
  expect((await shop(text, script, store, done).engine.run({}, { thread: "t" })).status).toBe("paused");
  const second = await shop(text, script, store, done).engine.resume("t", { answer: "yes" });
  expect(second.pauses).toMatchObject([{ namespace: ["agent.charge.1"] }]);
  const result = await shop(text, script, store, done).engine.rollback("t");
  expect(result.rollback?.undone.map(({ task }) => task)).toEqual(["agent.charge.1/pay", "agent.charge.0/pay"]);
  expect(done).toEqual(["take a", "take b", "give back b", "give back a"]);
});

const SLOW = `graph slow {
  output a: string
  node n = wait() into a
  start -> n -> end
}
graph g {
  output results: json[] = []
  node agent = llm("q", tools: [slow]) into results { POLICY }
  start -> agent -> end
}`;

test("a timeout stops the tool before the next attempt, which continues the call", async () => {
  const log: string[] = [];
  let runs = 0;
  const wait = (...args: readonly unknown[]): Promise<string> => {
    const { signal } = args.at(-1) as { readonly signal: AbortSignal };
    if (++runs > 1) return Promise.resolve("done");
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        log.push("stopped");
        reject(new Error("stopped"));
      });
    });
  };
  const text = SLOW.replace("POLICY", "tries 2 backoff 1ms timeout 30ms");
  const { engine } = shop(text, [["slow", []]], new MemoryStore(), [], {
    functions: { wait },
    onEvent: (event) => {
      if (event.type === "node" && event.node === "agent") log.push(event.phase);
    },
  });
  const result = await engine.run({}, { thread: "t" });
  expect(result).toMatchObject({ status: "completed", output: { results: [{ a: "done" }] } });
  expect(log).toEqual(["start", "stopped", "retry", "start", "end"]);
});

test("a cancelled run stores where its tool has stopped, and a resume continues there", async () => {
  const store = new MemoryStore();
  const abort = new AbortController();
  let runs = 0;
  const wait = (): Promise<string> | string => {
    if (++runs > 1) return "done";
    abort.abort();
    return new Promise(() => undefined);
  };
  const text = SLOW.replace(" { POLICY }", "");
  const run = shop(text, [["slow", []]], store, [], { functions: { wait } });
  const first = await run.engine.run({}, { thread: "t", signal: abort.signal });
  expect(first.status).toBe("cancelled");
  expect(await store.loadLatest("t", "agent.slow.0")).toMatchObject({ status: "cancelled", graph: "slow" });
  expect((await store.loadLatest("t"))?.children).toHaveProperty(["agent.slow.0"]);
  const second = await run.engine.resume("t");
  expect(second.output).toEqual({ results: [{ a: "done" }] });
  expect(run.turns.count).toBe(1);
});

test("the calls of the items of a `for` have namespaces of their own", async () => {
  const text = `graph double {
    input word: string
    output twice: string
    node n = \`\${word}\${word}\` into twice
    start -> n -> end
  }
  graph g {
    output results: json[] reduce append
    node agent = llm("q", tools: [double]) for item in ["a", "b"] into results
    start -> agent -> end
  }`;
  const store = new MemoryStore();
  const llm: BuiltinNode = async (_, { tools, item }) => tools![0]!.call([item!], "k");
  const { engine } = shop(text, [], store, [], { builtins: { llm } });
  expect((await engine.run({}, { thread: "t" })).output).toEqual({ results: [{ twice: "aa" }, { twice: "bb" }] });
  expect(await store.loadLatest("t", "agent[1].double.0")).toMatchObject({ status: "completed" });
});

const ASKING = `graph look {
  input id: string
  output answer: string
  node confirm = ask("Right?") into answer
  start -> confirm -> end
}
graph g {
  output results: json[] = []
  node agent = llm("q", tools: [look]) into results
  start -> agent -> end
}`;

test("renamed nodes inside and outside of a tool keep an open call; a tool that is gone is a drift", async () => {
  const edited = ASKING.replace(
    'node confirm = ask("Right?") into answer',
    'node sure = ask("Right?") into answer { was confirm }',
  )
    .replace("-> confirm ->", "-> sure ->")
    .replace("node agent", "node helper")
    .replace("into results\n", "into results { was agent }\n")
    .replace("-> agent ->", "-> helper ->");
  const store = new MemoryStore();
  const script: Script = [["look", ["7"]]];
  await shop(ASKING, script, store, []).engine.run({}, { thread: "t" });
  const renamed = shop(edited, script, store, []);
  const first = await renamed.engine.resume("t", { answer: "yes" });
  // The model is not asked again.
  expect(renamed.turns.count).toBe(0);
  expect(first).toMatchObject({ status: "completed", output: { results: [{ answer: "yes" }] } });

  await shop(ASKING, script, store, []).engine.run({}, { thread: "u" });
  const gone = ASKING.replaceAll("look", "other");
  const refused = shop(gone, script, store, []).engine.resume("u", { answer: "yes" });
  await expect(refused).rejects.toMatchObject({ code: "NG_DRIFT", message: expect.stringContaining("agent.look.0") });
});

test("a migration keeps an open call and the parts of its task", async () => {
  const store = new MemoryStore();
  const script: Script = [["look", ["7"]]];
  await shop(ASKING, script, store, []).engine.run({}, { thread: "t" });
  const edited = ASKING.replaceAll("agent", "helper");
  const { engine, turns } = shop(edited, script, store, []);
  await engine.migrate("t", { rename: { agent: "helper" } });
  expect((await store.loadLatest("t"))?.pauses).toMatchObject([{ node: "confirm", namespace: ["helper.look.0"] }]);
  const result = await engine.resume("t", { answer: "yes" });
  expect(result).toMatchObject({ status: "completed", output: { results: [{ answer: "yes" }] } });
  expect(turns.count).toBe(0);
});

test("a fork copies an open call, which has an answer of its own", async () => {
  const store = new MemoryStore();
  const script: Script = [["look", ["7"]]];
  const { engine } = shop(ASKING, script, store, []);
  const first = await engine.run({}, { thread: "t" });
  await engine.fork("t", { as: "copy" });
  const copy = await engine.resume("copy", { answer: "no" });
  expect(copy.output).toEqual({ results: [{ answer: "no" }] });
  const second = await engine.resume("t", { answers: { [first.pauses[0]!.id]: "yes" } });
  expect(second.output).toEqual({ results: [{ answer: "yes" }] });
});

test("a result that depends on an answer inside of a tool is not cached", async () => {
  const text = ASKING.replace("into results\n", "into results { cache }\n");
  const { engine } = shop(text, [["look", ["7"]]], new MemoryStore(), []);
  await engine.run({}, { thread: "t" });
  expect((await engine.resume("t", { answer: "yes" })).status).toBe("completed");
  expect((await engine.run({}, { thread: "u" })).pauses).toMatchObject([{ node: "confirm" }]);
});

test("breakpoints name the nodes of a tool by the node and the tool", async () => {
  const { engine } = shop(GRAPH, CALLS, new MemoryStore(), []);
  const first = await engine.run({}, { thread: "t", pauseBefore: ["agent.charge/pay"] });
  expect(first.pauses).toMatchObject([{ kind: "before", node: "pay", namespace: ["agent.charge.0"] }]);
  const refused = engine.run({}, { thread: "u", pauseBefore: ["agent.other/pay"] });
  await expect(refused).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
});

test("a table whose tool is neither or both a function and a graph is refused", () => {
  const table = JSON.parse(JSON.stringify(tableOf(GRAPH, ["price", "take", "giveBack", "note"])));
  delete table.nodes[0].call.tools[0].graph;
  expect(() => createEngine(table)).toThrow(/tool/);
});
