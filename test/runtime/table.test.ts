/** Execution, section 1: how an engine uses a table. */
import { describe, expect, test } from "vitest";
import { createEngine, createScheduler, TableError, type Table } from "../../runtime/index.ts";
import { engineOf, tableOf } from "../support/graph.ts";

const TEXT = `graph inner { input n: int  output m: int = 0  node a = n + 1 into m  start -> a }
  graph g { input n: int  output m: int = 0  output list: int[] = []
    node call = inner(n: n) into { m }   node every = i * 2 for i in range(n) into list   node j = 1 { waits call, every }
    start -> call, every   call -> j   every -> j   j -> end }`;

describe("1.2 createEngine", () => {
  test("freezes the whole table, and runs it several times concurrently", async () => {
    const table = tableOf(TEXT);
    const engine = createEngine(table);
    const open: object[] = [table];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      expect(Object.isFrozen(next)).toBe(true);
      for (const child of Object.values(next) as unknown[])
        if (typeof child === "object" && child !== null) open.push(child);
    }
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => engine.run({ n })));
    expect(results.map(({ output }) => output["m"])).toEqual(results.map((_, n) => n + 1));
    expect(createEngine(table).table).toBe(table);
  });

  test("accepts a table that went through JSON", async () => {
    const engine = createEngine(JSON.parse(JSON.stringify(tableOf(TEXT))) as Table);
    expect((await engine.run({ n: 2 })).output).toEqual({ m: 3, list: [0, 2] });
  });

  type Mutable = Record<string, never>;
  const damage: readonly (readonly [string, (table: Mutable) => unknown, RegExp])[] = [
    ["no table", () => null, /expected an object/],
    ["another format", (table) => ({ ...table, format: "x" }), /format/],
    ["an older version", (table) => ({ ...table, version: 1 }), /version 1, and .* version 2: compile the graph again/],
    ["a later version", (table) => ({ ...table, version: 3 }), /version 3, and .* version 2: update the package/],
    ["no version", (table) => ({ ...table, version: undefined }), /expected 2, found nothing/],
    ["no digest", (table) => ({ ...table, digest: "sha256:00" }), /digest/],
    ["a missing list", (table) => ({ ...table, nodes: undefined }), /nodes/],
    ["a target that is no node", set(["start", 0, "targets", 0], { node: 99 }), /start\[0\].*there is no node 99/],
    [
      "a member its node does not fill",
      set(["nodes", 2, "routes", 0, "targets", 0], { barrier: 0, member: 0 }),
      /does not fill/,
    ],
    ["an expression of another language", set(["expressions", 0], { op: "eval" }), /unknown `op`/],
    [
      "a channel that is not there",
      set(["nodes", 0, "output"], { kind: "channel", channel: 7 }),
      /there is no channel 7/,
    ],
    ["two nodes of one name", set(["nodes", 1, "name"], "call"), /two nodes are named/],
    ["a broken graph inside", set(["graphs", 0, "kind"], "plan"), /graphs\[0\].kind/],
    ["a type that is none", set(["channels", 0, "type"], { kind: "date" }), /unknown `kind`/],
  ];
  test.each(damage)("refuses %s, naming the place", (_name, change, message) => {
    const table = change(JSON.parse(JSON.stringify(tableOf(TEXT))) as Mutable) as Table;
    expect(() => createEngine(table)).toThrow(TableError);
    expect(() => createEngine(table)).toThrow(message);
  });

  test("an expression that nests without end is refused, not run", () => {
    const table = JSON.parse(JSON.stringify(tableOf(TEXT))) as { expressions: unknown[] };
    let deep: unknown = { op: "const", value: true };
    for (let i = 0; i < 20_000; i++) deep = { op: "not", of: deep };
    table.expressions[0] = deep;
    expect(() => createEngine(table as unknown as Table)).toThrow(/nests deeper/);
  });
});

function set(path: readonly (string | number)[], value: unknown): (table: Record<string, never>) => unknown {
  return (table) => {
    let at = table as Record<string | number, unknown>;
    for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
    at[path.at(-1)!] = value;
    return table;
  };
}

describe("1.3, 1.4", () => {
  test("a large table routes like a small one", async () => {
    const count = 2000;
    const names = Array.from({ length: count }, (_, i) => `n${i}`);
    const text = `graph g { output x: int = 0 reduce sum
      ${names.map((name) => `node ${name} = 1 into x`).join("\n")}
      start -> n0  ${names.join(" -> ")} -> end }`;
    const engine = engineOf(text);
    expect(await engine.run({}, { maxSteps: null })).toMatchObject({ status: "completed", output: { x: count } });
  });

  test("the scheduler does not change its table and has no state", () => {
    const table = tableOf(TEXT);
    const text = JSON.stringify(table);
    const scheduler = createScheduler(table);
    const first = scheduler.planNextStep([{ node: "call" }], {}, {});
    expect(scheduler.planNextStep([{ node: "call" }], {}, {})).toEqual(first);
    expect(first.barrierState).toEqual({ j: ["call"] });
    expect(JSON.stringify(table)).toBe(text);
    // Arguments may be frozen. Names that are also members of lists and objects are not channels.
    const signals = Object.freeze({ j: Object.freeze(["call"]) });
    const again = scheduler.planNextStep(Object.freeze([{ node: "call" }]), Object.freeze({}), signals);
    expect(again.barrierState).toEqual({ j: ["call"] });
    expect(again.barrierState).not.toBe(signals);
    for (const name of ["length", "0", "__proto__", "constructor"]) {
      expect(() => scheduler.planStartStep(Object.fromEntries([[name, 1]]))).toThrow(/unknown channel/);
    }
    expect(() => scheduler.planNextStep([{ node: "nobody" }])).toThrow(/nobody/);
    expect(() => scheduler.planStartStep({ nothing: 1 })).toThrow(/nothing/);
  });
});
