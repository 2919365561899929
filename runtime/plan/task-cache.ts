import type { Json } from "../value/json.ts";
import type { TouchSpec } from "../table/plan-table.ts";

/** Everything that the result of a task depends on. */
export interface TaskCacheRequest {
  readonly plan: string;
  readonly task: string;
  /** The call with the values of its arguments, and the checks. */
  readonly call: Json;
  readonly touches: readonly TouchSpec[];
  /** Further globs of files. */
  readonly inputs: readonly string[];
  /** By name of the task it depends on: the key of that task's result. */
  readonly upstream: Readonly<Record<string, string>>;
}

export interface TaskCacheEntry {
  /** Hash of everything the result depends on. It is part of the requests of dependent tasks. */
  readonly key: string;
  /** The result for the same key; absent if the task has to run. */
  readonly result?: Json;
  /** What has changed: `command`, `src/api.ts`, `upstream build`, `first run`. */
  readonly changed: readonly string[];
}

/**
 * Stores results of tasks by the content of what they depend on. The caller of a plan provides it, because it reads
 * files.
 */
export interface TaskCache {
  look(request: TaskCacheRequest): Promise<TaskCacheEntry> | TaskCacheEntry;
  /** Called after the task has run: the files that it touches have their new content. */
  keep(request: TaskCacheRequest, result: Json): Promise<string> | string;
}
