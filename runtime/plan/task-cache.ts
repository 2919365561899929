import type { Json } from "../value/json.ts";
import type { TouchSpec } from "../table/plan-table.ts";

/** What a task's result depends on. */
export interface TaskCacheRequest {
  readonly plan: string;
  readonly task: string;
  /** The call with the values of its arguments, and the checks. */
  readonly call: Json;
  readonly touches: readonly TouchSpec[];
  /** Further globs. */
  readonly inputs: readonly string[];
  /** By name of the task it comes after: what that one's result was made from. */
  readonly upstream: Readonly<Record<string, string>>;
}

export interface TaskCacheEntry {
  /** Of everything the result was made from; goes into the requests of those that come after. */
  readonly key: string;
  /** What the task gave when all of it was the same; absent where it has to run. */
  readonly result?: Json;
  /** What has changed since: `command`, `src/api.ts`, `upstream build`, `first run`. */
  readonly changed: readonly string[];
}

/** Remembers the results of tasks by the content of what they depend on. Whoever runs a plan supplies it: it reads files. */
export interface TaskCache {
  look(request: TaskCacheRequest): Promise<TaskCacheEntry> | TaskCacheEntry;
  /** After the task has run: what it touches has its new content now. */
  keep(request: TaskCacheRequest, result: Json): Promise<string> | string;
}
