import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { createProject, PROGRAM, type Project } from "./project.ts";

const PLAN = `plan p {
  task build = shell("echo build >> ran; mkdir -p dist; sed 's,//.*,,' src/a.txt > dist/a.txt") {
    cache inputs "src/**"
    outputs "dist/**"
  }
  task test = shell("echo test >> ran; cat dist/a.txt") after build { cache }
}
`;
const ran = (project: Project): string => (project.has("ran") ? project.read("ran").trim().replaceAll("\n", " ") : "");

describe("the cache of a plan", () => {
  test("restores outputs, takes earlier results, and stops where a task has made the same", () => {
    const project = createProject({ "p.ngraph": PLAN, "src/a.txt": "one // 1\n" });
    const run = (): string => {
      const { document } = project.json(["run", "p.ngraph"]);
      return document.tasks.map(({ cached }: { cached?: true }) => (cached === true ? "cached" : "run")).join(" ");
    };
    expect(run()).toBe("run run");
    project.remove("dist/a.txt");
    expect(run()).toBe("cached cached");
    expect(project.read("dist/a.txt")).toBe("one \n");
    // A comment: `build` runs and makes the same, so `test` need not run.
    project.write("src/a.txt", "one // 2\n");
    expect(run()).toBe("run cached");
    project.write("src/a.txt", "two\n");
    expect(run()).toBe("run run");
    project.write("src/a.txt", "one // 1\n");
    expect(run()).toBe("cached cached");
    expect(project.read("dist/a.txt")).toBe("one \n");
    expect(ran(project)).toBe("build test build build test");
    expect(project.ngc(["run", "p.ngraph"]).stdout).toContain("clean: 2 done (2 from the cache)");
  });

  test("ngc logs and reports show what comes from the cache", () => {
    const project = createProject({
      "p.ngraph": `plan p {
  task build = shell("echo compiled; mkdir -p dist; cp a dist") { cache inputs "a" outputs "dist/**" }
  task inner = packed() after build
}
plan packed { task pack = shell("echo packed") { cache } }
`,
      a: "one",
    });
    expect(project.ngc(["run", "p.ngraph"]).status).toBe(0);
    const args = ["run", "p.ngraph", "--thread", "t", "--report", "r.xml", "--report", "r.html"];
    expect(project.ngc(args).stdout).toContain("(1 from the cache)");
    const { stdout } = project.ngc(["logs", "t"]);
    expect(stdout).toContain("(from the cache)\ncompiled\n");
    expect(stdout).toContain("(from the cache)\npacked\n");
    expect(project.read("r.xml")).toContain('<property name="cached" value="true"/>');
    expect(project.read("r.html")).toContain("done (cached)");
    // The text of a hit is not stored again with the mark.
    project.ngc(["run", "p.ngraph", "--thread", "u"]);
    expect(project.ngc(["logs", "u", "build"]).stdout).toContain("(from the cache)\ncompiled\n");
  });

  test("deletes only what the task has written", () => {
    const plan = `plan p {
  task build = shell("mkdir -p dist; rm -f dist/*.out; cp src/a.txt dist/$(cat src/a.txt).out") {
    cache inputs "src/**"
    outputs "dist/**"
  }
}
`;
    const project = createProject({ "p.ngraph": plan, "src/a.txt": "one" });
    const run = (): string => {
      const { document } = project.json(["run", "p.ngraph"]);
      return document.tasks[0].cached === true ? "cached" : "run";
    };
    expect(run()).toBe("run");
    project.write("dist/notes.txt", "by hand");
    project.write("src/a.txt", "two");
    expect(run()).toBe("run");
    for (const [text, other] of [
      ["one", "two"],
      ["two", "one"],
      ["one", "two"],
    ] as const) {
      project.write("src/a.txt", text);
      expect(run()).toBe("cached");
      expect(project.read(`dist/${text}.out`)).toBe(text);
      expect(project.has(`dist/${other}.out`)).toBe(false);
      expect(project.read("dist/notes.txt")).toBe("by hand");
    }
  });

  test("is shared by a folder", () => {
    const shared = createProject();
    const env = { NGRAPH_SHARED_CACHE: shared.directory };
    const first = createProject({ "p.ngraph": PLAN, "src/a.txt": "one\n" });
    expect(first.ngc(["run", "p.ngraph", "--shared-cache", shared.directory]).status).toBe(0);
    const second = createProject({ "p.ngraph": PLAN, "src/a.txt": "one\n" });
    expect(second.ngc(["run", "p.ngraph"], { env }).stdout).toContain("2 done (2 from the cache)");
    expect(ran(second)).toBe("");
    expect(second.read("dist/a.txt")).toBe("one\n");
  });

  test("a shared cache that cannot be opened is refused, and one that does not answer only delays", () => {
    const project = createProject({ "p.ngraph": PLAN, "src/a.txt": "one\n", file: "" });
    const run = (place: string): { status: number | null; stderr: string } =>
      project.ngc(["run", "p.ngraph", "--shared-cache", place]);
    expect(run("redis://x").stderr).toContain('--shared-cache: "redis" is not a known kind of address');
    expect(run("file").status).toBe(64);
    expect(ran(project)).toBe("");
    const { status, stderr } = run("http://127.0.0.1:9");
    expect(status).toBe(0);
    expect(stderr).toMatch(/the shared cache 127\.0\.0\.1:9 is not used any more: .*ECONNREFUSED/);
  });
});

describe("interactive tasks", () => {
  const ASKS = `plan p {
  task before = shell("echo before > ran")
  task login = shell("printf 'your name: '; read name; echo $name > name") after before { interactive }
}
`;
  test("are refused without a terminal, before any task runs", () => {
    const project = createProject({ "p.ngraph": ASKS });
    const { status, stderr } = project.ngc(["run", "p.ngraph"], { input: "Ada\n" });
    expect(status).toBe(64);
    expect(stderr).toContain("the task `login` is interactive, and this run has no terminal");
    expect(ran(project)).toBe("");
    expect(project.ngc(["run", "p.ngraph", "--only", "before"]).status).toBe(0);
  });

  test("one that a condition may skip fails when it would start", () => {
    const text = `plan p { input ci: bool = false task login = shell("read name") when !ci { interactive } }`;
    const project = createProject({ "p.ngraph": text });
    expect(project.ngc(["run", "p.ngraph", "--input", '{"ci": true}']).status).toBe(0);
    const { status, stderr } = project.ngc(["run", "p.ngraph"]);
    expect(status).toBe(1);
    expect(stderr).toContain("the task is `interactive`, and this run has no terminal");
  });

  // `script` of util-linux makes a terminal.
  const hasScript = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "");
  test.skipIf(!hasScript)("read what a person types", () => {
    const project = createProject({ "p.ngraph": ASKS });
    const command = `'${process.execPath}' '${PROGRAM}' run p.ngraph`;
    const { status, stdout } = spawnSync("script", ["-qec", command, "/dev/null"], {
      cwd: project.directory,
      encoding: "utf8",
      input: "Ada\n",
      timeout: 240_000,
    });
    expect(stdout).toContain("your name: ");
    expect(stdout).toContain("2 done");
    expect(status).toBe(0);
    expect(project.read("name")).toBe("Ada\n");
  });
});
