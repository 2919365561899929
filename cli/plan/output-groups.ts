import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import type { Output } from "../output/output.ts";
import { outputOf } from "./run-report.ts";

/**
 * Prints what each task has printed when the task ends, so that the outputs of parallel tasks do not mix in the log of GitHub Actions.
 * The output is a group of the log (`::group::`). The output of a failed task is no group: the log shows groups closed.
 */
export function createOutputGroups(
  runs: string,
  output: Pick<Output, "note" | "problem">,
): (event: PlanEvent, runId: string) => void {
  return (event, runId) => {
    if (event.type !== "node_transition" || (event.to !== "done" && event.to !== "failed")) return;
    if (event.reason === "restored") return;
    const text = outputOf(runs, runId, event.node_id, true).trimEnd();
    if (text === "") return;
    if (event.to === "failed") output.problem(`output of ${event.node_id}:\n${text}`);
    else {
      output.note(`::group::output of ${event.node_id}`);
      output.note(text);
      output.note("::endgroup::");
    }
  };
}

/** Whether this process runs in a step of GitHub Actions. */
export function isGithubActions(): boolean {
  return process.env["GITHUB_ACTIONS"] === "true";
}
