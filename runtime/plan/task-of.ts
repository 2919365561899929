import type { Task } from "../step/task.ts";
import type { NodeCode } from "../program/program.ts";
import type { JsonObject } from "../value/json.ts";
import type { TaskCode } from "./plan-program.ts";

/**
 * The engine's task for a task of a plan, or for one of its checks.
 *
 * @param failure why the previous attempt has failed
 * @param environment `renew`: a completed run of a called graph or plan is not continued; `execution`: its number in the ids of questions
 */
export function taskOf(
  node: NodeCode,
  { spec }: TaskCode,
  failure: JsonObject | null,
  { renew, execution }: { readonly renew: boolean; readonly execution?: number | undefined },
): Task {
  return {
    node,
    id: node.spec.name,
    item: spec.item?.value,
    itemIndex: -1,
    error: failure,
    ...(failure === null ? {} : { failure }),
    items: undefined,
    broken: undefined,
    ...(renew ? { renew } : {}),
    ...(execution === undefined ? {} : { execution }),
  };
}
