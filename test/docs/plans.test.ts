/** Verifies docs/plans.md: its schedule, and one plan in both spellings. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scheduleText } from "../../cli/schedule/schedule-text.ts";
import { viewSchedule } from "../../cli/schedule/schedule-view.ts";
import { compile } from "../../compiler/index.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { planSchedule } from "../../runtime/plan/schedule.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

const blocks = fencedBlocks(readFileSync("docs/plans.md", "utf8"));
const plan = (language: string, name: string): PlanTable => {
  const found = blocks.flatMap((block) =>
    block.language === language ? (compile(block.text, { path: `page.${language}` }).tables.get(name) ?? []) : [],
  );
  const [table] = found;
  if (table?.kind !== "plan") throw new Error(`the page has no plan ${name}`);
  return table;
};

test("the schedule is that of the first plan", () => {
  const table = plan("ngraph", "ship_auth");
  const { maxParallel } = table;
  const view = viewSchedule(table, planSchedule(table), {
    maxParallel,
    recorded: () => undefined,
    expected: () => undefined,
  });
  expect(blocks.find((block) => block.language === "text")?.text.trim()).toBe(scheduleText(view));
});

test("the plan in YAML is the plan in text", () => {
  expect(plan("yaml", "verify").digest).toBe(plan("ngraph", "verify").digest);
});
