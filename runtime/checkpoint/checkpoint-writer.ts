import {
  CHECKPOINT_SCHEMA_VERSION,
  type ChannelChange,
  type CheckpointHeader,
  type CheckpointId,
  type PauseItem,
  type PendingWrite,
  type Phase,
} from "../interface/checkpoint.ts";
import { NodeError, type NgraphError } from "../interface/errors.ts";
import type { SaveRequest } from "../interface/store.ts";
import { setField } from "../expression/operations.ts";
import type { Json } from "../value/json.ts";
import { LongMap } from "../value/long-map.ts";
import { signalsOf } from "../routing/barrier-state.ts";
import { isThenable } from "../value/promise.ts";
import { emitEvent } from "../event/run-events.ts";
import { causesOf } from "./causes.ts";
import { takenBy } from "./inbox.ts";
import type { Run } from "../run/run.ts";
import { hiddenChannel, hiddenName } from "../table/hidden-channels.ts";
import { firstDue } from "./waits.ts";
import { dueWrite, partsOf, partWrite, undoneWrite, usageWrite } from "./restore-run.ts";
import type { UndoEntry } from "../interface/undo.ts";
import { channelShapes } from "./channel-shapes.ts";
import { newId } from "./ids.ts";
import { listChange } from "./list-change.ts";
import type { Durable } from "../run/shared.ts";

/** The parts of a checkpoint that the run itself does not contain. */
export interface SaveDetails {
  readonly status: CheckpointHeader["status"];
  readonly step: number;
  /** Names of the nodes that ran. */
  readonly current: readonly string[];
  readonly pauses?: readonly PauseItem[];
  readonly error?: NgraphError | undefined;
  /** A fork: nothing runs until a resume. */
  readonly prepared?: boolean;
  /**
   * The last checkpoint of this execution, even if the run is not finished (a drain). The save releases the claim,
   * except for a called graph.
   */
  readonly ends?: boolean;
  /** The results that were stored after the head stay: the run of the head may continue. */
  readonly keepsWrites?: boolean;
  /** Set if the step is unfinished: its results are part of the checkpoint (6.3), and these nodes still have to run. */
  readonly unfinished?:
    { readonly next: readonly string[]; readonly children: Readonly<Record<string, string>> } | undefined;
}

/**
 * Writes the checkpoints of a run, which form a chain (5). It records the changes since the last checkpoint, so that a
 * checkpoint costs what changed (5.12). It also holds the results of the step in progress, so that every checkpoint can
 * include them.
 */
export class CheckpointWriter {
  readonly #run: Run;
  readonly #durable: Durable;
  /** The newest checkpoint of the namespace: the parent of the next one. */
  headId: CheckpointId | null = null;
  /** The newest checkpoint that the store has confirmed. */
  storedId: CheckpointId | null = null;
  /** The parent of the next checkpoint, if it is not the head: a fork inside the thread. */
  parentId: CheckpointId | null | undefined;
  /** By channel: the number of writes since the start of the chain. */
  versions = new Map<number, number>();
  /** Channels with a value of their own. All others have their start value. */
  written = new Set<number>();
  /** The first channel written since the last checkpoint: most steps write one. */
  #dirty: Dirty | undefined;
  /** The others, in the order of their first write. */
  #moreDirty: Map<number, Dirty> | undefined;
  #resets: ChannelChange[] = [];
  /** Whether a checkpoint of the chain has recorded the channels of this table. */
  hasRecordedChannels = false;
  /** The head for which a write of the usage is under way. */
  #usageAt: CheckpointId | undefined;
  #results: LongMap<PendingWrite> | undefined;

  constructor(run: Run, durable: Durable) {
    this.#run = run;
    this.#durable = durable;
  }

  /** Results of the step in progress, by task id. */
  get results(): LongMap<PendingWrite> {
    return (this.#results ??= new LongMap());
  }

  /** The next checkpoint replaces the head, but continues another checkpoint: that of its `parent`, or none. */
  branch(head: CheckpointId | null, parent: CheckpointId | null): void {
    this.hasRecordedChannels = false;
    this.headId = head;
    this.parentId = parent;
  }

  /** Records that a channel changes. @param appended the update appends items to the list `before` */
  touch(channel: number, before: Json, appended: boolean): void {
    const isWritten = this.written.has(channel);
    const begin = appended && isWritten && Array.isArray(before) ? before.length : -1;
    const known = this.#dirtyOf(channel);
    if (known === undefined) this.#addDirty({ channel, begin, before: isWritten ? before : undefined });
    else known.begin = Math.min(known.begin, begin);
    if (!isWritten) this.written.add(channel);
  }

  /** Records that a channel has its start value again, or no longer exists, since the last checkpoint. */
  reset(channel: string, version: number): void {
    this.#resets.push({ channel, version, kind: "reset" });
  }

  /** Stores the result of a finished task. It is durable when the promise resolves (5.3). */
  keep(write: PendingWrite): Promise<void> | undefined {
    this.results.set(write.taskId, write);
    const { store, claim, journal, durability } = this.#durable;
    const { headId } = this;
    if (store.putWrites === undefined || headId === null || durability === "exit") return undefined;
    // Mutation point: pending-write
    return journal.writeResult(headId, write, (results) => {
      const taken = results.flatMap(takenBy).map(({ id }) => id);
      return store.putWrites!(claim, headId, results, ...(taken.length === 0 ? [] : [taken]));
    });
  }

  /** Stores the due time of a wait before the wait begins. It is durable when the promise resolves. */
  keepDue(node: string, pauseId: string, due: number): Promise<void> | undefined {
    return this.#put(dueWrite(node, pauseId, due));
  }

  /** Stores the result of a part of a body. It is durable when the promise resolves. */
  keepPart(node: string, id: string, result: Json): Promise<void> | undefined {
    return this.#put(partWrite(node, id, result));
  }

  /** Stores a record of the step in progress that is no result of a task. */
  #put(write: PendingWrite): Promise<void> | undefined {
    const { store, claim, journal, durability } = this.#durable;
    const { headId } = this;
    if (store.putWrites === undefined || headId === null || durability === "exit") return undefined;
    return journal.writeResult(headId, write, (results) => {
      const taken = results.flatMap(takenBy).map(({ id }) => id);
      return store.putWrites!(claim, headId, results, ...(taken.length === 0 ? [] : [taken]));
    });
  }

  /**
   * Stores what the run has used, once for all reports of a turn of the event loop. A checkpoint of the same turn contains
   * it. The run does not wait for the write.
   */
  keepUsage(): void {
    const { store, claim, journal, durability } = this.#durable;
    const { headId } = this;
    if (store.putWrites === undefined || headId === null || durability === "exit" || this.#usageAt === headId) return;
    this.#usageAt = headId;
    const write = (): void => {
      const { usage } = this.#run;
      if (this.headId !== headId || usage === undefined) return;
      this.#usageAt = undefined;
      try {
        // A failure is thrown by the next write of the run.
        journal.write(() => store.putWrites!(claim, headId, [usageWrite(usage)]))?.catch(() => undefined);
      } catch {
        // The journal has failed before, and reports that at its next write, too.
      }
    };
    journal.later(write);
  }

  /** Stores that an undo is done. Returns `false` for a store without pending writes. */
  keepUndone(entry: UndoEntry): Promise<void> | undefined | false {
    const { store, claim, journal } = this.#durable;
    const { headId } = this;
    if (store.putWrites === undefined || headId === null) return false;
    return journal.write(() => store.putWrites!(claim, headId, [undoneWrite(entry)]), true);
  }

  /**
   * Writes a checkpoint. Returns a promise if the run has to wait for the store. With durability `async` it does not
   * wait, except for the checkpoints that must be durable in every mode.
   */
  save(phase: Phase, details: SaveDetails): Promise<void> | undefined {
    const run = this.#run;
    const { durability, threadId } = this.#durable;
    const isChild = run.path.length > 0;
    const continues = details.status === "running" && details.ends !== true;
    if (
      durability === "exit" &&
      !run.rollsBack &&
      (isChild ? continues || details.status === "completed" : continues && phase !== "input")
    ) {
      // The results belong to the step that ends here, even if no checkpoint is written.
      if (details.unfinished === undefined) this.#results?.clear();
      return undefined;
    }
    // Mutation point: checkpoint-id
    const id = newId();
    const header = this.#header(id, threadId, phase, details);
    const changes = this.#takeChanges();
    const snapshot = this.#snapshotLater();
    const releases = details.ends === true && !isChild;
    // Spreads of optional fields are a good part of the cost of a save in memory.
    const { headId } = this;
    const request: WritableRequest =
      headId === null || details.keepsWrites === true
        ? { header, changes, snapshot, expectedHead: headId }
        : { header, changes, snapshot, expectedHead: headId, clearWritesOf: headId };
    const { takenSignals, returnedSignals } = run.shared.inbox.changes();
    if (takenSignals !== undefined) request.takenSignals = takenSignals;
    if (returnedSignals !== undefined) request.returnedSignals = returnedSignals;
    if (releases) request.releaseClaim = true;
    this.headId = id;
    this.parentId = undefined;
    if (details.unfinished === undefined) {
      this.#results?.clear();
      if (!isChild) run.shared.inbox.nextStep();
    }
    const urgent = !continues || phase === "input" || run.rollsBack;
    const saved = this.#store(request, urgent);
    return run.listening ? reportSaved(run, { type: "checkpoint", id, phase }, details.step, saved) : saved;
  }

  // The closures of these methods are not in `save`, where they would keep its variables.
  #store(request: SaveRequest, urgent: boolean): Promise<void> | undefined {
    const { store, claim, lease, journal } = this.#durable;
    return journal.write(() => {
      if (request.releaseClaim === true) lease.ends = true;
      const answer = store.save(claim, request);
      return isThenable(answer) ? answer.then(() => this.#noteStored(request)) : this.#noteStored(request);
    }, urgent);
  }

  #snapshotLater(): SaveRequest["snapshot"] {
    const behind = this.#durable.durability === "async";
    const state = behind ? this.#run.state.slice() : this.#run.state;
    const versions = behind ? new Map(this.versions) : this.versions;
    const written = behind ? new Set(this.written) : this.written;
    return () => this.#snapshot(state, versions, written);
  }

  /** The store has confirmed a save. */
  #noteStored({ header, snapshot, releaseClaim }: SaveRequest): void {
    const { lease, recentHeads, threadId } = this.#durable;
    this.storedId = header.id;
    if (releaseClaim !== true) return;
    lease.isReleased = true;
    const { program } = this.#run;
    if (!program.hasMemory || (header.status !== "completed" && header.status !== "incomplete")) return;
    const head = Object.freeze({ ...header, ...snapshot() });
    recentHeads?.set(threadId, { head, program });
  }

  #header(id: CheckpointId, threadId: string, phase: Phase, details: SaveDetails): CheckpointHeader {
    const run = this.#run;
    const { table } = run.program;
    const { unfinished, error } = details;
    const header: WritableHeader = {
      schemaVersion: CHECKPOINT_SCHEMA_VERSION,
      id,
      threadId,
      runId: run.runId,
      namespace: run.namespace,
      parentId: this.parentId === undefined ? this.headId : this.parentId,
      step: details.step,
      phase,
      currentNodes: details.current,
      currentNode: currentNodeOf(run, phase, details),
      nextNodes: unfinished?.next ?? nextNodesOf(run),
      // Mutation point: saved-sends
      pendingSends: run.sends.length === 0 ? NO_ITEMS : pendingSendsOf(run),
      barrierState: run.barriers.isClear ? NO_FIELDS : signalsOf(table, run.barriers),
      pauses: details.pauses === undefined || details.pauses.length === 0 ? NO_ITEMS : details.pauses,
      answers: run.path.length === 0 && run.shared.hasAnswers ? [...run.shared.answers.values()] : NO_ITEMS,
      errors: this.#errors(),
      status: details.status,
      label: null,
      metadata: run.shared.metadata,
      timestamp: run.shared.clock.now(),
      digest: table.digest,
      graph: table.name,
    };
    // Fields that most headers lack.
    if (this.#recordsChannels(details)) header.channels = channelShapes(run.program);
    if (run.shared.ttl !== undefined && run.path.length === 0) header.ttl = run.shared.ttl;
    const passedGates = passedGatesOf(run, phase);
    if (passedGates !== undefined) header.passedGates = passedGates;
    if (details.status === "running" && (phase === "updated" || details.prepared === true)) header.prepared = true;
    // Mutation point: finished-results
    const finished = unfinished === undefined ? NO_ITEMS : [...this.results.values(), ...partsOf(run)];
    // An edit or a fork inside a step has a phase that does not show the step: an empty list does.
    // Mutation point: edited-step
    const isEditedStep = unfinished !== undefined && phase !== "interrupted" && run.stored !== undefined;
    if (finished.length > 0 || isEditedStep) header.finished = finished;
    const due = details.status === "paused" ? firstDue(details.pauses ?? NO_ITEMS) : undefined;
    if (due !== undefined) header.due = due;
    if (unfinished !== undefined && run.dues !== undefined) header.dues = Object.fromEntries(run.dues);
    const { taken } = run.shared.inbox;
    if (taken.length > 0) header.taken = taken;
    if (run.rollsBack && details.status !== "rolled_back") header.rollsBack = true;
    if (error !== undefined) header.failure = this.#failure(error);
    if (run.unrouted.length > 0) Object.assign(header, unroutedOf(run));
    if (run.outcome !== undefined) header.outcome = run.outcome;
    if (run.ends > 0) header.ends = run.ends;
    if (run.finallyEnd !== undefined) header.finally = this.#finally(run.finallyEnd);
    if (run.usage !== undefined) header.usage = run.usage;
    if (run.attempt !== 1) header.attempt = run.attempt;
    if (run.argumentsRound !== 1) header.argumentsRound = run.argumentsRound;
    if (unfinished !== undefined || run.finallyChildren !== undefined) {
      const children = { ...unfinished?.children, ...run.finallyChildren };
      if (Object.keys(children).length > 0) header.children = children;
    }
    return header;
  }

  #finally({ status, error, values }: NonNullable<Run["finallyEnd"]>): NonNullable<CheckpointHeader["finally"]> {
    return { status, values, ...(error === null ? {} : { failure: this.#failure(error) }) };
  }

  #errors(): Readonly<Record<string, Json>> {
    const { errors, program } = this.#run;
    if (errors === undefined) return NO_FIELDS;
    const record: Record<string, Json> = {};
    for (const [node, value] of errors) setField(record, program.table.nodes[node]!.name, value);
    return record;
  }

  /**
   * Whether the checkpoint records the channels of the graph. It does where a run starts or stops, because the graph
   * may be edited before the next checkpoint.
   */
  #recordsChannels({ status }: SaveDetails): boolean {
    const isFirst = !this.hasRecordedChannels;
    this.hasRecordedChannels = true;
    return isFirst || status !== "running";
  }

  #failure(error: NgraphError): NonNullable<CheckpointHeader["failure"]> {
    const of = error instanceof NodeError ? { node: error.nodeId, attempts: error.attempts } : {};
    const { redact } = this.#run.shared;
    const causes = causesOf(error, redact);
    return { code: error.code, message: redact(error.message), ...of, ...(causes.length === 0 ? {} : { causes }) };
  }

  #takeChanges(): ChannelChange[] {
    const first = this.#dirty;
    const more = this.#moreDirty;
    const resets = this.#resets;
    // Lists without spare room: a store in memory keeps them.
    const writes = first === undefined ? [] : [this.#changeOf(first)];
    const all = more === undefined ? writes : [...writes, ...[...more.values()].map((dirty) => this.#changeOf(dirty))];
    // A channel that was reset and then written has one change: the write.
    const kept = resets.filter(({ channel }) => this.#dirtyOf(this.#indexOf(channel)) === undefined);
    this.#dirty = undefined;
    this.#moreDirty = undefined;
    if (resets.length > 0) this.#resets = [];
    return kept.length === 0 ? all : [...kept, ...all];
  }

  #dirtyOf(channel: number): Dirty | undefined {
    return this.#dirty?.channel === channel ? this.#dirty : this.#moreDirty?.get(channel);
  }

  #addDirty(dirty: Dirty): void {
    if (this.#dirty === undefined) this.#dirty = dirty;
    else (this.#moreDirty ??= new Map()).set(dirty.channel, dirty);
  }

  #changeOf({ channel, begin, before }: Dirty): ChannelChange {
    const version = (this.versions.get(channel) ?? 0) + 1;
    this.versions.set(channel, version);
    const name = this.#nameOf(channel);
    const value = this.#run.state[channel]!;
    if (begin !== -1) {
      const items = Object.freeze((value as readonly Json[]).slice(begin));
      return { channel: name, version, kind: "append", items };
    }
    const content = listChange(before, value, this.#durable.store.acceptsSplices === true);
    return content === undefined
      ? { channel: name, version, kind: "set", value }
      : { channel: name, version, ...content };
  }

  #nameOf(channel: number): string {
    const { program } = this.#run;
    return program.channels[channel]?.name ?? hiddenName(program, channel);
  }

  #indexOf(name: string): number {
    const { program } = this.#run;
    return hiddenChannel(program, name) ?? program.channelIndex.get(name) ?? -1;
  }

  #snapshot(state: readonly Json[], counts: ReadonlyMap<number, number>, written: ReadonlySet<number>) {
    const values: Record<string, Json> = {};
    const versions: Record<string, number> = {};
    for (const channel of written) setField(values, this.#nameOf(channel), state[channel]!);
    for (const [channel, version] of counts) setField(versions as Record<string, Json>, this.#nameOf(channel), version);
    return { values, versions };
  }
}

function reportSaved(
  run: Run,
  event: Parameters<typeof emitEvent>[1],
  step: number,
  saved: Promise<void> | undefined,
): Promise<void> | undefined {
  const report = (): void => emitEvent(run, event, step);
  if (saved !== undefined) return saved.then(report);
  report();
  return undefined;
}

type WritableHeader = { -readonly [Field in keyof CheckpointHeader]: CheckpointHeader[Field] };

type WritableRequest = { -readonly [Field in keyof SaveRequest]: SaveRequest[Field] };

const NO_ITEMS: readonly never[] = Object.freeze([]);
const NO_FIELDS: Readonly<Record<string, never>> = Object.freeze({});

// The closures of these functions are not in `#header`, where each header would pay for them.
function pendingSendsOf({ sends, program }: Run): CheckpointHeader["pendingSends"] {
  return sends.map(({ taskId, node, item }) => ({ taskId, node: program.table.nodes[node]!.name, item }));
}

function namesOf({ ready, program }: Run): readonly string[] {
  return ready.map((node) => program.table.nodes[node]!.name);
}

function unroutedOf(run: Run): Pick<CheckpointHeader, "unrouted" | "failedEdges"> {
  const unrouted = run.unrouted.map(({ node }) => (node === -1 ? "start" : run.nodeName(node)));
  const failed = run.unrouted.filter(({ hasFailed }) => hasFailed === true);
  return failed.length === 0 ? { unrouted } : { unrouted, failedEdges: failed.map(({ node }) => run.nodeName(node)) };
}

/** A channel that was written since the last checkpoint. */
interface Dirty {
  readonly channel: number;
  /** Index of the first appended item; -1 if updates have done more than append. */
  begin: number;
  /** The value at the last checkpoint; `undefined` for a channel without a value of its own. */
  readonly before: Json | undefined;
}

/** The list of the one node that follows in a chain is the same in each run. */
function nextNodesOf(run: Run): readonly string[] {
  const { ready, program } = run;
  if (ready.length === 1) return program.nodes[ready[0]!]!.stepNames;
  return ready.length === 0 ? NO_ITEMS : namesOf(run);
}

/** Gates of the next or the interrupted step that a resume does not close again (6.3). */
function passedGatesOf(run: Run, phase: Phase): readonly string[] | undefined {
  if (!run.mayPause) return undefined;
  const { nodes } = run.program.table;
  const names = [...run.ready, ...run.sends.map(({ node }) => node)].flatMap((node) => {
    const { name } = nodes[node]!;
    return run.pausesAt("before", node) && (phase === "interrupted" || run.passed?.has(name) === true) ? [name] : [];
  });
  return names.length === 0 ? undefined : [...new Set(names)];
}

function currentNodeOf(
  run: Run,
  phase: Phase,
  { pauses = NO_ITEMS, error, unfinished, current }: SaveDetails,
): string | null {
  if (phase !== "interrupted") return current.length === 0 ? null : current[current.length - 1]!;
  // For a pause inside a called graph: the node that calls it.
  const [pause] = pauses;
  if (pause !== undefined) return /^\w+/.exec(pause.namespace[run.path.length] ?? pause.node)?.[0] ?? pause.node;
  if (error instanceof NodeError && run.program.nodeIndex.has(error.nodeId)) return error.nodeId;
  return unfinished?.next[0] ?? current.at(-1) ?? null;
}
