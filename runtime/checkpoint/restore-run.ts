import {
  CHECKPOINT_SCHEMA_VERSION,
  type Checkpoint,
  type PauseItem,
  type PendingWrite,
} from "../interface/checkpoint.ts";
import { NodeError, RunError, StoreError, type NgraphError } from "../interface/errors.ts";
import { readUsage, type Usage } from "../interface/usage.ts";
import type { Json } from "../value/json.ts";
import { Mismatch } from "../value/mismatch.ts";
import { checkCheckpoint, type RequestedCheckpoint } from "./check-checkpoint.ts";
import { ERROR_NAME, hiddenChannel } from "../table/hidden-channels.ts";
import { takenBy } from "./inbox.ts";
import { isOver } from "./is-over.ts";
import { taskOfSegment } from "../program/tool-segment.ts";
import type { Run } from "../run/run.ts";
import type { StoredOutcome } from "../run/shared.ts";
import type { UndoEntry } from "../interface/undo.ts";
import { undosOfResults } from "./stored-undos.ts";

/** The step that a resume of the checkpoint continues with. */
export function resumeStep(head: Pick<Checkpoint, "phase" | "step">): number {
  // Mutation point: resume-step
  return head.phase === "interrupted" ? head.step : head.step + 1;
}

/**
 * Converts a checkpoint to the current schema version. Fields that a record of version 0 lacks get defaults.
 *
 * @param asked the requested checkpoint; another one is refused
 * @throws StoreError NG_UNKNOWN_VERSION for a later version, NG_CORRUPT_RECORD for a checkpoint that cannot be restored
 */
export function migrateCheckpoint(checkpoint: Checkpoint, asked: RequestedCheckpoint): Checkpoint {
  const migrated = asThisVersion(checkpoint);
  checkCheckpoint(migrated, asked);
  return migrated;
}

function asThisVersion(checkpoint: Checkpoint): Checkpoint {
  const { schemaVersion } = checkpoint;
  if (!Number.isSafeInteger(schemaVersion) || schemaVersion < 0 || schemaVersion > CHECKPOINT_SCHEMA_VERSION) {
    throw new StoreError(
      "NG_UNKNOWN_VERSION",
      `checkpoint ${checkpoint.id} has schema version ${JSON.stringify(checkpoint.schemaVersion)}, this version of ngraph reads up to ${CHECKPOINT_SCHEMA_VERSION}: update ngraph`,
    );
  }
  if (checkpoint.schemaVersion === CHECKPOINT_SCHEMA_VERSION) return checkpoint;
  const absent = {
    namespace: "",
    parentId: null,
    currentNodes: [],
    nextNodes: [],
    pendingSends: [],
    barrierState: {},
    pauses: [],
    answers: [],
    errors: {},
    status: "running" as const,
    label: null,
    metadata: {},
    values: {},
    versions: {},
  };
  return { ...absent, ...checkpoint, schemaVersion: CHECKPOINT_SCHEMA_VERSION };
}

/**
 * Restores the state of a run from a checkpoint. The checkpoint has passed `refuseDrift`, so every name in it exists
 * and every value fits.
 *
 * @param writes results that were stored after the checkpoint
 * @param moved former names of channels whose values have moved: the next checkpoint records it
 */
export function restoreRun(
  run: Run,
  head: Checkpoint,
  writes: readonly PendingWrite[],
  moved: ReadonlyMap<string, number> = new Map(),
): void {
  const { channels, channelIndex, nodeIndex, table } = run.program;
  const node = (name: string): number => nodeIndex.get(name)!;
  const { writer } = run;
  for (const [name, value] of Object.entries(head.values)) {
    const hidden = hiddenChannel(run.program, name);
    if (hidden !== undefined) {
      run.state[hidden] = value;
      // Mutation point: restored-error
      if (name === ERROR_NAME) run.scope.error = value;
      writer?.written.add(hidden);
      continue;
    }
    const index = channelIndex.get(name)!;
    const admitted = value === null ? null : channels[index]!.admit(value);
    run.state[index] = admitted instanceof Mismatch ? value : admitted;
    writer?.written.add(index);
  }
  for (const [name, count] of Object.entries(head.versions)) {
    const index = hiddenChannel(run.program, name) ?? channelIndex.get(name);
    if (index !== undefined) writer?.versions.set(index, count);
  }
  for (const [former, version] of moved) {
    writer?.reset(former, version + 1);
    const index = channels.findIndex(({ spec }) => spec.was?.includes(former) === true);
    if (index !== -1) writer?.touch(index, null, false);
  }
  restoreOutcome(run, head);
  run.step = resumeStep(head);
  restoreUsage(run, head, writes);
  if (head.passedGates !== undefined) run.passed = new Set(head.passedGates);
  // Mutation point: restored-sends
  run.sends = head.pendingSends.map(({ taskId, node: name, item }) => ({ taskId, node: node(name), item }));
  run.unrouted = (head.unrouted ?? []).map((name) => ({
    node: name === "start" ? -1 : node(name),
    cause: undefined,
    hasFailed: head.failedEdges?.includes(name) === true,
  }));
  const errors = Object.entries(head.errors);
  // Mutation point: restored-errors
  run.errors = errors.length === 0 ? undefined : new Map(errors.map(([name, error]) => [node(name), error]));
  for (const [id, names] of Object.entries(head.barrierState)) {
    const barrier = table.barriers.findIndex((spec) => spec.id === id);
    // Mutation point: restored-barriers
    for (const name of names) run.barriers.signal(barrier, node(name));
  }

  // Mutation point: restored-dues
  const dues = new Map([...Object.entries(head.dues ?? {}), ...writes.filter(isDue).map(dueOfWrite)]);
  run.dues = dues.size === 0 ? undefined : dues;
  const parts = [...(head.finished ?? []), ...writes].filter(isPart);
  if (parts.length > 0) run.parts = new Map(parts.map(partOfWrite));
  const isUnfinished = run.path.length > 0 || head.phase === "interrupted";
  run.shared.inbox.remember([...(isUnfinished ? (head.taken ?? []) : []), ...writes.flatMap(takenBy)]);
  const stored = new Map<string, StoredOutcome>();
  const ready = new Set(head.nextNodes.map(node));
  for (const write of [...(head.finished ?? []), ...writes]) {
    if (!isResult(write)) continue;
    stored.set(write.taskId, write.result as unknown as StoredOutcome);
    writer?.results.set(write.taskId, write);
    // A finished plain node is not among the next nodes, but it belongs to the step.
    if (write.taskId === write.node) ready.add(node(write.node));
  }
  run.ready = [...ready].sort((a, b) => a - b);
  // Mutation point: restored-undone
  for (const key of undoneKeys(writes)) run.undone.add(key);
  run.unapplied = undosOfResults(
    run.program,
    [...stored].map(([taskId, result]) => ({ taskId, result })),
  );
  // Mutation point: restored-rollback
  run.rollsBack = head.rollsBack === true;
  // Mutation point: restored-results
  run.stored = stored.size === 0 && !isInStep(head) ? undefined : stored;
  if (writer === undefined) return;
  writer.headId = writer.storedId = head.id;
  writer.hasRecordedChannels = head.digest === table.digest;
}

/** Whether the run has ended, and its `finally` part runs or waits. */
export function isInFinally({ outcome, status }: Pick<Checkpoint, "outcome" | "status">): boolean {
  return outcome !== undefined && (status === "running" || status === "paused");
}

/** A run that is resumed after it has ended loses its outcome, and what its `finally` part has written (F1). */
function restoreOutcome(run: Run, head: Checkpoint): void {
  run.ends = head.ends ?? 0;
  const hasEnded = isOver(head);
  if (!hasEnded && !isInFinally(head)) return;
  run.outcome = head.outcome;
  if (!hasEnded || head.finally === undefined) return;
  const { status, values, failure } = head.finally;
  const error = failure === undefined ? null : errorOf(failure, run.shared.threadId);
  run.finallyEnd = { status, error, steps: [], values };
}

/** The error that a checkpoint has recorded, without its cause. */
export function errorOf(
  {
    code,
    message,
    node,
    attempts,
  }: {
    readonly code: string;
    readonly message: string;
    readonly node?: string | undefined;
    readonly attempts?: number;
  },
  threadId: string | undefined,
): NgraphError {
  if (node !== undefined) {
    const details = { threadId, ...(attempts === undefined ? {} : { attempts }) };
    return new NodeError(code as NodeError["code"], node, message, details);
  }
  if (code.startsWith("NG_STORE") || code === "NG_NO_STORE") {
    return new StoreError(code as StoreError["code"], message);
  }
  return new RunError(code as RunError["code"], message);
}

/** Whether a step has begun and has not ended at the checkpoint. Results that were stored after it are not part of it. */
export function isInStep({ phase, finished }: Pick<Checkpoint, "phase" | "finished">): boolean {
  return phase === "interrupted" || finished !== undefined;
}

/** Pauses of a checkpoint by the task of this run that they belong to. Gates belong to no task. */
export function pausesByTask(run: Run, pauses: readonly PauseItem[]): Map<string, PauseItem[]> {
  const depth = run.path.length;
  const found = new Map<string, PauseItem[]>();
  for (const pause of pauses) {
    const task = pause.namespace.length > depth ? taskOfSegment(pause.namespace[depth]!) : pause.taskId;
    if (task === undefined) continue;
    const known = found.get(task);
    if (known === undefined) found.set(task, [pause]);
    else known.push(pause);
  }
  return found;
}

/**
 * Applies the answers that were stored after a checkpoint: answered pauses are removed. If no pause remains, the status
 * is `running` (the process crashed between the answer and the next checkpoint).
 */
export function withAnswers<T extends Checkpoint>(head: T, writes: readonly PendingWrite[]): T {
  if (writes.length === 0 || head.pauses.length === 0) return head;
  const stored = writes.filter(isAnswer).map((write) => ({ id: answeredPause(write), value: write.result }));
  const ids = new Set([...stored.map(({ id }) => id), ...wokenPauses(writes)]);
  const done = finishedTasks(writes);
  // A task that waited for a signal or a deadline can also have a stored result.
  const isDone = ({ taskId = "", namespace }: PauseItem): boolean => namespace.length === 0 && done.has(taskId);
  const pauses = head.pauses.filter((pause) => !ids.has(pause.id) && !isDone(pause));
  if (pauses.length === head.pauses.length) return head;
  const isOnItsWay = head.status === "paused" && pauses.length === 0;
  const answers = [...head.answers.filter(({ id }) => !ids.has(id)), ...stored];
  return { ...head, pauses, answers, status: isOnItsWay ? "running" : head.status };
}

/**
 * Whether a paused checkpoint has work left that no pause holds back: an answer was stored, or a signal was taken, and the task
 * has no result yet. A run works on it, or has crashed. Other pauses may still wait.
 */
export function hasOpenWork({ status, pauses }: Checkpoint, writes: readonly PendingWrite[]): boolean {
  if (status !== "paused" || writes.length === 0) return false;
  const continued = new Set([...writes.filter(isAnswer).map(answeredPause), ...wokenPauses(writes)]);
  const done = finishedTasks(writes);
  // Mutation point: open-work
  return pauses.some(
    ({ id, namespace, taskId = "" }) => continued.has(id) && !done.has(taskOfSegment(namespace[0] ?? taskId)),
  );
}

/** The tasks with stored results, under their former names, too: the pauses of a checkpoint may have these. */
function finishedTasks(writes: readonly PendingWrite[]): ReadonlySet<string> {
  const done = new Set<string>();
  for (const write of writes) {
    if (!isResult(write)) continue;
    const { taskId, node, result } = write;
    done.add(taskId);
    const { was = [] } = result as unknown as StoredOutcome;
    for (const former of was) done.add(`${former}${taskId.slice(node.length)}`);
  }
  return done;
}

const ANSWER = "answer:";

/** The pending write of an answer. It is durable before the body that consumes the answer runs. */
export function answerWrite(pause: PauseItem, value: PendingWrite["result"]): PendingWrite {
  return { taskId: `${ANSWER}${pause.id}`, node: pause.node, result: value };
}

export function isAnswer(write: PendingWrite): boolean {
  return write.taskId.startsWith(ANSWER);
}

/** Whether a pending write is the result of a task. */
export function isResult(write: PendingWrite): boolean {
  if (isAnswer(write) || isDue(write) || isPart(write) || isWoken(write)) return false;
  return !isUndone(write) && write.taskId !== USAGE;
}

const USAGE = "usage:";

/** The pending write of what a run has used so far. It replaces the one before. */
export function usageWrite(usage: Usage): PendingWrite {
  return { taskId: USAGE, node: "", result: { ...usage } };
}

/** Restores what the run of a checkpoint has used. @param writes stored after the checkpoint */
export function restoreUsage(run: Run, head: Checkpoint, writes: readonly PendingWrite[]): void {
  const write = writes.find(({ taskId }) => taskId === USAGE);
  run.usage = (write === undefined ? undefined : readUsage(write.result)) ?? head.usage;
}

const WOKEN = "woken:";

/**
 * The pending write for a pause in a called graph whose signal has come. The called graph takes the signal with a
 * checkpoint of its own. After a crash, only this write shows that the thread can continue.
 */
export function wokenWrite(pause: PauseItem): PendingWrite {
  return { taskId: `${WOKEN}${pause.id}`, node: pause.node, result: null };
}

function isWoken(write: PendingWrite): boolean {
  return write.taskId.startsWith(WOKEN);
}

/** Ids of the pauses that `wokenWrite` has recorded. */
export function wokenPauses(writes: readonly PendingWrite[]): readonly string[] {
  return writes.filter(isWoken).map(({ taskId }) => taskId.slice(WOKEN.length));
}

const UNDONE = "undone:";

/** The pending write of an undo that is done. */
export function undoneWrite({ key, nodes }: UndoEntry): PendingWrite {
  return { taskId: `${UNDONE}${key}`, node: nodes[0] ?? "", result: null };
}

/** The keys of the undos that `undoneWrite` has recorded. */
export function undoneKeys(writes: readonly PendingWrite[]): ReadonlySet<string> {
  return new Set(writes.filter(isUndone).map(({ taskId }) => taskId.slice(UNDONE.length)));
}

function isUndone(write: PendingWrite): boolean {
  return write.taskId.startsWith(UNDONE);
}

const DUE = "due:";

/** The pending write of the due time of a wait. */
export function dueWrite(node: string, pauseId: string, due: number): PendingWrite {
  return { taskId: `${DUE}${pauseId}`, node, result: due };
}

const PART = "part:";

/** The pending write of a part of a body (`once`). @param id the name of the task, `/`, and the key of the part */
export function partWrite(node: string, id: string, result: PendingWrite["result"]): PendingWrite {
  // A list cannot be taken for the result of a task.
  return { taskId: `${PART}${id}`, node, result: [result] };
}

/** Whether a pending write is the result of a part of a body. */
export function isPart(write: PendingWrite): boolean {
  return write.taskId.startsWith(PART);
}

/** The name and the value of a part. */
export function partOfWrite({ taskId, result }: PendingWrite): readonly [id: string, result: Json] {
  return [taskId.slice(PART.length), Array.isArray(result) ? (result as readonly Json[])[0]! : null];
}

/** The parts of unfinished bodies, for a checkpoint inside the step. */
export function partsOf(run: Run): readonly PendingWrite[] {
  if (run.parts === undefined) return [];
  return [...run.parts].map(([id, result]) => partWrite(/^\w+/.exec(id)?.[0] ?? id, id, result));
}

/** A write of an answer, of a due time or of a signal under another id of its pause. Results are returned as they are. */
export function renameStoredTask(write: PendingWrite, rename: (id: string) => string): PendingWrite {
  if (isResult(write)) return write;
  const start = write.taskId.indexOf(":") + 1;
  return { ...write, taskId: `${write.taskId.slice(0, start)}${rename(write.taskId.slice(start))}` };
}

export function isDue(write: PendingWrite): boolean {
  return write.taskId.startsWith(DUE);
}

export function dueOfWrite({ taskId, result }: PendingWrite): readonly [pauseId: string, due: number] {
  return [taskId.slice(DUE.length), Number(result)];
}

export function answeredPause(write: PendingWrite): string {
  return write.taskId.slice(ANSWER.length);
}
