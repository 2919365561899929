/** The parts of a task (`once`) that record the graphs which it calls as tools. */
import type { Run } from "../run/run.ts";
import { taskName } from "../run/item-identity.ts";
import { CALL_PART, type ToolCallPlace } from "../program/tool-segment.ts";
import type { Task } from "./task.ts";

/** The calls of graphs that a task has begun. */
export function callParts({ parts }: Run, task: Task): readonly ToolCallPlace[] {
  const start = `${taskName(task)}/`;
  return [...(parts ?? [])].flatMap(([id, value]) => {
    if (!id.startsWith(start) || !id.endsWith(CALL_PART)) return [];
    const { tool, number } = value as { readonly tool: string; readonly number: number };
    return [{ name: tool, number, key: id.slice(start.length, -CALL_PART.length) }];
  });
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
  const number = counts.get(taskName(task)) ?? callParts(run, task).length;
  counts.set(taskName(task), number + 1);
  parts.set(id, { tool, number });
  await run.writer?.keepPart(task.node.spec.name, id, { tool, number });
  return number;
}
