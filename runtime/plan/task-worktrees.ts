import type { TouchSpec } from "../table/plan-table.ts";

/**
 * Gives each task with the policy `worktree` a working tree of its own while it runs. The caller of a plan provides it, because it uses
 * files. Tasks are named with the names of the tasks that call their plans: `deploy/build`. An exception of `open` or `merge` fails the
 * attempt.
 */
export interface TaskWorktrees {
  /**
   * Called before the first attempt of a task.
   *
   * @param outputs the files that the cache stores with its result; they come into the tree of the run even if git ignores them
   */
  open(task: string, touches: readonly TouchSpec[], outputs?: readonly string[]): Promise<void> | void;
  /**
   * Called when an attempt has converged. Merges the changes of the task into the tree of the run, all or none. Returns why it does not;
   * the task is then tried again.
   */
  merge(task: string): Promise<MergeRefusal | undefined> | MergeRefusal | undefined;
  /** Called when the task has ended, whatever its end. */
  close(task: string): Promise<void> | void;
}

export interface MergeRefusal {
  /** A kind, with the paths after a colon: `merge_conflict:src/a.ts`. */
  readonly reason: string;
  readonly message: string;
}
