import type { PlanEvent } from "../../runtime/plan/plan-events.ts";

/** A time in which a task had its slot, in milliseconds from the start of the run. */
export interface TaskSpan {
  readonly start: number;
  readonly end: number;
}

export interface TimelineRow {
  readonly task: string;
  readonly spans: readonly TaskSpan[];
  /** The ends of attempts after which the task was tried again. */
  readonly retries: readonly number[];
  readonly isCached: boolean;
}

/** When the tasks of a run started and ended, from its events. */
export interface RunTimeline {
  readonly onEvent: (event: PlanEvent) => void;
  /**
   * In the order of their first starts. Tasks of called plans are named `caller/task`.
   *
   * @param now the end of the times of tasks that still run; default: the last event
   */
  rows(now?: number): readonly TimelineRow[];
  /** RFC 3339; empty before the first event. */
  readonly startedAt: string;
  /** Milliseconds from the first event to the last. */
  readonly length: number;
}

interface OpenRow {
  readonly task: string;
  readonly spans: TaskSpan[];
  readonly retries: number[];
  since: number | undefined;
  isCached: boolean;
}

export function createRunTimeline(): RunTimeline {
  const rows = new Map<string, OpenRow>();
  let startedAt = "";
  let last = 0;
  const rowOf = (task: string): OpenRow => {
    const found = rows.get(task) ?? { task, spans: [], retries: [], since: undefined, isCached: false };
    rows.set(task, found);
    return found;
  };
  return {
    onEvent(event) {
      if (startedAt === "") startedAt = event.ts;
      last = Math.max(last, Date.parse(event.ts) - Date.parse(startedAt));
      if (event.type === "node_attempt") {
        const row = rowOf(event.node_id);
        if (event.cached === true) row.isCached = true;
        if (!event.converged) row.retries.push(last);
      }
      if (event.type !== "node_transition") return;
      if (event.to === "running") rowOf(event.node_id).since ??= last;
      else {
        const row = rows.get(event.node_id);
        if (row?.since === undefined) return;
        row.spans.push({ start: row.since, end: last });
        row.since = undefined;
      }
    },
    rows: (now = last) =>
      [...rows.values()]
        .map(({ task, spans, retries, since, isCached }): TimelineRow => {
          const all = since === undefined ? spans : [...spans, { start: since, end: Math.max(since, now) }];
          const end = all.at(-1)?.end ?? 0;
          return { task, spans: all, retries: retries.filter((at) => at < end), isCached };
        })
        .filter(({ spans }) => spans.length > 0)
        .sort((a, b) => (a.spans[0]?.start ?? 0) - (b.spans[0]?.start ?? 0)),
    get startedAt() {
      return startedAt;
    },
    get length() {
      return last;
    },
  };
}
