/**
 * Checks of a bound plan: tasks whose locks prevent them from running in parallel (NG705), and the checks that plans
 * share with graphs: secrets, untrusted text in commands, and policies of calls.
 */
import { neverBeside } from "../../diagnostics/catalog/plans.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import { parsePathPattern, patternsOverlap, type PathPattern } from "../../runtime/plan/path-pattern.ts";
import type { BoundPlan, BoundTask } from "../bind/plan/bound-plan.ts";
import { planAsGraph } from "../bind/plan/plan-as-graph.ts";
import { checkChannelsOfPlan } from "./check-channels.ts";
import { createCheckContext } from "./check-context.ts";
import { checkConfusableNames } from "./check-names.ts";
import { checkPolicies } from "./check-policies.ts";
import { checkSecrets } from "./check-secrets.ts";
import { checkUntrusted } from "./check-untrusted.ts";

/** Limit of the tasks whose pairs are compared. */
const MOST_TASKS = 500;

/** Returns the findings about a bound plan, in addition to those of binding. Never throws. */
export function checkPlan(plan: BoundPlan): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const graph = planAsGraph(plan);
  const context = createCheckContext(
    graph,
    // The plan's policy handles failures, so NG607 does not apply.
    (diagnostic) => void (diagnostic.code === "NG607" ? undefined : found.push(diagnostic)),
    () => undefined,
  );
  checkConfusableNames(plan, (diagnostic) => void found.push(diagnostic));
  checkSecrets(context);
  if (plan.hasErrors) return found;
  checkChannelsOfPlan(plan, (diagnostic) => void found.push(diagnostic));
  checkPolicies(context);
  checkUntrusted(context);
  if (plan.tasks.length <= MOST_TASKS && plan.maxParallel > 1) reportNeverBeside(plan, found);
  return found;
}

/** Reports NG705 for tasks whose order allows them to run in parallel with others, but whose locks do not. */
function reportNeverBeside(plan: BoundPlan, found: Diagnostic[]): void {
  const { tasks } = plan;
  if (!tasks.some((task) => task.touches.length > 0)) return;
  const before = ancestorsOf(tasks);
  const patterns = tasks.map((task) =>
    task.touches.map(({ path, mode }) => ({ pattern: parsePathPattern(path), mode })),
  );
  const reported = new Set<Ast.TaskDecl>();
  for (const [index, task] of tasks.entries()) {
    if (task.alone || task.touches.length === 0 || reported.has(task.declaration)) continue;
    const others = tasks.flatMap((other, at) =>
      at === index || other.alone || before[index]?.has(at) === true || before[at]?.has(index) === true
        ? []
        : [{ name: other.name, at }],
    );
    // Two tasks with one path are common and intended. Only a task that excludes several others is reported.
    if (others.length < 2) continue;
    if (!others.every(({ at }) => conflict(patterns[index] ?? [], patterns[at] ?? []))) continue;
    reported.add(task.declaration);
    const place = { file: plan.file, span: task.touches[0]?.span ?? task.declaration.name.span };
    found.push(neverBeside(place, { task: task.name, others: others.map(({ name }) => name) }));
  }
}

function ancestorsOf(tasks: readonly BoundTask[]): readonly ReadonlySet<number>[] {
  const before: Set<number>[] = tasks.map(() => new Set());
  const done = new Uint8Array(tasks.length);
  for (let root = 0; root < tasks.length; root++) {
    const open = [root];
    for (let task = open.at(-1); task !== undefined; task = open.at(-1)) {
      const after = tasks[task]?.after ?? [];
      const missing = done[task] === 1 ? [] : after.filter((index) => done[index] !== 1);
      if (missing.length > 0) {
        for (const each of missing) open.push(each);
        continue;
      }
      open.pop();
      done[task] = 1;
      for (const index of after) {
        before[task]?.add(index);
        for (const ancestor of before[index] ?? []) before[task]?.add(ancestor);
      }
    }
  }
  return before;
}

interface Touched {
  readonly pattern: PathPattern;
  readonly mode: "read" | "write";
}

function conflict(a: readonly Touched[], b: readonly Touched[]): boolean {
  return a.some((one) =>
    b.some((other) => (one.mode === "write" || other.mode === "write") && patternsOverlap(one.pattern, other.pattern)),
  );
}
