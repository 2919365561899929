import type { Checkpoint, PauseItem } from "../interface/checkpoint.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import { loadRecorded, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { moveCalled, moveCalledWrites } from "../checkpoint/move-called.ts";
import type { Program } from "../program/program.ts";
import type { Durable } from "../run/shared.ts";
import { programAt } from "./fork-thread.ts";

/**
 * Refuses answers to pauses of called graphs that an edit has changed too much to resume. The check comes before an answer is
 * stored: a refused resume leaves the thread unchanged.
 *
 * @throws ThreadError NG_DRIFT
 */
export async function refuseCalledDrift(
  program: Program,
  durable: Pick<Durable, "store" | "threadId">,
  head: Checkpoint,
  answered: readonly PauseItem[],
): Promise<void> {
  if (head.digest === program.table.digest) return;
  const callers = new Set(
    answered.flatMap(({ namespace }) => namespace.map((_, depth) => namespace.slice(0, depth + 1).join("/"))),
  );
  for (const namespace of callers) {
    const id = head.children?.[namespace];
    const called = programAt(program, namespace.split("/"));
    if (id === undefined || called === undefined) continue;
    const stored = await loadRecorded(durable, id, head.runId);
    if (stored === undefined || stored.digest === called.table.digest) continue;
    const place = { namespace, runId: head.runId };
    const writes = moveCalledWrites(await loadWrites(durable.store, durable.threadId, stored.id), stored, place);
    // Mutation point: called-drift
    await refuseDrift(called, durable.store, moveCalled(stored, place), writes, { stored });
  }
}
