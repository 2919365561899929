import type { Checkpoint } from "../interface/checkpoint.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import { loadCall } from "../checkpoint/load-checkpoint.ts";
import { errorOf, restoreRun } from "../checkpoint/restore-run.ts";
import { ERROR_NAME, errorChannel } from "../table/hidden-channels.ts";
import { inheritConfig } from "../run/run-config.ts";
import type { Durable } from "../run/shared.ts";
import type { Run, RunEnd } from "../run/run.ts";
import { replaceHead } from "./replace-head.ts";

/** What the store has of a `finally` part. */
export interface StoredFinally {
  /** The checkpoint that the part continues with; `undefined` if it has not begun. */
  readonly head?: Checkpoint;
  /** Set if the part had ended when its process died. */
  readonly ended?: RunEnd | undefined;
  /** The last checkpoint in the namespace, if the part has not begun: that of another end, or another run. */
  readonly latest?: Checkpoint | undefined;
}

/**
 * Restores the `finally` part of a run from the store.
 *
 * @param child the part
 * @param children the unfinished runs of the checkpoint that has recorded the end of the run; absent for an end that was reached just
 *   now: what the store has belongs to an equal end that was lost with its process
 */
export async function openStoredFinally(
  run: Run,
  child: Run,
  children: Readonly<Record<string, string>> | undefined,
  durable: Durable,
): Promise<StoredFinally> {
  const { latest, head: called, stored, writes } = await loadCall(durable, child, children ?? {});
  // Mutation point: continued-finally
  if (children === undefined || called === undefined || called.runId !== child.runId) return { latest };
  const present = await refuseDrift(run.program, durable.store, called, writes, { stored });
  const { head } = present;
  restoreRun(child, head, present.writes, present.moved);
  inheritConfig(child, run);
  if (stored !== called) await replaceHead(child, latest, head, stored!);
  child.woken = run.woken;
  const isOver = head.status !== "running" && head.status !== "paused";
  return { head, ended: isOver ? endedPart(child, head) : undefined };
}

/** A part that has not begun follows the last checkpoint in its namespace. */
export function followFinally(child: Run, latest: Checkpoint): void {
  const { program } = child;
  const writer = child.writer!;
  writer.headId = writer.storedId = latest.id;
  for (const [name, count] of Object.entries(latest.versions)) {
    const index = name === ERROR_NAME ? errorChannel(program) : program.channelIndex.get(name);
    if (index !== undefined) writer.versions.set(index, count);
  }
  for (const name of Object.keys(latest.values)) {
    const index = name === ERROR_NAME ? errorChannel(program) : program.channelIndex.get(name);
    if (index !== undefined && writer.written.has(index)) continue;
    const version = (Object.hasOwn(latest.versions, name) ? latest.versions[name]! : 0) + 1;
    if (index !== undefined) writer.versions.set(index, version);
    writer.reset(name, version);
  }
}

/** How a part had ended when its process died. */
function endedPart(child: Run, { status, failure }: Checkpoint): RunEnd {
  const error = failure === undefined ? null : errorOf(failure, child.shared.threadId);
  const incompleteBarriers = status === "incomplete" ? child.incompleteBarriers() : [];
  return { status: status as Exclude<Checkpoint["status"], "running">, pauses: [], incompleteBarriers, error };
}
