/** `ngc run PLAN --watch`: tasks run again when files change that they declare. */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

const PLAN = `plan p {
  state text: string
  task read  = shell("cat in/a; echo $RANDOM >> out") into { stdout: text } { touches read "in/**" touches "out" }
  task side  = shell("cat b; true") { cache inputs "b" }
  task after = shell(\`echo got \${text}\`) after read
  task fails = shell("test -e ok") { touches read "ok" }
}
`;

/** Replaces a file as a whole, as editors do: a half-written file would be a change of its own. */
function save(project: Project, name: string, text: string): void {
  project.write("saved", text);
  renameSync(join(project.directory, "saved"), join(project.directory, name));
}

/** A program that watches; `round` changes something and returns what it prints until it waits again. */
function watching(
  project: Project,
  args: readonly string[],
): {
  round(change?: () => void): Promise<string>;
  stop(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
} {
  const child = project.start(args);
  let printed = "";
  let seen = 0;
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const end = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once("exit", (code, signal) => resolve({ code, signal })),
  );
  return {
    async round(change) {
      change?.();
      for (;;) {
        const at = printed.indexOf("waiting for changes …\n", seen);
        if (at !== -1) {
          const text = printed.slice(seen, at);
          seen = at + "waiting for changes …\n".length;
          return text;
        }
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the program has ended: ${printed}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async stop() {
      child.kill("SIGINT");
      return end;
    },
  };
}

/** While it waits the system ends it by the signal; just after a run it exits itself. Shells report both as 130. */
const INTERRUPTED = [
  { code: null, signal: "SIGINT" },
  { code: 130, signal: null },
];

const started = (text: string): readonly string[] =>
  [...text.matchAll(/^▸ (\S+)$/gm)].map(([, name = ""]) => name).sort();

test("the tasks with changed files, those behind them, and those that are not done", async () => {
  const project = createProject({ "p.ngraph": PLAN, "in/a": "1", b: "1" });
  const watch = watching(project, ["run", "p.ngraph", "--watch", "--thread", "t"]);
  expect(started(await watch.round())).toEqual(["after", "fails", "read", "side"]);
  expect(started(await watch.round(() => save(project, "in/a", "2")))).toEqual(["after", "fails", "read"]);
  expect(project.ngc(["logs", "t", "after"]).stdout).toBe("got 2\n");
  const done = await watch.round(() => save(project, "ok", ""));
  expect([started(done), done]).toEqual([["fails"], expect.stringContaining("✓ fails")]);
  expect(started(await watch.round(() => save(project, "b", "2")))).toEqual(["side"]);
  // A new directory, and a file that disappears.
  expect(started(await watch.round(() => project.below("in/deep").write("c", "")))).toEqual(["after", "read"]);
  expect(started(await watch.round(() => project.remove("in/deep/c")))).toEqual(["after", "read"]);
  expect(await watch.stop()).toBeOneOf(INTERRUPTED);
});

test("a change of the plan runs all of it; errors in it are printed", async () => {
  const project = createProject({ "p.ngraph": PLAN, "in/a": "1", b: "1", ok: "" });
  const watch = watching(project, ["run", "p.ngraph", "--watch"]);
  await watch.round();
  expect(await watch.round(() => save(project, "p.ngraph", PLAN.replace("plan p", "plam p")))).toContain("NG001");
  const again = await watch.round(() => save(project, "p.ngraph", PLAN.replace("got", "has")));
  expect(started(again)).toEqual(["after", "fails", "read", "side"]);
  expect(again).toContain("= side: nothing it depends on has changed");
  rmSync(join(project.directory, "p.ngraph"));
  await watch.round();
  expect(started(await watch.round(() => save(project, "p.ngraph", PLAN)))).toHaveLength(4);
  await watch.stop();
});

test("a task that changes what it only reads does not run for ever", async () => {
  const project = createProject({
    "p.ngraph": `plan p {
  task turns = shell("echo x >> in/a") { touches read "in/**" }
  task side  = shell("cat b") { touches read "b" }
}
`,
    "in/a": "",
    b: "1",
  });
  const watch = watching(project, ["run", "p.ngraph", "--watch"]);
  expect(started(await watch.round())).toEqual(["side", "turns"]);
  expect(started(await watch.round())).toEqual(["turns"]);
  expect(await watch.round()).toContain("changes with each run, so it is not watched while tasks run: in/a\n");
  expect(started(await watch.round(() => save(project, "b", "2")))).toEqual(["side"]);
  await watch.stop();
});

test("directories that come and go while they are read", async () => {
  const project = createProject({ "p.ngraph": PLAN, "in/a": "1", b: "1", ok: "" });
  const watch = watching(project, ["run", "p.ngraph", "--watch"]);
  await watch.round();
  for (let at = 0; at < 300; at++) {
    project.below(`in/d${at % 3}/deep`).write("c", "");
    rmSync(join(project.directory, `in/d${at % 3}`), { recursive: true, force: true });
    await new Promise((resolve) => setImmediate(resolve));
  }
  let printed = "";
  save(project, "b", "2");
  while (!started(printed).includes("side")) printed = await watch.round();
  // A run may be under way: files that came and went during the last one are compared again.
  expect(await watch.stop()).toBeOneOf(INTERRUPTED);
});

test("Ctrl-C during a run ends the program", async () => {
  const work = "echo x > begun; until test -e go; do sleep 0.05; done";
  const project = createProject({ "p.ngraph": `plan p { task a = shell("${work}") }` });
  const child = project.start(["run", "p.ngraph", "--watch"]);
  child.stderr.on("data", (chunk) => String(chunk).includes("press Ctrl-C again") && project.write("go", ""));
  await project.line("begun");
  child.kill("SIGINT");
  // The program ends itself: the system has not ended it by the signal.
  expect(await new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)))).toBeNull();
});

test.each([
  [["--only", "a"], "--watch and --only exclude each other"],
  [["--from-task", "a"], "--watch and --from-task exclude each other"],
  [["--affected"], "--watch and --affected exclude each other"],
  [["--dry-run"], "--watch and --dry-run exclude each other"],
  [["--json"], "--watch and --json exclude each other"],
  [["--store", "memory"], "--watch needs a store that keeps the results"],
])("--watch %s is refused", (args, message) => {
  const { status, stderr } = createProject({ "p.ngraph": PLAN }).ngc(["run", "p.ngraph", "--watch", ...args]);
  expect([status, stderr]).toEqual([64, expect.stringContaining(message)]);
});

test("--watch of a graph is refused", () => {
  const project = createProject({ "g.ngraph": 'graph g { node n = shell("true")  start -> n -> end }' });
  const { status, stderr } = project.ngc(["run", "g.ngraph", "--watch"]);
  expect([status, stderr]).toEqual([64, expect.stringContaining("--watch: `g` is a graph, not a plan")]);
});
