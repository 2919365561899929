import { expect, test } from "vitest";
import { createPlanView } from "../../cli/plan/plan-view.ts";
import type { PlanEvent } from "../../runtime/index.ts";
import { planTable } from "./compile-plan.ts";

const PLAN = planTable(`plan p {
  max parallel 2
  order file
  pool gpu 1
  task a = shell("a") { touches "src/api.ts" estimate 4s }
  task b = shell("b") { touches "src/*.ts" estimate 2s }
  task c = shell("c") { estimate 1s pool gpu }
  task d = shell("d") after a { estimate 3s }
  task e = shell("e") { alone }
}`);

const moved = (node_id: string, to: string): PlanEvent =>
  ({ type: "node_transition", node_id, to, ...(to === "running" ? { attempt: 1 } : {}) }) as PlanEvent;

test("waiting tasks with their reason, failed tasks, and the time left along the longest path", () => {
  let now = 0;
  const view = createPlanView(
    PLAN,
    () => undefined,
    2,
    () => now,
  );
  expect(view.timeLeft(0)).toBe(7000);
  for (const name of ["a", "b", "c", "e"]) view.onEvent(moved(name, "ready"));
  view.onEvent(moved("a", "running"));
  expect(view.waiting()).toEqual([
    { task: "b", why: "src/*.ts" },
    { task: "c", why: "its turn" },
    { task: "e", why: "runs alone, after a" },
  ]);
  view.onEvent(moved("c", "running"));
  expect(view.running.map(({ task }) => task)).toEqual(["a", "c"]);
  now = 3000;
  expect(view.timeLeft(now)).toBe(4000);
  view.onEvent(moved("a", "failed"));
  view.onEvent(moved("d", "blocked"));
  expect(view.failed).toEqual(["a"]);
  expect([view.ended, view.total]).toEqual([2, 5]);
  expect(view.waiting()).toEqual([
    { task: "b", why: "its turn" },
    { task: "e", why: "runs alone, after c" },
  ]);
  view.onEvent(moved("c", "done"));
  view.onEvent(moved("e", "running"));
  expect(view.waiting()).toEqual([{ task: "b", why: "e runs alone" }]);
});

test("the time left is omitted where no duration is known", () => {
  const plan = planTable(`plan p { task a = shell("a") }`);
  expect(
    createPlanView(
      plan,
      () => undefined,
      2,
      () => 0,
    ).timeLeft(0),
  ).toBe(undefined);
  expect(
    createPlanView(
      plan,
      () => 500,
      2,
      () => 0,
    ).timeLeft(0),
  ).toBe(500);
});
