/** Errors that are found before a task runs (execution.md, 9.9; diagnostics NG701 to NG707; kahn's K-18 to K-21). */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "../../grammar/parse.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { compilePlan, findingsOf } from "./compile-plan.ts";

const plan = (body: string): string => `plan p {\n${body}\n}`;
const task = (name: string, rest = ""): string => `  task ${name} = shell("${name}") ${rest}`;
const tasks = (...list: readonly (readonly [string, string?])[]): string =>
  plan(list.map(([name, rest]) => task(name, rest)).join("\n"));

describe("dependencies", () => {
  test("K-18: no roots, with exactly this message and the cycle in a note", () => {
    const { diagnostics, tables } = compilePlan(tasks(["a", "after b"], ["b", "after a"]));
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.map(({ code, message, notes }) => [code, message, notes])).toEqual([
      ["NG701", "graph has no roots — cycle or malformed deps", ["cycle: a → b → a"]],
    ]);
    expect(tables.size).toBe(0);
  });

  test("a plan without tasks has no roots", () => {
    expect(findingsOf("plan p { max parallel 2 }")).toEqual(["NG701: graph has no roots — cycle or malformed deps"]);
  });

  test("K-19: a cycle beside a root is refused and named", () => {
    expect(findingsOf(tasks(["r"], ["b", "after c"], ["c", "after b"]))).toEqual([
      "NG702: tasks wait for each other: b → c → b",
    ]);
  });

  test("a cycle is reported in the order in which its tasks would run", () => {
    expect(findingsOf(tasks(["r"], ["a", "after r, c"], ["b", "after a"], ["c", "after b"]))).toEqual([
      "NG702: tasks wait for each other: a → b → c → a",
    ]);
  });

  test("two cycles are two findings", () => {
    const found = findingsOf(tasks(["r"], ["a", "after b"], ["b", "after a"], ["c", "after d"], ["d", "after c"]));
    expect(found).toEqual([
      "NG702: tasks wait for each other: a → b → a",
      "NG702: tasks wait for each other: c → d → c",
    ]);
  });

  test("K-20: an unknown dependency is named, and a similar name offered", () => {
    const { diagnostics } = compilePlan(tasks(["build"], ["test", "after biuld"]));
    const found = diagnostics.find(({ severity }) => severity === "error");
    expect([found?.code, found?.message, found?.help]).toEqual([
      "NG703",
      "unknown task `biuld`",
      "a task with a similar name exists: `build`",
    ]);
    expect(found?.fixes?.[0]?.edits[0]?.text).toBe("build");
  });

  test("K-21: self-dependency, repeated dependency, two tasks of one name", () => {
    expect(findingsOf(tasks(["a", "after a"]))).toEqual(["NG704: `a` comes after itself: a → a"]);
    expect(findingsOf(tasks(["a"], ["b", "after a, a"]))).toEqual(["NG704: `b` comes after `a` twice"]);
    expect(findingsOf(tasks(["a"], ["a"]))).toEqual(["NG102: `a` is declared twice"]);
  });

  test("a dependency on a channel names the task that writes it", () => {
    const found = compilePlan(plan("  input x: string\n  task a = print(x) after x"));
    expect(found.diagnostics.find(({ code }) => code === "NG703")?.help).toContain("is a channel");
  });

  test("a chain of 5,000 tasks that closes is refused without a stack overflow", () => {
    const count = 5000;
    const chain = Array.from({ length: count }, (_, at): [string, string] => [`t${at}`, `after t${(at + 1) % count}`]);
    expect(findingsOf(tasks(...chain))).toEqual(["NG701: graph has no roots — cycle or malformed deps"]);
  });
});

describe("numbers, pools and paths", () => {
  test.each([
    ["max parallel 0", "NG706: `max parallel` must be at least 1"],
    ["max parallel 2 max parallel 3", "NG102: `max parallel` is stated twice"],
    ["pool gpu 0", "NG006: a pool has at least 1 place"],
    ["pool gpu 1 pool gpu 2", "NG102: `gpu` is declared twice"],
    ["order file order file", "NG102: `order` is stated twice"],
    ["memory m: int = 0", "NG117: `memory` in a plan is not supported"],
  ])("%s", (setting, finding) => {
    expect(findingsOf(plan(`  ${setting}\n${task("a")}`))).toContain(finding);
  });

  test.each([
    ["tries 0", "NG006: `tries` is at least 1"],
    ["timeout 0s", "NG006: this duration must be longer than nothing"],
    ["estimate 0s", "NG006: this duration must be longer than nothing"],
    ["pool gpu 3", "NG006: the pool `gpu` has only 2 places"],
    ["pool gpu 0", "NG006: a task takes at least 1 place of a pool"],
    ["pool gpus", "NG105: unknown pool `gpus`"],
    ["pool gpu pool gpu", "NG102: `pool` is stated twice"],
    ["alone alone", "NG102: `alone` is stated twice"],
    ['touches "a.ts", "./a.ts"', "NG102: the path `a.ts` is stated twice"],
    ['touches "../other/x"', "NG707: `../other/x` is outside the root of the plan"],
    ['touches "/etc/hosts"', "NG707: `/etc/hosts` is outside the root of the plan"],
    ['cache inputs "../x"', "NG707: `../x` is outside the root of the plan"],
    ["cache for 1h", "NG117: `cache for` in a plan is not supported"],
    ["waits b", "NG117: `waits` is for nodes of a graph, not for tasks of a plan"],
    ["goes end", "NG117: `goes` is for nodes of a graph, not for tasks of a plan"],
    ["pause before", "NG117: `pause before` is for nodes of a graph, not for tasks of a plan"],
    ["max parallel 2", "NG117: `max parallel` is for nodes of a graph, not for tasks of a plan"],
    ["done when 1", "NG508: `done when` takes a call or a bool"],
    ["tries 3", "NG602: `a` tries a command up to 3 times, and is not `idempotent`"],
  ])("%s", (policy, finding) => {
    const found = findingsOf(plan(`  pool gpu 2\n${task("a", `{ ${policy} }`)}`));
    expect(found.map((text) => (finding.startsWith("NG602") ? text.slice(0, 5) : text))).toContain(
      finding.startsWith("NG602") ? "NG602" : finding,
    );
  });

  test("NG706 states what a plan without `max parallel` does", () => {
    expect(compilePlan('plan p {\n  max parallel 0\n  task a = shell("true")\n}').diagnostics[0]?.help).toBe(
      "remove it to run at most 4 tasks at once",
    );
  });

  test("tries of a task with checks are not reported", () => {
    expect(findingsOf(plan(task("a", '{ tries 3 done when shell("test") }')))).toEqual([]);
  });

  test("NG705: paths that serialize all tasks", () => {
    const infos = (text: string): readonly string[] =>
      compilePlan(text).diagnostics.flatMap(({ code, message }) => (code === "NG705" ? [message] : []));
    const all = tasks(["a", '{ touches "**" }'], ["b", '{ touches "b.ts" }'], ["c", '{ touches "c.ts" }']);
    expect(infos(all)).toEqual(["`a` can never run beside another task, although it is not `alone`"]);
    expect(infos(all.replace('"**"', '"a/**"'))).toEqual([]);
    expect(infos(all.replace('touches "**"', 'touches "**" alone'))).toEqual([]);
    expect(infos(all.replace('touches "**"', 'touches read "d/**"'))).toEqual([]);
  });
});

describe("matrices", () => {
  test.each([
    ["[]", "NG006: a matrix has at least one value"],
    ['["a", "a"]', 'NG006: a matrix contains the value "a" twice'],
    ["3", "NG508: a matrix goes over a list"],
  ])("for v in %s", (list, finding) => {
    expect(
      findingsOf(plan(`  input xs: string[]\n  task a = print(xs)\n  task t = print(v) for v in ${list}`)),
    ).toEqual([finding]);
  });

  test("matrices after matrices: a plan of more than a million dependencies is refused, with a way out", () => {
    const values = JSON.stringify(Array.from({ length: 1000 }, (_, at) => at));
    const chain = (count: number): string =>
      plan(
        Array.from(
          { length: count },
          (_, at) => `  task t${at} = print(v) for v in ${values}${at === 0 ? "" : ` after t${at - 1}`}`,
        ).join("\n"),
      );
    expect(findingsOf(chain(3))).toEqual([
      "NG006: a plan has at most 1,000,000 dependencies, each task of a matrix counted",
    ]);
    expect(
      findingsOf(
        plan(
          `  task t = print(v) for v in ${values}\n  task m = print(1) after t\n  task u = print(v) for v in ${values} after m`,
        ),
      ),
    ).toEqual([]);
  });

  test("all tasks of a matrix write one channel: it needs a reducer", () => {
    const text = (state: string): string =>
      plan(`  output log: ${state}\n  task t = shell(raw(v)) for v in ["a", "b"] into { stdout: log }`);
    expect(findingsOf(text("string"))).toEqual(["NG401: the tasks of `t` all write `log`"]);
    expect(findingsOf(text("string[] reduce append"))).toEqual([]);
  });
});

describe("calls", () => {
  test("K: unknown functions, missing and wrong arguments", () => {
    expect(findingsOf(plan("  task a = shel(1)"))[0]).toMatch(/^NG105: /);
    expect(findingsOf(plan("  task a = shell()"))[0]).toMatch(/^NG114: /);
    expect(findingsOf(plan("  task a = shell(1)"))[0]).toMatch(/^NG408: /);
  });

  test("plans that call each other in a cycle", () => {
    const found = findingsOf("plan a { task x = b() }\nplan b { task y = a() }");
    expect(found.map((text) => text.slice(0, 5))).toEqual(["NG116"]);
  });

  test("a plan as a check is refused", () => {
    const text = `plan q { task x = shell("x") }\nplan p { task y = shell("y") { done when q() } }`;
    expect(findingsOf(text)).toEqual(["NG117: a plan as a check is not supported"]);
  });

  test("a secret on a command line is found", () => {
    expect(
      findingsOf(`secret KEY\nplan p { task a = shell(\`deploy \${KEY}\`) }`).map((text) => text.slice(0, 5)),
    ).toEqual(["NG411"]);
    expect(findingsOf('secret KEY\nplan p { task a = shell("deploy", env: { KEY: KEY }) }')).toEqual([]);
  });

  test("the output of a model that reaches a command without a review is reported", () => {
    const body = (approve: string): string =>
      plan(`  state cmd: string\n  state ok: bool\n  task a = llm(prompt: "write") into cmd\n${approve}`);
    const codes = (text: string): readonly string[] => findingsOf(text).map((line) => line.slice(0, 5));
    expect(codes(body("  task b = shell(raw(cmd)) after a"))).toContain("NG412");
    expect(
      codes(body("  task q = ask(cmd) after a into ok\n  task b = shell(raw(cmd)) after q when ok")),
    ).not.toContain("NG412");
  });
});

test.each(["NG701", "NG702", "NG703", "NG704", "NG705", "NG706", "NG707"])(
  "%s fires on the plan of its page, and nothing fires on the near miss; in both spellings",
  (code) => {
    const read = (kind: string): string => readFileSync(`test/docs/fixtures/${code}-${kind}.ngraph`, "utf8");
    const codes = (text: string, path?: string): readonly string[] => [
      ...new Set(compilePlan(text, path).diagnostics.map((item) => item.code)),
    ];
    const yaml = (text: string): string => toYaml(parse(text, { path: "plan.ngraph" }).file).text;
    expect([codes(read("fires")), codes(yaml(read("fires")), "plan.yaml")]).toEqual([[code], [code]]);
    expect([codes(read("near")), codes(yaml(read("near")), "plan.yaml")]).toEqual([[], []]);
  },
);
