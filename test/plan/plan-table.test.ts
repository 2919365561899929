/** The table of a plan, equal for both spellings, and the rules about reads. */
import { describe, expect, test } from "vitest";
import { loadPlanTable, loadTable, planDigest, TableError } from "../../compiler/index.ts";
import { format } from "../../grammar/format/format.ts";
import { parse } from "../../grammar/parse.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { compilePlan, findingsOf, planTable } from "./compile-plan.ts";
import { EVERYTHING } from "./everything.ts";

const everything = (): PlanTable => {
  const table = compilePlan(EVERYTHING).tables.get("everything");
  if (table?.kind !== "plan") throw new Error("no plan");
  return table;
};

describe("the table", () => {
  test("holds graphs and plans of the file by name, in source order", () => {
    const { tables, table } = compilePlan(EVERYTHING);
    expect([...tables].map(([name, { kind }]) => [name, kind])).toEqual([
      ["summarise", "graph"],
      ["inner", "plan"],
      ["everything", "plan"],
    ]);
    expect(table?.name).toBe("summarise");
  });

  test("settings, pools and effects", () => {
    const { maxParallel, order, onFailure, pools, effects, graphs, plans } = everything();
    expect({ maxParallel, order, onFailure, pools, effects }).toEqual({
      maxParallel: 3,
      order: "priority",
      onFailure: "no-new",
      pools: [{ name: "gpu", size: 2 }],
      effects: ["shell"],
    });
    expect([graphs.map(({ name }) => name), plans.map(({ name }) => name)]).toEqual([["summarise"], ["inner"]]);
  });

  test("a matrix task has one entry for each value, and a dependent task depends on all of them", () => {
    const { tasks } = everything();
    expect(tasks.map(({ name }) => name)).toEqual(["a", "b", "c", "test[20]", 'test["22"]', "test[22#3]", "s", "d"]);
    expect(tasks.map(({ after }) => after)).toEqual([[], [0], [1], [0, 2], [0, 2], [0, 2], [3, 4, 5], [3, 4, 5, 6]]);
    expect(tasks[5]?.item).toEqual({ name: "v", value: 22 });
  });

  test("paths are normalised and sorted, policies are explicit", () => {
    const [a, , c, first, , , s, d] = everything().tasks;
    expect(a).toMatchObject({
      touches: [
        { path: "doc/**", mode: "read" },
        { path: "lib/*.ts", mode: "write" },
        { path: "src/a.ts", mode: "write" },
      ],
      estimate: 300_000,
      timeout: 60_000,
      pool: { pool: 0, count: 2 },
      tries: 1,
      trigger: "all",
    });
    expect(c?.condition).toBeTypeOf("number");
    expect(first).toMatchObject({ tries: 3, backoff: { min: 1000, max: 5000 }, timeout: 10_000 });
    expect(s).toMatchObject({ trigger: "any", alone: true, tries: 6, cache: { inputs: ["x/*.ts"] } });
    expect(s?.checks.map(({ kind }) => kind)).toEqual(["expression", "builtin"]);
    expect(d?.trigger).toBe("done");
  });

  test("tries: 6 with checks, 1 without, or the declared number", () => {
    const tries = (policies: string): number | undefined =>
      planTable(`plan p { task a = shell("a") { ${policies} } }`).tasks[0]?.tries;
    expect([tries(""), tries('done when shell("b")'), tries('done when shell("b") tries 2')]).toEqual([1, 6, 2]);
  });
});

describe("digest (1.1)", () => {
  test("is the same in both spellings, and after formatting", async () => {
    const { text: yaml, lost } = toYaml(parse(EVERYTHING, { path: "plan.ngraph" }).file);
    expect(lost).toEqual([]);
    const digests = (text: string, path: string): readonly string[] =>
      [...compilePlan(text, path).tables.values()].map(({ digest }) => digest);
    const own = digests(EVERYTHING, "plan.ngraph");
    expect(own).toHaveLength(3);
    expect(digests(yaml, "plan.yaml")).toEqual(own);
    expect(digests(await formatted(EVERYTHING), "plan.ngraph")).toEqual(own);
  });

  test("changes with the meaning, not with the order of paths or the place of settings", () => {
    const digest = (policies: string, settings = ""): string =>
      planTable(`plan p { ${settings} task a = shell("a") { ${policies} } }`).digest;
    expect(digest('touches "a", "b"')).toBe(digest('touches "b" touches "./a"'));
    expect(digest('touches "a"')).not.toBe(digest('touches read "a"'));
    expect(digest("alone")).not.toBe(digest(""));
    expect(digest("", "order file")).not.toBe(digest(""));
    expect(digest("", "max parallel 4")).toBe(digest(""));
  });

  test("leaves the optimised order out", () => {
    const table = everything();
    expect(planDigest({ ...table, ranks: table.tasks.map((_, at) => at) })).toBe(table.digest);
  });
});

describe("loadPlanTable", () => {
  const json = (change: (table: Record<string, unknown> & { tasks: Record<string, unknown>[] }) => void): unknown => {
    const table = JSON.parse(JSON.stringify(everything())) as never;
    change(table);
    return table;
  };

  test("reads a written table, ranks included", () => {
    const ranks = everything().tasks.map((_, at) => at);
    const loaded = loadPlanTable(JSON.stringify({ ...everything(), ranks }));
    expect(loaded).toEqual({ ...everything(), ranks });
    expect(Object.isFrozen(loaded.tasks)).toBe(true);
  });

  test.each<[string, (table: never) => void, string]>([
    ["another format", (table: { format: string }) => (table.format = "ngraph.table"), "no plan's table"],
    ["an unknown field", (table: { extra?: number }) => (table.extra = 1), "`extra` is unknown"],
    [
      "a task that is none",
      (table: { tasks: { after: number[] }[] }) => table.tasks[1]?.after.push(99),
      "there is no task 99",
    ],
    ["a cycle", (table: { tasks: { after: number[] }[] }) => table.tasks[1]?.after.push(7), "depend on each other"],
    [
      "no roots",
      (table: { tasks: { after: number[] }[] }) => table.tasks[0]?.after.push(7),
      "graph has no roots — cycle or malformed deps",
    ],
    ["max parallel 0", (table: { maxParallel: number }) => (table.maxParallel = 0), "expected at least 1"],
    ["ranks of other tasks", (table: { ranks?: number[] }) => (table.ranks = [1, 2]), "every task has a rank"],
    [
      "a name twice",
      (table: { tasks: { name: string }[] }) => Object.assign(table.tasks[1] ?? {}, { name: "a" }),
      "two tasks are named",
    ],
    [
      "a pool that is too small",
      (table: { pools: { size: number }[] }) => Object.assign(table.pools[0] ?? {}, { size: 1 }),
      "the pool has only 1",
    ],
  ])("refuses %s", (_, change, message) => {
    expect(() => loadPlanTable(json(change as never))).toThrow(message);
  });

  test("refuses a changed plan by its digest", () => {
    const changed = json((table) => (table.tasks[0]!["alone"] = true));
    expect(() => loadPlanTable(changed)).toThrow(expect.objectContaining({ code: "NG_BAD_DIGEST" }) as TableError);
  });

  test("loadTable reads no plans", () => {
    expect(() => loadTable(everything())).toThrow("no routing table");
  });
});

describe("reads of a task", () => {
  const plan = (body: string): string => `plan p {\n  state x: int\n  state y: int = 0\n${body}\n}`;
  const codes = (body: string): readonly string[] => findingsOf(plan(body)).map((line) => line.slice(0, 5));
  const use = "print(`${x + y}`)";

  test("channels that a task before it writes, through any number of others", () => {
    expect(codes(`  task a = 1 into x\n  task b = ${use} after a`)).toEqual([]);
    expect(codes(`  task a = 1 into x\n  task m = print("m") after a\n  task b = ${use} after m`)).toEqual([]);
  });

  test("NG403: no task before it writes the channel, although a task beside it does", () => {
    const { diagnostics } = compilePlan(plan(`  task a = 1 into x\n  task b = ${use}`));
    const found = diagnostics.find(({ code }) => code === "NG403");
    expect(found?.severity).toBe("error");
    expect(found?.help).toContain("`after a`");
    expect(codes(`  task a = ${use}`)).toContain("NG403");
  });

  test("after any, and after done, it may be unwritten: its type has null", () => {
    const two = "  task a = 1 into x\n  task c = print(y)\n";
    expect(codes(`${two}  task b = ${use} after any a, c`)).toEqual(["NG509"]);
    expect(codes(`${two}  task b = ${use} after done a, c`)).toEqual(["NG509"]);
    expect(codes(`${two}  task b = print(\`\${(x ?? 0) + y}\`) after done a, c`)).toEqual([]);
    expect(codes(`${two}  task b = ${use} after a, c`)).toEqual([]);
    expect(codes(`${two}  task b = ${use} after done a, c when x != null`)).toEqual([]);
  });

  test("a check reads the writes of its task", () => {
    expect(codes("  task a = y into x { done when x > 0 }")).toEqual([]);
    expect(codes("  task a = 1 into y { done when x > 0 }")).toContain("NG403");
  });

  test("NG401: two writers, neither after the other", () => {
    expect(codes(`  task a = 1 into x\n  task b = 2 into x\n  task c = ${use} after a, b`)).toEqual(["NG401"]);
    expect(codes(`  task a = 1 into x\n  task b = 2 after a into x\n  task c = ${use} after b`)).toEqual([]);
    expect(
      codes(`  task a = 1 into x\n  task m = 1 after a into y\n  task b = 2 after m into x\n  task c = ${use} after b`),
    ).toEqual([]);
  });

  test("results fit their channels", () => {
    expect(codes('  task a = "one" into x\n  task b = print(x) after a')).toEqual(["NG408"]);
    expect(codes('  task a = shell("a") into { code: x }\n  task b = print(x + y) after a')).toEqual([]);
    expect(codes('  task a = shell("a") into { kode: x }\n  task b = print(x) after a')).toEqual(["NG408"]);
  });

  test("NG405 and NG406: a write that is never read, and a channel that is never used", () => {
    expect(codes("  task a = 1 into x\n  task b = print(y)")).toEqual(["NG405"]);
    expect(codes("  task b = print(1)")).toEqual(["NG406", "NG406"]);
  });

  test("an output of a called plan that a condition may leave unwritten may be null", () => {
    const inner = (when: string): string =>
      `plan inner { input n: int  output r: int  task a = n ${when} into r }\n` +
      "plan outer { input n: int  state r: int  task a = inner(n: n) into r  task b = print(`${r}`) after a }".replace(
        "into r ",
        "into { r } ",
      );
    expect(findingsOf(inner(""))).toEqual([]);
    expect(findingsOf(inner("when n > 0")).map((line) => line.slice(0, 5))).toEqual(["NG408"]);
  });
});

test("a plan of 5,000 tasks compiles in time that grows with it", () => {
  const tasks = Array.from({ length: 5000 }, (_, at) => {
    const after = at < 3 ? "" : `after t${at - 1}, t${at - 3}`;
    return `  task t${at} = shell("run ${at}") ${after} { touches "src/f${at % 40}.ts" }`;
  });
  expect(planTable(`plan large {\n${tasks.join("\n")}\n}`).tasks).toHaveLength(5000);
});

async function formatted(text: string): Promise<string> {
  const result: unknown = await format(text, { path: "plan.ngraph" });
  return typeof result === "string" ? result : (result as { text: string }).text;
}
