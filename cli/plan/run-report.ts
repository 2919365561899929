import { extname } from "node:path";
import type { PlanRunResult } from "../../runtime/plan/plan-options.ts";
import { writeAtomically } from "../output/write-atomically.ts";
import { CommandError } from "../process/command-error.ts";
import { htmlReport } from "./html-report.ts";
import { junitReport } from "./junit-report.ts";
import { logsOf, readFrom } from "./read-logs.ts";
import type { RunTimeline } from "./run-timeline.ts";

/** What a report of a run describes. */
export interface ReportedRun {
  readonly plan: string;
  readonly result: PlanRunResult;
  readonly timeline: RunTimeline;
  /** What a task and its checks have printed in all attempts, each log with a title. */
  readonly outputOf: (task: string) => string;
}

/** The end of a task's output that a report holds, in bytes. */
const LONGEST_OUTPUT = 1024 * 1024;

const FORMATS: Readonly<Record<string, (run: ReportedRun) => string>> = {
  ".xml": junitReport,
  ".html": htmlReport,
};

/** Parses the value of `--report`. The extension selects the format. @throws CommandError */
export function parseReport(path: string): string {
  if (Object.hasOwn(FORMATS, extname(path))) return path;
  throw new CommandError(`--report ${path}: the file's extension is neither .xml nor .html`, {
    help: "FILE.xml is a report in JUnit's format, FILE.html is a page with a Gantt chart",
  });
}

/** Writes reports of a run. @throws CommandError if a file cannot be written */
export function writeReports(paths: readonly string[], run: ReportedRun): void {
  for (const path of paths) writeAtomically(path, FORMATS[extname(path)]?.(run) ?? "");
}

/** The end of what the commands of a task have printed in its last attempt, without its checks: at most 1 MiB. */
export function printedBy(runs: string, run: string, task: string): string {
  // In the order in which their commands began.
  const last = logsOf(runs, run, task).findLast((log) => log.task === task && log.check === undefined);
  if (last === undefined) return "";
  const content = Buffer.concat([...readFrom(last.path, Math.max(0, last.bytes - LONGEST_OUTPUT))]);
  return content.toString("utf8");
}

/**
 * The end of what a task and its checks have printed in a run: at most 1 MiB.
 *
 * @param isExact leaves out the tasks of a plan that it calls
 */
export function outputOf(runs: string, run: string, task: string, isExact = false): string {
  const parts: string[] = [];
  for (const log of logsOf(runs, run, task)) {
    if (isExact && log.task !== task) continue;
    const check = log.check === undefined ? "" : `, check ${log.check}`;
    const content = Buffer.concat([...readFrom(log.path, Math.max(0, log.bytes - LONGEST_OUTPUT))]);
    parts.push(`==> ${log.task}, try ${log.attempt}${check} <==\n${content.toString("utf8")}`);
  }
  const text = parts.join("");
  return text.length > LONGEST_OUTPUT ? `…${text.slice(-LONGEST_OUTPUT)}` : text;
}
