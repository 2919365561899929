import { describe, expect, test } from "vitest";
import { taskNames } from "../../cli/plan/plan-flags.ts";
import { format } from "../../grammar/format/format.ts";
import { parse } from "../../grammar/parse.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { findingsOf, planTable } from "./compile-plan.ts";
import { textRunner } from "./run-text.ts";

const plan = (task: string): string => `plan p {\n  input level: int = 1\n  ${task}\n}\n`;

describe("a matrix of several variables", () => {
  const TEXT = plan(
    'task test = shell(`run ${os} ${node}`) for os in ["linux", "mac"], node in [20, 22] when os != "mac" || node > level + 20 { done when node > 0 }',
  );

  test("makes a task for each combination, the last variable first", async () => {
    const runner = textRunner(TEXT);
    const { tasks } = await runner.run();
    expect(tasks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "test[linux,20] done",
      "test[linux,22] done",
      "test[mac,20] skipped",
      "test[mac,22] done",
    ]);
    expect([...runner.started].sort()).toEqual(["run 'linux' '20'", "run 'linux' '22'", "run 'mac' '22'"]);
  });

  test("is the same in YAML and after formatting", async () => {
    const table = planTable(TEXT);
    const { file } = parse(TEXT);
    const { text } = toYaml(file);
    expect(text).toContain("for: [");
    expect(planTable(text, "p.ngraph.yaml").digest).toBe(table.digest);
    expect(planTable(await format(TEXT)).digest).toBe(table.digest);
  });

  test("names values of other types as JSON, and equal texts by position", () => {
    const names = (task: string): readonly string[] => planTable(plan(task)).tasks.map(({ name }) => name);
    expect(names('task t = print(`${a} ${b}`) for a in [{ x: 1 }, 2], b in ["y"]')).toEqual(['t[{"x":1},y]', "t[2,y]"]);
    expect(names('task t = print(`${a}${b}`) for a in ["1", 1], b in ["y"]')).toEqual(['t["1",y]', "t[1#2,y]"]);
  });

  test("--only takes the names of its tasks", () => {
    expect(taskNames("build, test[linux,20], t[[1,2],y] ,last")).toEqual([
      "build",
      "test[linux,20]",
      "t[[1,2],y]",
      "last",
    ]);
  });

  test("a variable of a comprehension hides it", async () => {
    const runner = textRunner(
      'plan p { output o: string[] reduce append\n task t = join([os for os in [os, node]], "-") for os in ["a"], node in ["b"] into o }',
    );
    expect((await runner.run()).output).toEqual({ o: ["a-b"] });
  });

  test.each([
    ["task t = print(a) for a in [1], a in [2]", "NG006: the variable `a` is declared twice in a matrix"],
    ["task t = print(a) for a in [1], b in level", "NG508: a matrix goes over a list"],
    ["task t = print(a) for a in [1], b in []", "NG006: a matrix has at least one value"],
    ["task t = print(a) for a in [1, 2], b in [3, 3]", "NG006: a matrix contains the value 3 twice"],
    ["task t = print(c) for a in [1], b in [2]", "NG104: unknown channel `c`"],
    ['task t = shell(b) for a in [1], b in ["x"]', "NG414: a value is used as a command"],
    [
      `task t = print(a) for a in ${JSON.stringify([...Array(40).keys()])}, b in ${JSON.stringify([...Array(40).keys()])}`,
      "NG006: a matrix has at most 1000 values",
    ],
  ])("%s", (task, message) => {
    expect(findingsOf(plan(task))).toContain(message);
  });
});
