/** Calls of a generated module whose graph runs without the engine: options, objects for bodies, requests that bodies make late or need not make. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { expect, test, vi } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { compileDirect, type DirectModule } from "../../runtime/direct/direct-graph.ts";
import { jumps } from "../../runtime/direct/direct-jumps.ts";
import { records } from "../../runtime/direct/direct-records.ts";
import { startDirect } from "../../runtime/direct/direct-loop.ts";
import type { DirectTask } from "../../runtime/direct/direct-run.ts";
import * as directEngine from "../../runtime/engine/direct-engine.ts";
import { openDirect } from "../../runtime/engine/open-direct.ts";
import { systemClock } from "../../runtime/interface/clock.ts";
import type { BuiltinNode, NodeContext } from "../../runtime/interface/context.ts";
import type { Engine, RunOptions, RunResult } from "../../runtime/interface/engine-options.ts";
import { turnOf } from "../../runtime/run/take-turns.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { keyOf, loadGenerated } from "../fault/generated-tables.ts";

type Body = (context: NodeContext) => unknown;

const BESIDE = `graph beside {
  output a: json = 0  output b: json = 0
  node x = f() into a  node y = g() into b
  start -> x -> end  start -> y -> end
}`;
const FIELDS = `graph parts {
  output a: int | null = 7
  node x = f() into { a?: a }
  start -> x -> end
}`;

function tableOf(text: string) {
  const nodes = ["f", "g"].map((name) => `export const ${name} = (...args: any[]): any => null;`).join("\n");
  const host = memoryHost({ "nodes.ts": nodes });
  const names = /\bg\(/.test(text) ? "f, g" : "f";
  const { table } = compile(`import { ${names} } from "./nodes.ts"\n${text}`, { path: "calls.ngraph", host });
  return table!;
}

/** The graph in the engine, and as its module runs it. */
async function bothOf(text: string, functions: () => Readonly<Record<string, Body>>, options = {}): Promise<Engine[]> {
  const table = tableOf(text);
  const modules = [await loadGenerated([table], true), await loadGenerated([table])];
  return modules.map((module) => module.get(keyOf(table))!({ functions: functions() as never, ...options }));
}

function shown({ status, output, error, usage }: RunResult): object {
  return { status, output, code: (error as { readonly code?: string } | null)?.code, usage };
}

async function agree(text: string, functions: () => Readonly<Record<string, Body>>): Promise<object> {
  const [first, second] = await Promise.all((await bothOf(text, functions)).map((engine) => engine.run({})));
  expect(shown(second!)).toEqual(shown(first!));
  return shown(second!);
}

test("a body that has ended makes no more requests, though another of its step still runs", async () => {
  const functions = () => {
    let end: (value: number) => void;
    const ended = new Promise((resolve) => (end = resolve));
    return {
      f: ({ goto, usage }: NodeContext) => {
        setImmediate(() => {
          usage({ inputTokens: 1 });
          expect(() => goto("y")).toThrow("may not go");
          end(2);
        });
        return 1;
      },
      g: () => ended,
    };
  };
  expect(await agree(BESIDE, functions)).toMatchObject({ status: "completed", output: { a: 1, b: 2 } });
  const inPromise = () => {
    const { f, g } = functions();
    return { f: async (context: NodeContext) => f(context), g };
  };
  expect(await agree(BESIDE, inPromise)).toMatchObject({ status: "completed", output: { a: 1, b: 2 } });
});

test.each([
  ["barriers", "output a: json = 0", "all(x, y) -> z", { a: 1, b: 2 }],
  ["reducers", "output a: json[] = [] reduce append", "x -> z", { a: [1], b: 2 }],
])("a module that lacks the code of its %s, as one of another version does, runs in the engine", async (...row) => {
  const [, channel, edges, output] = row;
  const table = tableOf(`graph joined {
    ${channel}  output b: json = 0
    node x = f() into a  node y = g() into b  node z = f()
    start -> x, y  ${edges} -> end
  }`);
  const functions = { f: () => 1, g: () => 2 };
  const engine = openDirect(
    table,
    { functions, expressions: [] },
    { calls: table.nodes.map(() => () => assert.fail("called")) },
  );
  expect(await engine.run({})).toMatchObject({ status: "completed", output });
});

const ITEMS = `graph each {
  input n: int  output a: json[] = []  output b: json[] = [] reduce append  output c: int = 0 reduce max
  node x = f(i, at) for i, at in range(n) if i % 2 == 1 into a { max parallel 2 }
  node y = g(i) for i in a into b  node z = i for i in range(n) into c
  start -> x -> y, z
}`;

test("the items of a `for` node run without the engine, and bodies see the same of them", async () => {
  const table = tableOf(ITEMS);
  const seen: string[][] = [];
  let running = 0;
  const body = async (...args: unknown[]): Promise<number> => {
    const { attempt, expects, item, step, idempotencyKey } = args.pop() as NodeContext;
    seen.at(-1)!.push(JSON.stringify([args, attempt, expects, item, step, idempotencyKey.length]));
    expect(step === 0 ? ++running : 0).toBeLessThanOrEqual(2);
    await undefined;
    if (step === 0) running--;
    return args[0] as number;
  };
  const functions = { f: body, g: body } as never;
  const loadEngine = vi.spyOn(directEngine, "openDirectEngine");
  for (const inEngine of [true, false]) {
    seen.push([]);
    const engine = (await loadGenerated([table], inEngine)).get(keyOf(table))!({ functions });
    const { output, steps } = await engine.run({ n: 6 });
    expect(output).toEqual({ a: [1, 3, 5], b: [1, 3, 5], c: 5 });
    expect(steps).toEqual([["x"], ["y", "z"]]);
    expect((await engine.run({ n: 0 })).output).toEqual({ a: [], b: [], c: 0 });
    expect(loadEngine).not.toHaveBeenCalled();
    // The engine runs long lists.
    if (!inEngine) expect((await engine.run({ n: 2001 })).output["c"]).toBe(2000);
  }
  expect(loadEngine).toHaveBeenCalledOnce();
  const [first, second] = seen;
  expect(second!.slice(0, first!.length)).toEqual(first);
  const keys = new Set<string>();
  const [engine] = (await loadGenerated([table])).values();
  const f = (...args: unknown[]): number => (keys.add((args.at(-1) as NodeContext).idempotencyKey), 1);
  await engine!({ functions: { f, g: f } as never }).run({ n: 6 });
  expect(keys.size).toBe(6);
});

test("the engine continues with the items that have begun, and begins the others", async () => {
  const calls: string[][] = [];
  const functions = () => {
    const called: string[] = [];
    calls.push(called);
    const f = async (...args: unknown[]): Promise<number> => {
      const { attempt, item, idempotencyKey } = args.at(-1) as NodeContext;
      called.push(`${JSON.stringify(item)} ${attempt}`);
      await new Promise((resolve) => setTimeout(resolve, item === 3 ? 1 : 20));
      if (item === 3 && attempt === 1) throw new Error("once");
      expect(idempotencyKey).toMatch(/^sha256:/);
      return item as number;
    };
    return { f, g: () => 0 };
  };
  const text = ITEMS.replace("max parallel 2", "max parallel 2  tries 2 backoff 1ms..1ms");
  for (const engine of await bothOf(text, functions as never)) {
    expect((await engine.run({ n: 8 })).output).toMatchObject({ a: [1, 3, 5, 7], b: [0, 0, 0, 0], c: 7 });
  }
  for (const called of calls) expect(called.toSorted()).toEqual(["1 1", "3 1", "3 2", "5 1", "7 1"]);
});

test.each([
  ["a long list", "x in f()", "1"],
  ["a list before one that fails", "x in f()", "x for x in g()"],
])("%s is read once, though the engine goes on", async (_, list, other) => {
  const calls: number[] = [];
  const functions = () => {
    const queue = Array.from({ length: other === "1" ? 1200 : 3 }, (_each, at) => at);
    const at = calls.push(0) - 1;
    return {
      f: () => {
        calls[at]!++;
        return queue.splice(0);
      },
      g: () => Array.from({ length: 1200 }, () => 0),
    };
  };
  const text = `graph drained {
  output a: json[] = []  output b: json = null
  node n = x for ${list} into a
  node m = ${other} into b
  start -> n, m
}`;
  const outputs = [];
  for (const engine of await bothOf(text, functions)) {
    const { status, output } = await engine.run({});
    expect(status).toBe("completed");
    outputs.push(output);
  }
  expect(outputs[0]).toEqual(outputs[1]);
  expect((outputs[0] as unknown as { readonly a: readonly unknown[] }).a).toHaveLength(other === "1" ? 1200 : 3);
  expect(calls).toEqual([1, 1]);
});

test("`goto` without targets follows the edges, with `exclusive` too", async () => {
  const functions = (options: unknown) => () => ({
    f: (context: NodeContext) => {
      context.goto(options as never);
      return 1;
    },
    g: () => 2,
  });
  for (const exclusive of [true, false]) {
    expect(await agree(BESIDE, functions({ exclusive }))).toMatchObject({ status: "completed" });
  }
  expect(await agree(BESIDE, functions({ exclusive: 1 }))).toMatchObject({ code: "NG_UNDECLARED_GOTO" });
});

test("a body whose time is over is tried again, and what it does then has no effect", async () => {
  const SLOW = `graph slow {
    output a: json = 0  output b: json = 0
    node x = f() into a { timeout 20ms tries 2 backoff 1ms..1ms }  node y = g() into b
    start -> x, y
  }`;
  // `g` fails at once, in its promise or never: the engine takes over before the time is over, or because of it.
  const others: (() => unknown)[] = [() => raise("g"), async () => raise("g"), async () => 2];
  for (const other of others) {
    const seen: unknown[][] = [];
    const functions = () => {
      const calls: unknown[] = [];
      seen.push(calls);
      const f = async (context: NodeContext): Promise<number> => {
        calls.push(context.attempt);
        if (context.attempt === 2) return 1;
        await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
        calls.push(String(context.signal.reason));
        context.usage({ inputTokens: 1 });
        return 9;
      };
      return { f, g: other };
    };
    const result = await agree(SLOW, functions);
    const message = "NodeError: node `x` did not finish within 20 ms";
    expect(seen.map((calls) => calls.toSorted())).toEqual([
      [1, 2, message],
      [1, 2, message],
    ]);
    expect(result).toMatchObject({ usage: undefined });
  }
});

test("a body that ends in time is not late, though the engine is still being loaded", async () => {
  const TIMED = `graph timed {
    output a: json = 0  output b: json = 0
    node x = f() into a { timeout 50ms }  node y = g() into b
    start -> x, y
    y -> end on error
  }`;
  const f = async ({ signal }: NodeContext) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    signal.addEventListener("abort", () => assert.fail("aborted"));
    return 1;
  };
  const result = await agree(TIMED, () => ({ f, g: () => raise("g") }));
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(result).toMatchObject({ status: "completed", output: { a: 1, b: 0 } });
});

test("a built-in node of the caller takes the place of the package's, and has what only the engine gives it", async () => {
  const text = `graph told {
    output a: json = 0
    node x = f() into a  node y = print(a)
    start -> x -> y
  }`;
  const lines: unknown[] = [];
  const print: BuiltinNode = async ({ text: line }, { node, once }) => {
    lines.push([node, await once!("line", () => line!)]);
    return null;
  };
  for (const engine of await bothOf(text, () => ({ f: () => 7 }), { builtins: { print } })) {
    expect(shown(await engine.run({}))).toMatchObject({ status: "completed", output: { a: 7 } });
  }
  expect(lines).toEqual([
    ["y", 7],
    ["y", 7],
  ]);
});

test.each(["output", "state"])("a graph with 101 channels has its outputs and its state: %s", async (role) => {
  const channels = Array.from({ length: 100 }, (_, at) => `${role} c${at}: int = ${at}`).join("\n");
  const text = `graph many { output a: json = 0\n${channels}\nnode x = f() into a  start -> x }`;
  const functions = () => ({ f: () => 7 });
  const [first, second] = await Promise.all((await bothOf(text, functions)).map((engine) => engine.run({})));
  expect(second).toMatchObject({ status: "completed", output: { a: 7 }, state: { a: 7, c99: 99 } });
  expect(second).toEqual(first);
});

const SECRET = `secret KEY
secret UNREAD
graph calls {
  output a: json = 0  output b: json = 0
  node x = f(KEY) into a  node y = g([KEY, i]) for i in [1, 2] into b
  start -> x -> y
}`;

test("bodies get secrets without the engine, and remove them from texts", async () => {
  const functions = () => ({
    f: ((key: string, { redact }: NodeContext) => redact(`${key} and ${btoa(key)}`)) as never,
    g: (([key, item]: readonly [string, number], { redact }: NodeContext) =>
      `${redact(key)} ${key.length} ${item}`) as never,
  });
  const opened = vi.spyOn(directEngine, "openDirectEngine").mockClear();
  const [first, second] = await bothOf(SECRET, functions, { secrets: { KEY: "k-1234567" } });
  const result = await second!.run({});
  expect(opened).not.toHaveBeenCalled();
  expect(result.output).toEqual({ a: "[secret KEY] and [secret KEY]", b: ["[secret KEY] 9 1", "[secret KEY] 9 2"] });
  expect(result).toEqual(await first!.run({}));
  opened.mockRestore();
});

test("secrets are read when the engine is created, also for the runs that the engine takes over", async () => {
  const seen: unknown[] = [];
  const functions = () => ({
    f: ((key: string) => {
      seen.push(key);
      throw new Error(`denied: ${key}`);
    }) as never,
    g: () => 1,
  });
  let reads = 0;
  const values: Record<string, string> = { KEY: "k-first" };
  for (const secrets of [values, (name: string) => (name === "KEY" ? `k-read-${reads++}` : undefined)]) {
    values["KEY"] = "k-first";
    const both = await bothOf(SECRET, functions, { secrets });
    values["KEY"] = "k-second";
    for (const engine of both) {
      for (const options of [{}, { maxSteps: 9 }]) {
        const { error } = await engine.run({}, options);
        expect(JSON.stringify(error)).toContain("denied: [secret KEY]");
        expect(JSON.stringify(error)).not.toContain("k-");
      }
    }
  }
  expect(reads).toBe(2);
  expect(seen).toEqual([...Array<string>(4).fill("k-first"), "k-read-0", "k-read-0", "k-read-1", "k-read-1"]);
});

test("a secret that is missing refuses the runs, and one that is no text the engine", async () => {
  let ran = 0;
  const functions = () => ({ f: () => ran++, g: () => ran++ });
  for (const secrets of [{}, { UNREAD: "1234" }, Object.create({ KEY: "1234" }) as object]) {
    for (const engine of await bothOf(SECRET, functions, { secrets })) {
      const refused = {
        code: "NG_MISSING_SECRET",
        message: expect.stringContaining("`KEY` (read by `calls`)") as string,
      };
      await expect(engine.run({})).rejects.toMatchObject(refused);
      await expect(engine.stream({}).result).rejects.toMatchObject(refused);
    }
  }
  expect(ran).toBe(0);
  for (const secrets of [{ KEY: 1234 }, async () => Promise.resolve("1234")]) {
    await expect(bothOf(SECRET, functions, { secrets })).rejects.toThrow(
      "the secret `KEY` in `secrets` has to be a text",
    );
  }
  const table = tableOf(SECRET);
  const create = (await loadGenerated([table])).get(keyOf(table))!;
  expect(() => create({ functions: functions(), secrets: { KEY: 1234 } } as never)).toThrow("has to be a text");
});

test("declared jumps are followed without the engine", async () => {
  const table = tableOf(`graph hop {
    output a: json = 0  output b: json = 0
    node x = f() into a { goes y, end }  node y = g() into b  node z = f() into a { goes x }
    start -> x -> z -> end  y -> end
  }`);
  const follow = async (body: Body): Promise<RunResult> => {
    const module: DirectModule = { calls: [(...args) => body(args[3]), () => 2, () => 3], jumps, records };
    const parts = { functions: [], expressions: [], secrets: undefined, clock: systemClock, turn: turnOf(systemClock) };
    const graph = compileDirect(table, module, { ...parts, memory: undefined as never });
    return startDirect(graph, {}, {}, () => assert.fail("handed over"))!;
  };
  const steps = async (body: Body) => (await follow(body)).steps;
  expect(await steps(({ goto }) => goto("y"))).toEqual([["x"], ["y"]]);
  expect(await steps(({ goto }) => (goto("y", "end"), 1))).toEqual([["x"], ["y"]]);
  expect(await steps(({ stop }) => stop())).toEqual([["x"]]);
  expect(await steps(({ goto, stop }) => (stop(), goto(), 1))).toEqual([["x"], ["z"]]);
  expect((await follow(async ({ goto }) => (goto("y"), 7))).output).toEqual({ a: 7, b: 2 });
});

test("a command is not a record of results", async () => {
  const result = await agree(FIELDS, () => ({ f: ({ goto }) => goto() }));
  expect(result).toMatchObject({ status: "failed", code: "NG_BAD_RESULT" });
});

test("bodies get the objects of the caller, whichever code runs the graph", async () => {
  const functions = () => ({ f: ({ context }: NodeContext) => (context["log"] as number[]).push(1), g: () => 2 });
  const calls: ((engine: Engine, options: RunOptions) => Promise<RunResult>)[] = [
    (engine, options) => engine.run({}, options),
    (engine, options) => engine.run({}, { ...options, maxSteps: 9 }),
    (engine, options) => engine.stream({}, options).result,
  ];
  for (const call of calls) {
    for (const options of [{}, { store: new MemoryStore() }]) {
      for (const engine of await bothOf(BESIDE, functions, options)) {
        const log: number[] = [];
        const result = await call(engine, { context: { log } });
        expect({ status: result.status, log }).toEqual({ status: "completed", log: [1] });
      }
    }
  }
});

test("the options of a run are those at its call", async () => {
  const who = async ({ context }: NodeContext) => (await undefined, context["who"]);
  for (const engine of await bothOf(BESIDE, () => ({
    f: who,
    g: async (context) => (await undefined, who(context)),
  }))) {
    const options: { context: Record<string, unknown> } = { context: { who: "a" } };
    const first = engine.run({}, options);
    options.context = { who: "b" };
    const second = engine.run({}, options);
    expect((await first).output).toEqual({ a: "a", b: "a" });
    expect((await second).output).toEqual({ a: "b", b: "b" });
  }
});

test("unknown options are refused though they have no value", async () => {
  for (const engine of await bothOf(BESIDE, () => ({ f: () => 1, g: () => 2 }))) {
    await expect(engine.run({}, { treads: undefined } as object)).rejects.toThrow("did you mean `thread`?");
    expect((await engine.run({}, { thread: undefined } as object)).status).toBe("completed");
  }
});

test("a rejection while the engine is being loaded does not end the process", async () => {
  const unhandled: unknown[] = [];
  const listener = (reason: unknown): void => void unhandled.push(reason);
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", listener);
  try {
    const functions = [() => Promise.reject(new Error("later")), (): never => raise("at once")];
    const module: DirectModule = { calls: functions };
    const graph = compileDirect(tableOf(BESIDE), module, {
      ...{
        functions,
        expressions: [],
        secrets: undefined,
        clock: systemClock,
        turn: turnOf(systemClock),
        memory: undefined as never,
      },
    });
    let begun: readonly DirectTask[] = [];
    await startDirect(graph, {}, {}, async (_run, tasks = []) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      begun = tasks;
      return {} as RunResult;
    });
    expect(begun.map(({ state }) => state)).toEqual(["pending", "thrown"]);
    await expect(begun[0]!.value).rejects.toThrow("later");
    expect(unhandled).toEqual([]);
  } finally {
    process.removeListener("unhandledRejection", listener);
    for (const other of others) process.on("unhandledRejection", other);
  }
});

function raise(message: string): never {
  throw new Error(message);
}

test("with a signal, a loaded module still runs without the engine, and leaves no listener", async () => {
  const text = `graph two { output a: json = 0  output b: json = 0
    node x = f() into a  node y = g() into b  start -> x -> y -> end }`;
  const kinds: string[] = [];
  const body = async (context: NodeContext): Promise<number> => {
    await undefined;
    return kinds.push(context.constructor.name);
  };
  const [, module] = await bothOf(text, () => ({ f: body, g: body }));
  const { signal } = new AbortController();
  await module!.state("none").catch(() => undefined);
  await Promise.all([module!.run({}, { signal }), module!.run({}, { signal, context: {} })]);
  expect(kinds).toEqual(["DirectContext", "DirectContext", "DirectContext", "DirectContext"]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test.each([
  ["a body", "node x = f() into a  start -> x -> end"],
  ["a body with a timeout", "node x = f() into a { timeout 1h }  start -> x -> end"],
  ["bodies beside each other", "node x = f() into a  node y = f()  start -> x, y"],
  ["items", "node x = f() for i in [1, 2, 3] into a { max parallel 2  timeout 1h }  start -> x -> end"],
])("an abort ends %s as in the engine", async (_name, nodes) => {
  const log: string[] = [];
  const functions = () => ({
    f: ({ signal, item, usage }: NodeContext) =>
      new Promise((resolve) => {
        log.push(`begins ${JSON.stringify(item)}`);
        signal.addEventListener("abort", () => {
          log.push(`aborts ${String(signal.reason)}`);
          usage({ inputTokens: 1 });
          resolve(1);
        });
      }),
  });
  const transcripts: object[] = [];
  for (const engine of await bothOf(`graph cut { output a: json = 0  ${nodes} }`, functions)) {
    await engine.state("none").catch(() => undefined);
    const controller = new AbortController();
    const running = engine.run({}, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort("enough");
    const synchronously = log.length;
    transcripts.push({ ...shown(await running), log: log.splice(0), synchronously });
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  }
  expect(transcripts[1]).toEqual(transcripts[0]);
  expect(transcripts[0]).toMatchObject({ status: "cancelled", code: "NG_CANCELLED" });
});

test("usage that a body has reported before an abort counts as in the engine", async () => {
  const controllers: AbortController[] = [];
  const functions = () => ({
    f: ({ usage }: NodeContext) => {
      usage({ inputTokens: 3 });
      return new Promise(() => controllers.at(-1)!.abort("enough"));
    },
  });
  for (const nodes of ["node x = f()  start -> x", "node x = f()  node y = f()  start -> x, y"]) {
    const usages: unknown[] = [];
    for (const engine of await bothOf(`graph used { ${nodes} }`, functions)) {
      await engine.state("none").catch(() => undefined);
      const { signal } = (controllers[controllers.length] = new AbortController());
      usages.push((await engine.run({}, { signal })).usage);
    }
    expect(usages[0]).toMatchObject({ inputTokens: 3 });
    expect(usages[1]).toEqual(usages[0]);
  }
});

test("an abort ends the wait before a retry that the engine has taken over", async () => {
  const functions = () => ({ f: async () => Promise.reject(new Error("no")) });
  for (const engine of await bothOf(
    "graph again { output a: json = 0  node x = f() into a { tries 2 backoff 1h..1h }  start -> x -> end }",
    functions,
  )) {
    await engine.state("none").catch(() => undefined);
    const controller = new AbortController();
    const running = engine.run({}, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort("enough");
    expect(shown(await running)).toMatchObject({ status: "cancelled", code: "NG_CANCELLED" });
  }
});

test("an input that is no plain record is refused, as by the engine", async () => {
  const text = `graph inputs {
  input n: int = 1  output a: json = 0
  node x = f(n) into a
  start -> x -> end
}`;
  class Input {
    readonly n = 2;
  }
  for (const engine of await bothOf(text, () => ({ f: (n) => n }))) {
    expect((await engine.run({ n: 2 })).output).toEqual({ a: 2 });
    for (const input of [new Map([["n", 2]]), new Input(), new Date(0), [2]]) {
      await expect(engine.run(input as never)).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    }
  }
});
