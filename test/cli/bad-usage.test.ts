import { describe, expect, test } from "vitest";
import { createProject, HELLO } from "./project.ts";

/** Invalid command lines, each with its exit code and a part of its message. */
const CASES: readonly (readonly [line: string, status: number, message: string])[] = [
  ["", 64, "Usage: ngc"],
  ["check", 64, "path"],
  ["check nowhere.ngraph", 64, "no such file"],
  ["check h.ngraph --max-diagnostics -1", 64, "whole number from 1"],
  ["check h.ngraph --baseline text", 64, "NG001"],
  ["compile h.ngraph --out h.ngraph", 64, "a part of the path is not a directory"],
  ["run h.ngraph --store postgres:nope", 64, "postgres://USER@HOST/DATABASE"],
  ["run h.ngraph --store sqlite:text", 1, "is not an SQLite database"],
  [
    "run h.ngraph --store sqlite:h.ngraph/x.db",
    64,
    "cannot create the directory h.ngraph: a file with this name exists",
  ],
  ["run h.ngraph --builtins no.ts", 64, "cannot read no.ts"],
  ["run h.ngraph --thread=", 64, "--thread takes a name"],
  ["run h.ngraph --input @text", 64, "text is not valid JSON"],
  ["resume nobody --store memory", 64, "a store in memory is empty"],
  ["show x --store sqlite:text", 1, "is not an SQLite database"],
  ["graph h.ngraph -o h.ngraph/x.svg", 64, "a part of the path is not a directory"],
  ["convert h.ngraph --to yaml -o h.ngraph/x.yaml", 64, "a part of the path is not a directory"],
  ["explain NG999", 64, "there is no diagnostic"],
];

/** First mistakes, each with the way out that its message names. */
const WAYS_OUT: readonly (readonly [line: string, help: string])[] = [
  ["run h.ngraph who=Ada", `ngc run h.ngraph --input '{"who": …}'`],
  ["run h.ngraph --who Ada", `--input '{"who": …}'`],
  ["run h.ngraph --inptu {}", "did you mean `--input`?"],
  ["export h.ngraph", "`ngc export h.ngraph --to asl`"],
  ["export", "`ngc export FILE --to neograph`"],
  ["import", "`ngc import FILE` reads amazon-states"],
  ["graph", "`ngc graph --help` lists the arguments and options"],
  ["fork t --from", "`ngc fork --help` lists the arguments and options"],
];

test.each(WAYS_OUT)("the way out of ngc %s", (line, help) => {
  const { ngc } = createProject({ "h.ngraph": HELLO });
  const ran = ngc([...line.split(" "), "--json"]);
  expect({ status: ran.status, help: JSON.parse(ran.stdout).error.help }).toEqual({
    status: 64,
    help: expect.stringContaining(help),
  });
  expect(ran.stderr.match(/error: /g)).toHaveLength(1);
  expect(ran.stderr).toContain(`  = help: ${JSON.parse(ran.stdout).error.help}`);
});

test("a file of another system is no graph, and the message names the import", () => {
  const { json } = createProject({ "x.json": '{ "StartAt": "a" }' });
  const { status, document } = json(["check", "x.json"]);
  expect(status).toBe(2);
  expect(document.diagnostics[0].help).toContain("`ngc import` reads graphs of other systems");
});

describe("impossible requests have an exit code, a message, one document and no stack", () => {
  test.each(CASES)("ngc %s", (line, status, message) => {
    const { ngc } = createProject({ "h.ngraph": HELLO, text: "some words that are no database, and no graph either" });
    const words = line.split(" ").filter((word) => word !== "");
    const ran = ngc([...words, "--json"]);
    expect(ran.status).toBe(status);
    expect(ran.stderr).toContain(message);
    expect(ran.stderr).not.toMatch(/^ {4}at |bug in ngc/m);
    const document = JSON.parse(ran.stdout);
    expect(document).toMatchObject({ version: 1, ok: false, error: { code: expect.any(String) } });
    expect(document.error.message).toMatch(/^[^(\n]/);
  });

  test("ngc new never overwrites files, however the path is written", () => {
    const project = createProject({ "here/nodes.ts": "mine" });
    for (const directory of ["here", "none/../here", "./here/"]) {
      expect(project.ngc(["new", directory])).toMatchObject({
        status: 64,
        stderr: expect.stringContaining("not empty"),
      });
    }
    expect(project.read("here/nodes.ts")).toBe("mine");
    expect(project.has("here/greeting.ngraph")).toBe(false);
  });

  // Where there is a /proc, a directory in it cannot be made, and Node's own recursive way to make one never returns.
  test("a place where no directory can be created", () => {
    const { ngc } = createProject({ "h.ngraph": HELLO });
    const ran = ngc(["compile", "h.ngraph", "--out", "/proc/ngraph-none/x"]);
    expect(ran.status).toBe(64);
    expect(ran.stderr).toContain("cannot write /proc/ngraph-none/x");
    const page = ngc(["playground", "-o", "/proc/ngraph-none/x"]);
    expect([page.status, page.stderr]).toEqual([64, expect.stringContaining("cannot write to /proc/ngraph-none/x")]);
  });
});
