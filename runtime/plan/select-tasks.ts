import { RunError } from "../interface/errors.ts";
import type { PlanProgram } from "./plan-program.ts";
import type { TaskIndex } from "../table/plan-table.ts";

/**
 * The tasks that a run selects: `only` names them, `fromTask` selects a task and all that depend on it. Both together
 * select the intersection. `undefined` selects all tasks.
 *
 * @throws RunError NG_BAD_INPUT for an unknown name
 */
export function selectTasks(
  program: PlanProgram,
  { only, fromTask }: { readonly only?: readonly string[]; readonly fromTask?: string },
): ReadonlySet<TaskIndex> | undefined {
  const sets: ReadonlySet<TaskIndex>[] = [];
  if (only !== undefined) sets.push(new Set(only.flatMap((name) => tasksNamed(program, name))));
  if (fromTask !== undefined) {
    const found = new Set<TaskIndex>();
    const open = [...tasksNamed(program, fromTask)];
    for (let task = open.pop(); task !== undefined; task = open.pop()) {
      if (found.has(task)) continue;
      found.add(task);
      for (const each of program.successors[task] ?? []) open.push(each);
    }
    sets.push(found);
  }
  const [first, second] = sets;
  if (first === undefined || second === undefined) return first;
  return new Set([...first].filter((task) => second.has(task)));
}

/** The name of a matrix task selects all of its tasks. */
function tasksNamed({ plan, taskIndex }: PlanProgram, name: string): readonly TaskIndex[] {
  const exact = taskIndex.get(name);
  if (exact !== undefined) return [exact];
  const found = plan.tasks.flatMap((task, index) => (task.name.startsWith(`${name}[`) ? [index] : []));
  if (found.length > 0) return found;
  const names = plan.tasks.slice(0, 20).map((task) => `\`${task.name}\``);
  const more = plan.tasks.length > 20 ? ", …" : "";
  throw new RunError(
    "NG_BAD_INPUT",
    `plan \`${plan.name}\` has no task \`${name}\` (there are: ${names.join(", ")}${more})`,
  );
}
