import { describe, expect, test } from "vitest";
import { createPlanRunner } from "../../runtime/index.ts";
import { runSketch, sketchTable, transitionsOf, type RunSketch } from "./run-sketch.ts";

const SIX: Record<string, RunSketch> = {
  "schema-init": {},
  "auth-table": { after: ["schema-init"], touches: ["migrations/0012_auth.sql"] },
  "user-table": { after: ["schema-init"] },
  "auth-service": { after: ["auth-table", "user-table"], touches: ["src/api.ts"] },
  "user-service": { after: ["auth-table", "user-table"], touches: ["src/api.ts"] },
  "api-gateway": { after: ["auth-service", "user-service"] },
};

test("K-01: the example of six tasks, batch for batch", async () => {
  const { result } = await runSketch(SIX, { maxParallel: 3 });
  expect(result.batches).toEqual([
    ["schema-init"],
    ["auth-table", "user-table"],
    ["auth-service"],
    ["user-service"],
    ["api-gateway"],
  ]);
  expect(result).toMatchObject({ status: "completed", outcome: "clean", exitCode: 0, error: null });
});

test("K-41: the events of one task, in order", async () => {
  const { events } = await runSketch({ a: { checks: [[true]] } });
  expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(
    events.map((event) => [event.type, "to" in event ? event.to : undefined, "attempt" in event ? event.attempt : 0]),
  ).toEqual([
    ["run_start", undefined, 0],
    ["node_transition", "ready", 0],
    ["node_transition", "running", 1],
    ["node_attempt", undefined, 1],
    ["node_transition", "done", 0],
    ["run_end", undefined, 0],
  ]);
  expect(events.at(-1)).toMatchObject({ outcome: "clean", done: 1, failed: 0, blocked: 0, exit_code: 0 });
});

describe("9.6 attempts", () => {
  test("K-27: repeated until all checks pass; the task stays running", async () => {
    const { result, events } = await runSketch({ a: { checks: [[false], [false], [true]] } });
    expect(transitionsOf(events, "a")).toEqual(["pending→ready", "ready→running", "running→done"]);
    const attempts = events.filter((event) => event.type === "node_attempt");
    expect(attempts.map(({ attempt, converged, backoff_s }) => [attempt, converged, backoff_s])).toEqual([
      [1, false, undefined],
      [2, false, 2],
      [3, true, 4],
    ]);
    expect(result).toMatchObject({ outcome: "clean_with_flake", exitCode: 0 });
    expect(result.totals).toMatchObject({ flake_retries: 2, flaky_tasks: 1, total_attempts: 3 });
  });

  test("K-28, K-32: six attempts, increasing waits, then failed", async () => {
    const { result, events } = await runSketch({ a: { checks: [[false]] } });
    expect(events.flatMap((event) => (event.type === "node_attempt" ? [event.backoff_s] : []))).toEqual([
      undefined,
      2,
      4,
      8,
      16,
      32,
    ]);
    expect(result.tasks).toMatchObject([{ id: "a", status: "failed", attempts: 6, reason: "max_tries_reached" }]);
    expect(result).toMatchObject({ outcome: "catastrophic", exitCode: 1 });
  });

  test("K-32: no wait is longer than a minute", async () => {
    const { events } = await runSketch({ a: { checks: [[false]], tries: 9 } });
    expect(events.flatMap((event) => (event.type === "node_attempt" ? [event.backoff_s] : [])).slice(5)).toEqual([
      32, 60, 60, 60,
    ]);
  });

  test("K-29: a single try does not wait", async () => {
    const { events, clock } = await runSketch({ a: { checks: [[false]], tries: 1 } });
    expect(events.filter((event) => event.type === "node_attempt")).toHaveLength(1);
    expect(clock.now()).toBe(1_001_000);
  });

  test("K-30: every check runs, whatever the result of the others", async () => {
    const { events } = await runSketch({ a: { checks: [[true, false, true]], tries: 1 } });
    const attempt = events.find((event) => event.type === "node_attempt");
    expect(attempt?.done_when_results.map(({ rc }) => rc)).toEqual([0, 1, 0]);
    expect(attempt?.done_when_results.map(({ tail }) => tail !== undefined)).toEqual([false, true, false]);
  });

  test("K-31: the checks decide, not the result of the task", async () => {
    const { result } = await runSketch({
      a: { does: ["it exploded"], checks: [[true]] },
      b: { does: ["ok"], checks: [[false]], tries: 2 },
    });
    expect(result.tasks.map(({ status }) => status)).toEqual(["done", "failed"]);
  });

  test("K-33: a task that waits for its next attempt holds its slot and its paths", async () => {
    const { together } = await runSketch(
      { a: { checks: [[false], [true]], touches: ["x"] }, b: { touches: ["x"] }, c: {} },
      { maxParallel: 1 },
    );
    expect(together).toEqual([["a"], ["a"], ["b"], ["c"]]);
  });

  test("without checks the result of the task decides, once", async () => {
    const { result } = await runSketch({ a: { does: ["no"] }, b: { does: ["no", "ok"], tries: 2 } });
    expect(result.tasks).toMatchObject([
      { status: "failed", reason: "task_failed", attempts: 1, error: "no" },
      { status: "done", attempts: 2 },
    ]);
  });

  test("a timeout ends an attempt", async () => {
    const { result } = await runSketch({ a: { does: ["hang"], timeout: 3 }, b: { after: ["a"] } });
    expect(result.tasks).toMatchObject([
      { status: "failed", reason: "timeout" },
      { status: "blocked", reason: "ancestor_failed:a" },
    ]);
  });
});

describe("9.7 failures", () => {
  const tasks: Record<string, RunSketch> = {
    a: { does: ["no"] },
    b: { after: ["a"] },
    c: { takes: 2 },
    d: { after: ["c"] },
  };
  test("K-22, K-25: continue", async () => {
    const { result } = await runSketch(tasks);
    expect(result.tasks.map(({ status }) => status)).toEqual(["failed", "blocked", "done", "done"]);
    expect(result).toMatchObject({ outcome: "stuck", exitCode: 1 });
  });

  test("no-new: running tasks continue, no other task starts", async () => {
    const { result } = await runSketch(tasks, {}, {}, { ...sketchTable(tasks), onFailure: "no-new" });
    expect(result.tasks).toMatchObject([
      { status: "failed" },
      { status: "blocked" },
      { status: "done" },
      { status: "cancelled", reason: "stopped_by_failure:a" },
    ]);
  });

  test("kill: running tasks are ended", async () => {
    const { result } = await runSketch(tasks, {}, {}, { ...sketchTable(tasks), onFailure: "kill" });
    expect(result.tasks.map(({ status }) => status)).toEqual(["failed", "blocked", "cancelled", "cancelled"]);
    expect(result.status).toBe("completed");
  });
});

describe("interruption", () => {
  test("draining waits for running tasks, and starts none", async () => {
    const drain = new AbortController();
    const tasks: Record<string, RunSketch> = { a: { takes: 2 }, b: { after: ["a"] } };
    const { result } = await runSketch(tasks, {}, { drain: drain.signal, afterTask: () => void drain.abort() });
    expect(result.tasks.map(({ status }) => status)).toEqual(["done", "cancelled"]);
    expect(result).toMatchObject({ status: "cancelled", outcome: "partial", exitCode: 130 });
  });

  test("cancelling ends running tasks", async () => {
    const controller = new AbortController();
    const tasks: Record<string, RunSketch> = { a: { does: ["hang"] }, b: { takes: 1 } };
    const { result } = await runSketch(
      tasks,
      {},
      { signal: controller.signal, afterTask: () => void controller.abort() },
    );
    expect(result.tasks.map(({ status }) => status)).toEqual(["cancelled", "done"]);
    expect(result.status).toBe("cancelled");
  });
});

describe("selection", () => {
  test("only: the other tasks are left out, and no task waits for them", async () => {
    const { result } = await runSketch(SIX, {}, { only: ["auth-service", "api-gateway"] });
    expect(result.batches).toEqual([["auth-service"], ["api-gateway"]]);
    expect(result).toMatchObject({ outcome: "clean", exitCode: 0 });
  });

  test("fromTask: a task and all tasks after it", async () => {
    const { result } = await runSketch(SIX, {}, { fromTask: "auth-table" });
    expect(result.batches.flat()).toEqual(["auth-table", "auth-service", "user-service", "api-gateway"]);
  });

  test("an unknown task", async () => {
    await expect(runSketch(SIX, {}, { only: ["nope"] })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
  });
});

test("K-18: no roots, with exactly this message", () => {
  const tasks = sketchTable({ a: { after: ["b"] }, b: { after: ["a"] } });
  expect(() => createPlanRunner(tasks)).toThrow("graph has no roots — cycle or malformed deps");
});

test("K-19: a cycle behind a root", () => {
  const tasks = sketchTable({ r: {}, b: { after: ["c"] }, c: { after: ["b"] } });
  expect(() => createPlanRunner(tasks)).toThrow("b, c depend on each other");
});
