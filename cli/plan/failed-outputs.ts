import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import type { Output } from "../output/output.ts";
import { reasonOf } from "../sources/source-files.ts";
import { createLogPrinter } from "./print-logs.ts";
import { belongsTo, logsOf, type TaskLog } from "./read-logs.ts";

/** Prints what failed tasks have printed, when the run has ended. */
export interface FailedOutputs {
  readonly onEvent: (event: PlanEvent) => void;
  /**
   * Prints the whole output of the last attempt of a failed task, and of its checks. Of a task that calls a plan, and of a
   * matrix over a list that is known at run time, it is the output of those of its tasks that have failed. Prints nothing if there is no output.
   */
  print(task: string): void;
}

export function createFailedOutputs(runs: string, output: Pick<Output, "problem" | "printed">): FailedOutputs {
  const failed = new Set<string>();
  let run = "";
  let logs: ReadonlyMap<string, readonly TaskLog[]> | undefined;
  return {
    onEvent(event) {
      run = event.run_id;
      if (event.type !== "node_transition") return;
      // A task of a called plan may fail and be done later: its caller is tried again.
      if (event.to === "failed") failed.add(event.node_id);
      else failed.delete(event.node_id);
    },
    print(task) {
      const names = [...failed].filter((name) => belongsTo(name, task));
      const printer = createLogPrinter({
        title: (text) => output.problem(text),
        text: (text) => output.printed(text),
        endLine: () => output.printed("\n"),
      });
      try {
        // Read once: a run may have thousands of logs.
        logs ??= lastAttempts(logsOf(runs, run));
        for (const log of names.flatMap((name) => logs?.get(name) ?? [])) printer.print(log, false);
      } catch (error) {
        // A task may remove the directory of the logs. The result of the run is printed anyway.
        output.problem(`  its output cannot be read: ${reasonOf(error)}`);
      }
    },
  };
}

/** By task, the logs of its last attempt that has printed something. */
function lastAttempts(logs: readonly TaskLog[]): ReadonlyMap<string, readonly TaskLog[]> {
  const last = new Map<string, TaskLog[]>();
  for (const log of logs) {
    const known = last.get(log.task);
    const [first] = known ?? [];
    if (known === undefined || first === undefined || log.attempt > first.attempt) last.set(log.task, [log]);
    else if (log.attempt === first.attempt) known.push(log);
  }
  return last;
}
