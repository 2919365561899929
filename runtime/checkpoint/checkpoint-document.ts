import type { Checkpoint } from "../interface/checkpoint.ts";

/** A checkpoint as JSON: in the `--json` documents of `history` and `show`, and in answers of the HTTP service. */
export function checkpointDocument(checkpoint: Checkpoint): object {
  return {
    id: checkpoint.id,
    thread: checkpoint.threadId,
    run: checkpoint.runId,
    namespace: checkpoint.namespace,
    parent: checkpoint.parentId,
    ...(checkpoint.abandoned === true ? { abandoned: true } : {}),
    step: checkpoint.step,
    phase: checkpoint.phase,
    status: checkpoint.status,
    ...(checkpoint.rollsBack === true ? { rollsBack: true } : {}),
    ran: checkpoint.currentNodes,
    next: checkpoint.nextNodes,
    barriers: checkpoint.barrierState,
    pauses: checkpoint.pauses,
    failure: checkpoint.failure ?? null,
    ...(checkpoint.outcome === undefined ? {} : { outcome: checkpoint.outcome }),
    ...(checkpoint.finally === undefined ? {} : { finally: checkpoint.finally }),
    children: checkpoint.children ?? {},
    label: checkpoint.label,
    timestamp: checkpoint.timestamp,
    digest: checkpoint.digest,
    metadata: checkpoint.metadata,
  };
}
