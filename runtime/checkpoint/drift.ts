import type { Checkpoint, PendingWrite } from "../interface/checkpoint.ts";
import { ThreadError } from "../interface/errors.ts";
import { Mismatch } from "../value/validate.ts";
import type { Program } from "../program/program.ts";
import { isAnswer } from "./restore-run.ts";
import type { StoredOutcome } from "../run/shared.ts";

/**
 * Refuses to continue under a table that lacks what the checkpoint needs (5.7): its next nodes, the members of partly
 * filled barriers, the channels and targets of its stored results, and its channels with types that accept the stored
 * values.
 *
 * @param writes results that were stored after the checkpoint
 * @throws ThreadError NG_DRIFT with a list of the problems
 */
export function refuseDrift(program: Program, head: Checkpoint, writes: readonly PendingWrite[] = []): void {
  const { table, nodeIndex, channelIndex, channels } = program;
  const problems: string[] = [];
  const needNode = (name: string, why: string): void => {
    if (!nodeIndex.has(name)) problems.push(`node \`${name}\` no longer exists, but ${why}`);
  };
  for (const name of head.nextNodes) needNode(name, "it is a next node");
  for (const name of head.unrouted ?? []) if (name !== "start") needNode(name, "its edges have to be evaluated again");
  for (const write of [...(head.finished ?? []), ...writes]) {
    if (!isAnswer(write)) for (const each of resultProblems(program, write)) problems.push(each);
  }
  for (const send of head.pendingSends) needNode(send.node, "an item was sent to it");
  for (const name of Object.keys(head.errors)) needNode(name, "an error edge leads to it");
  for (const [id, names] of Object.entries(head.barrierState)) {
    const barrier = table.barriers.find((spec) => spec.id === id);
    if (barrier === undefined) {
      problems.push(`the barrier \`${id}\` no longer exists, but ${names.join(", ")} signalled it`);
      continue;
    }
    const members = new Set(barrier.members.flat().map((node) => table.nodes[node]?.name));
    for (const name of names)
      if (!members.has(name)) problems.push(`\`${name}\` no longer belongs to the barrier \`${id}\``);
  }
  for (const [name, value] of Object.entries(head.values)) {
    const index = channelIndex.get(name);
    if (index === undefined) {
      problems.push(`channel \`${name}\` no longer exists`);
      continue;
    }
    const admitted = value === null ? null : channels[index]!.admit(value);
    if (admitted instanceof Mismatch) problems.push(`channel \`${name}\` has another type: ${admitted.describe()}`);
  }
  // Mutation point: drift
  if (problems.length === 0) return;
  throw new ThreadError(
    "NG_DRIFT",
    head.threadId,
    `thread \`${head.threadId}\` cannot be resumed with this version of graph \`${table.name}\`: ${problems.join("; ")}`,
    { details: problems },
  );
}

/** The parts of a stored result that do not fit the table. */
function resultProblems(
  { nodeIndex, channelIndex, channels }: Program,
  { node, taskId, result }: PendingWrite,
): string[] {
  const problems: string[] = [];
  if (!nodeIndex.has(node)) problems.push(`node \`${node}\` no longer exists, but its result is stored`);
  const { updates, goto = [], sends = [] } = result as unknown as StoredOutcome;
  for (const [name, value] of updates) {
    const index = channelIndex.get(name);
    if (index === undefined) {
      problems.push(`channel \`${name}\` no longer exists, but the stored result of node \`${node}\` writes it`);
      continue;
    }
    const isItem = taskId.endsWith("]");
    const admitted = isItem ? channels[index]!.admitItem(value) : channels[index]!.admitUpdate(value);
    if (admitted instanceof Mismatch) {
      problems.push(
        `channel \`${name}\` does not accept the stored result of node \`${node}\`: ${admitted.describe()}`,
      );
    }
  }
  for (const target of [...goto, ...sends.map((send) => send.node)]) {
    if (target !== "end" && !nodeIndex.has(target)) {
      problems.push(`node \`${target}\` no longer exists, but the stored result of node \`${node}\` leads to it`);
    }
  }
  return problems;
}
