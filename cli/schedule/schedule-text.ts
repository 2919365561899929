import { formatTime, type ScheduleView } from "./schedule-view.ts";

/** Maximum length of a line; a longer list of names is wrapped. */
const WIDTH = 90;
/** Maximum number of tasks of the critical path that are named. */
const MOST_OF_PATH = 30;

/** The schedule as text: one line for each start time, then the critical path and the distance to the lower bound. */
export function scheduleText(view: ScheduleView): string {
  const { unit } = view;
  const time = (value: number): string => formatTime(value, unit);
  const starts = new Map<string, number>(view.tasks.map((task) => [task.id, task.start]));
  const moments = view.batches.map((batch) => ({ at: time(starts.get(batch[0] ?? "") ?? 0), names: batch }));
  const column = Math.max(5, time(view.makespan).length, ...moments.map(({ at }) => at.length));
  const count = view.tasks.length;
  const lines = [
    `plan ${view.plan}: ${count} task${count === 1 ? "" : "s"}, at most ${view.maxParallel} at a time${ORDERS[view.order]}`,
    "",
  ];
  for (const { at, names } of moments) {
    for (const [index, line] of wrap(names.join(", ")).entries()) {
      lines.push(`  ${(index === 0 ? at : "").padStart(column)}  ${line}`);
    }
  }
  lines.push(`  ${time(view.makespan).padStart(column)}  end`, "");
  const [first = "", ...others] = wrap(shortened(view.criticalPath).join(" → "));
  lines.push(`critical path  ${first}`, ...others.map((line) => `               ${line}`));
  lines.push(`length         ${lengthText(view)}`);
  if (view.attempts !== undefined) lines.push(`searched       ${view.attempts} order${view.attempts === 1 ? "" : "s"}`);
  const unknown = view.tasks.filter(({ basis }) => basis === "none").length;
  if (unit === "tasks")
    lines.push("durations      unknown: every task counts as 1 (write `estimate 5m`, or run the plan once)");
  else if (unknown > 0)
    lines.push(`durations      unknown for ${unknown} of ${count} tasks: they count as the mean of the others`);
  return lines.join("\n");
}

/** Shortens a long path to its beginning and its end. */
function shortened(path: readonly string[]): readonly string[] {
  if (path.length <= MOST_OF_PATH) return path;
  const half = MOST_OF_PATH / 2;
  return [...path.slice(0, half), `(${path.length - MOST_OF_PATH} more)`, ...path.slice(-half)];
}

const ORDERS: Readonly<Record<ScheduleView["order"], string>> = {
  priority: "",
  file: ", in the order of the file",
  optimized: ", in an optimized order",
};

function lengthText({ makespan, lowerBound, gap, unit }: ScheduleView): string {
  const length = formatTime(makespan, unit);
  if (gap < 1e-9) return `${length}, and no order is shorter`;
  if (gap < 0.0005) return `${length}, less than 0.1 % above the lower bound`;
  return `${length}, ${(100 * gap).toFixed(1)} % above the lower bound of ${formatTime(lowerBound, unit)}`;
}

function wrap(text: string): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length + 1 > WIDTH) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
