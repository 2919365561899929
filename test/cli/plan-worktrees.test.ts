/** Tasks with `worktree`: each runs in a git worktree of its own, and its changes are merged when its checks pass. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProject, type Document, type Project } from "./project.ts";

const git = (project: Project, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
    cwd: project.directory,
    encoding: "utf8",
  });

function repository(files: Readonly<Record<string, string>>): Project {
  const project = createProject();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project.directory, path)), { recursive: true });
    project.write(path, text);
  }
  git(project, "init", "--quiet", "-b", "main");
  git(project, "add", "--all");
  git(project, "commit", "--quiet", "-m", "Begin");
  return project;
}

const ends = ({ tasks }: Document): unknown[] =>
  (tasks as { id: string; status: string; attempts: number; reason: string | null }[]).map(
    ({ id, status, attempts, reason }) => [id, status, attempts, reason],
  );

/** The patches of a project, by file name. */
function patches(project: Project): Map<string, string> {
  const runs = join(project.directory, ".ngraph/runs");
  const files = readdirSync(runs, { recursive: true, encoding: "latin1" }).filter((path) => path.endsWith(".patch"));
  return new Map(
    files.map((path) => [path.slice(path.lastIndexOf("/") + 1), readFileSync(join(runs, path), "latin1")]),
  );
}

const worktreesOf = (project: Project): string[] =>
  existsSync(join(project.directory, ".ngraph/worktrees"))
    ? readdirSync(join(project.directory, ".ngraph/worktrees"))
    : [];

test.each([".ngraph", ".ngraph/", "node_modules"])("works in a repository that ignores `%s`", (ignored) => {
  const project = repository({
    ".gitignore": `${ignored}\n`,
    "p.ngraph": `plan p { task a = shell("echo one > a.txt") { worktree touches "a.txt" } }`,
  });
  expect(project.json(["run", "p.ngraph"]).document.outcome).toBe("clean");
  expect(project.read("a.txt")).toBe("one\n");
  expect(git(project, "status", "--short")).toBe("?? a.txt\n");
});

test("the values of a list that is known at run time have worktrees of their own", () => {
  const project = repository({
    ".gitignore": ".ngraph\n",
    "p.ngraph": `plan p {
      state names: string[] = []
      task find = split("a b", " ") into names
      task make = shell(\`echo one > \${name}.txt; test ! -e \${here}/\${name}.txt\`) for name in names after find {
        worktree
        touches "a.txt"
        done when shell(\`test -e \${name}.txt && test ! -e \${here}/\${name}.txt\`)
        tries 1
      }
      input here: string
    }`,
  });
  const { document } = project.json(["run", "p.ngraph", "--input", JSON.stringify({ here: project.directory })]);
  expect(document.outcome).toBe("partial");
  expect(git(project, "status", "--short")).toBe("?? a.txt\n");
  expect([...patches(project).keys()]).toEqual(["make%5Bb%5D.patch"]);
});

test("a task sees a copy of the tree, and only its files reach the tree of the run", () => {
  const project = repository({
    ".gitignore": "ignored\n",
    "src/a.txt": "one\n",
    "src/gone.txt": "",
    "p.ngraph": `plan p {
      task change = shell("pwd; ls; echo two > src/a.txt; echo new > src/new.txt; rm src/gone.txt; git add -A; git commit -qm mine --no-verify; echo x > ignored") {
        worktree
        touches "src"
        done when shell("grep -q two src/a.txt && test \${NGRAPH_ATTEMPT} = 1 && test ! -e \${HERE}/src/new.txt", env: { HERE: here })
      }
      task read = shell("cat src/a.txt src/new.txt; ls") after change { worktree }
      input here: string
    }`,
  });
  project.write("staged", "1");
  git(project, "add", "staged");
  project.write("ignored", "own");
  project.write("untracked", "2");
  const head = git(project, "rev-parse", "HEAD");
  const input = JSON.stringify({ here: project.directory });
  const { status, stderr } = project.ngc(["run", "p.ngraph", "--thread", "t", "--input", input], {
    // As in a hook of git.
    env: {
      GIT_DIR: join(project.directory, ".git"),
      GIT_INDEX_FILE: join(project.directory, ".git/index"),
      GIT_AUTHOR_NAME: "t",
      GIT_AUTHOR_EMAIL: "t@example.org",
      GIT_COMMITTER_NAME: "t",
      GIT_COMMITTER_EMAIL: "t@example.org",
    },
  });
  expect([status, stderr]).toEqual([0, expect.not.stringContaining("kept")]);
  expect(project.read("src/a.txt")).toBe("two\n");
  expect(project.read("ignored")).toBe("own");
  expect(git(project, "rev-parse", "HEAD")).toBe(head);
  expect(git(project, "status", "--short")).toBe(
    " M src/a.txt\n D src/gone.txt\nA  staged\n?? src/new.txt\n?? untracked\n",
  );
  const [place, ...files] = project.ngc(["logs", "t", "change"]).stdout.trim().split("\n");
  expect(place).toBe(join(project.directory, ".ngraph/worktrees/1-change"));
  expect(files).toEqual(["p.ngraph", "src", "staged", "untracked"]);
  expect(project.ngc(["logs", "t", "read"]).stdout).toContain("two\nnew\n");
  expect(worktreesOf(project)).toEqual([]);
  expect(git(project, "worktree", "list").trim().split("\n")).toHaveLength(1);
  expect(git(project, "branch", "--all")).toBe("* main\n");
});

test("a change of the same length within a second of a commit or of the copy is seen", () => {
  const project = repository({
    "seen.txt": "old\n",
    "made.txt": "old\n",
    // The index is read in a later second than the one in which git wrote it.
    "p.ngraph": `plan p {
  task a = shell("echo new > made.txt; cat seen.txt; sleep 1.2") into { stdout: seen } { worktree touches "made.txt" }
  output seen: string
}
`,
  });
  project.write("seen.txt", "new\n");
  execFileSync("sleep", ["1.2"]);
  const { document } = project.json(["run", "p.ngraph"]);
  expect(document).toMatchObject({ outcome: "clean", output: { seen: "new" } });
  expect(project.read("made.txt")).toBe("new\n");
});

test("outputs that git ignores come into the tree of the run, and into the cache", () => {
  const project = repository({
    ".gitignore": "dist\ncoverage\n.ngraph\n",
    "src/a.txt": "one\n",
    "p.ngraph": `plan p {
      task build = shell("echo built >> \${LOG}; mkdir -p dist/lib coverage; cp src/a.txt dist/lib; ln -s lib/a.txt dist/latest; echo 1 > coverage/x; echo n > notes.txt") {
        worktree
        env { LOG: log }
        touches "notes.txt"
        cache inputs "src/**"
        outputs "dist/**"
      }
      input log: string
    }`,
  });
  const input = JSON.stringify({ log: join(project.directory, "log") });
  const run = (): Document => project.json(["run", "p.ngraph", "--input", input]).document;
  expect(ends(run())).toEqual([["build", "done", 1, null]]);
  expect(project.read("dist/latest")).toBe("one\n");
  // Other ignored files of the copy are not outputs.
  expect(project.has("coverage")).toBe(false);
  expect(project.read("notes.txt")).toBe("n\n");
  rmSync(join(project.directory, "dist"), { recursive: true });
  expect(run().tasks[0]).toMatchObject({ id: "build", status: "done", cached: true });
  expect(project.read("dist/latest")).toBe("one\n");
  expect(project.read("log")).toBe("built\n");

  // Through a link of the tree, a copy could leave it.
  rmSync(join(project.directory, "dist"), { recursive: true });
  mkdirSync(join(project.directory, "elsewhere"));
  symlinkSync("elsewhere", join(project.directory, "dist"));
  project.write("src/a.txt", "two\n");
  expect(run().tasks[0]).toMatchObject({ id: "build", status: "failed", reason: "merge_conflict:dist/latest" });
  expect(readdirSync(join(project.directory, "elsewhere"))).toEqual([]);
});

test("what is outside of the declared paths, and conflicts, are refused and kept as patches", () => {
  const project = repository({
    shared: "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
    other: "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
    "p.ngraph": `plan p {
      input here: string
      task stray = shell("echo x > mine; echo x > src; printf 'caf\\\\351' > latin") { worktree touches "mine", "latin" }
      task clash = shell("sed -i s/5/theirs/ shared; sed -i s/5/ours/ $HERE/shared", env: { HERE: here }) { worktree touches "shared" }
      task beside = shell("sed -i s/2/theirs/ other; sed -i s/8/ours/ $HERE/other", env: { HERE: here }) { worktree touches "other" }
      task nothing = shell("echo x > y") { worktree }
      task broken = shell("rm -rf .git; echo x > z") { worktree touches "z" }
      task fails = shell("echo x > f; exit 3") { worktree touches "f" }
    }`,
  });
  const input = JSON.stringify({ here: project.directory });
  const { status, document } = project.json(["run", "p.ngraph", "--input", input]);
  expect(status).toBe(1);
  expect(ends(document)).toEqual([
    ["stray", "failed", 1, "undeclared_touches:src"],
    ["clash", "failed", 1, "merge_conflict:shared"],
    ["beside", "done", 1, null],
    ["nothing", "failed", 1, "undeclared_touches:y"],
    ["broken", "done", 1, null],
    ["fails", "failed", 1, "task_failed"],
  ]);
  expect(git(project, "status", "--short")).toBe(" M other\n M shared\n?? z\n");
  expect(project.read("other")).toBe("1\ntheirs\n3\n4\n5\n6\n7\nours\n9\n");
  expect(project.read("shared")).toBe("1\n2\n3\n4\nours\n6\n7\n8\n9\n");
  const kept = patches(project);
  expect([...kept.keys()].sort()).toEqual(["clash.patch", "fails.patch", "nothing.patch", "stray.patch"]);
  expect(kept.get("clash.patch")).toContain("-5\n+theirs\n");
  expect(kept.get("stray.patch")).toContain("caf\u00e9");
  expect(worktreesOf(project)).toEqual([]);
});

test("the next attempt learns why, and continues in its copy", () => {
  const project = repository({
    "p.ngraph": `plan p {
      task a = shell("cat old; echo $NGRAPH_ATTEMPT >> old; echo \\"$NGRAPH_FAILURE\\" >> why; test $NGRAPH_ATTEMPT = 2 || touch bad; test $NGRAPH_ATTEMPT = 1 || rm bad", check: false) {
        worktree
        touches "old", "why"
        tries 3 backoff 1ms
        idempotent
      }
    }`,
  });
  const { status, document } = project.json(["run", "p.ngraph"]);
  expect([status, document.outcome]).toEqual([0, "clean_with_flake"]);
  expect(project.read("old")).toBe("1\n2\n");
  expect(project.read("why")).toContain("changed bad, and the task does not declare them in `touches`");
  expect(project.has("bad")).toBe(false);
});

test("a root below the top of the repository, called plans and matrices", () => {
  const project = repository({
    "web/p.ngraph": `plan p {
      task each = shell(\`pwd; cat x; echo \${n} > out/\${n}\`) for n in ["a b", "../c"] { worktree touches "out", "c" }
      task call = inner()
      task outside = shell("echo x > ../top") { worktree touches "out2" }
    }
    plan inner { task deep = shell("pwd; mkdir -p deep; echo x > deep/f", cwd: "sub") { worktree touches "sub/deep" } }`,
    "web/x": "here",
    "web/sub/y": "",
    "web/out/z": "",
    top: "",
  });
  const below = project.below("web");
  const { document } = below.json(["run", "p.ngraph", "--thread", "t"]);
  expect(ends(document)).toEqual([
    ['each["a b"]', "done", 1, null],
    ['each["../c"]', "done", 1, null],
    ["call", "done", 1, null],
    ["outside", "failed", 1, "undeclared_touches:../top"],
  ]);
  expect(git(project, "status", "--short", "-uall")).toBe('?? web/c\n?? "web/out/a b"\n?? web/sub/deep/f\n');
  expect(below.ngc(["logs", "t", "call/deep"]).stdout).toMatch(/worktrees\/\d-call_deep\/web\/sub\n$/);
});

describe("a run that cannot have worktrees, or is killed", () => {
  const PLAN =
    'plan p { task a = shell("echo x > a; echo started; sleep 0.2; test -e go || sleep 60") { worktree touches "a" } }';

  test("outside of a repository nothing runs", () => {
    const project = createProject({ "p.ngraph": PLAN });
    const { status, stderr } = project.ngc(["run", "p.ngraph"], { env: { GIT_CEILING_DIRECTORIES: "/" } });
    expect(stderr).toContain("the policy `worktree` needs git, which failed");
    expect(status).toBe(64);
    expect(stderr).not.toContain("▸ a");
    // The tree is free again.
    expect(project.has(".ngraph/runs/claim.json")).toBe(false);
  });

  test("a repository without a commit", () => {
    const project = createProject({ "p.ngraph": PLAN, go: "" });
    git(project, "init", "--quiet");
    expect(project.json(["run", "p.ngraph"]).status).toBe(0);
    expect(project.read("a")).toBe("x\n");
  });

  test("after SIGKILL, the next run keeps the changes and removes the worktree", async () => {
    const project = repository({ "p.ngraph": PLAN });
    const child = project.start(["run", "p.ngraph", "--thread", "t"]);
    const isThere = (): boolean =>
      worktreesOf(project).some((name) => existsSync(join(project.directory, ".ngraph/worktrees", name, "a")));
    while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("close", resolve));
    project.write("go", "");
    const { status, stderr } = project.ngc(["resume", "t"]);
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining("the changes of a are kept, not merged: .ngraph/worktrees/"),
    ]);
    expect(project.read("a")).toBe("x\n");
    const [patch = "", ...more] = worktreesOf(project);
    expect(more).toEqual([]);
    expect(readFileSync(join(project.directory, ".ngraph/worktrees", patch), "utf8")).toContain("+++ b/a");
    expect(git(project, "worktree", "list").trim().split("\n")).toHaveLength(1);
  });
});

test("no hook and no program of the repository's configuration runs", () => {
  const project = repository({
    ".gitattributes": "*.txt filter=evil merge=evil\n",
    "a.txt": "1\n2\n3\n4\n5\n6\n7\n",
    "p.ngraph": `plan p {
      input here: string
      task a = shell("sed -i s/1/one/ a.txt; sed -i s/7/seven/ $HERE/a.txt", env: { HERE: here }) { worktree touches "a.txt" }
    }`,
  });
  const spy = join(project.directory, "..", `spy-${process.pid}`);
  writeFileSync(join(project.directory, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${spy}\n`);
  chmodSync(join(project.directory, ".git/hooks/post-checkout"), 0o755);
  for (const key of ["filter.evil.clean", "filter.evil.smudge"])
    git(project, "config", key, `sh -c "touch ${spy}; cat"`);
  git(project, "config", "merge.evil.driver", `touch ${spy}`);
  const input = JSON.stringify({ here: project.directory });
  const { document } = project.json(["run", "p.ngraph", "--input", input]);
  // A merge program of the repository would decide; without it, both sides conflict.
  expect(ends(document)).toEqual([["a", "failed", 1, "merge_conflict:a.txt"]]);
  expect(existsSync(spy)).toBe(false);
});

test("no program of a submodule's configuration runs", () => {
  const library = repository({ "l.txt": "library\n" });
  const project = repository({
    "a.txt": "1\n",
    "p.ngraph": `plan p {
      task a = shell("sed -i s/1/one/ a.txt") { worktree touches "a.txt" }
    }`,
  });
  git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.directory, "lib");
  git(project, "commit", "--quiet", "-m", "A submodule");
  const spy = join(project.directory, "..", `spy-sub-${process.pid}`);
  const inner = (...args: string[]): string => git(project, "-C", "lib", ...args);
  for (const key of ["core.fsmonitor", "filter.evil.clean"]) inner("config", key, `sh -c "touch ${spy}; cat"`);
  project.write("lib/.gitattributes", "*.txt filter=evil\n");
  project.write("lib/l.txt", "changed\n");
  const { document } = project.json(["run", "p.ngraph"]);
  expect(ends(document)).toEqual([["a", "done", 1, null]]);
  expect([project.read("a.txt"), project.read("lib/l.txt")]).toEqual(["one\n", "changed\n"]);
  expect(existsSync(spy)).toBe(false);
});

describe("submodules and nested repositories", () => {
  const commit = "git -c user.name=t -c user.email=t@example.org commit --quiet --message x";
  const fetched = "git -c protocol.file.allow=always submodule --quiet update --init";

  test.each([
    ["a file in the empty directory of a submodule", `echo 2 > lib/l.txt`, ["lib"]],
    ["a file of a submodule", `${fetched}; echo 2 > lib/l.txt`, ["lib"]],
    ["a commit of a submodule", `${fetched}; cd lib; echo 2 > l.txt; ${commit} --all`, ["lib"]],
    ["a removed submodule", `rm -r lib`, ["lib"]],
    ["a new repository", `git init --quiet new; cd new; echo 2 > n; git add n; ${commit}`, ["new"]],
    ["a submodule that is only read", `${fetched}; cat lib/l.txt > read`, []],
  ])("no change is lost: %s", (_, command, refused) => {
    const library = repository({ "l.txt": "1\n" });
    const project = repository({
      "p.ngraph": `plan p { task a = shell("echo 2 > a.txt; ${command}") { worktree touches "**" } }`,
    });
    git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.directory, "lib");
    git(project, "commit", "--quiet", "-m", "A submodule");
    const { document } = project.json(["run", "p.ngraph"]);
    const reason = refused.length === 0 ? null : `merge_conflict:${refused.join(",")}`;
    expect(ends(document)).toEqual([["a", reason === null ? "done" : "failed", 1, reason]]);
    expect([project.has("a.txt"), project.read("lib/l.txt")]).toEqual([reason === null, "1\n"]);
    if (reason !== null) expect(document.tasks[0].error).toContain("merges no changes of submodules");
  });
});
