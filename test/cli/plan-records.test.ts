/** Runs are recorded in the store: a later run finds what they have left without their directory, and on another machine. */
import { rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { StoredItem } from "../../runtime/interface/memory.ts";
import { thisMachine } from "../../cli/plan/machine.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { groupMembers } from "../../stdlib/shell/group-members.ts";
import { createProject, type Document, type Project } from "./project.ts";

const PLAN = `plan p {\n  task a = shell("echo $$ >> groups; test -f go || sleep 600")\n}\n`;

/** Runs the plan, kills the program while the command runs, and deletes the directory of the run. Returns the command's group. */
async function killed(project: Project, thread: string): Promise<number> {
  const child = project.start(["run", "p.ngraph", "--thread", thread]);
  await project.line("groups");
  child.kill("SIGKILL");
  await new Promise((closed) => child.once("close", closed));
  deleteRuns(project);
  const group = Number(project.read("groups").trim());
  expect(groupMembers(group)).not.toEqual([]);
  project.remove("groups");
  return group;
}

function deleteRuns(project: Project): void {
  rmSync(join(project.directory, ".ngraph/claim.json"), { force: true });
  rmSync(join(project.directory, ".ngraph/runs"), { recursive: true });
}

/** Reads the records, and stores what `change` makes of each. */
function records(project: Project, change?: (item: StoredItem) => StoredItem): readonly StoredItem[] {
  const store = new SqliteStore(join(project.directory, ".ngraph/runs.db"));
  try {
    const items = store.listItems(["ngraph", "plan-runs"], { limit: 10, now: Date.now() });
    if (change !== undefined) for (const item of items) store.putItem(change(item));
    return items;
  } finally {
    store.close();
  }
}

/** The record as another machine would have written it, some seconds ago. */
const elsewhere =
  (seconds: number) =>
  (item: StoredItem): StoredItem => ({
    ...item,
    updated: Date.now() - seconds * 1000,
    value: {
      ...(item.value as Document),
      host: "build 7",
      machine: "m",
      process: { host: "b x y", pid: 4, started: "1" },
    },
  });

describe("without the directory of a killed run", () => {
  test.each([
    ["a resume", ["resume", "t"]],
    ["a run of another thread in the same tree", ["run", "p.ngraph", "--thread", "u"]],
  ])("%s ends its commands before it starts one", async (_, args) => {
    const project = createProject({ "p.ngraph": PLAN });
    const group = await killed(project, "t");
    project.write("go", "");
    const { status, stderr } = project.ngc(args);
    expect(status, stderr).toBe(0);
    expect(stderr).toContain("ended a command of an earlier run: echo $$ >> groups; test -f go || sleep 600");
    expect(groupMembers(group)).toEqual([]);
    // Nothing is left of either run.
    expect(records(project)).toEqual([]);
  });

  test("a group that only has the number of a recorded one is left alone", async () => {
    const project = createProject({ "p.ngraph": PLAN });
    const group = await killed(project, "t");
    project.write("go", "");
    records(project, (item) => {
      const value = item.value as Document;
      return { ...item, value: { ...value, commands: [{ ...value.commands[0], started: "another boot:1" }, 7, null] } };
    });
    const { status, stderr } = project.ngc(["resume", "t"]);
    expect(status, stderr).toBe(0);
    expect(stderr).not.toContain("ended a command");
    expect(groupMembers(group)).not.toEqual([]);
    process.kill(-group, "SIGKILL");
  });

  test("a run that still works in the tree is named", async () => {
    const project = createProject({ "p.ngraph": PLAN });
    const child = project.start(["run", "p.ngraph", "--thread", "t"]);
    await project.line("groups");
    deleteRuns(project);
    const { status, stderr } = project.ngc(["run", "p.ngraph", "--thread", "u"]);
    expect(status).toBe(1);
    expect(stderr).toContain(`plan \`p\` (thread t) works in ${project.directory}: process ${child.pid}`);
    expect(groupMembers(Number(project.read("groups")))).not.toEqual([]);
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.stderr.on("data", (chunk) => String(chunk).includes("press Ctrl-C again") && child.kill("SIGINT"));
    child.kill("SIGINT");
    await closed;
    expect(records(project)).toEqual([]);
  });
});

test("a resume on another machine waits for the end of the run there, then asks what became of its commands", async () => {
  const project = createProject({ "p.ngraph": PLAN });
  const group = await killed(project, "t");
  process.kill(-group, "SIGKILL");
  project.write("go", "");

  records(project, elsewhere(5));
  const early = project.json(["resume", "t", "--host-gone", "build 7"]);
  expect(early.status).toBe(1);
  expect(early.document.error).toMatchObject({ code: "NG_TREE_BUSY" });
  expect(early.document.error.message).toContain("plan `p` (thread t) worked on build 7");

  records(project, elsewhere(100));
  const late = project.json(["resume", "t", "--host-gone", hostname()]);
  expect(late.status).toBe(1);
  expect(late.document.error).toMatchObject({ code: "NG_LEFTOVER" });
  expect(JSON.stringify(late.document.error)).toContain("--host-gone 'build 7'");
  expect(project.has("groups")).toBe(false);

  // Another thread has another tree there.
  expect(project.ngc(["run", "p.ngraph", "--thread", "u"]).status).toBe(0);

  const { status, stderr } = project.ngc(["resume", "t", "--host-gone", "build 7"]);
  expect(status, stderr).toBe(0);
  expect(stderr).toContain("run ");
  expect(stderr).toContain("on build 7 left commands, which count as ended: echo $$");
  expect(records(project)).toEqual([]);
});

test("a record whose clock is ahead gives no age: the user says that its machine is gone", async () => {
  const project = createProject({ "p.ngraph": PLAN });
  const group = await killed(project, "t");
  process.kill(-group, "SIGKILL");
  project.write("go", "");
  const ahead = elsewhere(-3600);
  records(project, (item) => {
    const { value, ...rest } = ahead(item);
    return { ...rest, value: { ...(value as Document), commands: [] } };
  });
  const refused = project.json(["resume", "t"]);
  expect(refused.status).toBe(1);
  expect(refused.document.error.code).toBe("NG_LEFTOVER");
  expect(refused.document.error.message).toContain("by a clock that is ahead of this one), and it may still run there");
  const { status, stderr } = project.ngc(["resume", "t", "--host-gone", "build 7"]);
  expect(status, stderr).toBe(0);
  expect(stderr).toContain("on build 7 counts as ended");
});

describe("a claim of a container or machine with the same name", () => {
  /** A claim of a process that does not run here. */
  const claimed = (processes: string): Project =>
    createProject({
      "p.ngraph": PLAN,
      go: "",
      ".ngraph/runs/claim.json": JSON.stringify({ ...thisMachine(), processes, pid: 2 ** 30, run: "r", plan: "q" }),
    });
  const [name, boot = "", space = ""] = thisMachine().processes.split(" ");

  test("is not taken over, because its process cannot be seen", () => {
    const project = claimed(`${name} ${boot} another ${space}`);
    const { status, document } = project.json(["run", "p.ngraph"]);
    expect(status).toBe(1);
    expect(document.error).toMatchObject({ code: "NG_TREE_BUSY" });
    expect(document.error.message).toContain(`process ${2 ** 30} on ${hostname()}`);
    expect(project.has("groups")).toBe(false);
    expect(project.ngc(["run", "p.ngraph", "--host-gone", hostname()]).status).toBe(0);
  });

  test("is taken over if its process has ended here", () => {
    expect(claimed(thisMachine().processes).ngc(["run", "p.ngraph"]).status).toBe(0);
  });

  test.skipIf(boot === "" || thisMachine().machine === "")("is taken over if the machine has been restarted", () => {
    expect(claimed(`${name} another-${boot} ${space}`).ngc(["run", "p.ngraph"]).status).toBe(0);
  });
});

describe("background processes", () => {
  test("of a command end with it, also if they ignore SIGTERM; those of a notification, too", () => {
    const project = createProject({
      "b.ngraph": `plan b {
  task a = shell("sleep 600 >/dev/null 2>&1 & echo $$ >> groups")
  task c = shell("(trap '' TERM; while :; do sleep 1; done) >/dev/null 2>&1 & echo $$ >> groups") after a
}
`,
    });
    const { status, stderr } = project.ngc([
      "run",
      "b.ngraph",
      "--notify",
      "sleep 600 >/dev/null 2>&1 & echo $$ >> groups",
    ]);
    expect(status).toBe(0);
    expect(stderr).toContain("a: ended what the command left in the background: sleep 600");
    const groups = project.read("groups").trim().split("\n").map(Number);
    expect(groups).toHaveLength(3);
    for (const group of groups) expect(groupMembers(group)).toEqual([]);
  });

  test("a notification ends with the program on Ctrl-C", async () => {
    const project = createProject({ "p.ngraph": PLAN, go: "" });
    const child = project.start(["run", "p.ngraph", "--notify", "echo $$ > notified; sleep 600"]);
    await project.line("notified");
    const closed = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    expect(await closed).toBe(130);
    const group = Number(project.read("notified"));
    // A killed process is listed until the system has ended it.
    await expect.poll(() => groupMembers(group)).toEqual([]);
  });

  test("of a graph's command end with it", () => {
    const project = createProject({
      "g.ngraph": `graph g {\n  node a = shell("sleep 600 >/dev/null 2>&1 & echo $$ >> groups")\n  start -> a -> end\n}\n`,
    });
    expect(project.ngc(["run", "g.ngraph"]).status).toBe(0);
    expect(groupMembers(Number(project.read("groups")))).toEqual([]);
  });
});
