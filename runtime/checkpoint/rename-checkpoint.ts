import type { Checkpoint, PauseItem, PendingWrite } from "../interface/checkpoint.ts";
import { setField } from "../expression/operations.ts";
import type { Json } from "../value/json.ts";
import type { StoredOutcome } from "../run/shared.ts";
import type { UndoEntry } from "../interface/undo.ts";
import { isResult, renameStoredTask } from "./restore-run.ts";
import { readLog } from "./undo-log.ts";
import { ERROR_NAME, UNDO_NAME } from "../table/hidden-channels.ts";

/** New names of nodes and channels; a name without an entry stays. */
export interface Renaming {
  readonly nodes: ReadonlyMap<string, string>;
  readonly channels: ReadonlyMap<string, string>;
  /** Renames ids of pauses, which may name tasks of called graphs: `call@0/ask@1.…`. Default: the first part changes. */
  readonly path?: (id: string) => string;
  /** Renames a node of this graph, or of a graph that it calls: `trip/book`. Default: the first part changes. */
  readonly nodePath?: (path: string) => string;
}

/** A checkpoint of the outermost graph with other names: wherever it names a node or a channel, in ids of tasks and pauses too. */
export function renameCheckpoint(head: Checkpoint, renaming: Renaming): Checkpoint {
  const node = (name: string): string => renaming.nodes.get(name) ?? name;
  const first = (id: string): string => renameFirst(id, node);
  const task = renaming.path ?? first;
  const { currentNode, finished, passedGates, failure, unrouted, failedEdges, channels, dues, children } = head;
  const { finally: ended } = head;
  return {
    ...head,
    currentNodes: head.currentNodes.map(node),
    ...(typeof currentNode === "string" ? { currentNode: node(currentNode) } : {}),
    nextNodes: head.nextNodes.map(node),
    pendingSends: head.pendingSends.map((send) => ({ ...send, taskId: first(send.taskId), node: node(send.node) })),
    // The id of a barrier is the name of its target.
    barrierState: renameKeys(head.barrierState, first, (names) => names.map(node).sort()),
    pauses: head.pauses.map((pause) => renamePause(pause, task, node)),
    answers: head.answers.map((answer) => ({ ...answer, id: task(answer.id) })),
    errors: renameKeys(head.errors, node, (error) => renameError(error, node)),
    ...(finished && { finished: finished.map((write) => renameFinished(write, renaming, node)) }),
    ...(passedGates && { passedGates: passedGates.map(node) }),
    ...(failure && { failure: failure.node === undefined ? failure : { ...failure, node: node(failure.node) } }),
    ...(unrouted && { unrouted: unrouted.map((name) => (name === "start" ? name : node(name))) }),
    ...(failedEdges && { failedEdges: failedEdges.map(node) }),
    // Mutation point: renamed-dues
    ...(dues && { dues: renameRecord(dues, task) }),
    // The checkpoints stay in their former namespaces until the next run of the called graph.
    ...(children && { children: renameRecord(children, task) }),
    ...(channels && { channels: renameChannels(channels, renaming) }),
    ...(ended && { finally: { ...ended, values: renameChannels(ended.values, renaming) } }),
    values: renameChannels(withUndos(withError(head.values, node), renaming), renaming),
    versions: renameChannels(head.versions, renaming),
  };
}

function withUndos(values: Checkpoint["values"], renaming: Renaming): Checkpoint["values"] {
  const log = readLog(values[UNDO_NAME]);
  return log.length === 0 ? values : { ...values, [UNDO_NAME]: renameUndos(log, renaming) as unknown as Json };
}

/** The entries keep the names of their tasks, which are shown to people. */
function renameUndos(entries: readonly UndoEntry[], { nodes, nodePath }: Renaming): readonly UndoEntry[] {
  const rename = nodePath ?? ((path: string): string => renameFirst(path, (name) => nodes.get(name) ?? name));
  return entries.map((entry) => ({ ...entry, nodes: rename(entry.nodes.join("/")).split("/") }));
}

/** A record by channel under the new names. */
export function renameChannels<T>(record: Readonly<Record<string, T>>, { channels }: Renaming): Record<string, T> {
  return renameRecord(record, (name) => channels.get(name) ?? name);
}

/** A stored result, or a part of one (`once`), under the new names. */
function renameFinished(write: PendingWrite, renaming: Renaming, node: (name: string) => string): PendingWrite {
  if (isResult(write)) return renameWrite(write, renaming);
  return { ...renameStoredTask(write, (id) => renameTask(id, renaming)), node: node(write.node) };
}

/** A stored result under the new names. */
export function renameWrite({ taskId, node, result }: PendingWrite, renaming: Renaming): PendingWrite {
  const { nodes, channels } = renaming;
  const rename = (name: string): string => nodes.get(name) ?? name;
  const stored = result as unknown as StoredOutcome;
  const renamed: StoredOutcome = {
    ...stored,
    updates: stored.updates.map(([name, ...rest]) => [channels.get(name) ?? name, ...rest] as const),
    ...(stored.goto && { goto: stored.goto.map(rename) }),
    ...(stored.undo && { undo: renameUndos(stored.undo, renaming) }),
    ...(stored.sends && { sends: stored.sends.map((send) => ({ ...send, node: rename(send.node) })) }),
  };
  return { taskId: renameFirst(taskId, rename), node: rename(node), result: renamed as unknown as Json };
}

/** The id of a task, a pause or a barrier under the new names. */
export function renameTask(id: string, { nodes, path }: Renaming): string {
  return path?.(id) ?? renameFirst(id, (name) => nodes.get(name) ?? name);
}

function renamePause(pause: PauseItem, task: (id: string) => string, node: (name: string) => string): PauseItem {
  const id = task(pause.id);
  const { taskId, namespace } = pause;
  // A pause of a called graph names nodes of that graph.
  if (namespace.length > 0) {
    const inner = (name: string): string =>
      task([...namespace, name].join("/"))
        .split("/")
        .at(-1)!;
    return {
      ...pause,
      id,
      namespace: task(namespace.join("/")).split("/"),
      node: inner(pause.node),
      ...(taskId === undefined ? {} : { taskId: inner(taskId) }),
    };
  }
  return { ...pause, id, node: node(pause.node), ...(taskId === undefined ? {} : { taskId: task(taskId) }) };
}

function withError(values: Checkpoint["values"], node: (name: string) => string): Checkpoint["values"] {
  if (!Object.hasOwn(values, ERROR_NAME)) return values;
  return { ...values, [ERROR_NAME]: renameError(values[ERROR_NAME]!, node) };
}

function renameError(error: Json, node: (name: string) => string): Json {
  if (typeof error !== "object" || error === null || Array.isArray(error)) return error;
  const { node: failed } = error as { readonly node?: Json };
  return typeof failed === "string" ? { ...error, node: node(failed) } : error;
}

/** Renames the node that the id of a task, a pause, a barrier or a called graph begins with. Ids of gates have a prefix. */
function renameFirst(id: string, node: (name: string) => string): string {
  return id.replace(
    /^(before:|after:)?(\w+)/,
    (_, gate: string | undefined, name: string) => `${gate ?? ""}${node(name)}`,
  );
}

/** A record with other keys and the same values. */
export function renameRecord<T>(
  record: Readonly<Record<string, T>>,
  rename: (name: string) => string,
): Record<string, T> {
  return renameKeys(record, rename, (value) => value);
}

function renameKeys<T, R>(
  record: Readonly<Record<string, T>>,
  rename: (name: string) => string,
  value: (value: T) => R,
): Record<string, R> {
  const renamed: Record<string, R> = {};
  // Not an assignment: a name may be `__proto__`.
  for (const [name, each] of Object.entries(record))
    setField(renamed as Record<string, Json>, rename(name), value(each) as unknown as Json);
  return renamed;
}
