import { expect, test } from "vitest";
import { createProject } from "./project.ts";

const GRAPH = `import { shout, draft as write, check as verify } from "./nodes.ts"

graph support {
  input  question: string
  output reply: string
  output parts: string[] reduce append
  state  total: int reduce sum
  state  meta: map<json> = {}
  state  verdict: "send" | "again"

  node shouts = shout(part) for part in ["a", "b"] into parts
  node draft  = write(question, len(parts), total) into { reply, total, meta }
  node check  = verify(reply)
  node sorry  = "sorry" into reply
  node review = ask("Send?") into verdict

  start -> shouts -> draft -> check -> review
  check -> sorry on error
  review -> match verdict { "send" -> end  "again" -> draft }
  sorry -> end
}

graph race {
  output texts: string[] reduce append
  node one = shout("a") into texts
  node two = shout("b") into texts
  start -> one, two
}
`;

const NODES = `
export const shout = (part: string): string => part.toUpperCase();
export const draft = (question: string, parts: number, total: number) =>
  ({ reply: question + " \\u202e" + total, total: parts, meta: { "odd key": [1.5, null] } });
export const check = (reply: string): void => { if (reply.startsWith("bad")) throw new Error("no such reply"); };
`;

const project = () => createProject({ "support.ngraph": GRAPH, "nodes.ts": NODES });

test("ngc test --record prints the last run of a thread as a test that passes", () => {
  const { ngc, json, read, write } = project();
  expect(
    ngc(["run", "support.ngraph", "--graph", "support", "--thread", "7", "--input", '{"question": "why"}']).status,
  ).toBe(3);
  // A run that waits has a test, too.
  expect(ngc(["test", "--record", "7"]).stdout).toContain("expect status paused");
  expect(ngc(["resume", "7", "--answer", "again"]).status).toBe(3);
  expect(ngc(["resume", "7", "--answer", "send"]).status).toBe(0);
  const { status, stdout } = ngc(["test", "--record", "7"]);
  expect(status).toBe(0);
  expect(stdout).toContain('test "thread 7" for support {');
  expect(stdout).toContain('answer review = "again" then "send"');
  expect(stdout).toContain("expect ran shouts, draft, check, review, draft, check, review");
  // Characters that reorder a text are escaped.
  expect(stdout).not.toContain("\u202e");
  expect(json(["test", "--record", "7", "support.ngraph"]).document).toMatchObject({ graph: "support", test: stdout });
  write("support.ngraph", `${read("support.ngraph")}\n${stdout}`);
  expect(ngc(["test", "support.ngraph"])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("ok      thread 7"),
  });
});

test("a failed node is a mock that fails", () => {
  const { ngc } = project();
  ngc(["run", "support.ngraph", "--graph", "support", "--thread", "8", "--input", '{"question": "bad"}']);
  const { status, stdout } = ngc(["test", "--record", "8"]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/mock check fails ".*no such reply"/);
  expect(stdout).toContain('expect reply == "sorry"');
});

test("the mock of the node that failed a run says what the body has thrown", () => {
  const { ngc, read, write } = createProject({
    "g.ngraph": "graph g {\n  input n: int\n  node f = fail(`no ${n}`) { tries 2 backoff 1ms..1ms }\n  start -> f\n}\n",
  });
  ngc(["run", "g.ngraph", "--thread", "9", "--input", '{"n": 7}']);
  const { stdout } = ngc(["test", "--record", "9"]);
  expect(stdout).toContain('mock f fails "no 7"');
  write("g.ngraph", `${read("g.ngraph")}\n${stdout}`);
  expect(ngc(["test", "g.ngraph"])).toMatchObject({ status: 0 });
});

test("the mock of a built-in node has all fields of its result, also those that no channel has", () => {
  const { ngc, read, write } = createProject({
    "g.ngraph": `graph g {
  input n: int
  output text: string
  output codes: int[] reduce append
  node make = shell(\`printf \${n}\`) into { stdout: text }
  node exits = shell(\`test \${i} -gt 0\`) for i in [1, 2] into { code: codes }
  node last = shell("true")
  start -> make -> exits -> last
}
`,
  });
  expect(ngc(["run", "g.ngraph", "--thread", "1", "--input", '{"n": 4}']).status).toBe(0);
  const { status, stdout, stderr } = ngc(["test", "--record", "1"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain('mock make = { code: 0, stdout: "4", stderr: "" }');
  write("g.ngraph", `${read("g.ngraph")}\n${stdout}`);
  expect(ngc(["test", "g.ngraph"]).status).toBe(0);
});

test("a run whose results the store does not tell apart, and a missing thread, are refused", () => {
  const { ngc } = project();
  expect(ngc(["run", "support.ngraph", "--graph", "race", "--thread", "9"]).status).toBe(0);
  const race = ngc(["test", "--record", "9"]);
  expect(race.status).toBe(64);
  expect(race.stdout).toBe("");
  expect(race.stderr).toContain("several nodes of one step write `texts`");
  expect(ngc(["test", "--record", "10"])).toMatchObject({
    status: 64,
    stderr: expect.stringContaining("no thread `10`"),
  });
});

test("--record runs no other tests, and --store belongs to it", () => {
  const { ngc } = project();
  for (const args of [
    ["--record", "7", "--watch"],
    ["--record", "7", "a.ngraph", "b.ngraph"],
    ["--store", "memory", "a.ngraph"],
    [],
  ]) {
    expect(ngc(["test", ...args])).toMatchObject({ status: 64, stdout: "" });
  }
});

test("files without a test are no failure, and the reader learns how to write one", () => {
  const { ngc } = createProject({ "a.ngraph": 'graph plain { node n = print("x")  start -> n }\n' });
  expect(ngc(["test", "a.ngraph"])).toEqual({
    status: 0,
    stdout: "",
    stderr:
      "0 of 0 tests passed\n" +
      'no file declares a test: test "…" for plain { … }; `ngc test --record THREAD` prints one of a run\n',
  });
});
