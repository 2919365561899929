import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProject, type Document, type Project } from "./project.ts";

const SHIP = `plan ship {
  max parallel 3
  order file
  task init  = shell("echo init >> ran")
  task left  = shell("echo left >> ran") after init
  task right = shell("echo right >> ran") after init
  task check = shell("test -f allowed") after left, right
  task last  = shell("echo last >> ran") after check
}
`;

const runsOf = (project: Project): string[] =>
  readdirSync(join(project.directory, ".ngraph/runs"), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
const logOf = (project: Project, run: string): Document[] =>
  project
    .read(`.ngraph/runs/${run}/transitions.jsonl`)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Document);

describe("ngc run of a plan", () => {
  test("the document of --json, the log, and the exit code of a clean run", () => {
    const project = createProject({ "ship.ngraph": SHIP, allowed: "" });
    const { status, document } = project.json(["run", "ship.ngraph", "--thread", "t"]);
    expect(status).toBe(0);
    expect(document).toMatchObject({
      version: 1,
      outcome: "clean",
      thread: "t",
      batches: [["init"], ["left", "right"], ["check"], ["last"]],
      exitCode: 0,
    });
    expect(document.tasks[0]).toMatchObject({ id: "init", status: "done", attempts: 1, reason: null });
    const [run = ""] = runsOf(project);
    expect(run).toBe(document.run);
    const log = logOf(project, run);
    expect(log[0]).toMatchObject({ type: "run_start", run_id: run, total_nodes: 5 });
    expect(log.at(-1)).toMatchObject({ type: "run_end", outcome: "clean", done: 5, exit_code: 0 });
    expect(project.read(`.ngraph/runs/${run}/plan.ngraph`)).toBe(SHIP);
    expect(JSON.parse(project.read(`.ngraph/runs/${run}/summary.json`))).toMatchObject({ outcome: "clean" });
    expect(project.read(".ngraph/.gitignore")).toBe("*\n");
  });

  test("--report writes a JUnit report and a page with the output of failures", () => {
    const plan = 'plan p { task a = shell("echo fine")  task b = shell("echo broken; exit 3") }';
    const project = createProject({ "p.ngraph": plan });
    expect(project.ngc(["run", "p.ngraph", "--report", "out/r.xml", "--report", "r.html"]).status).toBe(1);
    expect(project.read("out/r.xml")).toMatch(/<system-out>==&gt; b, try 1 &lt;==\nbroken\n<\/system-out>/);
    expect(project.read("r.html")).toContain("broken");
    const refused = project.ngc(["run", "p.ngraph", "--report", "r.txt"]);
    expect([refused.status, refused.stderr]).toEqual([64, expect.stringContaining("neither .xml nor .html")]);
  });

  test("prints all failures at the end; a resume runs the remaining tasks", () => {
    const project = createProject({ "ship.ngraph": SHIP });
    const failed = project.ngc(["run", "ship.ngraph", "--thread", "t"]);
    expect(failed.status).toBe(1);
    expect(failed.stdout).toContain("stuck: 3 done, 1 failed, 1 blocked");
    expect(failed.stderr).toContain("failed: check: task_failed after 1 attempt");
    expect(failed.stderr).toContain("blocked: last (ancestor_failed:check)");
    expect(failed.stderr).toContain("resume with: ngc resume t");
    project.write("allowed", "");
    const resumed = project.json(["resume", "t"]);
    expect(resumed.status).toBe(0);
    expect(resumed.document).toMatchObject({ outcome: "clean", batches: [["check"], ["last"]] });
    expect(project.read("ran").trim().split("\n").sort()).toEqual(["init", "last", "left", "right"]);
    const runs = runsOf(project);
    expect(runs).toContain(resumed.document.resumedFrom);
    const over = project.ngc(["resume", "t"]);
    expect(over.status).not.toBe(0);
    expect(over.stderr).toContain("no task is left to resume");
    expect(project.json(["threads"]).document.threads).toMatchObject([{ thread: "t", status: "completed" }]);
    const history = project.ngc(["history", "t"]).stdout.trim().split("\n");
    expect(history.map((line) => line.split(/ {2,}/).slice(2, 4))).toEqual([
      ["at", "status"],
      ["end", "completed"],
      ["start", "running"],
      ["end", "failed"],
      ["start", "running"],
    ]);
    expect(history[3]).toContain("init, left, right");
    expect(history[3]).toContain(resumed.document.resumedFrom);
  });

  test("prints plain lines without a terminal", () => {
    const { stderr } = createProject({ "ship.ngraph": SHIP, allowed: "" }).ngc(["run", "ship.ngraph"]);
    expect(stderr).toMatch(/^▸ init$/m);
    expect(stderr).toMatch(/^✓ init \d+ms$/m);
    expect(stderr).not.toContain("\u001b");
  });

  test("--retry runs done tasks again", () => {
    const project = createProject({
      "p.ngraph":
        'plan p { task a = shell("echo a >> ran")  task b = shell("echo b >> ran") after a  task c = shell("echo c >> ran") }',
      "g.ngraph": 'graph g { node n = shell("true")  start -> n -> end }',
    });
    expect(project.ngc(["run", "p.ngraph", "--thread", "t"]).status).toBe(0);
    project.write("ran", "");
    const { status, document } = project.json(["resume", "t", "--retry", "b, c"]);
    expect([status, document.outcome]).toEqual([0, "clean"]);
    expect(project.read("ran").trim().split("\n").sort()).toEqual(["b", "c"]);

    project.ngc(["run", "g.ngraph", "--thread", "g"]);
    for (const [args, message] of [
      [["resume", "t", "--retry", "nope"], "has no task `nope`"],
      [["resume", "t", "--retry", "a", "--only", "b"], "--retry and --only both select the tasks"],
      [["resume", "t", "--retry", "a", "--from-task", "b"], "--retry and --from-task both select the tasks"],
      [["resume", "--interrupted", "--retry", "a"], "it takes no --answer, --from, --at, --config or --retry"],
      [["resume", "g", "--retry", "n"], "--retry: `g` is a graph, not a plan"],
    ] as const) {
      const refused = project.ngc(args);
      expect(refused.stderr).toContain(message);
      expect(refused.status).toBe(64);
    }
  });

  test("--dry-run, --only, --from-task", () => {
    const project = createProject({ "ship.ngraph": SHIP, allowed: "" });
    expect(project.ngc(["run", "ship.ngraph", "--dry-run"]).stdout).toBe(
      "1. init\n2. left, right\n3. check\n4. last\n",
    );
    expect(project.has("ran")).toBe(false);
    expect(project.has(".ngraph")).toBe(false);
    expect(project.json(["run", "ship.ngraph", "--only", "left, last"]).document.batches).toEqual([["left", "last"]]);
    expect(project.json(["run", "ship.ngraph", "--from-task", "check"]).document.batches).toEqual([
      ["check"],
      ["last"],
    ]);
    const wrong = project.ngc(["run", "ship.ngraph", "--only", "lift"]);
    expect(wrong.status).toBe(64);
    expect(wrong.stderr).toContain("has no task `lift`");
    const dry = (...flags: string[]) => project.json(["run", "ship.ngraph", "--dry-run", ...flags]).document.batches;
    expect(dry("--only", "left, last")).toEqual([["left", "last"]]);
    expect(dry("--from-task", "check")).toEqual([["check"], ["last"]]);
    const unknown = project.ngc(["run", "ship.ngraph", "--dry-run", "--only", "lift"]);
    expect([unknown.status, unknown.stdout]).toEqual([64, ""]);
    expect(unknown.stderr).toContain("has no task `lift`");
  });

  test("--only refuses a task that reads what only a left-out task writes", () => {
    const project = createProject({
      "p.ngraph": `plan p {
  output name: string
  output text: string
  task first  = shell("echo Ada") into { stdout: name }
  task second = \`Hello \${name}\` after first into text
  task third  = shell(\`echo \${name ?? "nobody"}\`) after done first
}
`,
    });
    const refused = project.ngc(["run", "p.ngraph", "--only", "second", "--thread", "t0"]);
    expect(refused.status).toBe(64);
    expect(refused.stderr).toContain(
      "task `second` reads `name`, which task `first` writes, and that task is left out",
    );
    expect(project.ngc(["run", "p.ngraph", "--only", "third"]).status).toBe(0);
    expect(project.ngc(["run", "p.ngraph", "--only", "first", "--thread", "t1"]).status).toBe(0);
    expect(project.json(["resume", "t1", "--only", "second"]).document.output).toMatchObject({ text: "Hello Ada" });
  });

  test("a further attempt learns why the previous one has failed", () => {
    const project = createProject({
      "p.ngraph": `secret TOKEN
plan p {
  output seen: json[] reduce append
  task fix = shell(\`echo "$NGRAPH_ATTEMPT:$NGRAPH_FAILURE" >> env.txt; cat "$NGRAPH_FAILURE_FILE" >> file.txt; echo \${failure?.message ?? "none"} >> text.txt; echo x >> count\`) {
    done when shell("test -e count")
    done when shell("echo count is $(wc -l < count) token-value; test $(wc -l < count) = 2")
    tries 3 backoff 1ms..1ms
  }
  task after_it = [failure] after fix into seen
}
`,
    });
    const { status, stdout } = project.ngc(["run", "p.ngraph", "--json"], { env: { TOKEN: "token-value" } });
    expect([status, JSON.parse(stdout).output]).toEqual([0, { seen: [null] }]);
    const message = "not done: `echo count is $(wc -l < count) [secret TOKEN]; test $(wc -l < count) = 2` ended with 1";
    expect(project.read("text.txt")).toBe(`none\n${message}\n`);
    const reason = `${message}\n\n$ echo count is $(wc -l < count) [secret TOKEN]; test $(wc -l < count) = 2\ncount is 1 [secret TOKEN]\n`;
    expect(project.read("file.txt")).toBe(reason);
    expect(project.read("env.txt")).toContain(`2:${reason.trimEnd()}`);
  });

  test("K-18: a plan without roots: exit 2, the message, and nothing ran", () => {
    const project = createProject({
      "bad.ngraph": `plan p {\n  task a = shell("echo a >> ran") after b\n  task b = shell("echo b >> ran") after a\n}\n`,
    });
    const { status, stderr } = project.ngc(["run", "bad.ngraph"]);
    expect(status).toBe(2);
    expect(stderr).toContain("graph has no roots — cycle or malformed deps");
    expect(project.has("ran") || project.has(".ngraph/runs")).toBe(false);
  });

  test("refuses flags without effect", () => {
    const project = createProject({
      "ship.ngraph": SHIP,
      "g.ngraph": "graph g { output n: int = 0 node a = 1 into n start -> a }",
    });
    expect(project.ngc(["run", "g.ngraph", "--only", "a"])).toMatchObject({ status: 64 });
    expect(project.ngc(["run", "ship.ngraph", "--max-steps", "3"])).toMatchObject({ status: 64 });
  });

  test("stores the output of checks, at most 4,096 bytes, without secrets", () => {
    const project = createProject({
      "p.ngraph": `secret TOKEN
plan p {
  task a = shell("true") { done when shell("printf %05000d 7; echo $T; exit 3", env: { T: TOKEN }) tries 1 }
}
`,
    });
    const { status, stderr } = project.ngc(["run", "p.ngraph", "--store", "memory"], {
      env: { TOKEN: "hunter2secret" },
    });
    expect(stderr).not.toContain("hunter2secret");
    expect(status).toBe(1);
    const [run = ""] = runsOf(project);
    const attempt = logOf(project, run).find(({ type }) => type === "node_attempt");
    expect(attempt.done_when_results).toMatchObject([{ rc: 3, truncated: true }]);
    expect(Buffer.byteLength(attempt.done_when_results[0].tail)).toBeLessThanOrEqual(4096);
    expect(attempt.done_when_results[0].tail).not.toContain("hunter2secret");
  });
});

test("redacts secrets of called plans and graphs everywhere", () => {
  const project = createProject({
    "p.ngraph": `secret TOKEN
plan outer { task a = inner()  task b = g() }
plan inner { task one = shell("echo $T; exit 3", env: { T: TOKEN }) }
graph g { node two = shell("echo $T; exit 3", env: { T: TOKEN })  start -> two }
`,
  });
  const env = { TOKEN: "hunter2secret" };
  const { status, stdout, stderr } = project.ngc(["run", "p.ngraph", "--graph", "outer", "--json"], { env });
  expect(status).toBe(1);
  const [run = ""] = runsOf(project);
  const log = project.read(`.ngraph/runs/${run}/transitions.jsonl`);
  expect(log).toContain("[secret TOKEN]");
  expect(stdout + stderr + log + project.read(`.ngraph/runs/${run}/summary.json`)).not.toContain("hunter2secret");
  for (const file of ["runs.db", "runs.db-wal"])
    if (project.has(`.ngraph/${file}`)) expect(project.read(`.ngraph/${file}`)).not.toContain("hunter2secret");
});

test("redacts secrets of a plan that a graph calls", () => {
  const project = createProject({
    "p.ngraph": `secret TOKEN
graph outer { node a = inner()  start -> a }
plan inner { task one = shell("echo $T; exit 3", env: { T: TOKEN }) }
`,
  });
  const env = { TOKEN: "hunter2secret" };
  const { status, stdout, stderr } = project.ngc(["run", "p.ngraph", "--graph", "outer", "--json"], { env });
  expect(status).toBe(1);
  expect(stdout + stderr).not.toContain("hunter2secret");
  for (const file of ["runs.db", "runs.db-wal"])
    if (project.has(`.ngraph/${file}`)) expect(project.read(`.ngraph/${file}`)).not.toContain("hunter2secret");
});

test("durations of earlier runs decide the order", () => {
  const project = createProject({
    "p.ngraph": `plan p {\n  max parallel 1\n  task quick = shell("true")\n  task slow = shell("sleep 2")\n}\n`,
  });
  expect(project.json(["run", "p.ngraph"]).document.batches).toEqual([["quick"], ["slow"]]);
  expect(project.json(["run", "p.ngraph"]).document.batches).toEqual([["slow"], ["quick"]]);
});

describe("cache", () => {
  const CACHED = `plan p {
  task build = shell("echo build >> ran; cat src/a.txt > out.txt") { touches "out.txt"  cache inputs "src/**" }
  task test  = shell("echo test >> ran") after build { cache }
}
`;
  test("a task runs again if a dependency has changed, and prints which", () => {
    const project = createProject({ "p.ngraph": CACHED, "src/a.txt": "1" });
    const ran = (): string[] => (project.has("ran") ? project.read("ran").trim().split("\n") : []);
    const first = project.ngc(["run", "p.ngraph"]);
    expect([first.status, first.stderr]).toEqual([0, expect.stringContaining("build runs: it has no stored result")]);
    expect(ran()).toEqual(["build", "test"]);
    const again = project.ngc(["run", "p.ngraph"]);
    expect(again.stderr).toContain("build: nothing it depends on has changed");
    expect(ran()).toEqual(["build", "test"]);
    project.write("src/a.txt", "2");
    const changed = project.ngc(["run", "p.ngraph"]);
    expect(changed.stderr).toContain("build runs: changed since: src/a.txt");
    expect(changed.stderr).toContain("test runs: changed since: upstream build");
    expect(ran()).toEqual(["build", "test", "build", "test"]);
    project.write("out.txt", "tampered");
    expect(project.ngc(["run", "p.ngraph"]).stderr).toContain("build runs: changed since: out.txt");
    expect(project.ngc(["run", "p.ngraph", "--no-cache"]).stderr).toContain("build runs: --no-cache");
  });
});

describe("--verify-touches", () => {
  const git = (project: Project, ...args: string[]): void =>
    void execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
      cwd: project.directory,
      stdio: "ignore",
    });
  const TOUCHES = `plan p {
  order file
  task good  = shell("echo x > src/a.ts") { touches "src/*.ts" }
  task moved = shell("echo x > src/b.ts && git add -A && git -c user.name=t -c user.email=t@e.org commit -qm x") after good { touches "src/**" }
  task bad   = shell("echo x > other.txt") after moved { touches "src/a.ts" }
  task last  = shell("true") after bad
}
`;
  test("a task that changes undeclared files fails", () => {
    const project = createProject({ "p.ngraph": TOUCHES, "src/a.ts": "", "old.txt": "uncommitted" });
    git(project, "init", "-q");
    const { document } = project.json(["run", "p.ngraph", "--verify-touches"]);
    expect(document.tasks.map(({ id, status, reason }: Document) => [id, status, reason])).toEqual([
      ["good", "done", null],
      ["moved", "done", null],
      ["bad", "failed", "undeclared_touches:other.txt"],
      ["last", "blocked", "ancestor_failed:bad"],
    ]);
  });

  test("one task runs at a time, so that a change of what another task declares has its author", () => {
    const project = createProject({
      "p.ngraph": `plan p {
  order file
  task a = shell("echo x > src/b.ts; sleep 0.3") { touches "src/a.ts" }
  task b = shell("echo y > src/b.ts; sleep 0.3") { touches "src/b.ts" }
  task c = shell("cat src/b.ts") after b
}
`,
      "src/a.ts": "",
      "src/b.ts": "",
    });
    git(project, "init", "-q");
    const { status, document } = project.json(["run", "p.ngraph", "--verify-touches"]);
    expect(status).toBe(1);
    expect(document.tasks.map(({ id, reason }: Document) => [id, reason])).toEqual([
      ["a", "undeclared_touches:src/b.ts"],
      ["b", null],
      ["c", null],
    ]);
    expect(project.json(["run", "p.ngraph", "--dry-run", "--verify-touches"]).document.batches).toEqual([
      ["a"],
      ["b"],
      ["c"],
    ]);
    expect(project.json(["run", "p.ngraph", "--dry-run"]).document.batches[0]).toEqual(["a", "b"]);
  });

  test("an undeclared change fails every task that can have made it, and what depends on them does not start", () => {
    const project = createProject({
      "p.ngraph": `plan p {
  task a    = shell("echo x > stray.txt; sleep 0.3")
  task b    = shell("until test -e stray.txt; do sleep 0.05; done")
  task gate = shell("echo committed > gate.txt") after a, b
  task c    = shell("sleep 0.6; true")
}
`,
    });
    git(project, "init", "-q");
    const { status, document } = project.json(["run", "p.ngraph", "--verify-touches", "--max-parallel", "4"]);
    expect(status).toBe(1);
    expect(document.remarks[0]).toMatch(/^stray\.txt: changed by one of .*, which none of them declares$/);
    const reasons = Object.fromEntries(document.tasks.map(({ id, reason }: Document) => [id, reason]));
    expect(reasons).toMatchObject({ a: "undeclared_touches:stray.txt", b: "undeclared_touches:stray.txt" });
    expect(project.has("gate.txt")).toBe(false);
  });

  test("a file that is written with the same content, or only touched, has not changed", () => {
    const project = createProject({
      "p.ngraph": `plan p {
  max parallel 1
  task same      = shell("cat dirty.txt > copy && cat copy > dirty.txt && rm copy && touch -d 2001-01-01 clean.txt")
  task committed = shell("git add dirty.txt && git -c user.name=t -c user.email=t@e.org commit -qm x") after same
  task undone    = shell("git reset -q --soft HEAD~1") after committed
  task mode      = shell("chmod +x clean.txt") after undone
}
`,
      "clean.txt": "clean",
      "dirty.txt": "first",
    });
    git(project, "init", "-q");
    git(project, "add", "clean.txt", "dirty.txt");
    git(project, "commit", "-qm", "first");
    project.write("dirty.txt", "second");
    const { document } = project.json(["run", "p.ngraph", "--verify-touches"]);
    expect(document.tasks.map(({ id, reason }: Document) => [id, reason])).toEqual([
      ["same", null],
      ["committed", null],
      ["undone", null],
      ["mode", "undeclared_touches:clean.txt"],
    ]);
  });

  test("files of a submodule and of a nested repository are compared one by one", () => {
    const project = createProject({
      "p.ngraph": `plan p {
  max parallel 1
  task declared = shell("echo 2 > sm/f && cd sm && git -c user.name=t -c user.email=t@e.org commit -qam x") { touches "sm/f" }
  task dirty    = shell("echo 3 > sm/f") { touches "sm/f" }
  task more     = shell("echo 4 > sm/g") after dirty
  task nested   = shell("echo 5 > other/h") { touches "other/h" }
  task stray    = shell("echo 6 > other/i") after nested
}
`,
      "origin/f": "1",
      "origin/g": "1",
      "other/h": "1",
      ".gitignore": "origin/\n",
    });
    const inside = (folder: string, ...args: string[]): void => git(project, "-C", folder, ...args);
    for (const folder of ["origin", "other"]) {
      inside(folder, "init", "-q");
      inside(folder, "add", "-A");
      inside(folder, "commit", "-qm", "first");
    }
    git(project, "init", "-q");
    git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./origin", "sm");
    const { document } = project.json(["run", "p.ngraph", "--verify-touches"]);
    expect(Object.fromEntries(document.tasks.map(({ id, reason }: Document) => [id, reason]))).toEqual({
      declared: null,
      dirty: null,
      more: "undeclared_touches:sm/g",
      nested: null,
      stray: "undeclared_touches:other/i",
    });
  });

  test("outside of a git tree it is refused", () => {
    const project = createProject({ "p.ngraph": `plan p { task a = shell("echo a >> ran") }` });
    const env = { GIT_CEILING_DIRECTORIES: join(project.directory, "..") };
    const { status, stderr } = project.ngc(["run", "p.ngraph", "--verify-touches"], { env });
    expect(status).toBe(64);
    expect(stderr).toContain("inside a git working tree");
    expect(project.has("ran")).toBe(false);
  });
});

describe("interruption", () => {
  const SLOW = `plan p {
  order file
  task a = shell("echo a >> started; until test -e go; do sleep 0.05; done; echo a >> ended")
  task b = shell("echo b >> started") after a
}
`;
  const whenStarted = (child: ReturnType<Project["start"]>): Promise<void> =>
    new Promise((resolve) => child.stderr.on("data", (chunk) => String(chunk).includes("▸ a") && resolve()));
  const ended = (child: ReturnType<Project["start"]>): Promise<number | null> =>
    new Promise((resolve) => child.once("close", resolve));

  test("the first SIGINT lets running tasks end; the run can be resumed", async () => {
    const project = createProject({ "p.ngraph": SLOW });
    const child = project.start(["run", "p.ngraph", "--thread", "t"]);
    await whenStarted(child);
    child.stderr.on("data", (chunk) => String(chunk).includes("press Ctrl-C again") && project.write("go", ""));
    child.kill("SIGINT");
    expect(await ended(child)).toBe(130);
    expect(project.read("ended")).toBe("a\n");
    expect(project.read("started")).toBe("a\n");
    expect(project.json(["resume", "t"])).toMatchObject({ status: 0, document: { batches: [["b"]] } });
  });

  test("after the first SIGINT a task is not tried again, and its delay ends", async () => {
    const text = `plan p {
  task a = shell("echo a >> tried; sleep 0.5; exit 1") { tries 5 backoff 1m..1m }
}
`;
    const during = createProject({ "p.ngraph": text });
    const early = during.start(["run", "p.ngraph", "--thread", "t"]);
    await whenStarted(early);
    early.kill("SIGINT");
    expect(await ended(early)).toBe(130);
    expect(during.read("tried")).toBe("a\n");

    const between = createProject({ "p.ngraph": text });
    const late = between.start(["run", "p.ngraph", "--thread", "t"]);
    late.stderr.on("data", (chunk) => String(chunk).includes("try 1 not done") && late.kill("SIGINT"));
    expect(await ended(late)).toBe(130);
    expect(between.read("tried")).toBe("a\n");
  });

  test("a second SIGINT ends running tasks", async () => {
    const project = createProject({ "p.ngraph": SLOW });
    const child = project.start(["run", "p.ngraph", "--thread", "t"]);
    await whenStarted(child);
    child.stderr.on("data", (chunk) => String(chunk).includes("press Ctrl-C again") && child.kill("SIGINT"));
    child.kill("SIGINT");
    expect(await ended(child)).toBe(130);
    expect(project.has("ended")).toBe(false);
  });
});

describe("one run in a working tree", () => {
  const LONG = `plan p {
  task a = shell("echo $$ >> groups; sleep 60") { touches "out" }
}
`;
  const ended = (child: ReturnType<Project["start"]>): Promise<unknown> =>
    new Promise((resolve) => child.once("close", resolve));

  test("a second run is refused, with the first one named", async () => {
    const project = createProject({ "p.ngraph": LONG });
    const first = project.start(["run", "p.ngraph", "--thread", "one"]);
    await project.line("groups");
    const second = project.ngc(["run", "p.ngraph", "--thread", "two"]);
    expect(second.status).toBe(1);
    expect(second.stderr).toMatch(
      new RegExp(`plan \`p\` \\(thread one\\) works in this tree since .*: process ${first.pid}`),
    );
    expect(second.stderr).toContain("git worktree add");
    const atWork = ended(first);
    first.kill("SIGTERM");
    await atWork;
    project.write("p.ngraph", LONG.replace("sleep 60", "sleep 0"));
    expect(project.ngc(["run", "p.ngraph", "--thread", "three"]).status).toBe(0);
    expect(project.has(".ngraph/runs/claim.json")).toBe(false);
  });

  test("a run after a SIGKILL ends the commands of the dead run first", async () => {
    const project = createProject({ "p.ngraph": LONG });
    const first = project.start(["run", "p.ngraph", "--thread", "one"]);
    await project.line("groups");
    const dead = ended(first);
    first.kill("SIGKILL");
    await dead;
    project.write("p.ngraph", LONG.replace("sleep 60", "sleep 0"));
    const next = project.ngc(["run", "p.ngraph", "--thread", "two"]);
    expect([next.status, next.stderr]).toEqual([0, expect.stringContaining("ended a command of an earlier run: echo")]);
  });

  test("a claim that no run has written is replaced", () => {
    const project = createProject({
      "p.ngraph": LONG.replace("sleep 60", "sleep 0"),
      ".ngraph/runs/claim.json": "{ half",
    });
    expect(project.ngc(["run", "p.ngraph"]).status).toBe(0);
  });
});

test("a plan that lacks a done task names a remedy that works for plans", () => {
  const text = `plan p {\n  task a = shell("true")\n  task b = shell("false") after a\n}\n`;
  const project = createProject({ "p.ngraph": text });
  expect(project.ngc(["run", "p.ngraph", "--thread", "t"]).status).toBe(1);
  project.write("p.ngraph", text.replace("task a", "task z").replace("after a", "after z"));
  const { status, stderr } = project.ngc(["resume", "t"]);
  expect([status, stderr]).toEqual([1, expect.stringContaining("start a new run with `abandon` (`--abandon`)")]);
  expect(stderr).not.toContain("migrate");
});
