/** `ngc run --affected`: the tasks that the changes of a git working tree concern. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { affectedTasks } from "../../cli/plan/affected-tasks.ts";
import { compile } from "../../compiler/index.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { createProject, type Project } from "./project.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const SHIP = `plan ship {
  state version: string
  state size: int
  task number = shell("cat VERSION") into { stdout: version } { touches read "VERSION" }
  task count  = 1 + 1 into size { touches read "count/**" }
  task api  = shell(\`echo \${version}\`) after number { touches read "api/**" }
  task web  = shell(\`echo \${size}\`) after count { touches "web" cache inputs "shared/*.ts" }
  task pack = shell("echo pack") after web { touches "out" }
  task lint = shell("echo lint") after pack { touches read "lint" }
  finally task clean = shell("echo clean")
}
`;
const ALL = ["number", "count", "api", "web", "pack", "lint", "clean"];

const git = (project: Project, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
    cwd: project.directory,
    encoding: "utf8",
  });
const write = (project: Project, path: string, text: string): void => {
  mkdirSync(dirname(join(project.directory, path)), { recursive: true });
  writeFileSync(join(project.directory, path), text);
};

function createRepository(): Project {
  const project = createProject({
    "ship.ngraph": SHIP,
    VERSION: "1",
    "api/a.ts": "",
    "web/w.ts": "",
    ".gitignore": "",
  });
  git(project, "init", "-q", "-b", "main");
  git(project, "add", "-A");
  git(project, "commit", "-qm", "first");
  return project;
}

const plan = compile(SHIP, { path: "ship.ngraph" }).tables.get("ship") as unknown as PlanTable;
const affected = (project: Project, ref?: string): readonly string[] | undefined =>
  affectedTasks(plan, join(project.directory, "ship.ngraph"), ref, project.directory);

describe("the affected tasks", () => {
  test("match a changed path, or come after such a task, or write what it may read", () => {
    const project = createRepository();
    expect(affected(project)).toEqual([]);
    write(project, "api/new.ts", "");
    expect(affected(project)).toEqual(["number", "api", "clean"]);
    write(project, "shared/x.ts", "");
    expect(affected(project)).toEqual(["number", "count", "api", "web", "pack", "lint", "clean"]);
    git(project, "add", "-A");
    git(project, "commit", "-qm", "second");
    expect(affected(project)).toEqual([]);
    write(project, "lint", "");
    expect(affected(project)).toEqual(["count", "lint", "clean"]);
  });

  test("see a deleted file, a renamed file, and a folder", () => {
    const project = createRepository();
    git(project, "rm", "-q", "VERSION");
    expect(affected(project)).toEqual(["number", "api", "clean"]);
    git(project, "reset", "-q", "--hard");
    git(project, "mv", "web/w.ts", "elsewhere.ts");
    expect(affected(project)).toEqual(["count", "web", "pack", "lint", "clean"]);
  });

  test("are counted from the commit where the branch began", () => {
    const project = createRepository();
    git(project, "checkout", "-qb", "feature");
    write(project, "api/b.ts", "");
    git(project, "add", "-A");
    git(project, "commit", "-qm", "feature");
    git(project, "checkout", "-q", "main");
    write(project, "lint", "");
    git(project, "add", "-A");
    git(project, "commit", "-qm", "main");
    git(project, "checkout", "-q", "feature");
    expect(affected(project, "main")).toEqual(["number", "api", "clean"]);
  });

  test("are all tasks if the file of the plan has changed", () => {
    const project = createRepository();
    write(project, "ship.ngraph", `${SHIP}\n`);
    expect(affected(project)).toBeUndefined();
  });

  test("include a task that declares no path, and all tasks before the first commit", () => {
    const project = createRepository();
    const { tables } = compile(`plan p { task a = shell("a") task b = shell("b") { touches "b" } }`, {
      path: "p.ngraph",
    });
    const open = tables.get("p") as unknown as PlanTable;
    expect(affectedTasks(open, "p.ngraph", undefined, project.directory)).toEqual(["a"]);
    const empty = createProject({ VERSION: "1", "web/w": "", "count/x": "" });
    git(empty, "init", "-q");
    expect(affected(empty)).toEqual(ALL);
  });

  test("include a task whose called plan declares a changed path, or no path", () => {
    const project = createRepository();
    const text = `plan inner { task i = shell("i") { touches "api" } }
      plan open { task o = shell("o") }
      plan outer { task a = inner() { touches "x" } task b = open() { touches "y" } task c = shell("c") { touches "z" } }`;
    const outer = compile(text, { path: "o.ngraph" }).tables.get("outer") as unknown as PlanTable;
    const names = (): readonly string[] | undefined => affectedTasks(outer, "o.ngraph", undefined, project.directory);
    expect(names()).toEqual(["b"]);
    write(project, "api/new.ts", "");
    expect(names()).toEqual(["a", "b"]);
  });

  test.each(["none", "--output=x", "", "main..main"])("refuse %j as a commit", (ref) => {
    const project = createRepository();
    expect(() => affected(project, ref)).toThrow(`--affected: the repository has no commit \`${ref}\``);
    expect(git(project, "status", "--porcelain")).toBe("");
  });

  test("refuse commits without a common ancestor, and a directory without git", () => {
    const project = createRepository();
    git(project, "checkout", "-q", "--orphan", "other");
    git(project, "commit", "-qm", "other");
    expect(() => affected(project, "main")).toThrow("have no common ancestor");
    expect(() => affected(createProject({}))).toThrow("--affected needs git, which failed");
  });

  test("names the program if git is not installed", () => {
    const project = createProject({});
    vi.stubEnv("PATH", project.directory);
    expect(() => affected(project)).toThrow("--affected needs git, which failed: no such program `git`");
  });
});

describe("the files of a submodule", () => {
  /** The folder `api` is a submodule. */
  function withSubmodule(): { readonly project: Project; readonly inner: Project } {
    const project = createRepository();
    const inner = createProject({ "lib/a.ts": "", "docs/b.md": "" });
    git(inner, "init", "-q", "-b", "main");
    git(inner, "add", "-A");
    git(inner, "commit", "-qm", "first");
    git(project, "rm", "-rq", "api");
    git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.directory, "api");
    git(project, "commit", "-qm", "a submodule");
    return { project, inner: { ...project, directory: join(project.directory, "api") } };
  }
  const narrow = compile(SHIP.replace("api/**", "api/lib/*"), { path: "ship.ngraph" }).tables.get("ship");
  const affectedNarrow = (project: Project, ref?: string): readonly string[] | undefined =>
    affectedTasks(narrow as PlanTable, join(project.directory, "ship.ngraph"), ref, project.directory);

  test("count in a hook of git, which names the tree of the hook in the environment", () => {
    const { project } = withSubmodule();
    write(project, "api/lib/new.ts", "");
    const place = join(project.directory, ".git");
    for (const [name, value] of [
      ["GIT_DIR", place],
      ["GIT_INDEX_FILE", ".git/index"],
      ["GIT_PREFIX", ""],
    ] as const)
      vi.stubEnv(name, value);
    expect(affectedNarrow(project)).toEqual(["number", "api", "clean"]);
  });

  test("count by their own paths: dirty, new, and of another commit", () => {
    const { project, inner } = withSubmodule();
    expect(affectedNarrow(project)).toEqual([]);
    write(project, "api/docs/b.md", "changed");
    expect(affectedNarrow(project)).toEqual([]);
    write(project, "api/lib/new.ts", "");
    expect(affectedNarrow(project)).toEqual(["number", "api", "clean"]);
    git(inner, "add", "-A");
    git(inner, "commit", "-qm", "second");
    expect(affectedNarrow(project)).toEqual(["number", "api", "clean"]);
    git(project, "add", "-A");
    git(project, "commit", "-qm", "the second commit of the submodule");
    expect(affectedNarrow(project)).toEqual([]);
    expect(affectedNarrow(project, "HEAD~1")).toEqual(["number", "api", "clean"]);
    // The commit without the submodule.
    expect(affectedNarrow(project, "HEAD~2")).toEqual(["number", "api", "clean"]);
  });

  test("all count if the commit that the tree names is not fetched", () => {
    const { project } = withSubmodule();
    git(project, "update-index", "--cacheinfo", `160000,${"1".repeat(40)},api`);
    git(project, "commit", "-qm", "an unknown commit");
    expect(affectedNarrow(project)).toEqual(["number", "api", "clean"]);
  });

  test("are read without the programs that its configuration names", () => {
    const { project, inner } = withSubmodule();
    write(project, "api/.gitattributes", "*.ts filter=planted\n");
    write(project, "run.sh", `#!/bin/sh\necho ran >> ${join(project.directory, "ran.txt")}\ncat\n`);
    chmodSync(join(project.directory, "run.sh"), 0o755);
    for (const name of ["filter.planted.clean", "core.fsmonitor", "diff.external"])
      git(inner, "config", name, join(project.directory, "run.sh"));
    write(project, "api/lib/a.ts", "changed");
    expect(affectedNarrow(project)).toEqual(["number", "api", "clean"]);
    expect(existsSync(join(project.directory, "ran.txt"))).toBe(false);
  });

  test("end where a link leads back to the tree", () => {
    const project = createRepository();
    const paths = ["x", "y", "z"];
    const modules = paths.map((path) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ./\n`);
    for (const path of paths) symlinkSync(".", join(project.directory, path));
    write(project, ".gitmodules", modules.join(""));
    expect(affected(project)).not.toContain("api");
  });
});

test("ngc run --affected", () => {
  const project = createRepository();
  const nothing = project.json(["run", "ship.ngraph", "--affected"]);
  expect([nothing.status, nothing.document]).toEqual([0, { version: 1, affected: [] }]);
  write(project, "api/new.ts", "");
  expect(project.ngc(["run", "ship.ngraph", "--affected", "--dry-run"]).stdout).toBe("1. number\n2. api\n3. clean\n");
  const { status, document } = project.json(["run", "ship.ngraph", "--affected=HEAD", "--store", "memory"]);
  expect([status, document.batches]).toEqual([0, [["number"], ["api"], ["clean"]]]);
  // A graph file behind the option is the argument.
  for (const args of [
    ["--affected", "ship.ngraph", "--dry-run"],
    ["--dry-run", "--affected", "ship.ngraph"],
    ["--affected", "HEAD", "ship.ngraph", "--dry-run"],
  ])
    expect(project.ngc(["run", ...args])).toMatchObject({ status: 0, stdout: "1. number\n2. api\n3. clean\n" });
  expect(project.ngc(["run", "ship.ngraph", "--affected=ship.ngraph"]).stderr).toContain(
    "the repository has no commit `ship.ngraph`",
  );
  expect(project.ngc(["run", "--affected", "ship.ngraph", "HEAD"]).stderr).toContain("too many arguments");
  const both = project.ngc(["run", "ship.ngraph", "--affected", "--only", "api"]);
  expect([both.status, both.stderr]).toEqual([
    64,
    expect.stringContaining("--only and --affected both select the tasks"),
  ]);
});

describe("the configuration of the repository", () => {
  test("runs no program", () => {
    const project = createRepository();
    write(project, ".gitattributes", "*.ts filter=planted diff=planted\n");
    write(project, "run.sh", "#!/bin/sh\necho ran >> ran.txt\ncat\n");
    chmodSync(join(project.directory, "run.sh"), 0o755);
    git(project, "add", "-A");
    git(project, "commit", "-qm", "second");
    for (const name of ["filter.planted.clean", "filter.planted.process", "core.fsmonitor", "diff.external"])
      git(project, "config", name, "./run.sh");
    git(project, "config", "filter.planted.required", "true");
    git(project, "config", "diff.planted.textconv", "./run.sh");
    git(project, "config", "core.hooksPath", ".");
    write(project, "api/a.ts", "changed");
    expect(affected(project)).toEqual(["number", "api", "clean"]);
    expect(existsSync(join(project.directory, "ran.txt"))).toBe(false);
  });

  test("of an embedded bare repository is not read", () => {
    const project = createRepository();
    const bare = join(project.directory, "sub");
    git(project, "init", "-q", "--bare", "sub");
    git(project, "--git-dir", "sub", "config", "core.bare", "false");
    git(project, "--git-dir", "sub", "config", "core.worktree", ".");
    git(project, "--git-dir", "sub", "config", "core.fsmonitor", "touch ran.txt; false");
    writeFileSync(join(bare, "ship.ngraph"), SHIP);
    expect(() => affectedTasks(plan, join(bare, "ship.ngraph"), undefined, bare)).toThrow(/--affected needs git/);
    expect(existsSync(join(bare, "ran.txt"))).toBe(false);
  });
});
