import type { Checkpoint, PauseItem, PendingWrite, Signal } from "../interface/checkpoint.ts";
import type { JsonObject } from "../value/json.ts";
import { RunError, StoreError } from "../interface/errors.ts";
import { asStoreError, Journal } from "../checkpoint/journal.ts";
import type { Cancellation } from "../run/cancellation.ts";
import { underPresentNames } from "../checkpoint/former-names.ts";
import { InnerCalls } from "../checkpoint/inner-calls.ts";
import { refuseDrift, withoutNext } from "../checkpoint/drift.ts";
import type { Program } from "../program/program.ts";
import { programUnder } from "../program/tool-segment.ts";
import { NO_LIMITS } from "../run/limits.ts";
import { NO_ENTRIES, setUndos } from "../checkpoint/undo-log.ts";
import { undosOfThread } from "./thread-undos.ts";
import { isOver } from "../checkpoint/is-over.ts";
import { migrateCheckpoint, restoreRun, withAnswers } from "../checkpoint/restore-run.ts";
import { changeConfig } from "../run/run-config.ts";
import { unfinishedNodes } from "../run/run-end.ts";
import { createShared, type EngineCore } from "../run/run-settings.ts";
import { FINALLY, Run } from "../run/run.ts";
import { moveCalled, moveCalledWrites, renewPauseId } from "../checkpoint/move-called.ts";
import { newId } from "../checkpoint/ids.ts";
import type { Durable, StoredOutcome } from "../run/shared.ts";
import type { ListOptions, Store } from "../interface/store.ts";
import { newestCalls } from "../checkpoint/stored-calls.ts";
import { readSignals, takenBy } from "../checkpoint/inbox.ts";
import { loadHead, loadWrites } from "../checkpoint/load-checkpoint.ts";

export interface ForkRequest {
  readonly source: Checkpoint;
  /** The thread's head, which the fork replaces; absent for a new thread. */
  readonly head?: Checkpoint | undefined;
  readonly at?: string | undefined;
  /** New values of the configuration. */
  readonly config?: JsonObject | undefined;
  readonly metadata: JsonObject;
}

/**
 * Starts a new chain at an old checkpoint (5.9): the first checkpoint of a new run, with all values, so that no branch
 * sees the values of another. Unfinished called graphs are forked too.
 */
export async function forkCheckpoint(
  core: EngineCore,
  runner: Durable,
  cancellation: Cancellation,
  request: ForkRequest,
): Promise<Checkpoint> {
  const { head, at } = request;
  const { program } = core;
  // A fork is stored at once, whatever the durability of the run that continues it.
  const durable: Durable = { ...runner, durability: "sync", journal: new Journal(false, core.later) };
  const writes = await loadWrites(durable.store, request.source.threadId, request.source.id);
  // Only the state and the barriers matter to a fork at a chosen node.
  const known = underPresentNames(program, await withCalls(program, durable.store, request, writes), writes);
  const wanted = at === undefined ? withAnswers(known.head, known.writes) : withoutNext(program, known.head);
  const fitting = await refuseDrift(program, durable.store, wanted, at === undefined ? known.writes : [], {
    known: known.problems,
  });
  const source = fitting.head;
  const results = fitting.writes;
  const runId = newId();
  const renew = (id: string): string => renewPauseId(id, source.runId, runId);
  const isSameThread = source.threadId === durable.threadId;
  const shared = createShared(
    core,
    {},
    {
      threadId: durable.threadId,
      runId,
      durable,
      ttl: source.ttl,
      // Mutation point: forked-answers
      answers: new Map(source.answers.map(({ id, value }) => [renew(id), { id: renew(id), value }])),
      metadata: isSameThread
        ? request.metadata
        : { ...request.metadata, forkedFrom: { thread: source.threadId, checkpoint: source.id } },
    },
  );
  const run = new Run(program, shared, { cancellation, limits: NO_LIMITS });
  // Mutation point: forked-results
  restoreRun(run, source, results, isSameThread ? known.moved : undefined);
  changeConfig(run, request.config);
  await continueLog(core, durable, run, request);
  // A fork keeps due times, under the ids of its own pauses (W5).
  if (run.dues !== undefined) run.dues = renewDues(run.dues, renew);
  if (program.receives) shared.inbox.giveBack(await signalsToRetake(durable.store, request, results));
  const writer = run.writer!;
  writer.branch(head?.id ?? null, isSameThread ? source.id : null);
  if (at === undefined) {
    run.children = await forkChildren(core, durable, cancellation, source, runId);
    const pauses = source.pauses.map((pause): PauseItem => ({ ...pause, id: renew(pause.id) }));
    const status = isOver(source) || pauses.length > 0 ? source.status : "running";
    await writer.save(source.phase, {
      status,
      prepared: true,
      step: source.step,
      current: source.currentNodes,
      pauses,
      unfinished: { next: unfinishedNodes(run), children: run.children },
    });
  } else {
    moveTo(run, at);
    await writer.save("updated", { status: "running", step: run.step - 1, current: source.currentNodes });
  }
  const saved = await asStoreError(() => durable.store.loadById(durable.threadId, writer.headId!));
  if (saved === undefined) {
    const message = `the store does not have checkpoint ${writer.headId} of thread \`${durable.threadId}\`, which it has just saved`;
    throw new StoreError("NG_STORE_FAILED", message);
  }
  return migrateCheckpoint(saved, { threadId: durable.threadId, id: writer.headId! });
}

/**
 * The checkpoint to fork, with the graphs that its open step has called. What they have stored since the head of a thread belongs to
 * it, as the results of other tasks do (5.4). An older checkpoint has the calls that it records.
 */
async function withCalls(
  program: Program,
  store: Store,
  { source, head, at }: ForkRequest,
  writes: readonly PendingWrite[],
): Promise<Checkpoint> {
  if (at !== undefined) return source;
  const latest = head?.threadId === source.threadId ? head : await loadHead(store, source.threadId);
  if (latest.id !== source.id) return source;
  const children = await newestCalls(program, store, source, writes);
  return Object.keys(children).length === 0 ? source : { ...source, children };
}

/** The index of a node that the caller names. @throws RunError NG_BAD_INPUT with the nodes of the graph */
export function nodeNamed(run: Run, name: string, use: string): number {
  const node = run.program.nodeIndex.get(name);
  if (node !== undefined) return node;
  const known = [...run.program.nodeIndex.keys()].slice(0, 20).map((each) => `\`${each}\``);
  throw new RunError("NG_BAD_INPUT", `there is no node \`${name}\` to ${use}; the nodes are: ${known.join(", ")}`);
}

/** Replaces the next nodes with a node that the caller chooses. State and barriers stay. */
export function moveTo(run: Run, at: string): void {
  const node = nodeNamed(run, at, "resume at");
  run.ready = [node];
  // Mutation point: dropped-sends
  run.sends = [];
  run.passed = undefined;
  run.errors = undefined;
  run.unrouted = [];
  run.stored = undefined;
  run.dues = undefined;
  run.parts = undefined;
  run.itemRecords = undefined;
  run.children = {};
  forgetEnd(run);
  run.writer?.results.clear();
  // The answers belong to tasks that no longer run. They must not reach other tasks (6.2).
  run.shared.answers.clear();
}

/** The run continues: it has not ended, and what its `finally` part has written is dropped (F1). */
export function forgetEnd(run: Run): void {
  run.outcome = undefined;
  run.finallyEnd = undefined;
  run.finallyChildren = undefined;
}

function renewDues(dues: ReadonlyMap<string, number>, renew: (id: string) => string): ReadonlyMap<string, number> {
  return new Map([...dues].map(([id, due]) => [renew(id), due]));
}

/**
 * The signals that a fork takes again (W5): those that its run has taken after the checkpoint, on the way to the thread's head,
 * and, in another thread, those that still wait.
 *
 * @param results results that the fork keeps
 */
async function signalsToRetake(
  store: Store,
  { source, head, at }: ForkRequest,
  results: readonly PendingWrite[],
): Promise<readonly Signal[]> {
  const { threadId, runId } = source;
  const latest = head?.threadId === threadId ? head : await loadHead(store, threadId);
  const pages: (readonly Signal[])[] = [];
  const kept = new Set(
    [...(at === undefined ? (source.taken ?? []) : []), ...results.flatMap(takenBy)].map(({ id }) => id),
  );
  if (latest.runId === runId) {
    const writes = latest.id === source.id && at === undefined ? [] : await loadWrites(store, threadId, latest.id);
    pages.push(writes.flatMap(takenBy), await takenByChildren(store, latest));
  }
  for (let page: readonly Checkpoint[] = [latest]; page.length > 0;) {
    const end = page.findIndex(({ id }) => id === source.id);
    const later = end === -1 ? page : page.slice(0, end);
    for (const { runId: of, taken } of later) if (of === runId) pages.push(taken ?? []);
    if (end !== -1) break;
    const options: ListOptions = { before: page.at(-1)!.id, limit: 100 };
    page = await asStoreError(() => store.list(threadId, options));
  }
  const found = new Map<string, Signal>();
  for (const page of pages.reverse()) for (const signal of page) if (!kept.has(signal.id)) found.set(signal.id, signal);
  if (head?.threadId !== threadId) {
    for (const signal of await asStoreError(() => readSignals(store, threadId))) found.set(signal.id, signal);
  }
  return [...found.values()];
}

/** Signals that unfinished called graphs have taken. */
async function takenByChildren(store: Store, { threadId, children = {} }: Checkpoint): Promise<readonly Signal[]> {
  const taken: Signal[] = [];
  for (const id of Object.values(children)) {
    const child = await asStoreError(() => store.loadById(threadId, id));
    taken.push(...(child?.taken ?? []));
  }
  return taken;
}

/**
 * R6: the undo log belongs to the thread. A fork inside the thread continues the log of the head. A fork in another thread starts
 * with an empty log: what the source has done is undone in its own thread.
 */
async function continueLog(core: EngineCore, durable: Durable, run: Run, request: ForkRequest): Promise<void> {
  const { head, source, at } = request;
  if (at !== undefined) run.rollsBack = false;
  if (source.threadId !== durable.threadId) return forgetUndos(run);
  // Mutation point: forked-log
  if (head !== undefined) setUndos(run, await undosOfThread(core, durable, head));
}

function forgetUndos(run: Run): void {
  setUndos(run, NO_ENTRIES);
  run.unapplied = NO_ENTRIES;
  for (const write of run.writer?.results.values() ?? []) {
    const { undo: _, ...result } = write.result as unknown as StoredOutcome;
    run.writer?.results.set(write.taskId, { ...write, result: result as unknown as PendingWrite["result"] });
  }
}

/**
 * The unfinished called graphs of a fork. In the same thread, the fork refers to the checkpoints of the forked run, and each call
 * continues there (`loadCall`): the fork is one write, and a process that dies before it leaves the thread as it was. In another
 * thread, the checkpoints are copied first.
 */
async function forkChildren(
  core: EngineCore,
  durable: Durable,
  cancellation: Cancellation,
  source: Checkpoint,
  runId: string,
): Promise<Record<string, string>> {
  const { store, threadId } = durable;
  const children: Record<string, string> = {};
  const inner = new InnerCalls();
  // Inner graphs first: a checkpoint refers to those of the graphs it calls.
  const entries = Object.entries(source.children ?? {}).sort(([a], [b]) => b.length - a.length);
  for (const [namespace, id] of entries) {
    const found = await asStoreError(() => store.loadById(source.threadId, id));
    const program = programAt(core.program, namespace.split("/"));
    if (found === undefined || program === undefined) continue;
    const stored = migrateCheckpoint(found, { threadId: source.threadId, namespace: found.namespace, id });
    const place = { namespace, runId };
    const child = moveCalled(stored, place);
    const writes = moveCalledWrites(await loadWrites(store, source.threadId, id), stored, place);
    const present = await refuseDrift(program, store, child, writes, { stored });
    if (source.threadId === threadId) {
      children[namespace] = id;
      continue;
    }
    const shared = createShared(core, {}, { threadId, runId, durable, metadata: child.metadata });
    const run = new Run(program, shared, {
      cancellation,
      limits: NO_LIMITS,
      place: { path: namespace.split("/"), runId: child.runId, keyId: child.runId, attempt: child.attempt ?? 1 },
    });
    run.argumentsRound = child.argumentsRound ?? 1;
    restoreRun(run, present.head, present.writes);
    forgetUndos(run);
    const head = await asStoreError(() => store.loadLatest(threadId, namespace));
    const writer = run.writer!;
    writer.branch(head?.id ?? null, null);
    run.children = inner.of(namespace) ?? {};
    await writer.save(child.phase, {
      status: child.status,
      step: child.step,
      current: child.currentNodes,
      pauses: present.head.pauses,
      unfinished: { next: unfinishedNodes(run), children: run.children },
    });
    if (writer.headId === null) continue;
    children[namespace] = writer.headId;
    inner.add(namespace, writer.headId);
  }
  return children;
}

/** The graph that runs under a namespace. The segments of a namespace are task ids. */
export function programAt(program: Program, path: readonly string[]): Program | undefined {
  let found: Program | undefined = program;
  for (const task of path) {
    // The `finally` part of a graph is the same graph.
    if (task === "" || task === FINALLY || found === undefined) continue;
    found = programUnder(found, task);
  }
  return found;
}
