import type { Json } from "../value/json.ts";
import type { CacheSpec, TouchSpec } from "../table/plan-table.ts";

/** Everything that the result of a task depends on. */
export interface TaskCacheRequest {
  readonly plan: string;
  readonly task: string;
  /** The task after the names of the tasks that call its plan: `deploy/build`. */
  readonly node?: string;
  /** The call with the values of its arguments, and the checks. */
  readonly call: Json;
  readonly touches: readonly TouchSpec[];
  readonly cache: CacheSpec;
  /** By name of the task it depends on: a fingerprint of what that task has made. */
  readonly upstream: Readonly<Record<string, string>>;
}

export interface TaskCacheEntry {
  /** A result that was made from the same; absent if the task has to run. Its files are restored already. */
  readonly result?: Json;
  /** What has changed since the last result: `command`, `src/api.ts`, `upstream build`, `first run`. */
  readonly changed: readonly string[];
}

/**
 * Stores results of tasks by the content of what they depend on. The caller of a plan provides it, because it reads
 * files.
 */
export interface TaskCache {
  look(request: TaskCacheRequest): Promise<TaskCacheEntry> | TaskCacheEntry;
  /** Called with the object that `look` was called with, after the task has run: the files that it touches have their new content. */
  keep(request: TaskCacheRequest, result: Json): Promise<void> | void;
  /** A hash of a value, and of the content of all files that match one of the paths. */
  fingerprint(paths: readonly string[], value: Json): string;
}
