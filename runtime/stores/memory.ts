import {
  CHECKPOINT_SCHEMA_VERSION,
  type ChannelChange,
  type Checkpoint,
  type CheckpointHeader,
  type CheckpointId,
  type PendingWrite,
  type Signal,
  type ThreadId,
} from "../interface/checkpoint.ts";
import { setField } from "../expression/operations.ts";
import type { Json } from "../value/json.ts";
import { refuseUnknown } from "../interface/known-phase.ts";
import type {
  Claim,
  ListOptions,
  ThreadsOptions,
  PrunePolicy,
  Runner,
  SaveRequest,
  Store,
  ThreadInfo,
} from "../interface/store.ts";
import { frozenJson } from "./contract/frozen-json.ts";
import { checkName, checkNames } from "./contract/key.ts";
import { checkPrunePolicy, rowLimit } from "./contract/limits.ts";
import { ListPrefix } from "./contract/list-prefix.ts";
import {
  changedTwice,
  checkpointExists,
  claimIsLost,
  headHasMoved,
  notAList,
  quote,
  storeIsClosed,
  threadIsHeld,
  unknownCheckpoint,
  unknownThread,
  unknownVersion,
} from "./contract/store-error.ts";
import { isListed } from "./contract/listed-thread.ts";
import { keptCheckpoints, superseded } from "./contract/retention.ts";

export interface MemoryStoreOptions {
  /** Clock for leases, in milliseconds. The default is monotonic. */
  readonly now?: () => number;
}

/**
 * A store that lives as long as the process: for tests, for the browser, and for graphs that pause but need not outlive
 * their process. It keeps only what changed from checkpoint to checkpoint. The values that it returns are frozen.
 *
 * @example
 * const engine = createEngine(table, { store: new MemoryStore() });
 */
export class MemoryStore implements Store {
  readonly #threads = new Map<ThreadId, ThreadRecord>();
  readonly #now: () => number;
  /** Both count over the whole store: a thread that is deleted and created again never reuses a number. */
  #epoch = 0;
  #ord = 0;
  #closed = false;

  constructor(options: MemoryStoreOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
  }

  claim(threadId: ThreadId, runner: Runner): Claim {
    this.#checkOpen();
    checkName(runner.owner);
    const known = this.#find(threadId);
    const holder = known?.holder;
    const now = this.#now();
    if (holder !== undefined && holder.owner !== runner.owner && holder.expiresAt > now) {
      throw threadIsHeld(threadId, holder.owner);
    }
    const thread = known ?? emptyThread();
    this.#threads.set(threadId, thread);
    thread.holder = { owner: runner.owner, epoch: ++this.#epoch, expiresAt: now + runner.leaseMs };
    return Object.freeze({ threadId, owner: runner.owner, epoch: thread.holder.epoch });
  }

  renew(claim: Claim, leaseMs: number): void {
    const { holder } = this.#claimed(claim);
    holder.expiresAt = this.#now() + leaseMs;
  }

  release(claim: Claim): void {
    this.#checkOpen();
    const thread = this.#find(claim.threadId);
    if (thread?.holder === undefined || !holds(thread.holder, claim)) return;
    thread.holder = undefined;
    if (thread.checkpoints.size === 0 && (thread.writes?.size ?? 0) === 0) this.#threads.delete(claim.threadId);
  }

  save(claim: Claim, request: SaveRequest): void {
    const { thread } = this.#claimed(claim);
    const { header } = request;
    checkName(header.id);
    checkName(header.namespace);
    checkName(header.label);
    const head = thread.heads.get(header.namespace);
    // Mutation point: expected-head
    if ((head?.header.id ?? null) !== request.expectedHead) {
      throw headHasMoved(claim.threadId, header.namespace, request.expectedHead, head?.header.id ?? null);
    }
    if (thread.checkpoints.has(header.id)) throw checkpointExists(claim.threadId, header.id);
    refuseUnknown(header);

    const ord = this.#ord + 1;
    // Mutation point: continued-branch
    const continues = head !== undefined && header.parentId === head.header.id;
    const chain: Chain = continues ? head.chain : new Map();
    // A save is atomic: everything that can fail comes before the first change.
    const cells = continues
      ? cellsOf(claim.threadId, request.changes, head.chain, ord)
      : snapshotCells(request.snapshot(), ord);
    const stored: Stored = {
      header: frozenHeader(header),
      ord,
      chain,
      parent: parentOf(thread, header),
      label: undefined,
    };

    const returned = (request.returnedSignals ?? []).map((signal) => copyOfSignal(signal));
    this.#ord = ord;
    for (const cell of cells) addCell(chain, cell);
    thread.checkpoints.set(header.id, stored);
    thread.heads.set(header.namespace, stored);
    thread.written = ord;
    if (header.label !== null) moveLabel(thread, stored, header.label);
    if (request.clearWritesOf !== undefined) thread.writes?.delete(request.clearWritesOf);
    if (request.takenSignals !== undefined) takeSignals(thread, request.takenSignals);
    if (returned.length > 0) returnSignals(thread, returned);
    if (request.releaseClaim === true) thread.holder = undefined;
  }

  loadLatest(threadId: ThreadId, namespace = ""): Checkpoint | undefined {
    this.#checkOpen();
    checkNames(namespace);
    return read(this.#find(threadId)?.heads.get(namespace));
  }

  loadById(threadId: ThreadId, id: CheckpointId): Checkpoint | undefined {
    this.#checkOpen();
    checkNames(id);
    return read(this.#find(threadId)?.checkpoints.get(id));
  }

  list(threadId: ThreadId, options: ListOptions = {}): readonly Checkpoint[] {
    this.#checkOpen();
    const { namespace = "", before } = options;
    checkNames(namespace, before);
    const limit = rowLimit(options.limit);
    const thread = this.#find(threadId);
    let next = thread?.heads.get(namespace);
    if (before !== undefined) {
      const start = thread?.checkpoints.get(before);
      if (start === undefined || start.header.namespace !== namespace) throw unknownCheckpoint(threadId, before);
      next = start.parent;
    }
    const found: Checkpoint[] = [];
    for (; next !== undefined && found.length < limit; next = next.parent) found.push(read(next));
    return found;
  }

  deleteThread(threadId: ThreadId): void {
    this.#checkOpen();
    checkNames(threadId);
    this.#threads.delete(threadId);
  }

  putWrites(
    claim: Claim,
    checkpointId: CheckpointId,
    writes: readonly PendingWrite[],
    takenSignals?: readonly string[],
  ): void {
    const { thread } = this.#claimed(claim);
    checkNames(checkpointId, ...writes.map(({ taskId }) => taskId));
    const copies = writes.map((write) => frozenJson(write, () => `the result of task ${quote(write.taskId)}`));
    const all = (thread.writes ??= new Map());
    let pending = all.get(checkpointId);
    if (pending === undefined) all.set(checkpointId, (pending = new Map()));
    for (const write of copies) pending.set(write.taskId, write);
    if (takenSignals !== undefined) takeSignals(thread, takenSignals);
  }

  getWrites(threadId: ThreadId, checkpointId: CheckpointId): readonly PendingWrite[] {
    this.#checkOpen();
    checkNames(checkpointId);
    return [...(this.#find(threadId)?.writes?.get(checkpointId)?.values() ?? [])];
  }

  clearWrites(claim: Claim, checkpointId: CheckpointId, taskIds?: readonly string[]): void {
    const { thread } = this.#claimed(claim);
    checkNames(checkpointId, ...(taskIds ?? []));
    const pending = thread.writes?.get(checkpointId);
    if (pending === undefined) return;
    if (taskIds === undefined) pending.clear();
    else for (const taskId of taskIds) pending.delete(taskId);
    if (pending.size === 0) thread.writes?.delete(checkpointId);
  }

  putSignal(threadId: ThreadId, signal: Signal): boolean {
    this.#checkOpen();
    const thread = this.#find(threadId);
    checkNames(signal.id);
    const copy = copyOfSignal(signal);
    if (thread === undefined || thread.checkpoints.size === 0) throw unknownThread(threadId);
    const signals = (thread.signals ??= new Map());
    if (signals.has(signal.id)) return false;
    signals.set(signal.id, copy);
    return true;
  }

  getSignals(threadId: ThreadId): readonly Signal[] {
    this.#checkOpen();
    return waitingSignals(this.#find(threadId)?.signals);
  }

  label(threadId: ThreadId, checkpointId: CheckpointId, label: string): void {
    this.#checkOpen();
    const thread = this.#find(threadId);
    checkNames(checkpointId, label);
    const stored = thread?.checkpoints.get(checkpointId);
    if (thread === undefined || stored === undefined) throw unknownCheckpoint(threadId, checkpointId);
    moveLabel(thread, stored, label);
  }

  loadByLabel(threadId: ThreadId, label: string): Checkpoint | undefined {
    this.#checkOpen();
    checkNames(label);
    return read(this.#find(threadId)?.labels?.get(label));
  }

  threads(options: ThreadsOptions = {}): readonly ThreadInfo[] {
    this.#checkOpen();
    const limit = rowLimit(options.limit);
    const { after = Number.POSITIVE_INFINITY } = options;
    const threads = [...this.#threads]
      .filter(([, thread]) => thread.heads.has("") && thread.written < after)
      .sort(([, a], [, b]) => b.written - a.written);
    const found: ThreadInfo[] = [];
    for (const [threadId, thread] of threads) {
      if (found.length >= limit) break;
      const info = this.#info(threadId, thread);
      if (isListed(info, options)) found.push(info);
    }
    return found;
  }

  #info(threadId: ThreadId, { heads, checkpoints, written, holder, signals }: ThreadRecord): ThreadInfo {
    const stored = readable(heads.get("")!);
    const { id, status, step, timestamp, metadata, graph, prepared, due } = stored.header;
    const waiting = waitingSignals(signals).length;
    return {
      threadId,
      headId: id,
      status,
      step,
      checkpoints: checkpoints.size,
      timestamp,
      metadata,
      label: stored.label ?? null,
      ...(graph === undefined ? {} : { graph }),
      position: written,
      held: holder !== undefined && holder.expiresAt > this.#now(),
      ...(prepared === true ? { prepared } : {}),
      ...(due === undefined ? {} : { due }),
      ...(waiting === 0 ? {} : { signals: waiting }),
    };
  }

  prune(threadId: ThreadId, policy: PrunePolicy): number {
    this.#checkOpen();
    checkPrunePolicy(policy);
    const thread = this.#find(threadId);
    if (thread === undefined) return 0;
    const before = thread.checkpoints.size;
    // Oldest first: checkpoints are only ever added at the end of the map.
    const points = [...thread.checkpoints.values()].map((stored) => ({
      ord: stored.ord,
      id: stored.header.id,
      namespace: stored.header.namespace,
      label: stored.label ?? null,
      header: () => stored.header,
    }));
    const kept = keptCheckpoints(points, policy);
    for (const { ord, id, label } of points) {
      if (kept.has(ord)) continue;
      thread.checkpoints.delete(id);
      thread.writes?.delete(id);
      if (label !== null) thread.labels?.delete(label);
    }
    if (thread.checkpoints.size < before) dropUnread(thread);
    return before - thread.checkpoints.size;
  }

  close(): void {
    this.#closed = true;
    this.#threads.clear();
  }

  #claimed(claim: Claim): { thread: ThreadRecord; holder: Holder } {
    this.#checkOpen();
    const thread = this.#find(claim.threadId);
    const holder = thread?.holder;
    if (thread === undefined || holder === undefined || !holds(holder, claim)) throw claimIsLost(claim);
    return { thread, holder };
  }

  #find(threadId: ThreadId): ThreadRecord | undefined {
    checkName(threadId);
    return this.#threads.get(threadId);
  }

  #checkOpen(): void {
    if (this.#closed) throw storeIsClosed();
  }
}

interface ThreadRecord {
  holder: Holder | undefined;
  /** Order of the newest checkpoint. */
  written: number;
  readonly heads: Map<string, Stored>;
  readonly checkpoints: Map<CheckpointId, Stored>;
  /** Absent until there is one. */
  labels: Map<string, Stored> | undefined;
  /** Absent until there is one. */
  writes: Map<CheckpointId, Map<string, PendingWrite>> | undefined;
  /** By id, in the order of arrival; `undefined` for a signal that was taken. Absent until there is one. */
  signals: Map<string, Signal | undefined> | undefined;
}

interface Holder {
  readonly owner: string;
  readonly epoch: number;
  expiresAt: number;
}

interface Stored {
  readonly header: CheckpointHeader;
  readonly ord: number;
  readonly chain: Chain;
  /** Undefined for the first checkpoint, after a fork from another thread, and when the parent was pruned. */
  parent: Stored | undefined;
  label: string | undefined;
}

/** The changes of each channel, oldest first. A fork starts a chain of its own. */
type Chain = Map<string, Cell[]>;

interface Cell {
  readonly ord: number;
  readonly version: number;
  /** The whole value, the beginning of a list that grows, or `undefined` after a reset. */
  readonly value: Json | GrowingList | undefined;
}

/** A list that later cells extend: they share `items`, of which each has the first `length`. */
class GrowingList {
  readonly items: Json[];
  readonly length: number;

  constructor(items: Json[]) {
    this.items = items;
    this.length = items.length;
  }
}

/** A change that has been checked and copied. */
interface NewCell {
  readonly channel: string;
  readonly ord: number;
  readonly version: number;
  readonly value: Json | undefined;
  /** Whether `value` are items to append to the list of the cell before it. */
  readonly appends: boolean;
}

function emptyThread(): ThreadRecord {
  return {
    holder: undefined,
    written: 0,
    heads: new Map(),
    checkpoints: new Map(),
    labels: undefined,
    writes: undefined,
    signals: undefined,
  };
}

/** The parent that `list` continues with: one in the same namespace of this thread. */
function parentOf(thread: ThreadRecord, { parentId, namespace }: CheckpointHeader): Stored | undefined {
  const parent = parentId === null ? undefined : thread.checkpoints.get(parentId);
  return parent?.header.namespace === namespace ? parent : undefined;
}

function copyOfSignal(signal: Signal): Signal {
  return frozenJson(signal, () => `the value of signal ${quote(signal.id)}`);
}

function waitingSignals(signals: ThreadRecord["signals"]): readonly Signal[] {
  return [...(signals?.values() ?? [])].filter((signal) => signal !== undefined);
}

function takeSignals({ signals }: ThreadRecord, ids: readonly string[]): void {
  for (const id of ids) if (signals?.has(id) === true) signals.set(id, undefined);
}

function returnSignals(thread: ThreadRecord, returned: readonly Signal[]): void {
  const signals = (thread.signals ??= new Map());
  for (const signal of returned) if (signals.get(signal.id) === undefined) signals.set(signal.id, signal);
}

function holds(holder: Holder, claim: Claim): boolean {
  return holder.owner === claim.owner && holder.epoch === claim.epoch;
}

function moveLabel(thread: ThreadRecord, stored: Stored, label: string): void {
  const labels = (thread.labels ??= new Map());
  const former = labels.get(label);
  if (former !== undefined) former.label = undefined;
  if (stored.label !== undefined) labels.delete(stored.label);
  stored.label = label;
  labels.set(label, stored);
}

function cellsOf(threadId: ThreadId, changes: readonly ChannelChange[], chain: Chain, ord: number): readonly NewCell[] {
  const cells: NewCell[] = [];
  // A set costs more than the search in a few names.
  const seen = changes.length > 8 ? new Set<string>() : undefined;
  for (const change of changes) {
    const { channel, version, kind } = change;
    checkName(channel);
    const isKnown = seen?.has(channel) ?? cells.some((cell) => cell.channel === channel);
    if (isKnown) throw changedTwice(channel);
    seen?.add(channel);
    const what = (): string => `channel ${quote(channel)}`;
    if (kind === "append") {
      const last = chain.get(channel)?.at(-1)?.value;
      if (last !== undefined && !Array.isArray(last) && !(last instanceof GrowingList))
        throw notAList(threadId, channel);
      cells.push({ channel, ord, version, value: frozenJson(change.items, what), appends: last !== undefined });
    } else {
      const value = kind === "set" ? frozenJson(change.value, what) : undefined;
      cells.push({ channel, ord, version, value, appends: false });
    }
  }
  return cells;
}

function snapshotCells({ values, versions }: ReturnType<SaveRequest["snapshot"]>, ord: number): readonly NewCell[] {
  const cells: NewCell[] = [];
  for (const [channel, given] of Object.entries(values)) {
    checkName(channel);
    const version = Object.hasOwn(versions, channel) ? versions[channel]! : 0;
    const value = frozenJson(given, () => `channel ${quote(channel)}`);
    cells.push({ channel, ord, version, value, appends: false });
  }
  for (const [channel, version] of Object.entries(versions)) {
    if (Object.hasOwn(values, channel)) continue;
    checkName(channel);
    cells.push({ channel, ord, version, value: undefined, appends: false });
  }
  return cells;
}

function addCell(chain: Chain, { channel, ord, version, value, appends }: NewCell): void {
  const history = chain.get(channel);
  if (history === undefined) {
    chain.set(channel, [{ ord, version, value }]);
    return;
  }
  // A checkpoint continues the chain only from its head, so the newest cell has all of the items.
  history.push({ ord, version, value: appends ? extended(history.at(-1)!.value!, value as readonly Json[]) : value });
}

function extended(list: Json | GrowingList, added: readonly Json[]): GrowingList {
  const items = list instanceof GrowingList ? list.items : [...(list as readonly Json[])];
  for (const item of added) items.push(item);
  return new GrowingList(items);
}

/**
 * A frozen copy of a header. Every step saves one, so the fields are copied one by one, and empty lists and records share
 * one instance.
 */
function frozenHeader(header: CheckpointHeader): CheckpointHeader {
  const what = (): string => `the header of checkpoint ${quote(header.id)}`;
  // Records from before versions lack some of these fields, and are kept as they are.
  if (header.schemaVersion === 0) return frozenJson(header, what);
  const copy: { -readonly [K in keyof CheckpointHeader]: CheckpointHeader[K] } = {
    schemaVersion: header.schemaVersion,
    id: header.id,
    threadId: header.threadId,
    runId: header.runId,
    namespace: header.namespace,
    parentId: header.parentId,
    step: frozenJson(header.step, what),
    phase: header.phase,
    currentNodes: frozenList(header.currentNodes, what),
    nextNodes: frozenList(header.nextNodes, what),
    pendingSends: frozenList(header.pendingSends, what),
    barrierState: frozenRecord(header.barrierState, what),
    pauses: frozenList(header.pauses, what),
    answers: frozenList(header.answers, what),
    errors: frozenRecord(header.errors, what),
    status: header.status,
    label: header.label,
    metadata: frozenRecord(header.metadata, what),
    timestamp: frozenJson(header.timestamp, what),
    digest: header.digest,
  };
  // Fields that most headers lack.
  const fields = copy as unknown as Record<string, unknown>;
  for (const field in header) {
    if (field in fields) continue;
    const value: unknown = header[field as keyof CheckpointHeader];
    if (value !== undefined) fields[field] = frozenJson(value, what);
  }
  return Object.freeze(copy);
}

function frozenList<T>(list: readonly T[], what: () => string): readonly T[] {
  return Array.isArray(list) && list.length === 0 ? NO_ITEMS : frozenJson(list, what);
}

function frozenRecord<T extends object>(record: T, what: () => string): T {
  for (const _ in record) return frozenJson(record, what);
  return NO_FIELDS as T;
}

const NO_ITEMS: readonly never[] = Object.freeze([]);
const NO_FIELDS: object = Object.freeze({});

function read(stored: Stored): Checkpoint;
function read(stored: Stored | undefined): Checkpoint | undefined;
function read(stored: Stored | undefined): Checkpoint | undefined {
  if (stored === undefined) return undefined;
  const { header, chain, ord, label } = readable(stored);
  const values: Record<string, Json> = {};
  const versions: Record<string, Json> = {};
  for (const [channel, history] of chain) {
    const index = newestAt(history, ord);
    const cell = history[index];
    if (cell === undefined) continue;
    if (cell.version !== 0) setField(versions, channel, cell.version);
    const { value } = cell;
    if (value instanceof GrowingList) new ListPrefix(value.items, value.length).defineOn(values, channel);
    else if (value !== undefined) setField(values, channel, value);
  }
  return Object.freeze({
    ...header,
    label: label ?? null,
    values: Object.freeze(values),
    versions: Object.freeze(versions) as Checkpoint["versions"],
  });
}

function readable(stored: Stored): Stored {
  const { schemaVersion, id } = stored.header;
  if (!Number.isSafeInteger(schemaVersion) || schemaVersion < 0 || schemaVersion > CHECKPOINT_SCHEMA_VERSION) {
    throw unknownVersion(`checkpoint ${quote(id)}`, "schema version", schemaVersion, CHECKPOINT_SCHEMA_VERSION);
  }
  return stored;
}

/** Index of the newest cell with an `ord` up to the given one; -1 when there is none. Binary search. */
function newestAt(history: readonly Cell[], ord: number): number {
  let low = 0;
  let high = history.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (history[middle]!.ord <= ord) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Removes the parents and cells that only removed checkpoints needed. */
function dropUnread(thread: ThreadRecord): void {
  const kept = new Map<Chain, number[]>();
  for (const stored of thread.checkpoints.values()) {
    const { parent } = stored;
    if (parent !== undefined && !thread.checkpoints.has(parent.header.id)) stored.parent = undefined;
    const ords = kept.get(stored.chain);
    if (ords === undefined) kept.set(stored.chain, [stored.ord]);
    else ords.push(stored.ord);
  }
  for (const [chain, ords] of kept) {
    for (const [channel, history] of chain) {
      const gone = new Set(superseded(history.map(asFull), ords).map(({ cell }) => cell));
      if (gone.size === 0) continue;
      chain.set(
        channel,
        history.filter((cell) => !gone.has(cell)),
      );
    }
  }
}

/** Every cell has its whole value, so it needs no cell before it. */
function asFull(cell: Cell): { readonly ord: number; readonly full: true; readonly cell: Cell } {
  return { ord: cell.ord, full: true, cell };
}
