import type { Checkpoint } from "../interface/checkpoint.ts";
import { unfinishedNodes } from "../run/run-end.ts";
import type { Run } from "../run/run.ts";

/** Makes the checkpoint that a call continues the head of its namespace: results are stored with the head. */
export async function replaceHead(
  child: Run,
  latest: Checkpoint | undefined,
  head: Checkpoint,
  stored: Checkpoint,
): Promise<void> {
  const writer = child.writer!;
  writer.branch(latest?.id ?? null, parentOf(child, stored));
  // The answers of the whole run are stored with its outermost graph. A pause that has one does not wait again.
  const pauses = head.pauses.filter(({ id }) => !child.shared.answers.has(id));
  await writer.save(head.phase, {
    status: head.status === "paused" && pauses.length === 0 ? "running" : head.status,
    // The run that was forked, or that used the former name, can be forked again.
    keepsWrites: true,
    step: head.step,
    current: head.currentNodes,
    pauses,
    unfinished: { next: unfinishedNodes(child), children: head.children ?? {} },
  });
}

/** A chain of checkpoints stays in its namespace. */
export function parentOf({ namespace }: Run, stored: Checkpoint): string | null {
  return stored.namespace === namespace ? stored.id : null;
}
