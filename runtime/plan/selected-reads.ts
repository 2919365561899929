import { RunError } from "../interface/errors.ts";
import type { Run } from "../run/run.ts";
import { Mismatch } from "../value/mismatch.ts";
import type { TaskIndex } from "../table/plan-table.ts";
import type { PlanProgram, TaskCode } from "./plan-program.ts";

/**
 * Refuses a selection in which a task would read `null` from a channel whose type excludes it, because the tasks that write the
 * channel are left out.
 *
 * @param available whether a task runs, or has a result of an earlier run
 * @throws RunError NG_BAD_INPUT
 */
export function refuseMissingReads(
  plan: PlanProgram,
  run: Run,
  selected: ReadonlySet<TaskIndex>,
  available: (task: TaskIndex) => boolean,
): void {
  for (const index of selected) {
    const task = plan.tasks[index] as TaskCode;
    if (task.reads.length === 0) continue;
    const certain = certainAncestors(plan, index);
    for (const channel of task.reads) {
      const code = plan.program.channels[channel]!;
      if ((run.state[channel] ?? null) !== null || !(code.admit(null) instanceof Mismatch)) continue;
      const writers = plan.writers[channel] ?? [];
      const missing = writers.find((writer) => certain.has(writer) && !available(writer));
      if (missing === undefined || writers.some((writer) => available(writer))) continue;
      const [reader, writer] = [task.spec.name, plan.tasks[missing]?.spec.name ?? ""];
      throw new RunError(
        "NG_BAD_INPUT",
        `task \`${reader}\` reads \`${code.name}\`, which task \`${writer}\` writes, and that task is left out: ` +
          `select \`${writer}\`, too, or resume a thread in which it is done`,
        { nodeIds: [reader, writer] },
      );
    }
  }
}

/** Tasks that are done whenever a task starts. */
function certainAncestors({ tasks }: PlanProgram, task: TaskIndex): ReadonlySet<TaskIndex> {
  const found = new Set<TaskIndex>();
  const open = [task];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { trigger, after, needs } = (tasks[next] as TaskCode).spec;
    if (trigger !== "all" && trigger !== "mixed") continue;
    for (const [at, each] of after.entries()) {
      if (found.has(each) || (needs?.[at] ?? "all") !== "all") continue;
      found.add(each);
      open.push(each);
    }
  }
  return found;
}
