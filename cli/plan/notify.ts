import { spawn } from "node:child_process";
import { join } from "node:path";
import type { PlanRunResult } from "../../runtime/plan/plan-options.ts";
import { endGroupMembers } from "../../stdlib/shell/group-members.ts";
import { reasonOf } from "../sources/source-files.ts";

/** How long a notification may take, in milliseconds. */
const TIMEOUT_MS = 30_000;
/** Time between SIGTERM and SIGKILL, in milliseconds, for what a notification leaves in the background. */
const GRACE_MS = 3000;

/**
 * Runs the commands of `--notify` one after the other. The facts of the run are in their environment and never in their text: names of
 * tasks and messages come from elsewhere. Returns a line for each command that has failed; the result of the run stays as it is.
 */
export async function notifyEnd(
  commands: readonly string[],
  plan: string,
  result: PlanRunResult,
  runs: string,
  redact: (text: string) => string,
  timeout = TIMEOUT_MS,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const command of commands) {
    const problem = await runNotification(command, factsOf(plan, result, runs, redact), timeout);
    if (problem !== undefined) problems.push(`--notify ${JSON.stringify(command)}: ${problem}`);
  }
  return problems;
}

function factsOf(
  plan: string,
  { status, outcome, exitCode, thread, runId, tasks, totals, error }: PlanRunResult,
  runs: string,
  redact: (text: string) => string,
): Record<string, string> {
  const named = (kind: string): string =>
    tasks.flatMap((task) => (task.status === kind && task.allowed !== true ? [task.id] : [])).join("\n");
  const failed = tasks.find((task) => task.status === "failed" && task.allowed !== true);
  const facts = {
    NGRAPH_PLAN: plan,
    NGRAPH_STATUS: status,
    NGRAPH_OUTCOME: outcome,
    NGRAPH_EXIT_CODE: String(exitCode),
    NGRAPH_THREAD: thread ?? "",
    NGRAPH_RUN: runId,
    NGRAPH_DURATION: String(Math.round(totals.total_duration_s)),
    NGRAPH_FAILED: named("failed"),
    NGRAPH_WAITING: named("waiting"),
    NGRAPH_ERROR: redact(error?.message ?? failed?.error ?? ""),
    NGRAPH_SUMMARY: join(runs, runId, "summary.json"),
  };
  // An environment holds no NUL characters, and no variable of more than 128 KiB.
  return Object.fromEntries(
    Object.entries(facts).map(([name, text]) => [name, text.replaceAll("\0", "\uFFFD").slice(0, 16_384)]),
  );
}

function runNotification(
  command: string,
  facts: Readonly<Record<string, string>>,
  timeout: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    // What it prints is no part of the result on standard output.
    const child = spawn(command, {
      shell: true,
      stdio: ["ignore", 2, 2],
      detached: process.platform !== "win32",
      windowsHide: true,
      env: { ...process.env, ...facts },
    });
    let isLate = false;
    const kill = (): void => {
      try {
        if (process.platform === "win32" || child.pid === undefined) child.kill("SIGKILL");
        else process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
    };
    // Ctrl-C does not reach its process group, and ends this process.
    process.once("exit", kill);
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, timeout);
    const settle = (problem: string | undefined): void => {
      process.off("exit", kill);
      resolve(problem);
    };
    child.once("error", (error) => {
      clearTimeout(timer);
      settle(reasonOf(error));
    });
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      const problem = isLate
        ? `it was ended after ${timeout / 1000} s`
        : code === 0
          ? undefined
          : `it ended with ${signal ?? `exit code ${code}`}`;
      // What it has left in the background ends with it, as with the commands of tasks.
      const { pid } = child;
      if (process.platform === "win32" || pid === undefined) settle(problem);
      else void endGroupMembers(pid, GRACE_MS).then(() => settle(problem));
    });
  });
}
