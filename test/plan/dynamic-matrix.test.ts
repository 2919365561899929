import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/index.ts";
import { checkTable } from "../../runtime/table/check-table.ts";
import { format } from "../../grammar/format/format.ts";
import { parse } from "../../grammar/parse.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { findingsOf, planTable } from "./compile-plan.ts";
import { textRunner, transitions } from "./run-text.ts";

const DEPLOY = `plan deploy {
  input  regions: string[]
  output done: string[] reduce append
  max parallel 2
  task build = shell("build")
  task roll = shell(\`roll \${region}\`) for region in regions after build into { stdout: done }
  task tell = shell("tell") after roll
}`;
const OUT = { "roll 'eu'": { stdout: "EU", takes: 3 }, "roll 'us'": { stdout: "US" }, "roll 'ap'": { stdout: "AP" } };

describe("a matrix over a computed list", () => {
  test("makes a task for each value of an input, and combines what they write in the order of the values", async () => {
    const runner = textRunner(DEPLOY, OUT);
    const { output, tasks } = await runner.run({}, { regions: ["eu", "us", "ap"] });
    expect(output).toEqual({ done: ["EU", "US", "AP"] });
    expect(tasks.map(({ id, status }) => `${id} ${status}`)).toEqual(["build done", "roll done", "tell done"]);
    expect(transitions(runner.events, "roll[eu]")).toEqual(["pending→ready", "ready→running", "running→done"]);
    expect(runner.together.some((list) => list.length === 2)).toBe(true);
    expect(runner.together.every((list) => list.length <= 2)).toBe(true);
    expect(runner.started.at(-1)).toBe("tell");
  });

  test("an empty list is done at once, and writes nothing", async () => {
    const runner = textRunner(
      'plan p { input xs: int[] output most: int reduce max\n task t = x for x in xs into most\n task u = shell("u") after t }',
    );
    expect((await runner.run({}, { xs: [] })).output).toEqual({ most: null });
    expect((await runner.run({}, { xs: [3, 7, 5] })).output).toEqual({ most: 7 });
  });

  test("takes the list that a task before it has written, several variables, and other channels", async () => {
    const runner = textRunner(
      `plan p {
        input tag: string = "v1"
        state found: string[] = []
        output said: string[] reduce append
        task find = ["a", "b"] into found
        task say = \`\${tag} \${f} \${n}\` for f in found, n in [1, 2] after find when f != "b" || n == 2 into said
      }`,
    );
    expect((await runner.run()).output).toEqual({ said: ["v1 a 1", "v1 a 2", "v1 b 2"] });
    expect(transitions(runner.events, "say[b,1]")).toEqual(["pending→ready", "ready→skipped when"]);
  });

  test("its tasks hold paths, pools and `alone`", async () => {
    const apart = async (policy: string): Promise<boolean> => {
      const runner = textRunner(
        `plan p { input xs: int[]\n pool db 1\n task t = shell(\`t \${x}\`) for x in xs { ${policy} }\n task o = shell("o") { ${policy} } }`,
      );
      await runner.run({}, { xs: [1, 2, 3] });
      return runner.together.every((list) => list.length === 1);
    };
    expect(await apart('touches "out"')).toBe(true);
    expect(await apart("pool db")).toBe(true);
    expect(await apart("alone")).toBe(true);
    expect(await apart("timeout 1m")).toBe(false);
  });

  test("a failed value fails the task with its message; a resume runs only what has failed", async () => {
    const store = new MemoryStore();
    const runner = textRunner(DEPLOY, { ...OUT, "roll 'us'": { codes: [1, 0], stdout: "US" } }, { store });
    const first = await runner.run({ thread: "t" }, { regions: ["eu", "us", "ap"] });
    const failed = first.tasks.find(({ id }) => id === "roll");
    expect(failed).toMatchObject({ status: "failed" });
    expect(failed?.error).toContain("roll[us] failed: `roll 'us'` ended with exit code 1");
    runner.started.length = 0;
    const second = await runner.resume("t");
    expect(runner.started).toEqual(["roll 'us'", "tell"]);
    expect(second.output).toEqual({ done: ["EU", "US", "AP"] });
  });

  test("`allow failure` keeps the results of the others", async () => {
    const runner = textRunner(DEPLOY.replace("into { stdout: done }", "into { stdout: done } { allow failure }"), {
      ...OUT,
      "roll 'us'": { codes: [1] },
    });
    const { output, status } = await runner.run({}, { regions: ["eu", "us", "ap"] });
    expect(output).toEqual({ done: ["EU", "AP"] });
    expect(status).toBe("completed");
  });

  test("checks and tries belong to each value", async () => {
    const runner = textRunner(
      "plan p { input xs: string[]\n task t = shell(`do ${x}`) for x in xs { tries 3 backoff 1s done when shell(`check ${x}`) } }",
      { "check 'b'": { codes: [1, 1, 0] } },
    );
    expect((await runner.run({}, { xs: ["a", "b"] })).status).toBe("completed");
    expect(runner.started.filter((line) => line === "do 'b'")).toHaveLength(3);
    expect(runner.started.filter((line) => line === "do 'a'")).toHaveLength(1);
  });

  test("equal values are told apart, and more than 1,000 are refused", async () => {
    const runner = textRunner("plan p { input xs: int[]\n task t = shell(`t ${x}`) for x in xs }");
    await runner.run({}, { xs: [1, 1] });
    expect(transitions(runner.events, "t[1#2]")).toContain("running→done");
    const { tasks } = await runner.run({}, { xs: Array.from({ length: 1001 }, () => 1) });
    expect(tasks[0]?.error).toContain("a matrix has at most 1000 values, and `t` has 1001");
  });

  test("pauses and resumes with the answers of its values", async () => {
    const store = new MemoryStore();
    const runner = textRunner(
      "plan p { input xs: int[]\n output said: string[] reduce append\n task t = ask(`${x}?`) for x in xs into said }",
      {},
      { store, builtins: { ask: (_args, context) => context.interrupt() as never } },
    );
    const paused = await runner.run({ thread: "t" }, { xs: [1, 2] });
    expect(paused.pauses).toHaveLength(2);
    const answers = Object.fromEntries(paused.pauses.map(({ id }, at) => [id, `answer ${at}`]));
    expect((await runner.resume("t", { answers })).output).toEqual({ said: ["answer 0", "answer 1"] });
  });

  test("is the same in YAML, after formatting and as a stored table", async () => {
    const table = planTable(DEPLOY);
    const { text } = toYaml(parse(DEPLOY).file);
    expect(planTable(text, "p.ngraph.yaml").digest).toBe(table.digest);
    expect(planTable(await format(DEPLOY)).digest).toBe(table.digest);
    const stored: unknown = JSON.parse(JSON.stringify(table));
    checkTable(stored, "plan");
    expect(table.plans[0]?.matrix).toEqual({ list: 0, plan: "deploy" });
    const broken = JSON.parse(JSON.stringify(table).replace('"list":0', '"list":1')) as unknown;
    expect(() => checkTable(broken, "plan")).toThrow("the values of a matrix are an input");
  });

  test.each([
    ["task t = print(x) for x in level", "NG508: a matrix goes over a list"],
    ['task t = print(x) for x in "abc"', "NG508: a matrix goes over a list"],
    ["task t = print(x) for x in nothing", "NG104: unknown channel `nothing`"],
    ["output o: int\n task t = x for x in xs into o", "NG401: the tasks of `t` all write `o`"],
    ["output o: int reduce last\n task t = x for x in xs into o", "NG117: `reduce last` on the results of a matrix"],
    ["output o: int[] reduce append\n task t = x + len(o) for x in xs into o", "NG117: to read `o` in the tasks"],
    [
      'task a = print("a")\n task t = x for x in xs after done a when status(a) == "done" && x > 1',
      "NG117: a condition on both `status(…)` and a value",
    ],
    ["task t = shell(x) for x in names", "NG414: a value is used as a command"],
  ])("%s", (task, message) => {
    const text = `plan p {\n  input level: int = 1\n  input xs: int[]\n input names: string[]\n ${task}\n}`;
    expect(findingsOf(text).join("\n")).toContain(message);
  });

  test("reads and writes of its tasks count for the channels", () => {
    expect(findingsOf(DEPLOY)).toEqual([]);
    expect(findingsOf(DEPLOY.replaceAll("region}", "regoin}")).join()).toContain("NG104");
  });
});
