import type { Checkpoint, PauseItem, PendingWrite } from "../interface/checkpoint.ts";
import { runSuffix } from "./pause-ids.ts";
import { renameRecord } from "./rename-checkpoint.ts";
import { renameStoredTask } from "./restore-run.ts";

/** A place in a thread: the namespace of a called graph, and the id of the outermost run. */
export interface PlaceInThread {
  readonly namespace: string;
  readonly runId: string;
}

/**
 * The checkpoint of a called graph at another place: its callers were renamed, or the run was forked. Its run id, the ids of its
 * pauses and the namespaces of the graphs that it calls begin with the calling tasks; ids of pauses end with the run.
 */
export function moveCalled(stored: Checkpoint, to: PlaceInThread): Checkpoint {
  const { namespace } = to;
  const from = outermostRun(stored);
  if (stored.namespace === namespace && from === to.runId) return stored;
  const path = namespace.split("/");
  const pauseId = renamePauseId(from, to);
  const { children, dues } = stored;
  return {
    ...stored,
    namespace,
    runId: `${to.runId}${renameCallers(stored.runId.slice(from.length), ["", ...path])}`,
    pauses: stored.pauses.map((pause): PauseItem => ({
      ...pause,
      id: pauseId(pause.id),
      namespace: [...path, ...pause.namespace.slice(path.length)],
    })),
    ...(children && { children: renameRecord(children, (name) => renameCallers(name, path)) }),
    ...(dues && { dues: renameRecord(dues, pauseId) }),
  };
}

/** The writes behind a checkpoint of a called graph, at another place. */
export function moveCalledWrites(
  writes: readonly PendingWrite[],
  stored: Checkpoint,
  to: PlaceInThread,
): readonly PendingWrite[] {
  return writes.map((write) => renameStoredTask(write, renamePauseId(outermostRun(stored), to)));
}

/** The id of the outermost run of a checkpoint. */
export function outermostRun({ runId }: Pick<Checkpoint, "runId">): string {
  return runId.split("/", 1)[0]!;
}

/** A pause id contains its run id. In a fork the ids contain the id of the fork, so that no answer applies to both. */
export function renewPauseId(id: string, from: string, to: string): string {
  const suffix = `.${runSuffix(from)}`;
  return id.endsWith(suffix) ? `${id.slice(0, -suffix.length)}.${runSuffix(to)}` : id;
}

function renamePauseId(from: string, { namespace, runId }: PlaceInThread): (id: string) => string {
  const path = namespace.split("/");
  return (id) => renewPauseId(renameCallers(id, path), from, runId);
}

/** `call@0/ask@1.…` under the names of the tasks of `path`. */
function renameCallers(id: string, path: readonly string[]): string {
  const parts = id.split("/").map((part, index) => {
    const task = path[index];
    return task === undefined ? part : part.replace(NAME, NAME.exec(task)?.[0] ?? "");
  });
  return parts.join("/");
}

const NAME = /^\w+/;
