import { sha256 } from "../table/sha256.ts";
import type { Json } from "../value/json.ts";
import type { Task } from "../step/task.ts";

/**
 * Identifies the item of a `for` task: equal for equal items, different for others. The list of a `for` node may change between
 * two executions of a step (an edited state, list function or expression), so an index alone does not identify an item.
 * `undefined` for every other task. Short JSON is its own identity; longer JSON is hashed.
 */
export function itemIdentity(task: Task): string | undefined {
  return task.itemIndex === -1 ? undefined : identityOfItem(task.item as Json);
}

export function identityOfItem(item: Json): string {
  const text = JSON.stringify(item);
  return text.length <= MAX_PLAIN_LENGTH ? text : `${HASHED}${sha256(text)}`;
}

/**
 * The name of a task in ids that must not pass from one item to another: pauses, run ids of called graphs, idempotency keys.
 * `each[0]#1f0c2a9b4d3e`: the id of the task, and the beginning of a digest of its item.
 */
export function taskName(task: Task): string {
  if (task.itemIndex === -1) return task.id;
  return `${task.id}#${sha256(JSON.stringify(task.item as Json)).slice(0, DIGEST_LENGTH)}`;
}

/** The digest of an item in ids. JSON does not begin with the prefix of a hash. */
export function digestOfIdentity(identity: string): string {
  const hash = identity.startsWith(HASHED) ? identity.slice(HASHED.length) : sha256(identity);
  return hash.slice(0, DIGEST_LENGTH);
}

const HASHED = "sha256:";
const MAX_PLAIN_LENGTH = 100;
const DIGEST_LENGTH = 12;
