/** What a run costs in counts, which do not depend on the machine: promises, allocated bytes, calls of the store, evaluated conditions. */
import { createHook } from "node:async_hooks";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compile } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import type { Engine, EngineOptions, RunOptions } from "../../runtime/interface/engine-options.ts";
import { Cancellation } from "../../runtime/run/cancellation.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Table } from "../../runtime/table/table.ts";
import { keyOf, loadGenerated } from "../fault/generated-tables.ts";
import { runProgram } from "../stores/program.ts";
import type { AllocatedBytes, CountedName, CountedTables } from "./counted-tables.ts";

function tableOf(text: string): Table {
  const nodes = `export const add = (n: number): number => n + 1;
export const above = (n: number, limit: number): boolean => n > limit;`;
  const source = `import { add, above } from "./nodes.ts"\n${text}`;
  const { table, diagnostics } = compile(source, { path: "counts.ngraph", host: memoryHost({ "nodes.ts": nodes }) });
  if (table === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  return table;
}

const chain = (length: number): Table => {
  const names = Array.from({ length }, (_, at) => `n${at}`);
  return tableOf(`graph chain { input n: int  state x: int = 0
    ${names.map((name) => `node ${name} = add(x) into x`).join("\n")}
    start -> ${names.join(" -> ")} }`);
};

const fan = (width: number): Table => {
  const names = Array.from({ length: width }, (_, at) => `n${at}`);
  return tableOf(`graph fan { input n: int  state x: int = 0 reduce sum  output y: int = 0
    ${names.map((name) => `node ${name} = add(n) into x`).join("\n")}
    node join = add(x) into y
    start -> ${names.join(", ")}   all(${names.join(", ")}) -> join }`);
};

const later = async (n: number): Promise<number> => n + 1;
const atOnce = (n: number): number => n + 1;

/**
 * The promises that a run creates, those of its bodies included: the fewest of several runs. The first runs compile expressions, and a run
 * that the machine interrupts for long gives the event loop a turn.
 */
async function promisesOf(
  table: Table,
  add: (n: number) => unknown,
  options: RunOptions = {},
  open: (table: Table, options: EngineOptions) => Engine = createEngine,
): Promise<number> {
  const engine = open(table, { functions: { add, above: (n: number, limit: number) => n > limit } });
  let fewest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 25; i++) {
    let count = 0;
    const hook = createHook({ init: (_id, type) => void (type === "PROMISE" && count++) });
    hook.enable();
    await engine.run({ n: 1 }, options);
    hook.disable();
    fewest = Math.min(fewest, count);
  }
  return fewest;
}

async function openGenerated(tables: readonly Table[]): Promise<(table: Table, options: EngineOptions) => Engine> {
  const modules = await loadGenerated(tables);
  return (table, options) => modules.get(keyOf(table))!(options);
}

describe("listeners for the cancellation", () => {
  test("a run over a store removes those of its steps and of the graphs that it calls", async () => {
    const table = tableOf(`graph main { input n: int  state x: int = 0
      node next = inner(x: x) into { n: x }
      start -> next  next -> next when above(n, x)  next -> end otherwise }
    graph inner { input x: int  output n: int = 0
      node a = add(x) into n  start -> a }`);
    const added = vi.spyOn(Cancellation.prototype, "listen");
    const removed = vi.spyOn(Cancellation.prototype, "unlisten");
    try {
      const engine = createEngine(table, {
        store: new MemoryStore(),
        functions: { add: later, above: (n: number, limit: number) => n > limit },
      });
      expect((await engine.run({ n: 20 })).status).toBe("completed");
      expect(added.mock.calls.length).toBeGreaterThanOrEqual(20);
      expect(removed.mock.calls.length).toBe(added.mock.calls.length);
    } finally {
      added.mockRestore();
      removed.mockRestore();
    }
  });
});

describe("promises", () => {
  test("a run creates a few, and a step none if its node returns a value", async () => {
    const three = await promisesOf(chain(3), atOnce);
    expect(three).toBeLessThanOrEqual(4);
    expect(await promisesOf(chain(60), atOnce)).toBe(three);
  });

  test("a step whose node returns a promise creates one more than the node", async () => {
    const ten = await promisesOf(chain(10), later);
    expect((await promisesOf(chain(60), later)) - ten).toBeLessThanOrEqual(50 * 2);
  });

  test("a step with a store in memory creates as many as one without a store", async () => {
    const added = async (length: number): Promise<number> => {
      const options = { store: new MemoryStore() };
      const open = (table: Table, given: EngineOptions): Engine => createEngine(table, { ...given, ...options });
      return (await promisesOf(chain(length), later, {}, open)) - (await promisesOf(chain(length), later));
    };
    expect(await added(60)).toBe(await added(10));
  });

  test("a node beside others creates as many in a wide step as in a narrow one", async () => {
    const ten = await promisesOf(fan(10), later);
    expect((await promisesOf(fan(60), later)) - ten).toBeLessThanOrEqual(50 * 2);
  });

  test("a run without the engine creates one, and a step one more than the node", async () => {
    const [three, sixty] = [chain(3), chain(60)] as const;
    const open = await openGenerated([three, sixty]);
    expect(await promisesOf(three, atOnce, {}, open)).toBeLessThanOrEqual(2);
    expect(await promisesOf(sixty, atOnce, {}, open)).toBe(await promisesOf(three, atOnce, {}, open));
    const added = (await promisesOf(sixty, later, {}, open)) - (await promisesOf(three, later, {}, open));
    expect(added).toBeLessThanOrEqual(57 * 2);
  });

  test.each([
    ["nodes one after the other", chain],
    ["nodes beside each other", fan],
  ])("a signal adds a few to a run, and none to a step: %s", async (_name, graph) => {
    const { signal } = new AbortController();
    const added = async (table: Table): Promise<number> =>
      (await promisesOf(table, later, { signal })) - (await promisesOf(table, later));
    const ten = await added(graph(10));
    expect(ten).toBeLessThanOrEqual(2);
    expect(await added(graph(60))).toBe(ten);
  });

  test.each([
    ["nodes one after the other", chain],
    ["nodes beside each other", fan],
  ])("a signal adds one to a run without the engine, and none to a step: %s", async (_name, graph) => {
    const tables = [graph(10), graph(60)] as const;
    const open = await openGenerated(tables);
    const { signal } = new AbortController();
    const added = async (table: Table): Promise<number> =>
      (await promisesOf(table, later, { signal }, open)) - (await promisesOf(table, later, {}, open));
    expect(await added(tables[0])).toBe(1);
    expect(await added(tables[1])).toBe(1);
  });

  test("a listener of events adds a few to a run, and none to a step", async () => {
    const added = async (table: Table): Promise<number> =>
      (await promisesOf(table, later, { onEvent: () => undefined })) - (await promisesOf(table, later));
    const ten = await added(chain(10));
    expect(ten).toBeLessThanOrEqual(4);
    expect(await added(chain(60))).toBe(ten);
  });
});

/** Compiled code allocates less, and a collection of garbage within a count spoils it. */
const NODE_FLAGS = ["--jitless", "--min-semi-space-size=64", "--max-semi-space-size=64"];

describe("allocated bytes", () => {
  // About 1.3 times what Node 20 needs: versions of V8 differ.
  const rows: readonly (readonly [name: CountedName, atMost: number])[] = [
    ["a run of three nodes", 15_000],
    ["a step in a chain", 3000],
    ["a node beside others", 3400],
    ["a step with a signal", 3000],
    ["a step with a listener of events", 8500],
    ["a step with a store in memory", 7000],
    ["a step without the engine", 700],
  ];
  let counts: AllocatedBytes;
  beforeAll(async () => {
    const tables: CountedTables = { three: chain(3), chain: [chain(10), chain(60)], fan: [fan(10), fan(60)] };
    const folder = mkdtempSync(join(tmpdir(), "ngraph-counts-"));
    try {
      const file = join(folder, "tables.json");
      writeFileSync(file, JSON.stringify(tables));
      const program = new URL("programs/allocated-bytes.ts", import.meta.url);
      const { line, ended, errors } = runProgram(program, file, { nodeFlags: NODE_FLAGS });
      const printed = await line();
      if ((await ended) !== 0 || printed === undefined) throw new Error(errors());
      counts = JSON.parse(printed) as AllocatedBytes;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 300_000);

  test.each(rows)("%s: at most %i", (name, atMost) => {
    expect(counts[name]).toBeLessThanOrEqual(atMost);
    // The count works.
    expect(counts[name]).toBeGreaterThan(atMost / 4);
  });
});

/** A store that notes its calls, and the characters of each save as JSON: what a store on a disk has to write. */
function watchedStore() {
  const calls: string[] = [];
  const saved: number[] = [];
  const store = new Proxy(new MemoryStore(), {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name !== "string") return value;
      return (...args: unknown[]): unknown => {
        calls.push(name);
        if (name === "save") saved.push(JSON.stringify(args).length);
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
  return { store, calls, saved };
}

describe("calls of the store", () => {
  test("a durable run claims, loads and saves once for each step", async () => {
    for (const length of [3, 30]) {
      const { store, calls } = watchedStore();
      const engine = createEngine(chain(length), { store, functions: { add: atOnce } });
      await engine.run({ n: 1 }, { thread: "t" });
      const saves = calls.filter((name) => name === "save").length;
      expect(saves, calls.join(" ")).toBeLessThanOrEqual(length + 1);
      expect(calls.length - saves, calls.join(" ")).toBeLessThanOrEqual(2);
    }
  });
});

describe("bytes of a save", () => {
  /** A loop of `steps` steps that changes a number beside a list that it reads only. */
  const loop = (steps: number): Table =>
    tableOf(`graph loop { input list: int[]  state i: int = 0
      node next = add(i) into i
      start -> next  next -> next when i < ${steps} && len(list) > 0  next -> end otherwise }`);
  const sizes = async (steps: number, items: number): Promise<readonly number[]> => {
    const { store, saved } = watchedStore();
    const list = Array.from({ length: items }, () => 1);
    const engine = createEngine(loop(steps), { store, functions: { add: atOnce } });
    await engine.run({ list }, { thread: "t", maxSteps: steps + 1 });
    return saved;
  };

  test("a save in the middle of a run is short, however large the unchanged state is", async () => {
    const [few = 0, many = 0] = [(await sizes(5, 1))[3], (await sizes(5, 10_000))[3]];
    expect(few).toBeLessThanOrEqual(1000);
    expect(many).toBe(few);
  });

  test("the saves of a long run are as short as those of a short one", async () => {
    const [short, long] = [await sizes(5, 1), await sizes(99, 1)];
    // The numbers of steps and their ids have up to two digits.
    expect(Math.max(...long.slice(1))).toBeLessThanOrEqual(Math.max(...short.slice(1)) + 20);
  });

  test("a save of an appended list contains the new items", async () => {
    const table = tableOf(`graph grow { state list: int[] = [] reduce append  state i: int = 0
      node next = { list: i, i: i + 1 } into { list, i }
      start -> next  next -> next when i < 60  next -> end otherwise }`);
    const { store, saved } = watchedStore();
    await createEngine(table, { store, functions: { add: atOnce } }).run({}, { thread: "t", maxSteps: 100 });
    expect(saved[50]! - saved[12]!).toBeLessThanOrEqual(20);
  });
});

describe("conditions", () => {
  test("a step evaluates each condition at most once, and none after the branch that it takes", async () => {
    const table = tableOf(`graph ways { input n: int  output at: int = 0
      node first = add(n) into at
      node a = add(at) into at
      node b = add(at) into at
      node c = add(at) into at
      start -> first
      first -> match { above(n, 100) -> a  above(n, 10) -> b  else -> c } }`);
    for (const [n, evaluated] of [
      [200, 1],
      [50, 2],
      [1, 2],
    ] as const) {
      let count = 0;
      const above = (value: number, limit: number): boolean => {
        count++;
        return value > limit;
      };
      await createEngine(table, { functions: { add: atOnce, above } }).run({ n });
      expect(count).toBeLessThanOrEqual(evaluated);
      expect(count).toBeGreaterThan(0);
    }
  });
});
