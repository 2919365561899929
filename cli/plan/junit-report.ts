import type { PlanRunResult, PlanTaskResult } from "../../runtime/plan/plan-options.ts";
import { escape } from "../drawing/escape-xml.ts";
import type { ReportedRun } from "./run-report.ts";

/**
 * A report in JUnit's XML: one test suite for the run, one test case for each task. A blocked or skipped task is `skipped`, and so is a
 * failure that the plan allows. A cancelled or waiting task is an `error`.
 */
export function junitReport({ plan, result, timeline, outputOf }: ReportedRun): string {
  const cases = result.tasks.map((task) => testCase(plan, task, outputOf));
  const count = (kind: string): number => cases.filter((each) => each.kind === kind).length;
  const counts = [
    `tests="${result.tasks.length}"`,
    `failures="${count("failure")}"`,
    `errors="${count("error")}"`,
    `skipped="${count("skipped")}"`,
    `time="${result.totals.total_duration_s.toFixed(3)}"`,
  ].join(" ");
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="ngc" ${counts}>
  <testsuite name="${attribute(plan)}" ${counts} timestamp="${attribute(timeline.startedAt)}">
    <properties>
      <property name="outcome" value="${attribute(result.outcome)}"/>
      <property name="run" value="${attribute(result.runId)}"/>
      <property name="thread" value="${attribute(result.thread ?? "")}"/>
    </properties>
${cases.map(({ text }) => text).join("\n")}
  </testsuite>
</testsuites>
`;
}

type CaseKind = "passed" | "failure" | "error" | "skipped";

function testCase(
  plan: string,
  task: PlanTaskResult,
  outputOf: ReportedRun["outputOf"],
): { readonly kind: CaseKind; readonly text: string } {
  const kind = kindOf(task);
  const start = `    <testcase classname="${attribute(plan)}" name="${attribute(task.id)}" time="${((task.duration ?? 0) / 1000).toFixed(3)}"`;
  if (kind === "passed" && task.cached === true) {
    const property = '<property name="cached" value="true"/>';
    return { kind, text: `${start}>\n      <properties>${property}</properties>\n    </testcase>` };
  }
  if (kind === "passed") return { kind, text: `${start}/>` };
  const message = `${task.status}${task.allowed === true ? " (allowed)" : ""}: ${task.reason ?? task.status}`;
  const result =
    kind === "skipped"
      ? `<skipped message="${attribute(message)}"/>`
      : `<${kind} message="${attribute(message)}" type="${attribute(task.status)}">${escape(task.error ?? "")}</${kind}>`;
  const output = task.status === "failed" ? outputOf(task.id) : "";
  const printed = output === "" ? "" : `\n      <system-out>${escape(output)}</system-out>`;
  return { kind, text: `${start}>\n      ${result}${printed}\n    </testcase>` };
}

function kindOf({ status, allowed }: PlanRunResult["tasks"][number]): CaseKind {
  switch (status) {
    case "done":
      return "passed";
    case "failed":
      return allowed === true ? "skipped" : "failure";
    case "blocked":
    case "skipped":
      return "skipped";
    default:
      return "error";
  }
}

/** XML normalises line breaks and tabs in attributes to spaces, unless they are character references. */
function attribute(text: string): string {
  return escape(text).replaceAll("\n", "&#10;").replaceAll("\r", "&#13;").replaceAll("\t", "&#9;");
}
