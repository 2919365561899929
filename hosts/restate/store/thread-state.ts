/**
 * The store of one thread, over the state of its virtual object. The object runs one writing call at a time, and finishes a call
 * whose worker has died, so that each call is atomic. The calls issue their reads and writes in an order that depends only on
 * their arguments and on what they have read: Restate replays them.
 */
import type {
  ChannelChange,
  CheckpointHeader,
  CheckpointId,
  PendingWrite,
  Signal,
} from "../../../runtime/interface/checkpoint.ts";
import type { Claim } from "../../../runtime/interface/store.ts";
import {
  checkpointExists,
  claimIsLost,
  headHasMoved,
  notAList,
  threadIsHeld,
  unknownCheckpoint,
  unknownThread,
} from "../../../runtime/stores/contract/store-error.ts";
import { Chain, snapshotChanges } from "../../../runtime/stores/memory/chain.ts";
import type { KeyValues } from "./key-values.ts";
import { dropCheckpoints, ROW_WEIGHT } from "./drop-checkpoints.ts";
import {
  keyOf,
  NEW_THREAD,
  type CheckpointRow,
  type HeadRow,
  type InboxRow,
  type KindRow,
  type ListedHead,
  type Place,
  type SignalRow,
  type ThreadRow,
  type WritesRow,
} from "./rows.ts";
import { range, ThreadRows } from "./thread-rows.ts";
import { WriteBuffer } from "./write-buffer.ts";

/** A row with all values counts with at least this weight. */
const MIN_WEIGHT = 64 * ROW_WEIGHT;

export interface ClaimCall {
  readonly thread: string;
  readonly owner: string;
  readonly leaseMs: number;
  readonly now: number;
}

/** The first call of an attempt of an invocation. `isNew`: the thread was never there. */
export interface BeginCall extends ClaimCall {
  readonly invocation: string;
  readonly isNew?: boolean;
}

/** How far a thread is, and how far it was when the invocation began: `before` is the head that its first attempt has found. */
export interface Begun {
  readonly epoch: number;
  readonly before: CheckpointId | null;
  readonly head: CheckpointId | null;
  /** The invocation that has written last. */
  readonly tag: string | null;
}

/** A write among others. */
export interface WriteCall {
  readonly method: WriteName;
  readonly input: object;
}

type WriteName = "begin" | "renew" | "release" | "save" | "putWrites" | "clearWrites";

/** A call with a claim. `tag` names the invocation that makes it. */
export interface Claimed {
  readonly claim: Claim;
  readonly tag?: string;
}

export interface SaveCall extends Claimed {
  readonly header: CheckpointHeader;
  /** The difference from the head, or all values if the checkpoint does not continue the head. */
  readonly changes: readonly ChannelChange[];
  readonly expectedHead: CheckpointId | null;
  readonly clearWritesOf?: CheckpointId;
  readonly takenSignals?: readonly string[];
  readonly returnedSignals?: readonly Signal[];
  readonly releaseClaim?: boolean;
  /** The place in the listing of threads, at least. */
  readonly position: number;
}

/** Rows from which the reader computes the values of a checkpoint: from a row with all values to the checkpoint itself. */
export interface Found {
  readonly header: CheckpointHeader;
  readonly label: string | null;
  readonly rows: readonly (readonly ChannelChange[])[];
}

/** A page of a listing: parts of chains, newest first. `rows` of a part reach back to a row with all values. */
export interface ListPart {
  /** Oldest first. The last `listed` of them belong to the page. */
  readonly rows: readonly (readonly ChannelChange[])[];
  /** Oldest first. */
  readonly headers: readonly CheckpointHeader[];
}

/** Checkpoints as a prune policy sees them. `next`: where the next page begins. */
export interface SavedPoints {
  readonly points: readonly (Pick<CheckpointHeader, "id" | "namespace" | "timestamp" | "label"> & {
    readonly number: number;
    readonly children?: NonNullable<CheckpointHeader["children"]>;
  })[];
  readonly next: number | null;
}

/** A page of what was saved. Another number of deletions: the thread is no longer the one of the page before. */
export interface SavedCopies {
  readonly copies: readonly (Found | { readonly id: CheckpointId; readonly label: string })[];
  readonly next: number;
  readonly isLast: boolean;
  readonly deletions: number;
}

export class ThreadState {
  readonly #state: KeyValues;
  readonly #rows: ThreadRows;

  constructor(state: KeyValues) {
    this.#state = state;
    this.#rows = new ThreadRows(state);
  }

  async claim({ thread, owner, leaseMs, now }: ClaimCall): Promise<{ epoch: number; head: string | null }> {
    const [row, head] = await Promise.all([this.#rows.thread(), this.#rows.read<HeadRow>(keyOf.head(""))]);
    const isHeld = row.owner !== null && row.owner !== owner && row.expires > now;
    if (isHeld) throw threadIsHeld(thread, row.owner!);
    const epoch = row.epoch + 1;
    this.#rows.writeThread({ ...row, epoch, owner, expires: now + leaseMs });
    return { epoch, head: head?.id ?? null };
  }

  async renew({ claim, leaseMs, now }: Claimed & { leaseMs: number; now: number }): Promise<void> {
    const row = await this.#claimed(claim);
    this.#rows.writeThread({ ...row, expires: now + leaseMs });
  }

  async release({ claim }: Claimed): Promise<void> {
    const row = await this.#rows.thread();
    if (holds(row, claim)) this.#rows.writeThread({ ...row, owner: null });
  }

  async save(call: SaveCall): Promise<void> {
    const { claim, header, expectedHead, clearWritesOf: cleared, takenSignals = [], returnedSignals = [] } = call;
    const headKey = keyOf.head(header.namespace);
    const grown = call.changes.filter(({ kind }) => kind === "append" || kind === "splice");
    const [row, head, known, former, batches = 0, inbox, taken, returned, kinds] = await Promise.all([
      this.#claimed(claim),
      this.#rows.read<HeadRow>(headKey),
      this.#rows.read<Place>(keyOf.id(header.id)),
      header.label === null ? undefined : this.#rows.read<CheckpointId>(keyOf.label(header.label)),
      cleared === undefined ? undefined : this.#rows.read<number>(keyOf.batches(cleared)),
      takenSignals.length + returnedSignals.length === 0 ? undefined : this.#rows.read<InboxRow>(keyOf.inbox),
      Promise.all(takenSignals.map((id) => this.#rows.read<number>(keyOf.signal(id)))),
      Promise.all(returnedSignals.map(({ id }) => this.#rows.read<number>(keyOf.signal(id)))),
      Promise.all(grown.map(({ channel }) => this.#rows.read<KindRow>(keyOf.kind(header.namespace, channel)))),
    ]);
    if ((head?.id ?? null) !== expectedHead) {
      throw headHasMoved(claim.threadId, header.namespace, expectedHead, head?.id ?? null);
    }
    if (known !== undefined) throw checkpointExists(claim.threadId, header.id);
    const parentId = header.parentId === null ? undefined : header.parentId;
    const isNext = head !== undefined && parentId === head.id;
    const parent = isNext || parentId === undefined ? undefined : await this.#placeIn(parentId, header.namespace);
    const wrong = isNext ? kinds.findIndex((kind) => kind?.chain === head.place[0] && !kind.isList) : -1;
    if (wrong !== -1) throw notAList(claim.threadId, grown[wrong]!.channel);
    const present = await Promise.all(returned.map((place) => place && this.#rows.read<SignalRow>(keyOf.place(place))));
    const next = isNext ? await this.#continued(head, call) : startOf(row.chains, call, parent ?? null);

    this.#rows.write(keyOf.checkpoint(next.head.place), next.row);
    this.#rows.write(keyOf.id(header.id), next.head.place);
    if (header.label !== null) {
      if (former !== undefined) this.#rows.clear(keyOf.labelOf(former));
      this.#rows.write(keyOf.label(header.label), header.id);
      this.#rows.write(keyOf.labelOf(header.id), header.label);
    }
    this.#writeKinds(call, next.head.place[0]);
    // One that is in the inbox stays, unless this call takes it.
    const isBack = (index: number): boolean => present[index] === undefined || taken.includes(returned[index]);
    const back = returnedSignals.filter((_, index) => isBack(index));
    const signals = this.#moveSignals(
      inbox,
      taken,
      back,
      returned.filter((_, index) => isBack(index)),
    );
    this.#rows.write(headKey, next.head);
    this.#rows.write(keyOf.saved(row.next), { place: next.head.place });
    this.#rows.writeThread({
      ...row,
      ...(call.releaseClaim === true ? { owner: null } : {}),
      chains: isNext ? row.chains : row.chains + 1,
      checkpoints: row.checkpoints + 1,
      tag: call.tag ?? null,
      next: row.next + 1,
      position: Math.max(row.position + 1, call.position),
      signals: signalsAfter(row, signals),
      listed: header.namespace === "" ? listedHead(header) : withoutLabel(row.listed, header.label),
    });
    if (cleared !== undefined) this.#rows.clearBatches(cleared, batches);
  }

  async putWrites(
    call: Claimed & { checkpoint: CheckpointId; writes: readonly PendingWrite[]; taken?: readonly string[] },
  ) {
    const { claim, checkpoint, writes, taken = [], tag = null } = call;
    const [row, batches = 0, inbox, places] = await Promise.all([
      this.#claimed(claim),
      this.#rows.read<number>(keyOf.batches(checkpoint)),
      taken.length === 0 ? undefined : this.#rows.read<InboxRow>(keyOf.inbox),
      Promise.all(taken.map((id) => this.#rows.read<number>(keyOf.signal(id)))),
    ]);
    this.#addBatch(checkpoint, batches, { put: writes });
    const moved = this.#moveSignals(inbox, places, [], []);
    const signals = signalsAfter(row, moved);
    if (row.tag !== tag || row.signals !== signals) this.#rows.writeThread({ ...row, tag, signals });
  }

  async clearWrites({ claim, checkpoint, tasks }: Claimed & { checkpoint: CheckpointId; tasks?: readonly string[] }) {
    const [, batches = 0] = await Promise.all([
      this.#claimed(claim),
      this.#rows.read<number>(keyOf.batches(checkpoint)),
    ]);
    if (batches === 0) return;
    if (tasks === undefined) this.#rows.clearBatches(checkpoint, batches);
    else if (tasks.length > 0) this.#addBatch(checkpoint, batches, { clear: tasks });
  }

  async writes({ checkpoint }: { checkpoint: CheckpointId }): Promise<readonly PendingWrite[]> {
    const batches = (await this.#rows.read<number>(keyOf.batches(checkpoint))) ?? 0;
    const rows = await Promise.all(
      range(0, batches).map((index) => this.#rows.read<WritesRow>(keyOf.batch(checkpoint, index))),
    );
    const writes = new Map<string, PendingWrite>();
    for (const row of rows) {
      for (const task of row?.clear ?? []) writes.delete(task);
      for (const write of row?.put ?? []) writes.set(write.taskId, write);
    }
    return [...writes.values()];
  }

  async putSignal({ thread, signal }: { thread: string; signal: Signal }): Promise<boolean> {
    const [row, known, inbox = NO_SIGNALS] = await Promise.all([
      this.#rows.thread(),
      this.#rows.read<number>(keyOf.signal(signal.id)),
      this.#rows.read<InboxRow>(keyOf.inbox),
    ]);
    if (row.checkpoints === 0) throw unknownThread(thread);
    if (known !== undefined) return false;
    const moved = this.#moveSignals(inbox, [], [signal], [undefined]);
    this.#rows.writeThread({ ...row, signals: signalsAfter(row, moved) });
    return true;
  }

  async signals(): Promise<readonly Signal[]> {
    const inbox = (await this.#rows.read<InboxRow>(keyOf.inbox)) ?? NO_SIGNALS;
    const rows = await Promise.all(
      range(inbox.first, inbox.next).map((place) => this.#rows.read<SignalRow>(keyOf.place(place))),
    );
    return rows.filter((row) => row !== undefined);
  }

  async loadLatest({ namespace }: { namespace: string }): Promise<Found | undefined> {
    const head = await this.#rows.read<HeadRow>(keyOf.head(namespace));
    return head && this.#load(head.place, head.id);
  }

  async loadById({ id }: { id: CheckpointId }): Promise<Found | undefined> {
    const place = await this.#rows.read<Place>(keyOf.id(id));
    return place && this.#load(place, id);
  }

  async loadByLabel({ label }: { label: string }): Promise<Found | undefined> {
    const id = await this.#rows.read<CheckpointId>(keyOf.label(label));
    return id === undefined ? undefined : this.loadById({ id });
  }

  async label({ thread, id, label }: { thread: string; id: CheckpointId; label: string }): Promise<void> {
    const [row, place, former, own] = await Promise.all([
      this.#rows.thread(),
      this.#rows.read<Place>(keyOf.id(id)),
      this.#rows.read<CheckpointId>(keyOf.label(label)),
      this.#rows.read<string>(keyOf.labelOf(id)),
    ]);
    if (place === undefined) throw unknownCheckpoint(thread, id);
    if (former !== undefined) this.#rows.clear(keyOf.labelOf(former));
    if (own !== undefined) this.#rows.clear(keyOf.label(own));
    this.#rows.write(keyOf.label(label), id);
    this.#rows.write(keyOf.labelOf(id), label);
    this.#rows.write(keyOf.saved(row.next), { id, label });
    const others = withoutLabel(row.listed, label);
    this.#rows.writeThread({
      ...row,
      next: row.next + 1,
      listed: others?.id === id ? { ...others, label } : others,
    });
  }

  /** Checkpoints along the parents, newest first. */
  async list(call: {
    thread: string;
    namespace: string;
    before?: CheckpointId;
    limit: number;
  }): Promise<readonly ListPart[]> {
    const { thread, namespace, before } = call;
    let left = call.limit;
    let place: Place | null;
    if (before === undefined) place = (await this.#rows.read<HeadRow>(keyOf.head(namespace)))?.place ?? null;
    else {
      const known = await this.#rows.read<Place>(keyOf.id(before));
      const row = known && (await this.#rows.checkpoint(known));
      if (row === undefined || row.header.namespace !== namespace) throw unknownCheckpoint(thread, before);
      place = row.parent;
    }
    const parts: ListPart[] = [];
    while (place !== null && left > 0) {
      const [chain, position]: Place = place;
      const page = await this.#page(chain, position, Math.min(left, position + 1));
      const [oldest] = page;
      // Its parent was pruned.
      if (oldest === undefined) break;
      const earlier = await this.#rows.rows(chain, oldest.full, position - page.length);
      const labels = await Promise.all(page.map(({ header }) => this.#rows.label(header.id)));
      const headers = page.map(({ header }, index) => ({ ...header, label: labels[index] ?? null }));
      parts.push({ headers, rows: [...earlier, ...page].map(({ changes }) => changes) });
      left -= page.length;
      place = oldest.parent;
    }
    return parts;
  }

  /**
   * Claims the thread for a driver that starts. Ends every other claim: a write of an earlier driver that is still on its way fails, and
   * one that has arrived was executed before this call.
   */
  async begin({ thread, invocation, owner, leaseMs, now, isNew = false }: BeginCall): Promise<Begun> {
    const [row, head] = await Promise.all([
      this.#rows.thread(),
      isNew ? undefined : this.#rows.read<HeadRow>(keyOf.head("")),
    ]);
    // A thread that was never claimed has no rows.
    if (isNew && row.epoch > 0) throw threadIsHeld(thread, row.owner ?? "an earlier attempt");
    const id = head?.id ?? null;
    const begun = row.begun?.by === invocation ? row.begun : { by: invocation, head: id };
    const epoch = row.epoch + 1;
    this.#rows.writeThread({ ...row, epoch, owner, expires: now + leaseMs, begun });
    return { epoch, before: begun.head, head: id, tag: row.tag };
  }

  /** As `begin`, for drivers of earlier versions: their invocations have stored `head` themselves. */
  async fence(): Promise<{ readonly head: CheckpointId | null; readonly tag: string | null }> {
    const [row, head] = await Promise.all([this.#rows.thread(), this.#rows.read<HeadRow>(keyOf.head(""))]);
    this.#rows.writeThread({ ...row, epoch: row.epoch + 1, owner: null });
    return { head: head?.id ?? null, tag: row.tag };
  }

  /** As `batch`, of a thread that is new. */
  create(input: { readonly calls: readonly WriteCall[] }): Promise<unknown> {
    return this.batch(input);
  }

  /** Writes that follow each other. Returns what the last one returns. The first failure ends them. */
  async batch({ calls }: { readonly calls: readonly WriteCall[] }): Promise<unknown> {
    const buffer = new WriteBuffer(this.#state);
    const thread = new ThreadState(buffer);
    let last: unknown;
    try {
      for (const { method, input } of calls) {
        last = await thread[method](input as never);
        if (method === "begin" && (input as BeginCall).isNew === true) buffer.isNew = true;
      }
    } finally {
      buffer.flush();
    }
    return last;
  }

  /** Removes everything but the counters of claims and chains, which never repeat. */
  async deleteThread(): Promise<void> {
    const [row, keys] = await Promise.all([this.#rows.thread(), this.#rows.keys()]);
    for (const key of keys) if (key !== keyOf.thread) this.#rows.clear(key);
    if (keys.length === 0) return;
    const { epoch, chains, next, deletions } = row;
    this.#rows.writeThread({ ...NEW_THREAD, epoch, chains, first: next, next, deletions: deletions + 1 });
  }

  /** What was saved from a number on, for a prune. */
  async points({ from, limit }: { from: number; limit: number }): Promise<SavedPoints> {
    const { found, end, isLast } = await this.#rows.saved(await this.#rows.thread(), from, limit);
    const points = await Promise.all(
      found.map(async ({ number, row }) => {
        if (!("place" in row)) return undefined;
        const { header } = await this.#rows.checkpoint(row.place);
        const { id, namespace, timestamp, children } = header;
        const label = await this.#rows.label(id);
        return { number, id, namespace, timestamp, label, ...(children === undefined ? {} : { children }) };
      }),
    );
    return { points: points.filter((point) => point !== undefined), next: isLast ? null : end };
  }

  /** Removes checkpoints by the numbers of their saves. Returns how many of them were there. */
  drop({ numbers }: { numbers: readonly number[] }): Promise<number> {
    return dropCheckpoints(this.#rows, numbers);
  }

  /** Checkpoints and labels in the order of their saves, for a copy of the thread. */
  async copies({ from, limit }: { from: number; limit: number }): Promise<SavedCopies> {
    const thread = await this.#rows.thread();
    const { found, end, isLast } = await this.#rows.saved(thread, from, limit);
    const copies = await Promise.all(
      found.map(async ({ row }) => {
        if (!("place" in row)) return row;
        const checkpoint = await this.#rows.checkpoint(row.place);
        return this.#load(row.place, checkpoint.header.id);
      }),
    );
    return { copies, next: end, isLast, deletions: thread.deletions };
  }

  /** Rows of a chain up to a position, back to one that was pruned. */
  async #page(chain: number, last: number, count: number): Promise<readonly CheckpointRow[]> {
    const rows = await Promise.all(
      range(last - count + 1, last + 1).map((position) => this.#rows.checkpointIfAny([chain, position])),
    );
    const gap = rows.lastIndexOf(undefined);
    const page = rows.slice(gap + 1) as CheckpointRow[];
    if (gap !== -1 && page.length > 0 && page[0]!.parent !== null) {
      throw this.#rows.missing([chain, last - page.length]);
    }
    return page;
  }

  async #load(place: Place, id: CheckpointId): Promise<Found> {
    const [row, label] = await Promise.all([this.#rows.checkpoint(place), this.#rows.read<string>(keyOf.labelOf(id))]);
    const [chain, position] = place;
    const earlier = await this.#rows.rows(chain, row.full, position - 1);
    return { header: row.header, label: label ?? null, rows: [...earlier, row].map(({ changes }) => changes) };
  }

  async #placeIn(id: CheckpointId, namespace: string): Promise<Place | undefined> {
    const place = await this.#rows.read<Place>(keyOf.id(id));
    if (place === undefined) return undefined;
    return (await this.#rows.checkpoint(place)).header.namespace === namespace ? place : undefined;
  }

  /** The row of a checkpoint that continues the head: its changes, or all values if they are due. */
  async #continued(head: HeadRow, { header, changes }: SaveCall): Promise<{ head: HeadRow; row: CheckpointRow }> {
    const [chain, position] = head.place;
    const place: Place = [chain, position + 1];
    const weight = head.weight + ROW_WEIGHT + JSON.stringify(changes).length;
    if (weight <= Math.max(head.fullWeight, MIN_WEIGHT)) {
      return {
        head: { ...head, id: header.id, place, weight },
        row: { header, parent: head.place, full: head.full, changes },
      };
    }
    const rows = await this.#rows.rows(chain, head.full, position);
    const values = new Chain({ threadId: header.threadId });
    for (const [index, row] of rows.entries()) values.add(index, row.changes);
    values.add(rows.length, changes);
    const all = snapshotChanges(values.at(rows.length));
    const fullWeight = JSON.stringify(all).length;
    return {
      head: { id: header.id, place, full: place[1], fullWeight, weight: 0 },
      row: { header, parent: head.place, full: place[1], changes: all },
    };
  }

  #addBatch(checkpoint: CheckpointId, batches: number, row: WritesRow): void {
    this.#rows.write(keyOf.batch(checkpoint, batches), row);
    this.#rows.write(keyOf.batches(checkpoint), batches + 1);
  }

  /** Whether the new values are lists: later changes of a list can only start from one. */
  #writeKinds({ header, changes }: SaveCall, chain: number): void {
    for (const change of changes) {
      const key = keyOf.kind(header.namespace, change.channel);
      if (change.kind === "reset") this.#rows.clear(key);
      else if (change.kind === "set") this.#rows.write(key, { chain, isList: Array.isArray(change.value) });
    }
  }

  /**
   * Takes signals from the inbox, then puts others into it: at their former place, or at its end. Returns by how much their number
   * changes.
   */
  #moveSignals(
    inbox: InboxRow = NO_SIGNALS,
    takenPlaces: readonly (number | undefined)[],
    returned: readonly Signal[],
    returnedPlaces: readonly (number | undefined)[],
  ): number {
    let { first, next } = inbox;
    const gone = new Set(takenPlaces.filter((place) => place !== undefined));
    for (const place of gone) this.#rows.clear(keyOf.place(place));
    while (gone.has(first)) first++;
    for (const [index, signal] of returned.entries()) {
      const place = returnedPlaces[index] ?? next++;
      first = Math.min(first, place);
      this.#rows.write(keyOf.place(place), signal);
      this.#rows.write(keyOf.signal(signal.id), place);
    }
    if (first !== inbox.first || next !== inbox.next) this.#rows.write(keyOf.inbox, { first, next });
    return first === next ? Number.NEGATIVE_INFINITY : returned.length - gone.size;
  }

  async #claimed(claim: Claim): Promise<ThreadRow> {
    const row = await this.#rows.thread();
    if (!holds(row, claim)) throw claimIsLost(claim);
    return row;
  }
}

const NO_SIGNALS: InboxRow = { first: 0, next: 0 };

/** The number of signals in the inbox. */
function signalsAfter({ signals }: ThreadRow, change: number): number {
  return Math.max(0, signals + change);
}

function listedHead(header: CheckpointHeader): ListedHead {
  const { id, status, step, timestamp, metadata, label, graph, prepared, due, ttl } = header;
  return { id, status, step, timestamp, metadata, label, graph, prepared, due, ttl } as ListedHead;
}

/** The listed head, without a label that moves elsewhere. */
function withoutLabel(listed: ListedHead | null, label: string | null): ListedHead | null {
  return listed === null || label === null || listed.label !== label ? listed : { ...listed, label: null };
}

function startOf(
  chain: number,
  { header, changes }: SaveCall,
  parent: Place | null,
): { head: HeadRow; row: CheckpointRow } {
  const place: Place = [chain, 0];
  const fullWeight = JSON.stringify(changes).length;
  return {
    head: { id: header.id, place, full: 0, fullWeight, weight: 0 },
    row: { header, parent, full: 0, changes },
  };
}

function holds(row: ThreadRow, claim: Claim): boolean {
  return row.owner === claim.owner && row.epoch === claim.epoch;
}
