import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseReport, writeReports } from "../../cli/plan/run-report.ts";
import { createRunTimeline } from "../../cli/plan/run-timeline.ts";
import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import type { PlanRunResult, PlanTaskResult } from "../../runtime/plan/plan-options.ts";

const directory = mkdtempSync(join(tmpdir(), "ngraph-report-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const START = Date.parse("2026-01-01T00:00:00.000Z");
let seq = 0;
const at = (ms: number) => ({ seq: seq++, ts: new Date(START + ms).toISOString(), run_id: "r" });
const moves = (ms: number, node_id: string, from: string, to: string): PlanEvent =>
  ({ ...at(ms), type: "node_transition", node_id, from, to }) as PlanEvent;
const attempt = (ms: number, node_id: string, converged: boolean): PlanEvent => ({
  ...at(ms),
  type: "node_attempt",
  node_id,
  attempt: 1,
  duration_s: 1,
  converged,
  done_when_results: [],
});

const EVENTS: readonly PlanEvent[] = [
  { ...at(0), type: "run_start", plan: "ship", total_nodes: 4 },
  moves(0, "a", "ready", "running"),
  attempt(1000, "a", false),
  attempt(3000, "a", true),
  moves(3000, "a", "running", "done"),
  moves(3000, "b", "ready", "running"),
  attempt(4000, "b", false),
  moves(4000, "b", "running", "failed"),
  moves(4000, "c", "pending", "blocked"),
];

const task = (id: string, status: PlanTaskResult["status"], rest: Partial<PlanTaskResult> = {}): PlanTaskResult => ({
  id,
  status,
  attempts: 1,
  reason: null,
  duration: null,
  error: null,
  ...rest,
});

const RESULT: PlanRunResult = {
  status: "completed",
  outcome: "stuck",
  runId: "r",
  resumedFrom: null,
  thread: "t",
  batches: [["a"], ["b"]],
  tasks: [
    task("a", "done", { attempts: 2, duration: 3000 }),
    task("b", "failed", { reason: "task_failed", duration: 1000, error: "1 < 2 & \u001b[31m\nno" }),
    task("c", "blocked", { reason: "ancestor_failed:b" }),
    task("d", "failed", { reason: "task_failed", allowed: true, error: "optional" }),
    task("e", "cancelled", { reason: "signal" }),
  ],
  totals: {
    outcome: "stuck",
    done: 1,
    failed: 2,
    blocked: 1,
    skipped: 0,
    cancelled: 1,
    waiting: 0,
    total_duration_s: 4,
    total_attempts: 3,
    flake_retries: 1,
    flaky_tasks: 1,
  },
  output: {},
  pauses: [],
  error: null,
  exitCode: 1,
};

function timelineOf(events: readonly PlanEvent[]) {
  const timeline = createRunTimeline();
  events.forEach(timeline.onEvent);
  return timeline;
}

function report(name: string): string {
  const path = join(directory, name);
  writeReports([path], {
    plan: "ship",
    result: RESULT,
    timeline: timelineOf(EVENTS),
    outputOf: (id) => (id === "b" ? "<b> printed\n" : ""),
  });
  return readFileSync(path, "utf8");
}

describe("reports of a plan's run", () => {
  test("the timeline has the spans of tasks that ran, and the ends of attempts that were repeated", () => {
    const timeline = timelineOf(EVENTS);
    expect(timeline.rows()).toEqual([
      { task: "a", spans: [{ start: 0, end: 3000 }], retries: [1000], isCached: false },
      { task: "b", spans: [{ start: 3000, end: 4000 }], retries: [], isCached: false },
    ]);
    expect(timeline.length).toBe(4000);
  });

  test("a task that waits for an answer has two spans", () => {
    const timeline = timelineOf([
      moves(0, "ask", "ready", "running"),
      moves(10, "ask", "running", "waiting"),
      moves(50, "ask", "ready", "running"),
      moves(60, "ask", "running", "done"),
    ]);
    expect(timeline.rows()[0]?.spans).toEqual([
      { start: 0, end: 10 },
      { start: 50, end: 60 },
    ]);
  });

  test("JUnit: a test case for each task, with counts, escaped errors and the output of failures", () => {
    const text = report("report.xml");
    expect(text).toContain('tests="5" failures="1" errors="1" skipped="2" time="4.000"');
    expect(text).toContain('<testcase classname="ship" name="a" time="3.000"/>');
    expect(text).toContain(
      '<failure message="failed: task_failed" type="failed">1 &lt; 2 &amp; [31m\nno</failure>\n      <system-out>&lt;b&gt; printed\n</system-out>',
    );
    expect(text).toContain('<skipped message="blocked: ancestor_failed:b"/>');
    expect(text).toContain('<skipped message="failed (allowed): task_failed"/>');
    expect(text).toContain('<error message="cancelled: signal" type="cancelled"></error>');
  });

  test("HTML: a bar for each task that ran, a mark for each repeated attempt, the output of failures", () => {
    const text = report("report.html");
    expect(text.match(/<rect /g)).toHaveLength(2);
    expect(text.match(/<line class="retry"/g)).toHaveLength(1);
    expect(text).toContain("<pre>&lt;b&gt; printed\n</pre>");
    expect(text).not.toContain("<script");
  });

  test("another extension is refused", () => {
    expect(() => parseReport("report.txt")).toThrow("--report report.txt: the file's extension is neither .xml nor");
  });
});
