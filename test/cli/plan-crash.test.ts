/**
 * 9.10 under SIGKILL: the program is killed when the log has got its n-th line, for every n, and resumed. The suite
 * takes a sample; with NGRAPH_TEST_DEPTH=soak all points are tried, and each again with a second kill in its recovery.
 */
import { spawn } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isSoak, scale } from "../support/depth.ts";
import { createProject, type Document, type Project } from "./project.ts";

/**
 * Every command records its process group, which is its own id, and then works for a while. A killed command leaves its
 * child behind.
 */
const work = (name: string): string =>
  `echo ${name} >> ran; echo $$ >> groups; sleep 0.15; sleep 0.1; echo ${name} >> finished`;
const PLAN = `plan p {
  max parallel 2
  order file
  task a = shell("${work("a")}") { touches "x" }
  task b = shell("${work("b")}") { touches "x" }
  task c = shell("${work("c")}") { done when shell("echo $$ >> groups; sleep 0.1") }
  task d = shell("${work("d")}") after a, c { alone }
}
`;
const NAMES = ["a", "b", "c", "d"];
/** Of an undisturbed run: its start and end, and four lines a task. */
const LINES = 2 + 4 * NAMES.length;
const POINTS = isSoak ? Array.from({ length: LINES }, (_, index) => index + 1) : scale([1, 6, 8, 11, 15], [6, 11]);

test.each(POINTS)("killed at line %i of the log, and resumed", { timeout: 300_000 }, async (line) => {
  const project = createProject({ "p.ngraph": PLAN });
  await killAt(project, ["run", "p.ngraph", "--thread", "t"], line);
  if (isSoak) await killAt(project, ["resume", "t"], 6);
  const before = linesOf(project, "groups");
  const done = doneIn(project);
  const ran = linesOf(project, "ran");
  const child = project.start(["resume", "t", "--json", "--events"]);
  const alive = new Set<string>();
  let isFirst = true;
  child.stderr.on("data", (chunk) => {
    if (!isFirst || !String(chunk).includes('"to":"running"')) return;
    isFirst = false;
    for (const group of before) if (isAlive(Number(group))) alive.add(group);
  });
  let stdout = "";
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  const status = await new Promise((resolve) => child.once("close", resolve));

  // The kill may have come after the end was stored.
  if (status !== 0) {
    expect(done.size).toBe(NAMES.length);
    return;
  }
  const document = JSON.parse(stdout) as Document;
  expect(document).toMatchObject({ outcome: "clean", exitCode: 0 });
  // Nothing of the killed run was alive when the first task started, and nothing is now.
  expect([...alive]).toEqual([]);
  for (const group of linesOf(project, "groups")) expect(isAlive(Number(group)), `group ${group}`).toBe(false);
  // What the log called done was not run again, everything else was finished.
  const again = linesOf(project, "ran").slice(ran.length);
  for (const name of done) expect(again).not.toContain(name);
  expect(new Set(linesOf(project, "finished"))).toEqual(new Set(NAMES));
  for (const task of document.tasks as Document[]) expect(task.status).toBe("done");
});

test("a resume ends commands of a killed run, and no other process with the same id", async () => {
  const project = createProject({
    "p.ngraph": `plan p {\n  task a = shell("echo $$ >> groups; test -f go || sleep 600")\n}\n`,
  });
  const child = project.start(["run", "p.ngraph", "--thread", "t"]);
  while (linesOf(project, "groups").length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("close", resolve));
  const [group = ""] = linesOf(project, "groups");
  expect(isAlive(Number(group))).toBe(true);

  const bystander = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  try {
    const run = readdirSync(join(project.directory, ".ngraph/runs")).find((name) => !name.endsWith(".json")) ?? "";
    const record = { event: "start", group: bystander.pid, started: "another boot:1", key: "k", command: "other" };
    appendFileSync(join(project.directory, ".ngraph/runs", run, "processes.jsonl"), `${JSON.stringify(record)}\n`);
    project.write("go", "");
    const { status, stderr } = project.ngc(["resume", "t"]);
    expect(status).toBe(0);
    expect(stderr).toContain("ended a command of the last run: echo $$ >> groups; test -f go || sleep 600");
    expect(stderr).not.toContain("other");
    expect(isAlive(Number(group))).toBe(false);
    expect(isAlive(bystander.pid ?? 0)).toBe(true);
  } finally {
    bystander.kill("SIGKILL");
  }
});

/** Runs until the log has so many lines, then kills; harmless when the run was over before. */
async function killAt(project: Project, args: readonly string[], line: number): Promise<void> {
  const child = project.start([...args, "--events"]);
  let count = 0;
  child.stdout.resume();
  child.stderr.on("data", (chunk) => {
    count += String(chunk)
      .split("\n")
      .filter((text) => text.startsWith("{")).length;
    if (count >= line) child.kill("SIGKILL");
  });
  await new Promise((resolve) => child.once("close", resolve));
}

/** Tasks that some run's log has as done. */
function doneIn(project: Project): Set<string> {
  const runs = join(project.directory, ".ngraph/runs");
  const done = new Set<string>();
  for (const entry of readdirSync(runs, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    for (const text of linesOf(project, `.ngraph/runs/${entry.name}/transitions.jsonl`)) {
      const event = JSON.parse(text) as Document;
      if (event.to === "done") done.add(event.node_id as string);
    }
  }
  return done;
}

function linesOf(project: Project, name: string): string[] {
  return project.has(name)
    ? project
        .read(name)
        .split("\n")
        .filter((text) => text !== "")
    : [];
}

/** Whether a process group has a member that still runs; one that only waits to be collected does not. */
function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, , own] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(own) === group && state !== "Z" && state !== "X";
    } catch {
      return false;
    }
  });
}
