import type { TaskIndex } from "../table/plan-table.ts";
import { createTaskQueue, type TaskQueue } from "./task-queue.ts";

/**
 * The tasks that are ready, by priority. A task that a lock keeps from starting is parked behind the gate of that lock
 * (`task-locks.ts`). When the gate may have opened, the first task behind it becomes available again, and the others follow
 * one at a time: so a release costs one attempt to start a task for each gate, not one for each parked task.
 */
export interface ReadyTasks {
  add(task: TaskIndex): void;
  /** Removes and returns the first available task. */
  take(): TaskIndex | undefined;
  /** The first parked task of all gates. */
  firstParked(): ReturnType<TaskQueue["peek"]>;
  park(task: TaskIndex, gate: number): void;
  /** Makes the first task behind the gate available again. */
  open(gate: number): void;
  /** A task that was available through a gate starts: the gate is not opened for the next one. */
  started(task: TaskIndex): void;
  /** A task that was available through a gate ends without starting: the next task behind the gate becomes available. */
  passOn(task: TaskIndex): void;
  /** Removes an ended task from the parked tasks. */
  forget(task: TaskIndex): void;
  /** Removes all available tasks. */
  clear(): void;
  /** The gate that a task is parked behind, or -1. */
  gateOf(task: TaskIndex): number;
  /** No task is available or parked. */
  readonly isEmpty: boolean;
}

/** @param count number of tasks in the plan */
export function createReadyTasks(
  count: number,
  priorityOf: (task: TaskIndex) => number,
  tieBreak: (task: TaskIndex) => number,
): ReadyTasks {
  const available = createTaskQueue(priorityOf, tieBreak);
  const parkedBehind = new Int32Array(count).fill(-1);
  const parked = new Map<number, TaskQueue>();
  const allParked = createTaskQueue(priorityOf, tieBreak, (task) => parkedBehind[task] === -1);
  /** The gate through which a parked task became available again. */
  const openedBy = new Int32Array(count).fill(-1);

  const open = (gate: number): void => {
    const task = parked.get(gate)?.pop();
    if (task === undefined) return;
    parkedBehind[task] = -1;
    openedBy[task] = gate;
    available.push(task);
  };
  const takeOpenedBy = (task: TaskIndex): number => {
    const gate = openedBy[task] ?? -1;
    openedBy[task] = -1;
    return gate;
  };

  return {
    add: (task) => available.push(task),
    take: () => available.pop(),
    firstParked: () => allParked.peek(),
    park(task, gate) {
      parkedBehind[task] = gate;
      let queue = parked.get(gate);
      if (queue === undefined) {
        queue = createTaskQueue(priorityOf, tieBreak, (candidate) => parkedBehind[candidate] !== gate);
        parked.set(gate, queue);
      }
      queue.push(task);
      allParked.push(task);
      const previous = takeOpenedBy(task);
      if (previous !== -1 && previous !== gate) open(previous);
    },
    open,
    started: (task) => void takeOpenedBy(task),
    passOn(task) {
      const gate = takeOpenedBy(task);
      if (gate !== -1) open(gate);
    },
    forget(task) {
      parkedBehind[task] = -1;
    },
    clear() {
      while (available.pop() !== undefined);
    },
    gateOf: (task) => parkedBehind[task] ?? -1,
    get isEmpty() {
      return available.size === 0 && allParked.peek() === undefined;
    },
  };
}
