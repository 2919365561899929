/** The runs of plans that `ngc run` has recorded in a directory, for the studio. */
import { basename, join } from "node:path";
import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import type { PlanLogPart, PlanRun, PlanRuns, PlanRunSummary, PlanRunTask } from "../../service/plan-runs.ts";
import { PLANNED, readJsonLines, readPlanned, type PlannedTask } from "../plan/run-directory.ts";
import { logsOf, readFrom } from "../plan/read-logs.ts";
import { readRunEntry, readRunIndex, type RunEntry } from "../plan/run-index.ts";
import { createRunTimeline } from "../plan/run-timeline.ts";
import { interruptRun, runAtWork } from "../plan/tree-claim.ts";

/** Bytes of one answer. */
const PART = 256 * 1024;
const RUN_ID = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/;

/** @param runs the directory; it need not exist */
export function recordedPlanRuns(runs: string): PlanRuns {
  const entryOf = (id: string): RunEntry | undefined => (RUN_ID.test(id) ? readRunEntry(runs, id) : undefined);
  return {
    list({ plan }) {
      const atWork = runAtWork(runs);
      const entries = readRunIndex(runs).filter((entry) => plan === undefined || entry.plan === plan);
      return entries.reverse().map((entry) => summaryOf(entry, atWork));
    },
    find(id) {
      const entry = entryOf(id);
      return entry === undefined ? undefined : summaryOf(entry, runAtWork(runs));
    },
    run(id) {
      const entry = entryOf(id);
      return entry === undefined ? undefined : runOf(runs, entry);
    },
    cancel(id) {
      return interruptRun(runs, id);
    },
    log(id, name, from) {
      return entryOf(id) === undefined ? undefined : partOf(runs, id, name, from);
    },
  };
}

function summaryOf({ id, plan, thread, startedAt, outcome }: RunEntry, atWork: string | undefined): PlanRunSummary {
  return { id, plan, thread, startedAt, outcome, running: outcome === null && atWork === id };
}

interface TaskFacts {
  status: string;
  attempts: number;
  reason: string | null;
  error: string | null;
}

function runOf(runs: string, entry: RunEntry): PlanRun {
  const summary = summaryOf(entry, runAtWork(runs));
  const timeline = createRunTimeline();
  const facts = new Map<string, TaskFacts>();
  const factsOf = (id: string): TaskFacts => {
    const found = facts.get(id) ?? { status: "pending", attempts: 0, reason: null, error: null };
    facts.set(id, found);
    return found;
  };
  const planned = readPlanned(join(runs, entry.id, PLANNED));
  for (const { id } of planned?.tasks ?? []) factsOf(id);
  for (const line of readJsonLines(join(runs, entry.id, "transitions.jsonl"))) {
    const event = line as unknown as PlanEvent;
    timeline.onEvent(event);
    if (event.type === "node_transition") {
      const task = factsOf(event.node_id);
      task.status = event.to;
      task.reason = event.reason ?? null;
    } else if (event.type === "node_attempt") {
      const task = factsOf(event.node_id);
      task.attempts = Math.max(task.attempts, event.attempt);
      const failed = (event.done_when_results ?? [])
        .filter(({ rc }) => rc !== 0)
        .map(({ cmd, rc }) => `${cmd} (${rc})`);
      task.error = event.error ?? (failed.length === 0 ? null : `a check has failed: ${failed.join(", ")}`);
    }
  }
  const length = summary.running ? Math.max(0, Date.now() - Date.parse(entry.startedAt)) : timeline.length;
  const rows = new Map(timeline.rows(length).map((row) => [row.task, row]));
  const expected = new Map(planned?.tasks.map((task) => [task.id, task]));
  const tasks = [...facts].map(([id, task]): PlanRunTask => {
    const row = rows.get(id);
    const { spans = [], retries = [], isCached = false } = row ?? {};
    // The end of the last attempt is not followed by another one.
    const repeated = retries.slice(0, Math.max(0, task.attempts - 1));
    return { id, ...task, spans, retries: repeated, cached: isCached, ...plannedOf(expected.get(id)) };
  });
  const logs = logsOf(runs, entry.id).map(({ task, check, attempt, path, bytes }) => ({
    log: basename(path),
    task,
    check: check ?? null,
    attempt,
    bytes,
  }));
  const schedule =
    planned === undefined ? null : { makespan: planned.makespan, unit: planned.unit, maxParallel: planned.maxParallel };
  return { ...summary, resumedFrom: entry.resumedFrom, length, planned: schedule, tasks: inOrder(tasks), logs };
}

function plannedOf(task: PlannedTask | undefined): Pick<PlanRunTask, "planned" | "critical"> {
  if (task === undefined) return { planned: null, critical: false };
  return { planned: { start: task.start, end: task.end }, critical: task.critical };
}

/** In the order of their starts; those that have not started come last, as they are planned. */
function inOrder(tasks: readonly PlanRunTask[]): readonly PlanRunTask[] {
  const key = ({ spans, planned }: PlanRunTask): readonly [number, number] => [
    spans[0]?.start ?? Infinity,
    planned?.start ?? Infinity,
  ];
  return [...tasks].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return x[0] === y[0] ? (x[1] === y[1] ? 0 : x[1] - y[1]) : x[0] - y[0];
  });
}

/** A part ends between two characters, unless the run has ended in the middle of one. */
function partOf(runs: string, id: string, name: string, from: number): PlanLogPart | undefined {
  // Asked before the file is read: what a run writes before its end is in the part, or in the next one.
  const isAtWork = runAtWork(runs) === id;
  const log = logsOf(runs, id).find(({ path }) => basename(path) === name);
  if (log === undefined) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for (const chunk of readFrom(log.path, from)) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= PART) break;
  }
  const content = Buffer.concat(chunks).subarray(0, PART);
  const end = wholeCharacters(content);
  // The rest of a character that does not come.
  const used = end === 0 && !isAtWork ? content.byteLength : end;
  // It may have grown since, and a position behind its end adds nothing to it.
  const bytes = content.byteLength === 0 ? log.bytes : Math.max(log.bytes, from + content.byteLength);
  return { text: content.subarray(0, used).toString("utf8"), next: from + used, bytes, over: !isAtWork };
}

/** The number of bytes before an incomplete character at the end. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.byteLength); back++) {
    const byte = bytes[bytes.byteLength - back]!;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const length = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : byte >= 0b1100_0000 ? 2 : 1;
    return length > back ? bytes.byteLength - back : bytes.byteLength;
  }
  return bytes.byteLength;
}
