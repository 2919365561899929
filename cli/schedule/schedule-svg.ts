import { escape } from "../drawing/escape-xml.ts";
import { createTimeAxis, round, ROW, shortenName } from "../drawing/gantt-chart.ts";
import { formatTime, type ScheduledTask, type ScheduleView } from "./schedule-view.ts";

const TOP = 58;
const MARGIN = 16;
const CHARACTER = 6.8;

const STYLE = `
    text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1b1f24; }
    .small { font-size: 10.5px; fill: #57606a; }
    .bar { fill: #54aeff; }
    .critical { fill: #fb8f44; }
    .grid { stroke: #d0d7de; stroke-width: 1; }
    .bound { stroke: #cf222e; stroke-width: 1.2; stroke-dasharray: 5 4; }`;

/** An SVG Gantt chart: one row for each task in start order, the critical path in another colour, the lower bound as a line. */
export function scheduleSvg(view: ScheduleView): string {
  const { tasks, unit, makespan, lowerBound } = view;
  const names = Math.min(260, tasks.reduce((most, { id }) => Math.max(most, id.length * CHARACTER), 40) + 12);
  const left = MARGIN + names;
  const { x, right, ticks } = createTimeAxis(left, makespan);
  const width = right + MARGIN + 60;
  const bottom = TOP + tasks.length * ROW;
  const height = bottom + MARGIN;
  const title = `${view.plan}: ${formatTime(makespan, unit)}, at most ${view.maxParallel} at a time`;
  const bound = `lower bound ${formatTime(lowerBound, unit)}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
  <title>${escape(title)}</title>
  <style>${STYLE}
  </style>
  <text x="${MARGIN}" y="24">${escape(title)}</text>
${[
  ...ticks({ top: TOP - 4, bottom, label: TOP - 9 }, (time) => formatTime(round(time), unit))
    .flat()
    .map((each) => `  ${each}`),
  ...tasks.map((task, row) => drawTask(task, row, names, x, view)),
  `  <line class="bound" x1="${x(lowerBound)}" y1="${TOP - 4}" x2="${x(lowerBound)}" y2="${bottom}"><title>${escape(bound)}</title></line>`,
].join("\n")}
</svg>`;
}

function drawTask(
  task: ScheduledTask,
  row: number,
  names: number,
  x: (time: number) => number,
  view: ScheduleView,
): string {
  const y = TOP + row * ROW;
  const most = Math.floor((names - 12) / CHARACTER);
  const name = shortenName(task.id, most);
  const width = round(Math.max(2, x(task.end) - x(task.start)));
  const length = formatTime(task.end - task.start, view.unit);
  const after = task.after.length === 0 ? "" : `, after ${task.after.join(", ")}`;
  return (
    `  <text x="${MARGIN}" y="${y + 16}">${escape(name)}</text>\n` +
    `  <rect class="bar${task.critical ? " critical" : ""}" x="${x(task.start)}" y="${y + 4}" width="${width}" height="${ROW - 8}" rx="3">` +
    `<title>${escape(`${task.id}: ${length}${after}`)}</title></rect>\n` +
    `  <text class="small" x="${round(x(task.start) + width + 4)}" y="${y + 16}">${escape(length)}</text>`
  );
}
