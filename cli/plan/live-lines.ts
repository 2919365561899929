/** The lines that show a plan's run below everything else on a terminal. */
import { cutLine, type BlockSize } from "../output/live-block.ts";
import type { Output } from "../output/output.ts";
import { duration } from "../run/progress.ts";
import type { OutputTails } from "./output-tails.ts";
import type { PlanView } from "./plan-view.ts";

/** Tasks of one state that are listed, if there is room. */
const SHOWN = 8;
const BAR_CELLS = 24;

/** The lines for a terminal of this size: what is cut first are names, then tasks that wait. */
export function blockLines(
  view: PlanView,
  { stderrStyles: styles }: Pick<Output, "stderrStyles">,
  now: () => number,
  tails: Pick<OutputTails, "lastLine">,
  { columns, rows }: BlockSize,
): string[] {
  const at = now();
  const { running, asking, failed } = view;
  const waiting = view.waiting();
  const last: string[] = asking.map((task) => styles.warning(`  ? ${task} waits for an answer`));
  if (failed.length > 0) last.push(styles.error(`  ✗ failed: ${failed.join(", ")}`));
  last.push(progressLine(view, view.timeLeft(at), columns));
  // What runs comes before what waits: a terminal may be low.
  const room = Math.max(2, rows - last.length);
  const runningRows = Math.min(linesFor(running.length, SHOWN), waiting.length === 0 ? room : room - 1);
  return [
    ...listed(running, runningRows, "▸", ({ task, attempt, since }) => {
      const time = ` ${duration(at - since)}${attempt > 1 ? ` (try ${attempt})` : ""}`;
      const tail = tails.lastLine(task);
      // The time stays visible behind a long name.
      return `${cutLine(task, Math.max(8, columns - 4 - time.length - (tail === undefined ? 0 : 3)))}${time}${tail === undefined ? "" : ` │ ${tail}`}`;
    }),
    ...listed(waiting, room - runningRows, "…", ({ task, why }) => `${task}: ${why}`),
    ...last,
  ];
}

/** The number of lines that show `count` tasks if at most `most` are listed. */
function linesFor(count: number, most: number): number {
  return count > most ? most + 1 : count;
}

/** As many tasks as fit in a number of lines, and the number of others. */
function listed<T>(tasks: readonly T[], rows: number, sign: string, textOf: (task: T) => string): readonly string[] {
  const isAll = tasks.length <= Math.min(rows, SHOWN);
  const shown = isAll ? tasks : tasks.slice(0, Math.max(0, Math.min(rows - 1, SHOWN)));
  const lines = shown.map((task) => `  ${sign} ${textOf(task)}`);
  if (isAll || rows <= 0) return lines;
  return [...lines, `  ${sign} ${shown.length === 0 ? "" : "and "}${tasks.length - shown.length} more`];
}

function progressLine({ ended, total }: PlanView, left: number | undefined, columns: number): string {
  const text = ` ${ended}/${total}${left === undefined || left < 1 ? "" : ` · about ${duration(left)} left`}`;
  const width = Math.min(BAR_CELLS, Math.max(4, columns - 2 - text.length));
  const full = total === 0 ? width : Math.round((width * ended) / total);
  return `  ${"█".repeat(full)}${"░".repeat(width - full)}${text}`;
}
