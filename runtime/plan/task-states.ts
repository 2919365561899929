import { successorsOf } from "./plan-order.ts";
import type { PlanTable, TaskIndex, TaskNeed, TaskSpec } from "../table/plan-table.ts";

/** 9.1. `waiting`: paused for an answer; its slot is free, its paths stay locked. */
export type TaskStatus =
  "pending" | "ready" | "running" | "waiting" | "done" | "failed" | "blocked" | "skipped" | "cancelled";

export interface TaskTransition {
  readonly task: TaskIndex;
  readonly from: TaskStatus;
  readonly to: TaskStatus;
  readonly reason: string | null;
}

/**
 * The status of each task, and what the end of a task means for the tasks that depend on it (9.2, 9.7). Knows no slots, locks
 * or priorities.
 */
export interface TaskStates {
  status(task: TaskIndex): TaskStatus;
  reason(task: TaskIndex): string | null;
  transition(task: TaskIndex, to: TaskStatus, reason?: string | null): void;
  /** The transition to `failed`. */
  fail(task: TaskIndex, reason: string): void;
  /** Counts a skipped task as done for the tasks that depend on it. */
  leaveOut(task: TaskIndex, reason: string): void;
  /**
   * Notifies the tasks that depend on an ended task, in file order: each becomes ready, ends itself, or stays pending.
   * Ends propagate through any number of tasks.
   */
  propagate(ended: TaskIndex): void;
  /** From now on a task whose dependencies are done is cancelled instead of becoming ready, unless it is a `finally` task. */
  stop(): void;
}

/**
 * @param hooks `onReady` is called once for each task that becomes ready, `onEnd` once for each task that ends, `keeps`
 * before a task becomes ready: whether it is done without running, because the result of an earlier run holds
 */
export function createTaskStates(
  plan: PlanTable,
  hooks: {
    readonly onTransition: ((transition: TaskTransition) => void) | undefined;
    readonly onReady: (task: TaskIndex) => void;
    readonly onEnd: (task: TaskIndex) => void;
    readonly keeps: ((task: TaskIndex) => boolean) | undefined;
  },
): TaskStates {
  const successors = successorsOf(plan);
  const statuses: TaskStatus[] = plan.tasks.map(() => "pending");
  const reasons: (string | null)[] = plan.tasks.map(() => null);
  /** By task that has failed or is blocked: names of the nearest failed ancestors. */
  const failedAncestors: (readonly string[])[] = plan.tasks.map(() => []);
  /** By task: how its dependencies have ended. */
  const ended = new Int32Array(plan.tasks.length);
  /** Dependencies that have ended as the task needs it. */
  const met = new Int32Array(plan.tasks.length);
  const needsFailure = Uint8Array.from(plan.tasks, (task) => Number(waitsForFailure(task)));
  const sawFailure = new Uint8Array(plan.tasks.length);
  const endedSkipped = new Int32Array(plan.tasks.length);
  const endedBadly: TaskIndex[][] = plan.tasks.map(() => []);
  const leftOut = new Uint8Array(plan.tasks.length);
  let stopped = false;

  const transition = (task: TaskIndex, to: TaskStatus, reason: string | null = null): void => {
    const from = statuses[task] ?? "pending";
    statuses[task] = to;
    reasons[task] = reason;
    hooks.onTransition?.({ task, from, to, reason });
  };

  /** Of a task with a `mixed` trigger: what it waits for in each dependency. */
  const needs = plan.tasks.map(({ trigger, after, needs: listed }) =>
    trigger === "mixed" ? new Map(after.map((before, at) => [before, listed?.[at] ?? "all"])) : undefined,
  );
  const needOf = (task: TaskIndex, before: TaskIndex): TaskNeed | "any" => {
    const { trigger } = plan.tasks[task] as TaskSpec;
    return trigger === "mixed" ? (needs[task]?.get(before) ?? "all") : trigger;
  };

  const count = (before: TaskIndex, task: TaskIndex): void => {
    const need = needOf(task, before);
    ended[task] = (ended[task] ?? 0) + 1;
    const status = statuses[before];
    const isAllowed = status === "failed" && plan.tasks[before]?.allowFailure === true;
    const isDone = status === "done" || leftOut[before] === 1 || isAllowed;
    if (need === "done" || need === "failed") {
      met[task] = (met[task] ?? 0) + 1;
      if (need === "failed" && (status === "failed" || status === "blocked")) sawFailure[task] = 1;
    } else if (isDone) met[task] = (met[task] ?? 0) + 1;
    else if (status === "skipped") endedSkipped[task] = (endedSkipped[task] ?? 0) + 1;
    else endedBadly[task]?.push(before);
  };

  /** Whether the dependencies of a task allow it to start. */
  const isTriggered = (task: TaskIndex): boolean => {
    const { trigger, after } = plan.tasks[task] as TaskSpec;
    if (trigger === "any") return (met[task] ?? 0) > 0;
    return met[task] === after.length && (needsFailure[task] === 0 || sawFailure[task] === 1);
  };

  /** Decides about a pending task, given the ends of its dependencies. Returns whether the task has ended. */
  const decide = (task: TaskIndex): boolean => {
    const spec = plan.tasks[task];
    if (spec === undefined) return false;
    if (isTriggered(task)) {
      if (stopped && spec.finally !== true) return end(task, "cancelled", "stopped");
      if (hooks.keeps?.(task) === true) return end(task, "done", "restored");
      transition(task, "ready");
      hooks.onReady(task);
      return false;
    }
    const all = ended[task] === spec.after.length;
    const bad = endedBadly[task] ?? [];
    if (bad.length > 0 && (spec.trigger !== "any" || all)) {
      const causes = new Set(bad.flatMap((cause) => failedAncestors[cause] ?? []));
      if (causes.size === 0) return end(task, "cancelled", reasons[bad[0] ?? 0] ?? "cancelled");
      const names = [...causes].sort();
      failedAncestors[task] = names;
      return end(task, "blocked", `ancestor_failed:${names.join(",")}`);
    }
    if (all && met[task] === spec.after.length) {
      const names = spec.after
        .filter((before) => needOf(task, before) === "failed")
        .map((before) => plan.tasks[before]?.name ?? "");
      return end(task, "skipped", `no_failure:${names.sort().join(",")}`);
    }
    if (all && (endedSkipped[task] ?? 0) > 0) {
      const names = spec.after
        .filter((before) => statuses[before] === "skipped" && ["all", "any"].includes(needOf(task, before)))
        .map((before) => plan.tasks[before]?.name ?? "");
      return end(task, "skipped", `dependency_skipped:${names.sort().join(",")}`);
    }
    return false;
  };

  const end = (task: TaskIndex, status: TaskStatus, reason: string): true => {
    transition(task, status, reason);
    return true;
  };

  return {
    status: (task) => statuses[task] ?? "pending",
    reason: (task) => reasons[task] ?? null,
    transition,
    fail(task, reason) {
      failedAncestors[task] = [plan.tasks[task]?.name ?? ""];
      transition(task, "failed", reason);
    },
    leaveOut(task, reason) {
      leftOut[task] = 1;
      transition(task, "skipped", reason);
    },
    propagate(first) {
      const queue = [first];
      for (let at = 0; at < queue.length; at++) {
        const task = queue[at] ?? 0;
        hooks.onEnd(task);
        for (const next of successors[task] ?? []) {
          count(task, next);
          if (statuses[next] === "pending" && decide(next)) queue.push(next);
        }
      }
    },
    stop() {
      stopped = true;
    },
  };
}

/** Whether a task runs only if one of its dependencies has failed. */
export function waitsForFailure({ trigger, needs }: TaskSpec): boolean {
  return trigger === "failed" || needs?.includes("failed") === true;
}
