import { escape } from "../drawing/escape-xml.ts";
import { createTimeAxis, round, ROW, shortenName } from "../drawing/gantt-chart.ts";
import { duration } from "../run/progress.ts";
import type { ReportedRun } from "./run-report.ts";
import type { TimelineRow } from "./run-timeline.ts";

const TOP = 30;
const NAMES = 240;
const LABEL = 90;
const LONGEST_NAME = 34;

const STYLE = `
body { font: 14px/1.5 ui-sans-serif, system-ui, sans-serif; color: #1b1f24; margin: 24px; max-width: 1100px; }
h1 { font-size: 20px; } h2 { font-size: 16px; margin-top: 28px; }
table { border-collapse: collapse; } th, td { text-align: left; padding: 3px 14px 3px 0; border-bottom: 1px solid #d0d7de; }
pre { background: #f6f8fa; padding: 10px; overflow: auto; max-height: 480px; white-space: pre-wrap; }
svg text { font-size: 12px; fill: #1b1f24; } svg .small { font-size: 10.5px; fill: #57606a; } svg .grid { stroke: #d0d7de; }
.done { fill: #4ac26b; color: #1a7f37; } .failed { fill: #fa4549; color: #cf222e; } .other { fill: #d4a72c; color: #9a6700; }
.cached { fill: #54aeff; } .retry { stroke: #1b1f24; stroke-width: 1.5; }`;

/** A page without scripts and without other files: the Gantt chart of the run, its tasks, and the whole output of failures. */
export function htmlReport(run: ReportedRun): string {
  const { plan, result, timeline } = run;
  const facts = [
    `<span class="${result.exitCode === 0 ? "done" : "failed"}">${escape(result.outcome.replaceAll("_", " "))}</span>`,
    `${result.tasks.length} tasks in ${escape(duration(timeline.length))}`,
    `run ${escape(result.runId)}`,
    ...(result.thread === null ? [] : [`thread ${escape(result.thread)}`]),
    escape(timeline.startedAt),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escape(plan)}: ${escape(result.outcome.replaceAll("_", " "))}</title>
<style>${STYLE}
</style>
</head>
<body>
<h1>${escape(plan)}</h1>
<p>${facts.join(" · ")}</p>
${chart(run)}
<h2>Tasks</h2>
<table>
<tr><th>task</th><th>status</th><th>attempts</th><th>duration</th><th>reason</th></tr>
${result.tasks
  .map(
    ({ id, status, allowed, cached, attempts, duration: took, reason }) =>
      `<tr><td>${escape(id)}</td><td class="${classOf(status)}">${status}${allowed === true ? " (allowed)" : cached === true ? " (cached)" : ""}</td><td>${attempts}</td>` +
      `<td>${took === null ? "" : escape(duration(took))}</td><td>${escape(reason ?? "")}</td></tr>`,
  )
  .join("\n")}
</table>
${failures(run)}
</body>
</html>
`;
}

function failures({ result, outputOf }: ReportedRun): string {
  const failed = result.tasks.filter(({ status }) => status === "failed");
  if (failed.length === 0) return "";
  return [
    "<h2>Failures</h2>",
    ...failed.map(({ id, error, reason }) => {
      const output = outputOf(id);
      const printed = output === "" ? "" : `\n<pre>${escape(output)}</pre>`;
      return `<h3>${escape(id)}</h3>\n<p>${escape(reason ?? "failed")}</p>\n<pre>${escape(error ?? "")}</pre>${printed}`;
    }),
  ].join("\n");
}

function chart({ plan, result, timeline }: ReportedRun): string {
  const rows = timeline.rows();
  if (rows.length === 0) return "";
  const statuses = new Map(result.tasks.map(({ id, status }) => [id, status]));
  const axis = createTimeAxis(NAMES, timeline.length);
  const bottom = TOP + rows.length * ROW;
  const ticks = axis.ticks({ top: TOP - 6, bottom, label: TOP - 12 }, duration).map((tick) => tick.join(""));
  const bars = rows.map((row, index) => bar(row, TOP + index * ROW, axis.x, statuses.get(row.task)));
  const width = axis.right + LABEL;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${bottom + 8}" viewBox="0 0 ${width} ${bottom + 8}" role="img">
<title>${escape(`Gantt chart of the run of ${plan}`)}</title>
${[...ticks, ...bars].join("\n")}
</svg>`;
}

function bar(row: TimelineRow, y: number, x: (time: number) => number, status: string | undefined): string {
  const { task, spans, retries } = row;
  const took = spans.reduce((sum, { start, end }) => sum + end - start, 0);
  const kind = row.isCached ? "cached" : classOf(status ?? "done");
  const label = row.isCached ? "cached" : duration(took);
  const boxes = spans.map(
    ({ start, end }) =>
      `<rect class="${kind}" x="${x(start)}" y="${y + 4}" width="${round(Math.max(2, x(end) - x(start)))}" height="${ROW - 8}" rx="3">` +
      `<title>${escape(`${task}: ${label}`)}</title></rect>`,
  );
  const marks = retries.map(
    (at) => `<line class="retry" x1="${x(at)}" y1="${y + 2}" x2="${x(at)}" y2="${y + ROW - 2}"/>`,
  );
  const end = spans.at(-1)?.end ?? 0;
  return (
    `<text x="0" y="${y + 16}">${escape(shortenName(task, LONGEST_NAME))}</text>${boxes.join("")}${marks.join("")}` +
    `<text class="small" x="${x(end) + 6}" y="${y + 16}">${escape(label)}</text>`
  );
}

function classOf(status: string): string {
  return status === "done" ? "done" : status === "failed" ? "failed" : "other";
}
