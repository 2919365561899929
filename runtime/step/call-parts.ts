/** The parts of a task (`once`) that record the graphs which it calls as tools. */
import type { Run } from "../run/run.ts";
import { taskName } from "../run/item-identity.ts";
import { CALL_PART, type ToolCallPlace } from "../program/tool-segment.ts";
import type { Task } from "./task.ts";

/** The calls of graphs that the tasks of a step have begun, by the names of the tasks (`taskName`). */
export function callParts({ parts }: Run): ReadonlyMap<string, readonly ToolCallPlace[]> {
  const byTask = new Map<string, ToolCallPlace[]>();
  for (const [id, value] of parts ?? []) {
    if (!id.endsWith(CALL_PART)) continue;
    const { tool, number } = value as { readonly tool: string; readonly number: number };
    // The name of a task has no slash.
    const end = id.indexOf("/");
    const call = { name: tool, number, key: id.slice(end + 1, -CALL_PART.length) };
    const calls = byTask.get(id.slice(0, end));
    if (calls === undefined) byTask.set(id.slice(0, end), [call]);
    else calls.push(call);
  }
  return byTask;
}

/** By the parts of a step and by task: how many calls have begun. An agent makes many, so the parts are counted once. */
const begun = new WeakMap<object, Map<string, number>>();

/** The number of a call within the task: durable before the call starts, and equal whenever the body runs again. */
export async function beginCall(run: Run, task: Task, tool: string, key: string): Promise<number> {
  const id = `${taskName(task)}/${key}${CALL_PART}`;
  const known = run.parts?.get(id);
  if (known !== undefined) return (known as { readonly number: number }).number;
  const parts = (run.parts ??= new Map());
  let counts = begun.get(parts);
  if (counts === undefined) begun.set(parts, (counts = new Map()));
  const number = counts.get(taskName(task)) ?? callParts(run).get(taskName(task))?.length ?? 0;
  counts.set(taskName(task), number + 1);
  parts.set(id, { tool, number });
  await run.writer?.keepPart(task.node.spec.name, id, { tool, number });
  return number;
}
