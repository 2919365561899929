import { expect, test } from "vitest";
import { cutLine } from "../../cli/output/live-block.ts";
import { blockLines } from "../../cli/plan/live-lines.ts";
import type { PlanView } from "../../cli/plan/plan-view.ts";

const NAME = "a_task_with_a_name_of_36_characters_";
const plain = (text: string): string => text;
const stderrStyles = new Proxy({}, { get: () => plain }) as Parameters<typeof blockLines>[1]["stderrStyles"];

function linesOf(view: Partial<PlanView>, columns: number, rows: number): readonly string[] {
  const whole: PlanView = {
    onEvent: () => {},
    running: [],
    waiting: () => [],
    asking: [],
    failed: [],
    triesOf: () => 1,
    ended: 1,
    total: 20,
    timeLeft: () => 120_000,
    ...view,
  };
  const lines = blockLines(whole, { stderrStyles }, () => 61_000, { lastLine: () => "printed" }, { columns, rows });
  expect(lines.length).toBeLessThanOrEqual(rows);
  return lines.map((line) => cutLine(line, columns));
}

const running = (count: number): PlanView["running"] =>
  Array.from({ length: count }, (_, at) => ({ task: `${NAME}${at}`, attempt: 2, since: 0 }));
const waiting = (count: number): (() => ReturnType<PlanView["waiting"]>) => {
  const tasks = Array.from({ length: count }, (_, at) => ({ task: `wait${at}`, why: "no free slot" }));
  return () => tasks;
};

test("on a narrow terminal the times stay visible behind long names", () => {
  const [first, last] = linesOf({ running: running(1) }, 39, 11);
  expect(first).toEqual(expect.stringMatching(/^ {2}▸ a_task_with_a_\w+… 1m 1s \(try 2\) │…$/));
  expect(last).toContain("1/20 · about 2m 0s left");
  expect(linesOf({ running: running(1) }, 100, 11)[0]).toBe(`  ▸ ${NAME}0 1m 1s (try 2) │ printed`);
});

test("on a low terminal tasks that run come before tasks that wait", () => {
  const lines = linesOf({ running: running(4), waiting: waiting(7) }, 79, 6);
  expect(lines.map((line) => line.trim().slice(0, 10))).toEqual([
    "▸ a_task_w",
    "▸ a_task_w",
    "▸ a_task_w",
    "▸ a_task_w",
    "… 7 more",
    expect.stringContaining("█"),
  ]);
  expect(linesOf({ running: running(9), waiting: waiting(9) }, 79, 11)).toHaveLength(11);
  expect(linesOf({ running: running(20), waiting: waiting(20) }, 79, 23)).toHaveLength(19);
});

test("on a terminal of three lines the number of tasks is left", () => {
  const lines = linesOf({ running: running(4), waiting: waiting(7) }, 79, 3);
  expect(lines.slice(0, 2)).toEqual(["  ▸ 4 more", "  … 7 more"]);
});
