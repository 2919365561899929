import { describe, expect, test } from "vitest";
import { parse } from "../../grammar/parse.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { findingsOf, planTable } from "./compile-plan.ts";
import { textRunner } from "./run-text.ts";
import type { TaskCache, TaskCacheRequest } from "../../runtime/plan/task-cache.ts";
import type { Json } from "../../runtime/value/json.ts";

describe("`cache` and `outputs` of a task", () => {
  const TEXT = `plan p { task a = shell("make") {
    cache inputs "src/**" variables "CI", "CI" tools "cc --version"
    outputs "dist/**"
    outputs "./lib/"
    touches "dist/**"
  } }`;

  test("are lowered without repetitions, and outputs are among the paths that the task writes", () => {
    expect(findingsOf(TEXT)).toEqual([]);
    const [task] = planTable(TEXT).tasks;
    expect(task?.cache).toEqual({
      inputs: ["src/**"],
      outputs: ["dist/**", "lib/**"],
      variables: ["CI"],
      tools: ["cc --version"],
    });
    expect(task?.touches).toEqual([
      { path: "dist/**", mode: "write" },
      { path: "lib/**", mode: "write" },
    ]);
  });

  test("are the same in YAML", () => {
    const yaml = toYaml(parse(TEXT).file).text;
    expect(planTable(yaml, "plan.ngraph.yaml").digest).toBe(planTable(TEXT).digest);
  });

  test("a tool is a command: the plan needs the shell", () => {
    expect(planTable(`plan p { task a = 1 + 1 { cache tools "cc --version" } }`).effects).toEqual(["shell"]);
    expect(planTable(`plan p { task a = 1 + 1 { cache variables "CI" } }`).effects).toEqual([]);
  });

  test.each([
    [`task a = shell("x") { outputs "dist" }`, "NG117: `outputs` is what a cached task stores, and `a` has no `cache`"],
    [`task a = shell("x") { cache outputs "**" }`, "names all files of the tree, sources included"],
    [`task a = shell("x") { cache outputs "." }`, "names all files of the tree, sources included"],
    [
      `task a = shell("x") { cache outputs "../x" }`,
      "is outside of the root, and the cache stores only files below it",
    ],
    [`task a = shell("x") { cache outputs "/etc" }`, "is outside of the root"],
    [`task a = shell("x") { cache outputs "a", "./a" }`, "the path `a`"],
    [`task a = shell("x") { cache variables "A=1" }`, "`A=1` is not the name of an environment variable"],
    [`task a = shell("x") { cache tools " " }`, "an empty text is not a command"],
    [`task a = 1 + 1 { interactive }`, "`interactive` on a task that runs no command is"],
    [`task a = shell("x", input: "y") { interactive }`, "`input` of a command that is `interactive` is not supported"],
  ])("%s is reported", (task, message) => {
    const findings = findingsOf(`plan p { ${task} }`);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toContain(message);
  });

  test.each(['cache variables "CI"', 'cache tools "x"', 'outputs "x"', "interactive"])(
    "`%s` is for tasks of plans",
    (policy) => {
      const findings = findingsOf(`graph g { node a = shell("x") { ${policy} } start -> a }`);
      expect(findings).toHaveLength(1);
      expect(findings[0]).toMatch(/^NG117: .* is for tasks of a plan, not for nodes of a graph$/);
    },
  );

  test("an interactive task is alone", () => {
    const [task] = planTable(`plan p { task a = shell("x") { interactive } }`).tasks;
    expect(task).toMatchObject({ interactive: true, alone: true });
  });
});

test.each<[string, Json]>([
  ["an entry that is no pair", [null]],
  ["no value", []],
  ["no list", {}],
  ["a value of another type", [["v", 5]]],
  [
    "a value of another task",
    [
      ["v", "old"],
      ["w", "old"],
    ],
  ],
])("a stored result with %s is not used", async (_, result) => {
  const taskCache: TaskCache = { look: () => ({ result, changed: [] }), keep: () => {}, fingerprint: () => "" };
  const text = `plan p { output v: string output w: string
    task a = shell("a") into { stdout: v } { cache }
    task b = upper(v) after a into w }`;
  const { run, started, events } = textRunner(text, { a: { stdout: "new" } });
  const { outcome, output } = await run({ taskCache });
  expect({ outcome, output, started }).toEqual({ outcome: "clean", output: { v: "new", w: "NEW" }, started: ["a"] });
  expect(JSON.stringify(events)).toContain("the stored result");
});

describe("what a cached task depends on", () => {
  /** The fingerprint of each upstream task is its value and the state of its paths, so that tests can read it. */
  async function upstreamOf(text: string, files: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const asked: TaskCacheRequest[] = [];
    const taskCache: TaskCache = {
      look: (request) => {
        asked.push(request);
        return { changed: ["first run"] };
      },
      keep: () => {},
      fingerprint: (paths, value) => `${paths.map((path) => files[path] ?? "-").join()} ${JSON.stringify(value)}`,
    };
    const { run } = textRunner(text, {});
    expect(await run({ taskCache })).toMatchObject({ outcome: "clean" });
    return asked.at(-1)?.upstream;
  }

  test("a task with paths stands for all before it", async () => {
    const text = `plan p {
      task a = shell("a") { touches "gen" }
      task b = shell("b") after a { cache outputs "dist" }
      task c = shell("c") after b { cache }
    }`;
    expect(await upstreamOf(text, { dist: "d1", gen: "g1" })).toEqual({ b: "d1 [[],null]" });
    expect(await upstreamOf(text, { dist: "d1", gen: "g2" })).toEqual({ b: "d1 [[],null]" });
    expect(await upstreamOf(text, { dist: "d2", gen: "g2" })).toEqual({ b: "d2 [[],null]" });
  });

  test("a task without paths passes on what was made before it, and an expression is its value", async () => {
    const passing = `plan p { task a = shell("a") { touches "gen" } task b = shell("b") after a task c = shell("c") after b { cache } }`;
    expect(await upstreamOf(passing, { gen: "g1" })).toEqual({ b: ' [[],{"a":"g1 [[],null]"}]' });
    const value = `plan p { state v: int = 0 task a = shell("a") { touches "gen" } task b = 1 + 1 after a into v task c = shell("c") after b { cache } }`;
    expect(await upstreamOf(value, { gen: "g1" })).toEqual({ b: ' [[["v",2]],null]' });
  });
});
