/** A Gantt chart: for each task what was planned beside what really ran. */
import type { PlanRun, PlanRunTask, PlanSpan } from "../service/client.ts";
import { durationText } from "./duration-text.ts";

const ROW = 30;
const TOP = 24;
const NAMES = 190;
const CHART = 720;
const LABEL = 90;
const TICKS = 6;
const LONGEST_NAME = 25;

interface GanttProps {
  readonly run: PlanRun;
  readonly tasks: readonly PlanRunTask[];
}

export function Gantt({ run, tasks }: GanttProps) {
  // A schedule without durations counts tasks: it has the width of the run.
  const { planned } = run;
  const scale =
    planned === null || planned.unit === "ms"
      ? 1
      : run.length === 0
        ? 1000
        : run.length / Math.max(1, planned.makespan);
  const end = Math.max(1, run.length, planned === null ? 0 : planned.makespan * scale);
  const x = (time: number): number => NAMES + (time / end) * CHART;
  const bottom = TOP + tasks.length * ROW;
  const width = NAMES + CHART + LABEL;
  return (
    <figure class="gantt">
      <div class="scroll" tabIndex={0} role="group" aria-label="Gantt chart">
        <svg viewBox={`0 0 ${width} ${bottom + 6}`} width={width} height={bottom + 6} role="img">
          <title>{`Gantt chart of the run of ${run.plan}`}</title>
          {Array.from({ length: TICKS + 1 }, (_, at) => {
            const time = (end * at) / TICKS;
            return (
              <g key={at}>
                <line class="grid" x1={x(time)} x2={x(time)} y1={TOP - 4} y2={bottom} />
                <text class="small" x={x(time)} y={TOP - 9} text-anchor="middle">
                  {durationText(time)}
                </text>
              </g>
            );
          })}
          {tasks.map((task, index) => (
            <Row key={task.id} task={task} y={TOP + index * ROW} x={x} scale={scale} unit={planned?.unit ?? "ms"} />
          ))}
        </svg>
      </div>
      <figcaption>
        {planned === null
          ? "The run has no recorded schedule. "
          : planned.unit === "tasks"
            ? "Dashed: planned. No duration was known, so that each task counts as one. "
            : `Dashed: planned, ${durationText(planned.makespan)} in all. `}
        Solid: what really ran, {durationText(run.length)}
        {run.running ? " so far" : ""}. ✓ done · ✗ failed · ▶ runs · ◆ on the critical path · | tried again
      </figcaption>
    </figure>
  );
}

interface RowProps {
  readonly task: PlanRunTask;
  readonly y: number;
  readonly x: (time: number) => number;
  readonly scale: number;
  readonly unit: "ms" | "tasks";
}

function Row({ task, y, x, scale, unit }: RowProps) {
  const { id, status, spans, planned, critical, cached, retries } = task;
  const name = id.length > LONGEST_NAME ? `${id.slice(0, LONGEST_NAME - 1)}…` : id;
  const took = spans.reduce((sum, { start, end }) => sum + end - start, 0);
  const expected = planned === null || unit === "tasks" ? undefined : planned.end - planned.start;
  const last = spans.at(-1);
  const title = [
    `${id}: ${status}`,
    ...(spans.length === 0 ? [] : [`took ${durationText(took)}`]),
    ...(expected === undefined ? [] : [`planned ${durationText(expected)}`]),
    ...(critical ? ["on the critical path"] : []),
  ].join(", ");
  const bar = (span: PlanSpan): { x: number; width: number } => ({
    x: x(span.start),
    width: Math.max(2, x(span.end) - x(span.start)),
  });
  return (
    <g>
      <title>{title}</title>
      <text x="0" y={y + 17}>
        {critical ? "◆ " : ""}
        {name}
      </text>
      {planned === null ? null : (
        <rect
          class={critical ? "planned is-critical" : "planned"}
          y={y + 3}
          height={9}
          rx="2"
          {...bar({ start: planned.start * scale, end: planned.end * scale })}
        />
      )}
      {spans.map((span, at) => (
        <rect key={at} class={`ran is-${cached ? "cached" : status}`} y={y + 14} height={11} rx="2" {...bar(span)} />
      ))}
      {retries.map((at) => (
        <line key={at} class="retry" x1={x(at)} x2={x(at)} y1={y + 11} y2={y + 28} />
      ))}
      {last === undefined ? null : (
        <text class="small" x={x(last.end) + 5} y={y + 23}>
          {SIGNS[status] ?? ""} {cached ? "cached" : durationText(took)}
        </text>
      )}
    </g>
  );
}

const SIGNS: Readonly<Record<string, string>> = { done: "✓", failed: "✗", running: "▶" };
