import type { Task } from "../step/task.ts";
import type { NodeCode } from "../program/program.ts";
import type { TaskCode } from "./plan-program.ts";

/** The engine's task for a task of a plan, or for one of its checks. */
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
