import { sha256 } from "../table/sha256.ts";
import type { Json } from "../value/json.ts";
import type { Task } from "../step/task.ts";

/**
 * Identifies the item of a `for` task: equal for equal items, different for others. The list of a `for` node may change between
 * two executions of a step (an edited state, list function or expression), so an index alone does not identify an item.
 * `undefined` for every other task. Short JSON is its own identity; longer JSON is hashed.
 */
export function itemIdentity(task: Task): string | undefined {
  if (task.itemIndex === -1) return undefined;
  const text = JSON.stringify(task.item as Json);
  return text.length <= MAX_PLAIN_LENGTH ? text : `sha256:${sha256(text)}`;
}

/**
 * The name of a task in ids that must not pass from one item to another: pauses, run ids of called graphs, idempotency keys.
 * `each[0]#1f0c2a9b4d3e`: the id of the task, and the beginning of a digest of its item.
 */
export function taskName(task: Task): string {
  if (task.itemIndex === -1) return task.id;
  return `${task.id}#${sha256(JSON.stringify(task.item as Json)).slice(0, DIGEST_LENGTH)}`;
}

const MAX_PLAIN_LENGTH = 100;
const DIGEST_LENGTH = 12;
