import type { TaskIndex } from "../table/plan-table.ts";

/**
 * A binary heap of tasks: highest priority first, ties by `tieBreak`, then in file order. Priorities that have fallen are updated when an
 * entry reaches the top.
 */
export interface TaskQueue {
  push(task: TaskIndex): void;
  /** Removes and returns the first task; `undefined` if there is none. */
  pop(): TaskIndex | undefined;
  /** The first task and its current priority, without removing it; `undefined` if there is none. */
  peek(): { readonly task: TaskIndex; readonly priority: number } | undefined;
  readonly size: number;
}

/**
 * @param priorityOf may fall between calls for one task, but never rise
 * @param tieBreak a constant for each task: of equal priorities, the larger value goes first
 * @param isGone whether a task left the queue by another way: its entry is dropped when it reaches the top
 */
export function createTaskQueue(
  priorityOf: (task: TaskIndex) => number,
  tieBreak: (task: TaskIndex) => number,
  isGone: (task: TaskIndex) => boolean = () => false,
): TaskQueue {
  const tasks: TaskIndex[] = [];
  const keys: number[] = [];

  const before = (a: number, b: number): boolean => {
    const [keyOfA, keyOfB] = [keys[a] ?? 0, keys[b] ?? 0];
    if (keyOfA !== keyOfB) return keyOfA > keyOfB;
    const [first, second] = [tasks[a] ?? 0, tasks[b] ?? 0];
    const byTie = tieBreak(first) - tieBreak(second);
    return byTie === 0 ? first < second : byTie > 0;
  };
  const swap = (a: number, b: number): void => {
    [tasks[a], tasks[b]] = [tasks[b] ?? 0, tasks[a] ?? 0];
    [keys[a], keys[b]] = [keys[b] ?? 0, keys[a] ?? 0];
  };
  const siftUp = (start: number): void => {
    for (let at = start; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!before(at, parent)) return;
      swap(at, parent);
      at = parent;
    }
  };
  const siftDown = (start: number): void => {
    for (let at = start; ;) {
      let first = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < tasks.length && before(child, first)) first = child;
      if (first === at) return;
      swap(at, first);
      at = first;
    }
  };
  const removeFirst = (): void => {
    const last = tasks.length - 1;
    swap(0, last);
    tasks.pop();
    keys.pop();
    siftDown(0);
  };
  /** Updates entries at the top until the first one is current. */
  const settleFirst = (): TaskIndex | undefined => {
    for (;;) {
      const task = tasks[0];
      if (task === undefined) return undefined;
      if (isGone(task)) {
        removeFirst();
        continue;
      }
      const priority = priorityOf(task);
      if (priority >= (keys[0] ?? 0)) return task;
      keys[0] = priority;
      siftDown(0);
    }
  };

  return {
    get size() {
      return tasks.length;
    },
    push(task) {
      tasks.push(task);
      keys.push(priorityOf(task));
      siftUp(tasks.length - 1);
    },
    pop() {
      const task = settleFirst();
      if (task !== undefined) removeFirst();
      return task;
    },
    peek() {
      const task = settleFirst();
      return task === undefined ? undefined : { task, priority: keys[0] ?? 0 };
    },
  };
}
