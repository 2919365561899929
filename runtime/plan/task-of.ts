import type { Task } from "../step/task.ts";
import type { NodeCode } from "../program/program.ts";
import type { TaskCode } from "./plan-program.ts";

/** A plan's task, or a check of it, as the engine runs it. */
export function taskOf(node: NodeCode, { spec }: TaskCode): Task {
  return {
    node,
    id: node.spec.name,
    item: spec.item?.value,
    itemIndex: -1,
    error: null,
    items: undefined,
    broken: undefined,
  };
}
