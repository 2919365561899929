import { execFileSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scale } from "../support/depth.ts";
import { createProject, type Project } from "./project.ts";

/** The examples as a user has them, in a directory of their own. */
function examples(): Project {
  const project = createProject({ "package.json": `{ "type": "module" }` });
  // Without what earlier runs of the examples have written.
  const isWritten = (path: string): boolean => /(RELEASE_NOTES|report)\.md$|ship-auth\/out|\.ngraph\.ts$/.test(path);
  cpSync("examples", join(project.directory, "examples"), { recursive: true, filter: (path) => !isWritten(path) });
  return project;
}

/** An example in a git repository of its own. */
function repository(example: string): Project {
  const project = createProject();
  cpSync(example, project.directory, { recursive: true });
  const git = (...args: string[]): unknown => execFileSync("git", args, { cwd: project.directory });
  git("init", "--quiet");
  git("add", "--all");
  git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "Begin");
  return project;
}

const SHIP_BATCHES = [
  ["schema_init"],
  ["auth_table", "user_table"],
  ["auth_service"],
  ["user_service"],
  ["api_gateway"],
];

describe.each(["ngraph", "yaml"])("examples as %s", (spelling) => {
  test("log triage reads a real log, fans out, joins and writes a report", () => {
    const project = examples();
    const { status, document } = project.json(["run", `examples/log-triage/triage.${spelling}`]);
    expect(status).toBe(0);
    expect(document.steps).toEqual([["split"], ["parse"], ["errors", "probes", "slow"], ["judge"], ["file"]]);
    expect(document.output).toMatchObject({ verdict: "act", written: "examples/log-triage/report.md" });
    const lines = readFileSync("examples/log-triage/access.log", "utf8").trimEnd().split("\n");
    expect(document.state.requests).toHaveLength(lines.length);
    const report = project.read("examples/log-triage/report.md");
    expect(report).toContain(`${lines.length} requests`);
    const failed = lines.filter((line) => /" 50\d /.test(line) && line.includes("GET /api/tickets "));
    expect(report).toContain(`| errors | GET /api/tickets | ${failed.length} |`);
    expect(project.has(".ngraph/runs.db")).toBe(true);
  });

  test("document map sums up many documents", () => {
    const { status, document } = examples().json(["run", `examples/document-map/terms.${spelling}`]);
    expect(status).toBe(0);
    expect(document.output).toMatchObject({ documents: 3, longest: "mpl-2.0.txt", silent: [] });
  });

  test("ship auth separates six tasks that share a tree, and checks their results (K-01)", () => {
    const project = examples();
    const file = `examples/ship-auth/ship.${spelling}`;
    expect(project.json(["plan", file]).document).toMatchObject({ batches: SHIP_BATCHES, gap: 0 });
    const { status, document } = project.json(["run", file]);
    expect(status).toBe(0);
    expect(document).toMatchObject({ outcome: "clean", batches: SHIP_BATCHES, exitCode: 0 });
    expect(project.read("examples/ship-auth/out/gateway.txt")).toContain("authService");
  });

  test("agents merge what passes, and nothing outside of their paths", () => {
    const project = repository("examples/agents");
    const { status, document } = project.json(["run", `agents.${spelling}`, "--thread", "a"]);
    expect(status).toBe(1);
    const tasks = (document.tasks as { id: string; status: string; attempts: number; reason: string | null }[]).map(
      ({ id, status: end, attempts, reason }) => [id, end, attempts, reason],
    );
    const done = (id: string, attempts = 1): unknown[] => [id, "done", attempts, null];
    const refused = ["initials", "failed", 2, "undeclared_touches:check.mjs"];
    const before = ["slug", "title", "count", "shout"].map((id) => done(id));
    expect(tasks).toEqual([...before, done("wrap", 3), refused, done("gate")]);
    const exported = (): string[] => project.read("lib/index.mjs").match(/\w+(?=\.mjs)/g) ?? [];
    expect(exported()).toEqual(["count", "shout", "slug", "title", "wrap"]);
    expect(project.read("check.mjs")).toBe(readFileSync("examples/agents/check.mjs", "utf8"));

    project.write("RULES.md", "Change nothing but your own file.");
    const resumed = project.json(["resume", "a"]);
    expect([resumed.status, resumed.document.outcome]).toEqual([0, "clean"]);
    expect(exported()).toEqual(["count", "initials", "shout", "slug", "title", "wrap"]);
  });

  test("trip cancels what it has reserved", () => {
    const booked = examples().json([
      "run",
      `examples/trip/trip.${spelling}`,
      "--input",
      '{"trip":{"traveller":"Ann"}}',
    ]);
    expect(booked).toMatchObject({ status: 0, document: { status: "completed" } });
    const input = '{"trip":{"traveller":"Ann","soldOut":"car"}}';
    const { status, document } = examples().json(["run", `examples/trip/trip.${spelling}`, "--input", input]);
    expect(status).toBe(1);
    expect(document).toMatchObject({
      status: "rolled_back",
      rollback: { undone: [{ task: "bookHotel" }, { task: "bookFlight" }], open: [] },
    });
  });

  test("refund waits for an answer, a signal and a time", () => {
    const project = examples();
    const order = '{"order": "7", "amount": 20}';
    const asked = project.json(["run", `examples/refund/refund.${spelling}`, "--thread", "7", "--input", order]);
    expect(asked).toMatchObject({ status: 3, document: { pauses: [{ node: "approve", due: expect.any(Number) }] } });
    const approved = project.json(["resume", "7", "--answer", "refund"]);
    expect(approved.document.pauses).toMatchObject([{ kind: "signal", payload: "returned 7" }]);
    expect(project.json(["signal", "7", "returned 7", '{"weight": 1.5}']).document).toMatchObject({ awaited: true });
    expect(project.json(["resume", "--due"]).document).toMatchObject({ resumed: [{ thread: "7", status: "paused" }] });
    const { threads } = project.json(["threads"]).document;
    expect(threads[0].due - Date.now()).toBeGreaterThan(3_600_000);
  });

  test("review loop drafts at most three times and waits for a person", () => {
    const project = examples();
    const run = project.json(["run", `examples/review-loop/review.${spelling}`, "--thread", "r"]);
    expect(run.status).toBe(3);
    expect(run.document.state).toMatchObject({ rounds: 3, remarks: [] });
    expect(project.has("examples/review-loop/RELEASE_NOTES.md")).toBe(false);
    const again = project.json(["resume", "r", "--answer", "redo"]);
    expect(again.status).toBe(3);
    expect(again.document.state).toMatchObject({ rounds: 4 });
    const refused = project.ngc(["resume", "r", "--answer", "maybe"]);
    expect(refused.status).toBe(64);
    expect(refused.stderr).toContain("publish");
    const done = project.json(["resume", "r", "--answer", "publish"]);
    expect(done.status).toBe(0);
    expect(project.read("examples/review-loop/RELEASE_NOTES.md")).toBe(done.document.output.notes);
  });
});

/** Every call of a node function is a line in a file; the real functions are called. */
const LOGGED = `
import { appendFileSync } from "node:fs";
import * as real from "./real.ts";
import { scale } from "../support/depth.ts";
const log = (name) => appendFileSync("calls.log", name + "\\n");
export type { Change } from "./real.ts";
export const readChanges = (...args) => (log("read"), real.readChanges(...args));
export const draftNotes = (...args) => (log("draft"), real.draftNotes(...args));
export const reviewNotes = (...args) => (log("inspect"), real.reviewNotes(...args));
export const publishNotes = (...args) => (log("publish"), real.publishNotes(...args));
`;
const CALLS = ["read", "draft", "inspect", "draft", "inspect", "draft", "inspect", "publish"];

test.each(scale([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [2, 7]))(
  "5.2 - 5.5: the review loop, killed after checkpoint %i, completes with no finished node run again",
  async (checkpoints) => {
    const project = examples();
    project.write("examples/review-loop/real.ts", project.read("examples/review-loop/nodes.ts"));
    project.write("examples/review-loop/nodes.ts", LOGGED);
    const child = project.start(["run", "examples/review-loop/review.ngraph", "--thread", "k", "--events"]);
    let seen = 0;
    let buffered = "";
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (chunk: string) => {
      buffered += chunk;
      const lines = buffered.split("\n");
      buffered = lines.pop() ?? "";
      for (const line of lines)
        if (line.includes(`"type":"checkpoint"`) && seen++ === checkpoints) child.kill("SIGKILL");
    });
    await new Promise((resolve) => child.on("close", resolve));
    expect(seen).toBeGreaterThan(checkpoints);

    const resumed = project.json(["resume", "k"]);
    expect(resumed.status).toBe(3);
    const done = project.json(["resume", "k", "--answer", "publish"]);
    expect(done.status).toBe(0);
    expect(done.document.state.rounds).toBe(3);

    const calls = project.read("calls.log").trimEnd().split("\n");
    const withoutRepeats = calls.filter((call, index) => call !== calls[index - 1]);
    expect(withoutRepeats).toEqual(CALLS);
    // Only the node that was running when the process died may have begun twice.
    expect(calls.length - CALLS.length).toBeLessThanOrEqual(1);
  },
);
