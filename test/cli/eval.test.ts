import { describe, expect, test } from "vitest";
import { createProject } from "./project.ts";

const GRAPHS = `import { answer } from "./nodes.ts"
secret KEY
graph support {
  input question: string
  output reply: string
  node a = answer(question, KEY) into reply
  start -> a
}
graph judge {
  input reply: string | null
  input expected: json
  output score: float
  output why: string
  node a = reply == expected ? 0.9 : 0.1 into score
  node b = "compared" into why
  start -> a -> b
}
graph asks {
  input q: string
  output said: string
  node first_one = ask(q) into said
  node second = ask(said) into said
  start -> first_one -> second
}
graph wrong {
  input other: string
  output points: int
  node a = len(other) into points
  start -> a
}
`;
const FILES = {
  "a.ngraph": GRAPHS,
  "nodes.ts": `export function answer(q: string, key: string): string {
  if (q === "boom") throw new Error("no idea with " + key);
  return q === "leak" ? key : q.toUpperCase();
}
`,
  "cases.jsonl": [
    '{"id": "one", "input": {"question": "a"}, "expected": "A"}',
    '{"input": {"question": "b"}, "expected": {"reply": "B"}}',
    "",
    '{"input": {"question": "c"}, "expected": "X"}',
    '{"id": "bad", "input": {"question": "boom"}, "expected": "X"}',
  ].join("\n"),
};
const env = { KEY: "sk-very-secret-value" };
const EVAL = ["eval", "a.ngraph", "--graph", "support", "--cases", "cases.jsonl"];

describe("ngc eval", () => {
  test("compares outputs with what the cases expect, and keeps the results", () => {
    const project = createProject(FILES);
    const { status, stdout, stderr } = project.ngc(EVAL, { env });
    expect(stdout, stderr).toContain("4 cases: mean 0.5, 1 failed");
    expect(status).toBe(0);
    const lines = project
      .read("cases.results.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; score: number });
    expect(Object.fromEntries(lines.map(({ id, score }) => [id, score]))).toEqual({ one: 1, "2": 1, "4": 0, bad: 0 });
  });

  test("scores by an expression, by a graph with details, and by answers", () => {
    const project = createProject({
      ...FILES,
      "asks.jsonl":
        '{"input": {"q": "?"}, "answers": {"first_one": "a", "second": "b"}, "expected": "b"}\n{"input": {"q": "?"}, "answers": {"first_one": "a"}}\n',
    });
    const half = project.ngc([...EVAL, "--score", "reply == expected ? 1 : 0.5", "--json"], { env });
    expect(JSON.parse(half.stdout)).toMatchObject({ summary: { mean: 0.5, cases: 4, failed: 1 } });
    const judged = project.ngc([...EVAL, "--score-graph", "judge", "--json"], { env });
    expect(JSON.parse(judged.stdout)).toMatchObject({
      cases: [{ score: 0.9, details: { why: "compared" } }, {}, {}, { score: 0 }],
    });
    const asked = project.ngc(["eval", "a.ngraph", "--graph", "asks", "--cases", "asks.jsonl"], { env });
    expect(asked.stdout).toContain("no answer for second");
    expect(asked.stdout).toContain("mean 0.5");
  });

  test("compares with a baseline and with a least score", () => {
    const project = createProject(FILES);
    project.ngc([...EVAL, "--out", "before.jsonl"], { env });
    const same = project.ngc([...EVAL, "--baseline", "before.jsonl"], { env });
    expect(same).toMatchObject({ status: 0 });
    expect(same.stdout).toMatch(/against the baseline: median \d+ms → \d+ms/);
    const used = (tokens: number, cost: number): void =>
      project.write(
        "used.jsonl",
        project
          .read("before.jsonl")
          .replaceAll('"inputTokens":0', `"inputTokens":${tokens}`)
          .replaceAll('"cost":0', `"cost":${cost}`),
      );
    used(25, 0.5);
    const less = project.ngc([...EVAL, "--baseline", "used.jsonl"], { env });
    expect(less.stdout).toContain("tokens 100 → 0 (−100 %), cost 2 → 0 (−100 %)");
    const { baseline } = JSON.parse(project.ngc([...EVAL, "--baseline", "used.jsonl", "--json"], { env }).stdout) as {
      baseline: object;
    };
    expect(baseline).toMatchObject({ tokens: { before: 100, now: 0 }, cost: { before: 2, now: 0 }, better: 0 });
    project.write("nodes.ts", FILES["nodes.ts"].replace("q.toUpperCase()", 'q === "b" ? "?" : q.toUpperCase()'));
    const worse = project.ngc([...EVAL, "--baseline", "before.jsonl"], { env });
    expect(worse.stdout).toContain("worse: 2, 1 → 0");
    expect(worse.stdout).toContain("−0.25 against 0.5");
    expect(worse.status).toBe(1);
    expect(project.ngc([...EVAL, "--min-score", "0.9"], { env })).toMatchObject({ status: 1 });
    expect(project.ngc([...EVAL, "--min-score", "0.2"], { env })).toMatchObject({ status: 0 });
  });

  test("--resume runs what has no result, or another case, score or graph", () => {
    const project = createProject(FILES);
    project.ngc(EVAL, { env });
    const [first = "", ...others] = project.read("cases.results.jsonl").split("\n");
    // A process that ended in the middle of a line.
    project.write("cases.results.jsonl", `${first}\n${(others[0] ?? "").slice(0, 20)}`);
    const again = project.ngc([...EVAL, "--resume"], { env });
    expect(again.stderr).toContain("1 of 4 results kept");
    expect(again.stdout).toContain("4 cases: mean 0.5");
    expect(project.ngc([...EVAL, "--resume"], { env }).stderr).toContain("4 of 4 results kept");
    project.write("cases.jsonl", FILES["cases.jsonl"].replace('"question": "c"', '"question": "x"'));
    const changed = project.ngc([...EVAL, "--resume"], { env });
    expect(changed.stderr).toContain("3 of 4 results kept");
    expect(changed.stdout).toContain("mean 0.75");
    expect(project.ngc([...EVAL, "--resume", "--score", "1"], { env }).stderr).not.toContain("results kept");
    const limited = [...EVAL, "--resume", "--score", "1", "--max-steps", "100"];
    expect(project.ngc(limited, { env }).stderr).not.toContain("results kept");
    expect(project.ngc(limited, { env }).stderr).toContain("4 of 4 results kept");
  });

  test("secrets reach no result", () => {
    const project = createProject({
      ...FILES,
      "cases.jsonl": '{"input": {"question": "leak"}}\n{"input": {"question": "boom"}}\n',
    });
    for (const more of [[], ["--json"]]) {
      const { stdout, stderr } = project.ngc([...EVAL, ...more], { env });
      expect(`${stdout}${stderr}${project.read("cases.results.jsonl")}`).not.toContain(env.KEY);
    }
  });

  test.each([
    [["--score", "repl == 1"], 2, "unknown channel `repl`"],
    [["--score", "reply =="], 2, "--score:"],
    [["--score", '1 into score } graph x { node a = shell("touch hacked")'], 2, "--score:"],
    [["--score", "1", "--score-graph", "judge"], 64, "exclude each other"],
    [["--score-graph", "wrong"], 64, "needs the input `other`, which no run gives"],
    [["--score-graph", "none"], 64, "none"],
    [["--out", "cases.jsonl"], 64, "--out cases.jsonl would replace the source cases.jsonl"],
    [["--baseline", "nodes.ts"], 64, "this is no result of an evaluation"],
    [["--allow", "net"], 1, "code"],
    [["--parallel", "0"], 64, "--parallel"],
  ])("%s", (more, code, message) => {
    const project = createProject(FILES);
    const { status, stderr } = project.ngc([...EVAL, ...more], { env });
    expect(stderr).toContain(message);
    expect(status).toBe(code);
    expect(project.has("hacked")).toBe(false);
  });

  test.each([
    ["{", "line 1: this is no JSON"],
    ["[]", "line 1: a case is an object"],
    ['{"inputs": {}}', "line 1: a case has no field `inputs`"],
    ['{"input": 1}', "`input` is an object"],
    ['{"id": "a"}\n{"id": "a"}', "line 2: the id `a` is that of line 1"],
    ['{"answers": []}', "`answers` is an object"],
    ["\n\n", "has no case"],
    ['{"input": {"question": 5}}', "line 1: `question`: expected string, found 5"],
    ['{"input": {"question": "a"}}\n{"input": {}}', "line 2: `question` is missing"],
    ['{"input": {"question": "a", "q": 1}}', "`q` is not an input of the graph (it has `question`)"],
    ['{"input": {"question": "a"}, "config": {"q": 1}}', "`q` is not configuration of the graph (it has none)"],
    ['{"input": {"question": "a"}, "answers": {"q": 1}}', "`answers` names `q`, which is no node"],
  ])("cases %s", (text, message) => {
    const { status, stderr } = createProject(FILES).ngc(["eval", "a.ngraph", "--graph", "support", "--cases", "-"], {
      env,
      input: text,
    });
    expect(stderr).toContain(message);
    expect(status).toBe(64);
  });
});

test("a signal keeps the results so far, and --resume goes on", async () => {
  const project = createProject({
    "g.ngraph": `import { answer } from "./nodes.ts"
graph g { input q: string  output r: string  node a = answer(q) into r  start -> a -> end }`,
    "nodes.ts": `import { existsSync } from "node:fs";
export async function answer(q: string): Promise<string> {
  if (q === "b" && !existsSync("done")) await new Promise((resolve) => setTimeout(resolve, 600_000));
  return q;
}
`,
    "c.jsonl": '{"input":{"q":"a"},"expected":"a"}\n{"input":{"q":"b"},"expected":"b"}\n',
  });
  const child = project.start(["eval", "g.ngraph", "--cases", "c.jsonl"]);
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
    if (stderr.includes("1/2 1: 1")) child.kill("SIGINT");
  });
  const status = await new Promise((resolve) => child.once("close", resolve));
  expect([status, stderr]).toEqual([130, expect.stringContaining("1 of 2 results are in c.results.jsonl")]);
  project.write("done", "");
  const again = project.ngc(["eval", "g.ngraph", "--cases", "c.jsonl", "--resume"]);
  expect(again.stderr).toContain("1 of 2 results kept");
  expect(again.stdout).toContain("2 cases: mean 1");
}, 300_000);

test("a refused evaluation leaves earlier results as they are", () => {
  const project = createProject(FILES);
  project.ngc(EVAL, { env });
  const before = project.read("cases.results.jsonl");
  expect(project.ngc([...EVAL, "--allow", "net"], { env }).status).toBe(1);
  expect(project.ngc([...EVAL, "--out", "./cases.jsonl"], { env }).status).toBe(64);
  expect(project.read("cases.results.jsonl")).toBe(before);
  expect(project.read("cases.jsonl")).toBe(FILES["cases.jsonl"]);
});
