/** One run of a plan at a time in a git working tree, whatever directory it runs in. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { workingTreeOf } from "../../cli/plan/working-tree.ts";
import { groupMembers } from "../../stdlib/shell/group-members.ts";
import { createProject, PROGRAM, type Project } from "./project.ts";

/** Adds the process group of the command to a file, and waits for another file. */
const plan = (name: string): string =>
  `plan ${name} { task a = shell("echo $$ >> $STATE/groups; test -f go || sleep 600") }\n`;

const git = (project: Project, ...args: string[]): string =>
  execFileSync(
    "git",
    ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always", ...args],
    {
      cwd: project.directory,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    },
  );

function repository(files: Readonly<Record<string, string>>): Project {
  const project = createProject({ ".gitignore": "state\n.ngraph\n", ...files });
  git(project, "init", "--quiet", "-b", "main");
  git(project, "add", "--all");
  git(project, "commit", "--quiet", "-m", "Begin");
  return project;
}

const PACKAGES = { "p.ngraph": plan("top"), "web/p.ngraph": plan("web"), "api/p.ngraph": plan("api") };

interface Tree {
  readonly top: Project;
  readonly env: Record<string, string>;
  /** The process groups of the commands that have started. */
  groups(): readonly number[];
  /** Starts a run and waits until `count` commands have started in all. */
  start(project: Project, args: readonly string[], count?: number): Promise<ReturnType<Project["start"]>>;
}

function treeOf(files: Readonly<Record<string, string>>): Tree {
  const top = repository(files);
  mkdirSync(join(top.directory, "state"));
  const env = { STATE: join(top.directory, "state"), NGC: `${process.execPath} ${PROGRAM}` };
  const groups = (): readonly number[] =>
    top.has("state/groups") ? top.read("state/groups").split("\n").slice(0, -1).map(Number) : [];
  return {
    top,
    env,
    groups,
    async start(project, args, count = 1) {
      const child = project.start(args, env);
      while (groups().length < count) await new Promise((next) => setTimeout(next, 20));
      return child;
    },
  };
}

async function kill(child: ReturnType<Project["start"]>): Promise<void> {
  const exited = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await exited;
}

test("a run in another directory of the tree is refused, with the place of the first one", async () => {
  const { top, env, start } = treeOf(PACKAGES);
  const first = await start(top.below("web"), ["run", "p.ngraph", "--thread", "one"]);
  for (const project of [top.below("api"), top]) {
    const { status, stderr } = project.ngc(["run", "p.ngraph"], { env });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`plan \`web\` \\(thread one\\) works in this tree \\(in web\\) since .*: process ${first.pid}`),
    );
    expect(stderr).toContain("git worktree add");
  }
  // A linked worktree is a tree of its own, even inside of this one.
  git(top, "worktree", "add", "--quiet", "--detach", "other");
  top.write("other/api/go", "");
  expect(top.below("other/api").ngc(["run", "p.ngraph"], { env }).status).toBe(0);
  top.write("web/go", "");
  await kill(first);
  // The commands of the killed run are ended from another directory.
  top.write("api/go", "");
  const next = top.below("api").ngc(["run", "p.ngraph"], { env });
  expect(next.status, next.stderr).toBe(0);
  expect(next.stderr).toContain("ended a command of an earlier run: echo $$ >> $STATE/groups");
  expect(top.has(".ngraph/claim.json")).toBe(false);
  expect(top.has("api/.ngraph/runs/claim.json")).toBe(false);
});

test("a submodule is a part of the tree that contains it", async () => {
  const inner = repository({ "p.ngraph": plan("inner") });
  const { top, env, start } = treeOf({ "p.ngraph": plan("top") });
  git(top, "submodule", "--quiet", "add", inner.directory, "sub/module");
  const first = await start(top.below("sub/module"), ["run", "p.ngraph", "--thread", "one"]);
  const { status, stderr } = top.ngc(["run", "p.ngraph"], { env });
  expect(status).toBe(1);
  expect(stderr).toContain("works in this tree (in sub/module)");
  await kill(first);
  // Without the directory of the run, the store of the killed run still knows its command.
  top.write("go", "");
  expect(top.ngc(["run", "p.ngraph"], { env }).stderr).toContain("ended a command of an earlier run");
});

test("a run that a task starts works under the claim of its run, in a directory of its own", async () => {
  const outer = `plan outer {
  task web = shell("cd web && $NGC run p.ngraph")
  task api = shell("cd api && $NGC run p.ngraph")
}
`;
  const { top, env, groups, start } = treeOf({
    ...PACKAGES,
    "outer.ngraph": outer,
    "same.ngraph": `plan same { task a = shell("$NGC run p.ngraph") }\n`,
  });
  const first = await start(top, ["run", "outer.ngraph", "--thread", "one"], 2);
  const refused = top.below("web").ngc(["run", "p.ngraph"], { env });
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain("plan `outer` (thread one) works in this tree since");
  // With their run, the runs that its tasks have started end, and their commands.
  await kill(first);
  top.write("go", "");
  const next = top.ngc(["run", "p.ngraph"], { env });
  expect(next.status, next.stderr).toBe(0);
  expect(next.stderr).toContain("ended a command of an earlier run: cd web && $NGC run p.ngraph");
  for (const group of groups()) expect(groupMembers(group)).toEqual([]);
  top.write("web/go", "");
  top.write("api/go", "");
  const both = top.ngc(["run", "outer.ngraph"], { env });
  expect(both.status, both.stderr).toBe(0);
  const same = top.ngc(["run", "same.ngraph"], { env });
  expect(same.status).toBe(1);
  expect(same.stderr).toContain("this command is a part of that run: call the plan in a task");
});

test("a graph that calls a plan claims the tree, and its commands end with it", async () => {
  const graph = `graph g {
  output done_: string
  node pack = inner() into { done_ }
  start -> pack -> end
}
plan inner {
  output done_: string
  task a = shell("echo $$ >> $STATE/groups; test -f go || sleep 600; echo packed") into { stdout: done_ }
}
`;
  const { top, env, groups, start } = treeOf({ ...PACKAGES, "web/g.ngraph": graph });
  const web = top.below("web");
  const args = ["run", "g.ngraph", "--graph", "g"];
  const first = await start(web, args);
  for (const [project, again] of [
    [web, args],
    [top, ["run", "p.ngraph"]],
  ] as const) {
    const { status, stderr } = project.ngc(again, { env });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`graph \`g\` \\(run .*works in this tree \\(in web\\) since .*: process ${first.pid}`),
    );
  }
  await kill(first);
  top.write("go", "");
  const next = top.ngc(["run", "p.ngraph"], { env });
  expect(next.status, next.stderr).toBe(0);
  expect(next.stderr).toContain("ended a command of an earlier run: echo $$ >> $STATE/groups");
  expect(groupMembers(groups()[0]!)).toEqual([]);
  top.write("web/go", "");
  const whole = web.ngc([...args, "--host-gone", "elsewhere"], { env });
  expect([whole.status, whole.stdout], whole.stderr).toEqual([0, expect.stringContaining("packed")]);
  // The lock under which claims of dead runs are replaced stays.
  expect(readdirSync(join(web.directory, ".ngraph/runs"))).toEqual(["claim.json.lock"]);
  web.write("h.ngraph", 'graph h {\n  output a: string\n  node x = "1" into a\n  start -> x -> end\n}\n');
  expect(web.ngc(["run", "h.ngraph", "--host-gone", "elsewhere"]).status).toBe(64);
});

test("outside of a git tree, each directory is a tree", async () => {
  const project = createProject({ "a/p.ngraph": plan("one"), "b/p.ngraph": plan("two"), "b/go": "" });
  const child = project.below("a").start(["run", "p.ngraph"], { STATE: project.directory });
  await project.line("groups");
  expect(project.below("b").ngc(["run", "p.ngraph"], { env: { STATE: project.directory } }).status).toBe(0);
  await kill(child);
  process.kill(-Number(project.read("groups").split("\n")[0]), "SIGKILL");
});

test("finds the top of a working tree without git", () => {
  const { directory } = createProject();
  const at = (...path: string[]): string => join(directory, ...path);
  const file = (text: string, ...path: string[]): void => {
    mkdirSync(join(at(...path), ".."), { recursive: true });
    writeFileSync(at(...path), text);
  };
  expect(workingTreeOf(directory)).toBe(directory);
  mkdirSync(at("top/.git"), { recursive: true });
  mkdirSync(at("top/a/b"), { recursive: true });
  // No repository: git does not use it either.
  expect(workingTreeOf(at("top/a/b"))).toBe(at("top/a/b"));
  file("ref: refs/heads/main\n", "top/.git/HEAD");
  expect(workingTreeOf(at("top/a/b"))).toBe(at("top"));
  // A directory that is gone.
  expect(workingTreeOf(at("top/a/gone/more"))).toBe(at("top"));
  file("gitdir: ../../.git/modules/sub\n", "top/sub/x/.git");
  expect(workingTreeOf(at("top/sub/x"))).toBe(at("top"));
  // A linked worktree of the submodule, and a repository in the tree.
  file(".\n", "top/.git/modules/sub/worktrees/y/commondir");
  file("gitdir: ../.git/modules/sub/worktrees/y\n", "top/y/.git");
  expect(workingTreeOf(at("top/y"))).toBe(at("top/y"));
  file("ref: refs/heads/main\n", "top/nested/.git/HEAD");
  mkdirSync(at("top/nested/src"));
  expect(workingTreeOf(at("top/nested/src"))).toBe(at("top/nested"));
  file("gitdir: ../.git/worktrees/z\n", "top/z/.git");
  expect(workingTreeOf(at("top/z"))).toBe(at("top/z"));
  file("not of git", "top/a/.git");
  expect(workingTreeOf(at("top/a/b"))).toBe(at("top"));
  symlinkSync(".git", at("top/a/b/.git"));
  expect(workingTreeOf(at("top/a/b"))).toBe(at("top"));
});

test("runs of many threads leave graphs that call plans to a run that claims the tree", () => {
  const graph = `graph g {
  output done_: string
  state go: bool = false
  node ok   = receive("go") into go
  node pack = inner() into { done_ }
  start -> ok -> pack -> end
}
plan inner {
  output done_: string
  task a = shell("echo packed") into { stdout: done_ }
}
`;
  const { top } = treeOf({ "g.ngraph": graph });
  expect(top.ngc(["run", "g.ngraph", "--graph", "g", "--thread", "t"]).status).toBe(3);
  expect(top.ngc(["signal", "t", "go", "true"]).status).toBe(0);
  const { status, stderr } = top.ngc(["resume", "--due"]);
  expect(status).toBe(1);
  expect(stderr).toContain(
    "graph `g` calls plans: resume its threads by their names, `ngc resume THREAD` [NG_BAD_INPUT]",
  );
  const whole = top.ngc(["resume", "t"]);
  expect([whole.status, whole.stdout], whole.stderr).toEqual([0, expect.stringContaining("packed")]);
});
