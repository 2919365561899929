import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planSchedule } from "../../runtime/plan/schedule.ts";
import { planOutcome } from "../../runtime/plan/plan-scheduler.ts";
import { simulatePlan, sketchPlan, type TaskSketch } from "./simulate-plan.ts";
import { numRuns } from "../support/depth.ts";

const failed = { status: "failed", reason: "max_tries_reached" } as const;
const run = (tasks: Record<string, TaskSketch>, settings: Parameters<typeof sketchPlan>[1] = {}) =>
  simulatePlan(sketchPlan(tasks, settings), tasks);

const SIX: Record<string, TaskSketch> = {
  "schema-init": {},
  "auth-table": { after: ["schema-init"], touches: ["migrations/0012_auth.sql"] },
  "user-table": { after: ["schema-init"] },
  "auth-service": { after: ["auth-table", "user-table"], touches: ["src/api.ts"] },
  "user-service": { after: ["auth-table", "user-table"], touches: ["src/api.ts"] },
  "api-gateway": { after: ["auth-service", "user-service"] },
};

describe("batches in file order", () => {
  test.each<[string, Record<string, TaskSketch>, number, string[][]]>([
    [
      "K-01",
      SIX,
      3,
      [["schema-init"], ["auth-table", "user-table"], ["auth-service"], ["user-service"], ["api-gateway"]],
    ],
    [
      "K-02",
      { ...SIX, "user-service": { after: ["auth-table", "user-table"] } },
      3,
      [["schema-init"], ["auth-table", "user-table"], ["auth-service", "user-service"], ["api-gateway"]],
    ],
    ["K-03", SIX, 1, Object.keys(SIX).map((name) => [name])],
    [
      "K-04",
      { a: { takes: 1 }, b: { takes: 3 }, sa: { after: ["a"] }, sb: { after: ["b"] } },
      3,
      [["a", "b"], ["sa"], ["sb"]],
    ],
    ["K-10", { a: { takes: 1 }, b: { takes: 2 }, c: { takes: 2 }, d: {} }, 2, [["a", "b"], ["c"], ["d"]]],
    ["K-11", { a: { touches: ["x"] }, b: { touches: ["x"] }, c: { touches: ["y"] } }, 2, [["a", "c"], ["b"]]],
    ["K-14", { solo: { alone: true }, other: {} }, 3, [["solo"], ["other"]]],
    ["K-17", { a: { alone: true }, b: { alone: true } }, 3, [["a"], ["b"]]],
  ])("%s", (_, tasks, maxParallel, batches) => {
    expect(run(tasks, { maxParallel }).batches).toEqual(batches);
  });

  test("K-12, K-13: conflicts count against running tasks and tasks that are about to start", () => {
    const tasks = { a: { touches: ["x"], takes: 5 }, b: { touches: ["x"] }, c: {}, d: { touches: ["x"] } };
    expect(run(tasks, { maxParallel: 3 }).batches).toEqual([["a", "c"], ["b"], ["d"]]);
  });

  test("K-15 (9.3): an `alone` task that heads the queue is not overtaken", () => {
    const tasks: Record<string, TaskSketch> = { long: { takes: 4 }, solo: { alone: true }, late: {} };
    expect(run(tasks, { maxParallel: 2 }).batches).toEqual([["long"], ["solo"], ["late"]]);
  });

  test("an `alone` task that heads the queue is not overtaken by a task that becomes ready later (9.3)", () => {
    const tasks: Record<string, TaskSketch> = {
      a: { takes: 2 },
      b: { takes: 10, after: ["a"] },
      solo: { alone: true, takes: 9 },
      x1: {},
      x2: {},
    };
    expect(run(tasks, { maxParallel: 2, order: "priority" }).batches).toEqual([["a"], ["solo"], ["b", "x1"], ["x2"]]);
  });

  test.each<[string, TaskSketch, number]>([
    ["a path that all tasks only read", { reads: ["package.json"] }, 1],
    ["a pool with a place for every slot", { pool: ["net", 1] }, 2],
    ["a pool with a place for one slot less, which all tasks need", { pool: ["net", 1] }, 3],
  ])("the longest path goes first, whatever the load of %s (9.5)", (_, shared, maxParallel) => {
    const tasks: Record<string, TaskSketch> = {
      ...Object.fromEntries(Array.from({ length: 12 }, (__, index) => [`short${index}`, { ...shared, takes: 1 }])),
      head: { ...shared, takes: 2 },
      tail: { ...shared, takes: 2, after: ["head"] },
    };
    const { batches } = run(tasks, { maxParallel, order: "priority", pools: [{ name: "net", size: 2 }] });
    expect(batches[0]).toContain("head");
  });

  test("K-16: nothing starts beside an `alone` task", () => {
    const tasks: Record<string, TaskSketch> = { solo: { alone: true, takes: 3 }, a: {}, b: {} };
    expect(run(tasks, { maxParallel: 3 }).inFlight[0]).toEqual(["solo"]);
  });

  test("K-39, K-40: as many tasks as slots; one at a time over one path", () => {
    const wide = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`t${index}`, {}]));
    const simulation = run(wide, { maxParallel: 4 });
    expect(Math.max(...simulation.inFlight.map((tasks) => tasks.length))).toBe(4);
    expect(simulation.transitions.slice(0, 100).map((entry) => [entry.task, entry.to])).toEqual(
      Array.from({ length: 100 }, (_, index) => [index, "ready"]),
    );
    const narrow = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`t${index}`, { touches: ["one"] }]));
    expect(Math.max(...run(narrow, { maxParallel: 4 }).inFlight.map((tasks) => tasks.length))).toBe(1);
  });
});

test("a task of unknown duration counts as the mean of the known ones", () => {
  const plan = sketchPlan({ a: {}, b: {}, c: {} }, { maxParallel: 1 });
  const known = [60_000, undefined, 120_000];
  expect([...planSchedule(plan, { expected: (task) => known[task] }).durations]).toEqual([60_000, 90_000, 120_000]);
});

describe("failures", () => {
  test("K-22: descendants are blocked at once, unrelated tasks continue", () => {
    const simulation = run({ a: { ends: failed }, b: { after: ["a"] }, c: { after: ["b"] }, d: {} });
    expect(simulation.statuses).toEqual({ a: "failed", b: "blocked", c: "blocked", d: "done" });
    expect(simulation.reasons).toMatchObject({ b: "ancestor_failed:a", c: "ancestor_failed:a" });
    expect(simulation.transitions.filter((entry) => entry.to === "blocked").map((entry) => entry.from)).toEqual([
      "pending",
      "pending",
    ]);
  });

  test("K-23: a task is blocked once, while another parent still runs", () => {
    const simulation = run({
      a: {},
      b: { after: ["a"], ends: failed },
      c: { after: ["a"], takes: 5 },
      d: { after: ["b", "c"] },
    });
    expect(simulation.statuses).toEqual({ a: "done", b: "failed", c: "done", d: "blocked" });
    expect(simulation.transitions.filter((entry) => entry.task === 3)).toHaveLength(1);
  });

  test("K-24: one event, with the parents that have failed by then", () => {
    const simulation = run({ b: { ends: failed }, c: { ends: failed }, d: { after: ["b", "c"] } });
    expect(simulation.transitions.filter((entry) => entry.task === 2)).toEqual([
      { task: 2, from: "pending", to: "blocked", reason: "ancestor_failed:b" },
    ]);
  });

  test("triggers: `any` starts with the first, `done` whatever happened, a skipped dependency skips", () => {
    const skipped = { status: "skipped", reason: "condition" } as const;
    const simulation = run(
      {
        bad: { ends: failed },
        good: { takes: 2 },
        slow: { takes: 9 },
        none: { ends: skipped },
        any: { after: ["bad", "good", "slow"], trigger: "any" },
        never: { after: ["bad", "none"], trigger: "any" },
        finally: { after: ["bad", "good"], trigger: "done" },
        follows: { after: ["none"] },
      },
      { maxParallel: 8 },
    );
    expect(simulation.statuses).toMatchObject({ any: "done", never: "blocked", finally: "done", follows: "skipped" });
    expect(simulation.spans.get("any")?.start).toBe(2);
    expect(simulation.reasons["follows"]).toBe("dependency_skipped:none");
  });
});

test.each<[number, number, number, number, string]>([
  [5, 0, 0, 0, "clean"],
  [5, 0, 0, 2, "clean_with_flake"],
  [0, 1, 4, 0, "catastrophic"],
  [2, 1, 0, 0, "partial"],
  [2, 0, 1, 0, "partial"],
  [2, 1, 1, 0, "stuck"],
])("K-36: %i done, %i failed, %i blocked, %i flaky is %s", (done, failed, blocked, flaky, outcome) => {
  expect(planOutcome({ done, failed, blocked, flaky })).toBe(outcome);
});

describe("after failed, and several words", () => {
  const handled = (ends: Readonly<Record<string, "done" | "failed">>) => {
    const end = (task: string) => (ends[task] === "failed" ? { ends: failed } : {});
    return run({
      a: end("a"),
      b: { after: ["a"], ...end("b") },
      notify: { after: ["a", "b"], trigger: "failed" },
      more: { after: ["notify"] },
      report: { after: ["a", "b", "notify"], trigger: "mixed", needs: ["all", "done", "failed"] },
      roll: { after: ["a", "b"], trigger: "mixed", needs: ["all", "failed"] },
    });
  };

  test("without a failure they are skipped, with all that waits for them", () => {
    const { statuses, reasons } = handled({});
    expect(statuses).toEqual({
      a: "done",
      b: "done",
      notify: "skipped",
      more: "skipped",
      report: "skipped",
      roll: "skipped",
    });
    expect(reasons).toMatchObject({
      notify: "no_failure:a,b",
      more: "dependency_skipped:notify",
      roll: "no_failure:b",
    });
  });

  test("a failure starts them; a blocked task counts as failed", () => {
    expect(handled({ b: "failed" }).statuses).toMatchObject({
      notify: "done",
      more: "done",
      report: "skipped",
      roll: "done",
    });
    const { statuses, reasons } = handled({ a: "failed" });
    expect(statuses).toMatchObject({ b: "blocked", notify: "done", more: "done", report: "blocked", roll: "blocked" });
    expect(reasons["roll"]).toBe("ancestor_failed:a");
  });

  test("the schedule and its lower bound leave them out", () => {
    const { makespan, lowerBound, batches } = planSchedule(
      sketchPlan({ a: {}, never: { after: ["a"], trigger: "failed" }, more: { after: ["never"] } }),
      { expected: () => 10 },
    );
    expect([makespan, lowerBound, batches]).toEqual([10, 10, [[0]]]);
  });
});

test("K-19: tasks on a cycle stay pending, and the outcome is not clean", () => {
  const simulation = run({ r: {}, b: { after: ["c"] }, c: { after: ["b"] } });
  expect(simulation.statuses).toEqual({ r: "done", b: "pending", c: "pending" });
});

describe("any plan", () => {
  const plans = fc.integer({ min: 1, max: 14 }).chain((count) =>
    fc.record({
      maxParallel: fc.integer({ min: 1, max: 4 }),
      order: fc.constantFrom("file" as const, "priority" as const),
      poolSize: fc.integer({ min: 1, max: 3 }),
      tasks: fc.array(
        fc.record({
          after: fc.array(fc.nat(), { maxLength: 3 }),
          trigger: fc.constantFrom("all" as const, "all" as const, "any" as const, "done" as const),
          touches: fc.subarray(["src/a.ts", "src/b.ts", "src/*.ts", "docs/**", "docs/x/y.md"], { maxLength: 2 }),
          reads: fc.subarray(["src/a.ts", "src/**", "docs/x/y.md"], { maxLength: 2 }),
          alone: fc.boolean().map((x) => x),
          aloneDie: fc.integer({ min: 0, max: 9 }),
          pool: fc.integer({ min: 0, max: 3 }),
          takes: fc.integer({ min: 1, max: 5 }),
          fate: fc.integer({ min: 0, max: 9 }),
        }),
        { minLength: count, maxLength: count },
      ),
    }),
  );
  const legal = new Set([
    "pending>ready",
    "pending>blocked",
    "pending>skipped",
    "ready>running",
    "ready>blocked",
    "running>done",
    "running>failed",
    "running>skipped",
  ]);

  test("transitions are legal, conflicts are kept apart, nothing starves, no slot idles (9.1-9.4, K-34, K-35)", () => {
    fc.assert(
      fc.property(plans, (sketch) => {
        const tasks: Record<string, TaskSketch> = {};
        for (const [index, task] of sketch.tasks.entries()) {
          const after = index === 0 ? [] : [...new Set(task.after.map((before) => `t${before % index}`))];
          tasks[`t${index}`] = {
            after,
            trigger: task.trigger,
            touches: task.touches,
            reads: task.reads,
            takes: task.takes,
            ...(task.aloneDie === 0 ? { alone: true as const } : {}),
            ...(task.pool === 0 ? {} : { pool: ["gpu", Math.min(task.pool, sketch.poolSize)] as const }),
            ends:
              task.fate === 0
                ? failed
                : task.fate === 1
                  ? { status: "skipped", reason: "condition" }
                  : { status: "done" },
          };
        }
        const plan = sketchPlan(tasks, {
          maxParallel: sketch.maxParallel,
          order: sketch.order,
          pools: [{ name: "gpu", size: sketch.poolSize }],
        });
        const simulation = simulatePlan(plan, tasks);
        const readies = new Map<number, number>();
        for (const { task, from, to } of simulation.transitions) {
          expect(legal).toContain(`${from}>${to}`);
          if (to === "ready") readies.set(task, (readies.get(task) ?? 0) + 1);
        }
        expect([...readies.values()].every((count) => count === 1)).toBe(true);
        for (const status of Object.values(simulation.statuses))
          expect(["done", "failed", "blocked", "skipped"]).toContain(status);
        expect(simulation.idle).toEqual([]);
        for (const together of simulation.inFlight) {
          expect(together.length).toBeLessThanOrEqual(sketch.maxParallel);
          if (together.some((name) => tasks[name]?.alone)) expect(together).toHaveLength(1);
          expect(together.reduce((sum, name) => sum + (tasks[name]?.pool?.[1] ?? 0), 0)).toBeLessThanOrEqual(
            sketch.poolSize,
          );
          for (const a of together)
            for (const b of together) if (a < b) expect(conflict(tasks[a] ?? {}, tasks[b] ?? {})).toBe(false);
        }
        expect(simulation.settled).toBe(true);
      }),
      { numRuns: numRuns(3000), seed: 20261 },
    );
  });

  /** Independent of the pattern code: which of the test's five names have a file in common. */
  const FILES = ["src/a.ts", "src/b.ts", "src/c.ts", "src/d/e.ts", "docs/x/y.md", "docs/z.md"];
  const COVERS: Record<string, (file: string) => boolean> = {
    "src/*.ts": (file) => /^src\/[^/]*\.ts$/.test(file),
    "docs/**": (file) => file.startsWith("docs/"),
    "src/**": (file) => file.startsWith("src/"),
  };
  const meet = (a: string, b: string): boolean =>
    FILES.some((file) => (COVERS[a]?.(file) ?? file === a) && (COVERS[b]?.(file) ?? file === b));
  function conflict(a: TaskSketch, b: TaskSketch): boolean {
    const clash = (writes: readonly string[], all: readonly string[]): boolean =>
      writes.some((one) => all.some((other) => meet(one, other)));
    return (
      clash(a.touches ?? [], [...(b.touches ?? []), ...(b.reads ?? [])]) ||
      clash(b.touches ?? [], [...(a.touches ?? []), ...(a.reads ?? [])])
    );
  }
});
