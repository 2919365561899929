import { printable } from "../../diagnostics/render/index.ts";
import type { PlanRunResult } from "../../runtime/plan/plan-options.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { formatRecord } from "../output/format-values.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import type { Output } from "../output/output.ts";
import { duration } from "../run/progress.ts";
import { reportPauses, type RunPlace } from "../run/report-result.ts";

/**
 * Prints the result of a plan's run with all its failures (interface.md), and returns the exit code.
 *
 * @param printOutput prints what a failed task has printed
 * @param hasOutput whether an attempt of a task has printed something
 */
export function reportPlan(
  result: PlanRunResult,
  place: RunPlace,
  remarks: readonly string[],
  output: Output,
  printOutput: (task: string) => void,
  hasOutput: (task: string) => boolean,
): ExitCode {
  output.document(planDocument(result, remarks));
  const { stderrStyles: styles, stdoutStyles } = output;
  if (result.status === "paused") reportPauses(result, place, output);
  else if (Object.keys(result.output).length > 0) output.result(formatRecord(result.output));

  for (const task of result.tasks) {
    if (task.status !== "failed") continue;
    const status = task.allowed === true ? styles.warning("failed (allowed)") : styles.error("failed");
    output.problem(`${status}: ${task.id}: ${task.reason ?? "failed"} after ${count(task.attempts, "attempt")}`);
    for (const line of (task.error ?? "").trim().split("\n")) if (line !== "") output.problem(`  ${line}`);
    printOutput(task.id);
    const name = result.thread ?? result.runId;
    if (hasOutput(task.id))
      output.note(`  all its attempts: ngc logs ${quoteArgument(name)} ${quoteArgument(task.id)}`);
  }
  const blocked = result.tasks.filter((task) => task.status === "blocked");
  if (blocked.length > 0) {
    output.problem(
      `${styles.warning("blocked")}: ${blocked.map(({ id, reason }) => `${id} (${reason ?? ""})`).join(", ")}`,
    );
  }
  for (const remark of remarks) output.problem(`${styles.warning("touches")}: ${remark}`);
  if (result.error !== null && result.status === "failed")
    output.problem(`${styles.error("error")}: ${result.error.message} [${result.error.code}]`);

  const isClean = result.exitCode === 0;
  const { totals } = result;
  const parts = (["done", "failed", "blocked", "skipped", "cancelled", "waiting"] as const).flatMap((kind) =>
    totals[kind] > 0 ? [`${totals[kind]} ${kind}${kind === "done" ? fromCache(result) : ""}`] : [],
  );
  const status = result.status === "completed" ? result.outcome.replaceAll("_", " ") : result.status;
  output.result(
    `${isClean ? stdoutStyles.info(status) : stdoutStyles.error(status)}: ${parts.join(", ") || "nothing to do"} in ${duration(totals.total_duration_s * 1000)}`,
  );
  if (result.thread !== null) output.note(`run ${result.runId} · thread ${printable(result.thread)}`);
  if (!place.isMemory && result.thread !== null && !isClean && result.status !== "paused") {
    output.note(`resume with: ngc resume ${quoteArgument(result.thread)}${place.flags}`);
  }
  return exitOf(result.exitCode);
}

function exitOf(code: number): ExitCode {
  switch (code) {
    case 0:
      return EXIT.ok;
    case 3:
      return EXIT.paused;
    case 130:
      return EXIT.interrupted;
    default:
      return EXIT.failed;
  }
}

/** The document of `ngc run --json` and `ngc resume --json` for a plan. */
export function planDocument(result: PlanRunResult, remarks: readonly string[]): object {
  return {
    version: 1,
    outcome: result.outcome,
    status: result.status,
    thread: result.thread,
    run: result.runId,
    resumedFrom: result.resumedFrom,
    batches: result.batches,
    tasks: result.tasks,
    totals: result.totals,
    output: result.output,
    pauses: result.pauses,
    remarks,
    error: result.error === null ? null : { code: result.error.code, message: result.error.message },
    exitCode: result.exitCode,
  };
}

function fromCache({ tasks }: PlanRunResult): string {
  const cached = tasks.filter((task) => task.cached === true).length;
  return cached === 0 ? "" : ` (${cached} from the cache)`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
