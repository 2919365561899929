/**
 * Section 9 on random plans with durations, conflicts, pools, failures and checks that pass late. The process dies
 * before or after any of its writes, and another one resumes until the plan has ended. Runs in virtual time. The suite
 * runs a sample.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createPlanRunner, type PlanEvent, type PlanRunResult, type Store } from "../../runtime/index.ts";
import { createTaskLocks } from "../../runtime/plan/task-locks.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { expectLegal } from "../plan/run-text.ts";
import { sketchFunctions, sketchTable, type RunSketch } from "../plan/run-sketch.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { isSoak, numRuns } from "../support/depth.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const RUNS = isSoak ? 20_000 : numRuns(250);
const TIMEOUT = isSoak ? 3_600_000 : 120_000;

interface RandomPlan {
  readonly tasks: Readonly<Record<string, RunSketch>>;
  readonly table: PlanTable;
}

const randomPlan: fc.Arbitrary<RandomPlan> = fc
  .record({
    tasks: fc.array(
      fc.record({
        after: fc.uniqueArray(fc.nat(30), { maxLength: 3 }),
        touches: fc.subarray(["x", "y", "src/*.ts", "src/a.ts"], { maxLength: 2 }),
        reads: fc.subarray(["x", "z"], { maxLength: 1 }),
        alone: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
        pool: fc.option(fc.integer({ min: 1, max: 2 }), { freq: 3, nil: undefined }),
        takes: fc.integer({ min: 1, max: 9 }),
        end: fc.constantFrom<"ok" | "fails" | "checks">("ok", "ok", "ok", "fails", "checks"),
        when: fc.constantFrom<boolean | undefined>(undefined, undefined, undefined, true, false),
        late: fc.integer({ min: 0, max: 3 }),
        trigger: fc.constantFrom<"all" | "any" | "done">("all", "all", "all", "any", "done"),
      }),
      { minLength: 1, maxLength: 14 },
    ),
    maxParallel: fc.integer({ min: 1, max: 4 }),
    order: fc.constantFrom<"file" | "priority">("file", "priority"),
  })
  .map(({ tasks, maxParallel, order }) => {
    const sketches: Record<string, RunSketch> = {};
    for (const [index, task] of tasks.entries()) {
      const after = [...new Set(task.after.map((before) => before % (index + 1)))].filter((before) => before < index);
      sketches[`t${index}`] = {
        after: after.map((before) => `t${before}`),
        touches: task.touches,
        reads: task.reads.filter((path) => !task.touches.includes(path)),
        ...(task.alone ? { alone: true as const } : {}),
        ...(task.pool === undefined ? {} : { pool: ["gpu", task.pool] as const }),
        takes: task.takes,
        ...(after.length > 0 ? { trigger: task.trigger } : {}),
        ...(task.when === undefined ? {} : { when: task.when }),
        ...(task.end === "fails" ? { does: ["no"] } : {}),
        ...(task.end === "checks"
          ? { checks: [...Array.from({ length: task.late }, () => [true, false]), [true, true]], tries: 3 }
          : {}),
      };
    }
    const settings = { maxParallel, order, pools: [{ name: "gpu", size: 2 }] };
    return { tasks: sketches, table: sketchTable(sketches, settings) };
  });

test("9.1 - 9.8: any plan, without crashes", { timeout: TIMEOUT }, async () => {
  await fc.assert(
    fc.asyncProperty(randomPlan, async (plan) => {
      const life = new Life(plan, new MemoryStore());
      const result = await life.run({});
      checkEnd(plan, result);
      checkLog(plan, life.events);
    }),
    { seed: 9, numRuns: RUNS },
  );
});

test("9.10: any plan, killed at any write until it has ended", { timeout: TIMEOUT }, async () => {
  await fc.assert(
    fc.asyncProperty(
      randomPlan,
      fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.constantFrom<"before" | "after">("before", "after")), {
        minLength: 1,
        maxLength: 3,
      }),
      async (plan, crashes) => {
        // Each life begins when the lease of the one before has run out.
        let lives = 0;
        const truth = new MemoryStore({ now: () => lives * 1e9 });
        const undisturbed = await new Life(plan, new MemoryStore()).run({});
        /** Tasks that an emitted event has reported as done. */
        const seen = new Set<string>();
        const attempts = new Map<string, number>();
        for (const [left, when] of crashes) {
          const store = new CrashingStore(truth, left, when);
          const life = new Life(plan, store, attempts);
          lives++;
          const known = await truth.loadLatest("t");
          if (known !== undefined && known.status !== "running") break;
          const died = await life.run({ resume: known !== undefined }).then(
            () => false,
            () => true,
          );
          // A task whose end was observed starts again only after a dependency that has another result now.
          for (const event of life.events) {
            if (event.type === "node_changed") seen.delete(event.node_id);
            if (event.type !== "node_transition") continue;
            if (event.to === "running") expect(seen.has(event.node_id), event.node_id).toBe(false);
            if (event.to === "done") seen.add(event.node_id);
          }
          if (!died) break;
        }
        lives++;
        const head = await truth.loadLatest("t");
        const life = new Life(plan, truth, attempts);
        const result =
          head === undefined || head.status === "running" ? await life.run({ resume: head !== undefined }) : undefined;
        if (result === undefined) return;
        checkEnd(plan, result);
        checkLog(plan, life.events);
        for (const event of life.events) {
          if (event.type === "node_changed") seen.delete(event.node_id);
          if (event.type === "node_transition" && event.to === "running") expect(seen.has(event.node_id)).toBe(false);
        }
        // What ended well without a crash does so with one: attempts only ever get more.
        for (const [index, task] of undisturbed.tasks.entries()) {
          if (task.status === "done" && plan.table.tasks.every(({ trigger }) => trigger === "all"))
            expect(result.tasks[index]?.status).toBe("done");
        }
      },
    ),
    { seed: 10, numRuns: RUNS },
  );
});

/** One process: a runner over a store, until it ends or dies. */
class Life {
  readonly events: PlanEvent[] = [];
  readonly #plan: RandomPlan;
  readonly #store: Store;
  readonly #attempts: Map<string, number>;

  constructor(plan: RandomPlan, store: Store, attempts: Map<string, number> = new Map()) {
    this.#plan = plan;
    this.#store = store;
    this.#attempts = attempts;
  }

  run({ resume = false }: { readonly resume?: boolean }): Promise<PlanRunResult> {
    const clock = new VirtualClock();
    const runner = createPlanRunner(this.#plan.table, {
      clock,
      store: this.#store,
      functions: sketchFunctions(this.#plan.tasks, clock, {}, this.#attempts),
    });
    const onEvent = (event: PlanEvent): void => void this.events.push(event);
    return clock.until(resume ? runner.resume("t", { onEvent }) : runner.run({}, { thread: "t", onEvent }));
  }
}

/** Every task has ended, as its own end and those of its dependencies demand; the outcome follows from the counts. */
function checkEnd({ table, tasks }: RandomPlan, result: PlanRunResult): void {
  expect(result.status).toBe("completed");
  for (const task of result.tasks) expect(["done", "failed", "blocked", "skipped"]).toContain(task.status);
  for (const [index, { name, after, trigger }] of table.tasks.entries()) {
    const status = result.tasks[index]?.status;
    const before = after.map((one) => result.tasks[one]?.status);
    if (trigger === "all" && before.some((one) => one === "failed" || one === "blocked"))
      expect(status).toBe("blocked");
    const mayRun = trigger === "all" && before.every((one) => one === "done");
    if (mayRun) expect(tasks[name]?.when === false ? ["skipped"] : ["done", "failed"]).toContain(status);
  }
  const { done, failed, blocked, skipped, outcome } = result.totals;
  expect(done + failed + blocked + skipped).toBe(table.tasks.length);
  expect(result.exitCode).toBe(failed + blocked === 0 ? 0 : 1);
  if (failed + blocked > 0) expect(["partial", "stuck", "catastrophic"]).toContain(outcome);
}

/**
 * Legal transitions; no two conflicting tasks in flight, `alone` alone, never more than the slots; no slot idle that
 * could be used.
 */
function checkLog({ table }: RandomPlan, events: readonly PlanEvent[]): void {
  expectLegal(events);
  const locks = createTaskLocks(table);
  const index = new Map(table.tasks.map(({ name }, task) => [name, task]));
  const running = new Set<number>();
  const ready = new Set<number>();
  const isAlone = (task: number): boolean => table.tasks[task]?.alone === true;
  for (const [at, event] of events.entries()) {
    if (event.type !== "node_transition") continue;
    const task = index.get(event.node_id) ?? -1;
    if (event.to === "ready") ready.add(task);
    else ready.delete(task);
    if (event.to === "running") {
      expect(locks.blocker(task), `${event.node_id} conflicts`).toBe(-1);
      locks.hold(task);
      running.add(task);
      expect(running.size).toBeLessThanOrEqual(table.maxParallel);
      if ([...running].some(isAlone)) expect(running.size).toBe(1);
    } else if (running.delete(task)) locks.release(task);
    // The schedule is work-conserving: while time passes, no ready task is idle, except an `alone` task that waits for
    // the others.
    const next = events[at + 1];
    if (next === undefined || next.ts === event.ts || running.size >= table.maxParallel) continue;
    if ([...running, ...ready].some(isAlone)) continue;
    for (const one of ready) expect(locks.blocker(one), `${table.tasks[one]?.name} could run`).not.toBe(-1);
  }
}
