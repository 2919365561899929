import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../runtime/value/json.ts";
import type { TaskCache, TaskCacheEntry, TaskCacheRequest } from "../../runtime/plan/task-cache.ts";
import { writeAtomically } from "../output/write-atomically.ts";
import { hashFiles } from "./hash-files.ts";

/** The inputs of a task's last run, and its result. */
interface CacheRecord {
  readonly version: 1;
  readonly call: string;
  /** Content hashes, by path, of the files that match its `touches` and inputs, taken after the run. */
  readonly files: Readonly<Record<string, string>>;
  readonly upstream: Readonly<Record<string, string>>;
  readonly result: Json;
}

/**
 * Stores the results of tasks in files, one for each task. A cached task is skipped if its command, the content of the files that it
 * touches and of its inputs, and the results of the tasks that it comes after have not changed since its last run.
 *
 * @param isForced every task runs, and its new result is stored
 */
export function createFileTaskCache(directory: string, root: string, isForced: boolean): TaskCache {
  const place = ({ plan, task }: TaskCacheRequest): string =>
    join(directory, `${sha256(JSON.stringify([plan, task]))}.json`);
  return {
    look(request): TaskCacheEntry {
      const record = readRecord(place(request));
      const now = stateOf(request, root);
      if (record === undefined) return { key: "", changed: ["first run"] };
      const changed = [
        ...(isForced ? ["--no-cache"] : []),
        ...(record.call === now.call ? [] : ["command"]),
        ...differences(record.files, now.files),
        ...differences(record.upstream, now.upstream).map((name) => `upstream ${name}`),
      ];
      if (changed.length > 0) return { key: "", changed };
      return { key: keyOf(record), result: record.result, changed: [] };
    },
    keep(request, result): string {
      const record: CacheRecord = { version: 1, ...stateOf(request, root), result };
      writeAtomically(place(request), JSON.stringify(record));
      return keyOf(record);
    },
  };
}

function stateOf(request: TaskCacheRequest, root: string): Omit<CacheRecord, "version" | "result"> {
  const upstream = Object.create(null) as Record<string, string>;
  for (const [task, key] of Object.entries(request.upstream)) upstream[task] = sha256(key);
  return {
    call: sha256(JSON.stringify(request.call)),
    files: hashFiles(root, [...request.touches.map(({ path }) => path), ...request.inputs]),
    upstream,
  };
}

/** The key that later tasks depend on: a hash of the task's result, independent of time. */
function keyOf(record: CacheRecord): string {
  return sha256(JSON.stringify([record.call, Object.entries(record.files).sort(), record.result]));
}

function differences(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): string[] {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].filter((name) => a[name] !== b[name]).sort();
}

function readRecord(path: string): CacheRecord | undefined {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<CacheRecord>;
    const isWhole =
      value.version === 1 && typeof value.call === "string" && isRecord(value.files) && isRecord(value.upstream);
    return isWhole && value.result !== undefined ? (value as CacheRecord) : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
