import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "../output/write-atomically.ts";
import { readJsonLines, RUN_FILE } from "./run-directory.ts";

/** A run of a plan, with the durations of its tasks for later schedules. */
export interface RunEntry {
  readonly id: string;
  readonly plan: string;
  readonly thread: string | null;
  /** RFC 3339. */
  readonly startedAt: string;
  /** `null` for a run that has not ended, or was killed. */
  readonly outcome: string | null;
  readonly resumedFrom: string | null;
  /** Milliseconds by task, for tasks that are done. */
  readonly durations: Readonly<Record<string, number>>;
}

/** The runs of a directory, oldest first. The index file is a cache: runs that it lacks are read from their own directories. */
export function readRunIndex(runs: string): readonly RunEntry[] {
  let ids: string[];
  try {
    ids = readdirSync(runs, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
  const known = new Map(readIndexFile(runs).map((entry) => [entry.id, entry]));
  return ids
    .flatMap((id): RunEntry[] => {
      const entry = known.get(id);
      // A run without an outcome may have ended since.
      if (entry !== undefined && entry.outcome !== null) return [entry];
      const read = readRunEntry(runs, id);
      return read === undefined ? [] : [read];
    })
    .sort((a, b) => (a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0));
}

/** Writes the index. An error is ignored: it must not fail the run. */
export function writeRunIndex(runs: string): void {
  try {
    if (existsSync(runs))
      writeAtomically(
        join(runs, "index.json"),
        `${JSON.stringify({ version: 1, runs: readRunIndex(runs) }, null, 2)}\n`,
      );
  } catch {
    // The next reader reads the runs' own directories.
  }
}

function readIndexFile(runs: string): readonly RunEntry[] {
  try {
    const value = JSON.parse(readFileSync(join(runs, "index.json"), "utf8")) as { version?: unknown; runs?: unknown };
    return value.version === 1 && Array.isArray(value.runs) ? (value.runs as RunEntry[]).filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(entry: Partial<RunEntry> | null): boolean {
  return typeof entry === "object" && entry !== null && typeof entry.id === "string" && typeof entry.plan === "string";
}

/** One run; `undefined` if there is no record of it. */
export function readRunEntry(runs: string, id: string): RunEntry | undefined {
  const events = readJsonLines(join(runs, id, "transitions.jsonl"));
  const [start] = events;
  if (start?.["type"] !== "run_start") return undefined;
  const end = events.findLast((event) => event["type"] === "run_end");
  const begun = new Map<string, number>();
  const durations = Object.create(null) as Record<string, number>;
  for (const event of events) {
    const name = String(event["node_id"]);
    // A result from the cache says nothing about how long the task takes.
    if (event["type"] === "node_attempt" && event["cached"] === true) begun.set(name, NaN);
    if (event["type"] !== "node_transition") continue;
    const time = Date.parse(String(event["ts"]));
    if (event["to"] === "running") begun.set(name, begun.get(name) ?? time);
    const since = begun.get(name);
    if (event["to"] === "done" && since !== undefined && Number.isFinite(time - since)) durations[name] = time - since;
  }
  return {
    id,
    plan: String(start["plan"]),
    thread: textOf(readObject(runs, id, "summary.json")["thread"] ?? readObject(runs, id, RUN_FILE)["thread"]),
    startedAt: String(start["ts"]),
    outcome: textOf(end?.["outcome"]),
    resumedFrom: textOf(start["resumed_from"]),
    durations,
  };
}

function readObject(runs: string, id: string, file: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(readFileSync(join(runs, id, file), "utf8")) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The duration of each task of a plan in its most recent successful run, in milliseconds. */
export function recordedDurations(runs: string, plan: string): (task: string) => number | undefined {
  const found = new Map<string, number>();
  for (const entry of readRunIndex(runs)) {
    if (entry.plan !== plan) continue;
    for (const [task, duration] of Object.entries(entry.durations)) found.set(task, duration);
  }
  return (task) => found.get(task);
}
