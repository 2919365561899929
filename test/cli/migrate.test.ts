import { expect, test } from "vitest";
import type { Json } from "../../runtime/value/json.ts";
import { valueMapper } from "../../cli/threads/map-values.ts";
import { createProject, type Project } from "./project.ts";

const graph = (node: string, channel: string, type = "string"): string => `graph g {
  output verdict: "a" | "b"
  state ${channel}: ${type} = ${type === "string" ? '"x"' : "0"}
  node first = ${type === "string" ? '"y"' : "1"} into ${channel}
  node ${node} = ask(\`${channel}?\`) into verdict
  start -> first -> ${node}
}
`;

function paused(...threads: readonly string[]): Project {
  const project = createProject({ "g.ngraph": graph("sure", "note") });
  for (const thread of threads) expect(project.ngc(["run", "g.ngraph", "--thread", thread]).status).toBe(3);
  return project;
}

test("5.7: migrate moves a thread to an edited graph", () => {
  const project = paused("t");
  project.write("g.ngraph", graph("certain", "remark"));
  const refused = project.ngc(["resume", "t", "--answer", "a"]);
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("ngc migrate") as string });
  const renames = ["--rename", "sure=certain", "--rename", "note=remark"];
  expect(project.json(["migrate", "t", ...renames, "--dry-run"])).toMatchObject({
    status: 0,
    document: { dryRun: true, migrated: [{ thread: "t" }], unchanged: [], failed: [] },
  });
  expect(project.ngc(["migrate", "t", "--rename", "sure=certain"])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("channel `note` no longer exists") as string,
  });
  expect(project.ngc(["migrate", "t", ...renames]).stdout).toMatch(/^thread t: migrated, checkpoint /);
  expect(project.ngc(["migrate", "t", ...renames]).stdout).toBe("thread t: fits already\n");
  expect(project.json(["resume", "t", "--answer", "a"]).document.output).toEqual({ verdict: "a" });
});

test("5.7: migrate --all moves every thread of the graph, and reports those that do not fit", () => {
  const project = paused("t", "u");
  project.write("other.ngraph", graph("sure", "note").replace("graph g", "graph other"));
  expect(project.ngc(["run", "other.ngraph", "--thread", "o"]).status).toBe(3);
  project.write("g.ngraph", graph("sure", "note", "int"));
  const all = ["migrate", "--all", "--file", "g.ngraph"];
  expect(project.json(all)).toMatchObject({
    status: 1,
    document: { failed: [{ code: "NG_DRIFT" }, { code: "NG_DRIFT" }] },
  });
  const { status, document } = project.json([...all, "--set", "note=7"]);
  expect(status).toBe(0);
  expect(document.migrated.map(({ thread }: { thread: string }) => thread).sort()).toEqual(["t", "u"]);
  expect(project.json(["resume", "u", "--answer", "b"]).document.state).toEqual({ verdict: "b", note: 7 });
});

test("5.7: a graph that declares its edits takes up its threads; check --store names those that it does not", () => {
  const project = paused("t", "u");
  const edited = graph("certain", "remark");
  project.write("g.ngraph", edited);
  const check = ["check", "g.ngraph", "--store", "sqlite:.ngraph/runs.db"];
  expect(project.json(check)).toMatchObject({
    status: 1,
    document: {
      threads: {
        checked: 2,
        refused: [
          {
            thread: "u",
            problems: [expect.stringContaining("node `sure` no longer exists"), "channel `note` no longer exists"],
          },
          { thread: "t" },
        ],
      },
    },
  });
  expect(project.ngc(check).stderr).toContain(
    "declare in the graph what was renamed or removed (`was sure`, `was note` or",
  );
  project.write(
    "g.ngraph",
    edited
      .replace("graph g", "graph h was g")
      .replace('= "x"', '= "x" was note')
      .replace("into verdict\n", "into verdict { was sure }\n"),
  );
  expect(project.json(check)).toMatchObject({ status: 0, document: { threads: { checked: 2, refused: [] } } });
  expect(project.json(["resume", "t", "--answer", "a"]).document).toMatchObject({
    status: "completed",
    output: { verdict: "a" },
  });
  expect(project.ngc(["check", "g.ngraph", "g.ngraph", ".", "--store", "memory"]).status).toBe(64);
});

test("5.7: migrate --map converts values with an expression; --keep keeps those of a changed reducer", () => {
  const text = (type: string, reducer: string): string => `
    graph inner { state m: { title: string${type === "int" ? "" : ", stars: int"} }[]  output k: "a" | "b"
      node fill = [{ title: "x"${type === "int" ? "" : ", stars: 0"} }] into m  node sure = ask(\`${"${len(m)}"}?\`) into k
      start -> fill -> sure }
    graph g { state n: ${type}  output log: int[] = [] reduce ${reducer}  output verdict: "a" | "b"
      node count = ${type === "int" ? "3" : '"3"'} into n  node first = [1] into log
      node call = inner() into { k: verdict }  node last = ask(\`${"${n}"}?\`) into verdict
      start -> count, first  all(count, first) -> call -> last }`;
  const project = createProject({ "g.ngraph": text("int", "append") });
  expect(project.ngc(["run", "g.ngraph", "--thread", "t"]).status).toBe(3);
  project.write("g.ngraph", text("string", "union"));
  const { stderr } = project.ngc(["resume", "t", "--answer", "a"]);
  expect(stderr).toMatch(/`--map n=EXPRESSION` or `--set n=JSON`, `--keep log`/);
  const options = ["--keep", "log", "--map", "inner.m=[{ ...item, stars: 0 } for item in value]"];
  expect(project.ngc(["migrate", "t", "--map", "n=value +"])).toMatchObject({
    status: 64,
    stderr: expect.stringContaining("the expression of --map n is not valid: expected an expression") as string,
  });
  expect(project.json(["migrate", "t", ...options, "--map", "n=trim(value)"])).toMatchObject({
    status: 1,
    document: { failed: [{ message: expect.stringContaining("for a value of type `int`") as string }] },
  });
  const { status } = project.ngc(["migrate", "t", ...options, "--map", "n=`${value}`"]);
  expect(status).toBe(0);
  const { document } = project.json(["resume", "t", "--answer", "a"]);
  expect(document).toMatchObject({
    status: "paused",
    state: { n: "3", log: [1] },
    pauses: [{ payload: { question: "3?" } }],
  });
});

test.each([
  ["value +", "expected an expression after `+`, found the end"],
  ["[value", "expected `,` or `]` after `value`, found the end"],
  ["value)", "expected the end after `value`, found `)`"],
  ["", "expected an expression, found the end"],
  ["value into x", "expected the end after `value`, found `into`"],
])("the message about the expression %j of --map has only the text of the option", (text, message) => {
  expect(() => valueMapper("--map n", text)).toThrow(`the expression of --map n is not valid: ${message}`);
});

test.each<[text: string, value: Json, expected: Json]>([
  ["value\n  + 1 // one more", 1, 2],
  ["{ a: value }", 1, { a: 1 }],
  ['"# text: 1"', 1, "# text: 1"],
  ["- value", 1, -1],
  ["value.x", { x: "a" }, "a"],
  ['value["x y"] ?? 0', { "x y": 3 }, 3],
])("--map %j", (text, value, expected) => {
  expect(valueMapper("--map n", text)(value)).toEqual(expected);
});

test("5.7: check --baseline --fix declares what was renamed or removed, and the threads resume", () => {
  const project = paused("t");
  project.write("old.ngraph", graph("sure", "note"));
  project.write("g.ngraph", graph("certain", "remark"));
  const fixed = project.ngc(["check", "g.ngraph", "--baseline", "old.ngraph", "--fix"]);
  expect(fixed.stderr).toMatch(/fixed NG610: add `was sure`/);
  expect(fixed.stderr).toMatch(/fixed NG610: add `was note`/);
  expect(project.json(["resume", "t", "--answer", "a"]).document).toMatchObject({ status: "completed" });
});

test("migrate refuses usage that means nothing", () => {
  const project = paused("t");
  for (const args of [
    [],
    ["t", "--all"],
    ["--all"],
    ["t", "--rename", "x"],
    ["t", "--set", "note"],
    ["t", "--set", "note=x"],
    ["t", "--map", "note"],
    ["none"],
  ]) {
    expect(project.ngc(["migrate", ...args]).status).toBe(64);
  }
});

test("5.7, 7.2: migrate renames a node that calls a graph, and drops a channel: the called run continues", () => {
  const text = (call: string, notes: string, write: string): string => `
    graph inner { state log: string[] = [] reduce append  output k: "a" | "b"
      node first = shell("echo once >> first.txt")  node sure = ask("sure?") into k  start -> first -> sure }
    graph g { ${notes}  output verdict: "a" | "b"  node note = "n" into ${write}
      node ${call} = inner() into { k: verdict }  start -> note -> ${call} }`;
  const project = createProject({
    "g.ngraph": text("review", 'state old: string = ""  state new: string = ""', "old"),
  });
  expect(project.ngc(["run", "g.ngraph", "--thread", "t"]).status).toBe(3);
  project.write("g.ngraph", text("check", 'state new: string = ""', "new"));
  const refused = project.ngc(["resume", "t", "--answer", "a"]);
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("--rename review=NEW") as string });
  expect(refused.stderr).toContain("--drop old");
  expect(project.ngc(["migrate", "t", "--rename", "review=check", "--drop", "old"]).status).toBe(0);
  expect(project.json(["threads"]).document.threads).toMatchObject([{ thread: "t", status: "paused" }]);
  expect(project.json(["resume", "t", "--answer", "a"]).document).toMatchObject({
    status: "completed",
    output: { verdict: "a" },
    state: { new: "" },
  });
  expect(project.read("first.txt")).toBe("once\n");
});
