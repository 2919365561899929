import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { expectedDurations } from "../../cli/plan/expected-durations.ts";
import { viewSchedule } from "../../cli/schedule/schedule-view.ts";
import { planSchedule } from "../../runtime/plan/schedule.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { planTable } from "./compile-plan.ts";

const PLANS = `plan main {
  max parallel 2
  task a = inner()
  task b = shell("true") { estimate 10s }
  task c = inner() after a { estimate 2s }
  task d = empty()
}
plan inner {
  max parallel 4
  task one = shell("true") { estimate 4s }
  task two = shell("true") { estimate 4s }
  task three = shell("true") { estimate 4s }
}
plan empty {
  task one = shell("true")
}
`;

test("a task that calls a plan takes the time of its schedule, unless it has a duration of its own", () => {
  const runs = directory();
  const table = main();
  const { expected, recorded } = expectedDurations(runs, table);
  // Three tasks of 4 s on the two slots of the outer plan.
  expect(expected("a")).toBe(8000);
  expect([expected("b"), expected("c"), expected("d")]).toEqual([undefined, undefined, undefined]);
  expect(recorded("a")).toBe(undefined);
  const schedule = planSchedule(table, { expected: (task) => expected(table.tasks[task]?.name ?? "") });
  const view = viewSchedule(table, schedule, { maxParallel: 2, recorded, expected });
  expect(view.tasks.map(({ id, basis }) => `${id} ${basis}`).sort()).toEqual([
    "a estimate",
    "b estimate",
    "c estimate",
    "d none",
  ]);
  expect(view.tasks.find(({ id }) => id === "a")).toMatchObject({ start: 0, end: 8000 });
});

test("recorded durations of the called plan's tasks count, those of this call first", () => {
  const runs = directory();
  log(runs, "r1", "inner", { one: 1000, two: 1000, three: 1000 });
  expect(expectedDurations(runs, main()).expected("a")).toBe(2000);
  // The call itself has not ended: only some of its tasks have.
  log(runs, "r2", "main", { "a/one": 3000 });
  expect(expectedDurations(runs, main()).expected("a")).toBe(3000);
  log(runs, "r3", "main", { a: 500 });
  expect(expectedDurations(runs, main()).expected("a")).toBe(500);
});

function main(): PlanTable {
  return planTable(PLANS);
}

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "ngraph-expected-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function log(runs: string, id: string, plan: string, durations: Readonly<Record<string, number>>): void {
  const start = Date.parse(`2026-01-01T00:00:0${id.slice(1)}.000Z`);
  const at = (offset: number): string => new Date(start + offset).toISOString();
  const events = [
    { type: "run_start", plan, ts: at(0) },
    ...Object.entries(durations).flatMap(([node, took]) => [
      { type: "node_transition", node_id: node, to: "running", ts: at(0) },
      { type: "node_transition", node_id: node, to: "done", ts: at(took) },
    ]),
  ];
  mkdirSync(join(runs, id), { recursive: true });
  writeFileSync(join(runs, id, "transitions.jsonl"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
}
