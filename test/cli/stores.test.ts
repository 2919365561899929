import { describe, expect, test } from "vitest";
import { createProject, HELLO, type Project } from "./project.ts";

function hello(files: Readonly<Record<string, string>> = {}): Project {
  return createProject({ "hello.ngraph": HELLO, ...files });
}

describe("the default store", () => {
  test("if `.ngraph` cannot be a directory, the message has a way out", () => {
    const project = hello({ ".ngraph": "a file" });
    expect(project.ngc(["run", "hello.ngraph"])).toEqual({
      status: 64,
      stdout: "",
      stderr:
        "error: cannot create the directory .ngraph: a file with this name exists\n" +
        "  = help: --store sqlite:PATH stores runs elsewhere, --store memory stores none\n",
    });
    expect(project.ngc(["run", "hello.ngraph", "--store", "memory"]).status).toBe(0);
    expect(project.read(".ngraph")).toBe("a file");
  });

  test("if the disk is full, the message says so, and nothing is left of `.ngraph`", () => {
    const project = hello({
      "full.mjs": `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const { writeFileSync } = fs;
fs.writeFileSync = (path, ...rest) => {
  if (!String(path).endsWith(".gitignore")) return writeFileSync(path, ...rest);
  writeFileSync(path, "");
  throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
};
syncBuiltinESMExports();`,
    });
    expect(project.ngc(["run", "hello.ngraph"], { env: { NODE_OPTIONS: "--import ./full.mjs" } })).toEqual({
      status: 64,
      stdout: "",
      stderr:
        "error: cannot create the directory .ngraph: no space left\n" +
        "  = help: --store sqlite:PATH stores runs elsewhere, --store memory stores none\n",
    });
    expect(project.has(".ngraph")).toBe(false);
    // Once there is space, runs are kept out of commits.
    expect(project.ngc(["run", "hello.ngraph"]).status).toBe(0);
    expect(project.read(".ngraph/.gitignore")).toBe("*\n");
  });

  test("in a subdirectory, read-only commands print where the store is", () => {
    const project = hello();
    project.ngc(["run", "hello.ngraph", "--thread", "t"]);
    const below = project.below("deep/er");
    for (const args of [["threads"], ["history", "t"], ["resume", "t"]]) {
      const { status, stderr } = below.ngc(args);
      expect({ status, stderr }).toEqual({
        status: 64,
        stderr:
          "error: there is no store at .ngraph/runs.db\n" +
          "  = help: a directory above has one: --store sqlite:../../.ngraph/runs.db\n",
      });
    }
    expect(below.json(["threads", "--store", "sqlite:../../.ngraph/runs.db"]).document.threads).toHaveLength(1);
    expect(below.has(".ngraph")).toBe(false);
  });

  test("an in-memory SQLite store is lost with the process, which is reported", () => {
    const project = createProject({
      "ask.ngraph": 'graph g { output t: string  node a = ask("?") into t  start -> a }\n',
    });
    const { status, stdout } = project.ngc(["run", "ask.ngraph", "--store", "sqlite::memory:"]);
    expect(status).toBe(3);
    expect(stdout).toContain("stored in memory only");
  });
});

test("ngc history: prints how to list older checkpoints, and those of a called graph only", () => {
  const project = createProject({
    "calls.ngraph": `graph inner {
  output text: string
  node ok = ask("?") into text
  start -> ok
}

graph outer {
  output text: string
  node call = inner() into { text }
  start -> call
}
`,
  });
  project.ngc(["run", "calls.ngraph", "--thread", "t"]);
  const page = project.ngc(["history", "t", "--limit", "1"]);
  const { checkpoints } = project.json(["history", "t"]).document;
  expect(page.stderr).toBe(`older ones: ngc history t --before ${checkpoints[0].id} --limit 1\n`);
  const rest = project.json(["history", "t", "--before", checkpoints[0].id.slice(0, 12)]).document.checkpoints;
  expect(rest).toEqual(checkpoints.slice(1));

  const shown = project.ngc(["show", checkpoints[0].id]).stdout;
  const inner = /^called graph call: (\S+)$/m.exec(shown)?.[1] ?? "";
  expect(project.json(["history", "t", "--namespace", "call"]).document.checkpoints[0]).toMatchObject({
    id: inner,
    namespace: "call",
    status: "paused",
  });
  expect(project.ngc(["show", inner.slice(0, 13)]).stdout).toContain("namespace: call\n");
  const cases: readonly (readonly [args: string[], message: string])[] = [
    [["history", "t", "--namespace", "other"], "has called no graph under `other`"],
    [["history", "t", "--before", "nothing"], "has no checkpoint `nothing`"],
    [["resume", "t", "--from", inner], "belongs to `call`, a graph that thread `t` calls"],
    [["fork", "t", "--from", inner], "belongs to `call`, a graph that thread `t` calls"],
  ];
  for (const [args, message] of cases) {
    expect(project.ngc(args)).toMatchObject({ status: 64, stderr: expect.stringContaining(message) });
  }
});
