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
  corruptRecord,
  headHasMoved,
  notAList,
  quote,
  threadIsHeld,
  unknownCheckpoint,
  unknownThread,
} from "../../../runtime/stores/contract/store-error.ts";
import { Chain, snapshotChanges } from "../../../runtime/stores/memory/chain.ts";
import type { KeyValues } from "./key-values.ts";
import {
  decodeRow,
  encodeRow,
  keyOf,
  NEW_THREAD,
  type CheckpointRow,
  type HeadRow,
  type InboxRow,
  type KindRow,
  type Place,
  type SignalRow,
  type ThreadRow,
  type WritesRow,
} from "./rows.ts";

/**
 * A row with all values is written when the changes since the last one weigh more than it, so that all of them together stay
 * linear in what has changed (5.12). Every row counts with this weight in addition.
 */
const ROW_WEIGHT = 200;
/** A row with all values counts with at least this weight. */
const MIN_WEIGHT = 64 * ROW_WEIGHT;

export interface ClaimCall {
  readonly thread: string;
  readonly owner: string;
  readonly leaseMs: number;
  readonly now: number;
}

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

export class ThreadState {
  readonly #state: KeyValues;

  constructor(state: KeyValues) {
    this.#state = state;
  }

  async claim({ thread, owner, leaseMs, now }: ClaimCall): Promise<{ epoch: number; head: string | null }> {
    const [row, head] = await Promise.all([this.#thread(), this.#read<HeadRow>(keyOf.head(""))]);
    const isHeld = row.owner !== null && row.owner !== owner && row.expires > now;
    if (isHeld) throw threadIsHeld(thread, row.owner!);
    const epoch = row.epoch + 1;
    this.#write(keyOf.thread, { ...row, epoch, owner, expires: now + leaseMs });
    return { epoch, head: head?.id ?? null };
  }

  async renew({ claim, leaseMs, now }: Claimed & { leaseMs: number; now: number }): Promise<void> {
    const row = await this.#claimed(claim);
    this.#write(keyOf.thread, { ...row, expires: now + leaseMs });
  }

  async release({ claim }: Claimed): Promise<void> {
    const row = await this.#thread();
    if (holds(row, claim)) this.#write(keyOf.thread, { ...row, owner: null });
  }

  async save(call: SaveCall): Promise<void> {
    const { claim, header, expectedHead, clearWritesOf: cleared, takenSignals = [], returnedSignals = [] } = call;
    const headKey = keyOf.head(header.namespace);
    const grown = call.changes.filter(({ kind }) => kind === "append" || kind === "splice");
    const [row, head, known, former, batches = 0, inbox, taken, returned, kinds] = await Promise.all([
      this.#claimed(claim),
      this.#read<HeadRow>(headKey),
      this.#read<Place>(keyOf.id(header.id)),
      header.label === null ? undefined : this.#read<CheckpointId>(keyOf.label(header.label)),
      cleared === undefined ? undefined : this.#read<number>(keyOf.batches(cleared)),
      takenSignals.length + returnedSignals.length === 0 ? undefined : this.#read<InboxRow>(keyOf.inbox),
      Promise.all(takenSignals.map((id) => this.#read<number>(keyOf.signal(id)))),
      Promise.all(returnedSignals.map(({ id }) => this.#read<number>(keyOf.signal(id)))),
      Promise.all(grown.map(({ channel }) => this.#read<KindRow>(keyOf.kind(header.namespace, channel)))),
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
    const present = await Promise.all(returned.map((place) => place && this.#read<SignalRow>(keyOf.place(place))));
    const next = isNext ? await this.#continued(head, call) : startOf(row.chains, call, parent ?? null);

    this.#write(keyOf.checkpoint(next.head.place), next.row);
    this.#write(keyOf.id(header.id), next.head.place);
    if (header.label !== null) {
      if (former !== undefined) this.#state.clear(keyOf.labelOf(former));
      this.#write(keyOf.label(header.label), header.id);
      this.#write(keyOf.labelOf(header.id), header.label);
    }
    this.#writeKinds(call, next.head.place[0]);
    // One that is in the inbox stays, unless this call takes it.
    const isBack = (index: number): boolean => present[index] === undefined || taken.includes(returned[index]);
    const back = returnedSignals.filter((_, index) => isBack(index));
    this.#moveSignals(
      inbox,
      taken,
      back,
      returned.filter((_, index) => isBack(index)),
    );
    this.#write(headKey, next.head);
    this.#write(keyOf.thread, {
      ...row,
      ...(call.releaseClaim === true ? { owner: null } : {}),
      chains: isNext ? row.chains : row.chains + 1,
      checkpoints: row.checkpoints + 1,
      tag: call.tag ?? null,
    });
    if (cleared !== undefined) this.#clearBatches(cleared, batches);
  }

  async putWrites(
    call: Claimed & { checkpoint: CheckpointId; writes: readonly PendingWrite[]; taken?: readonly string[] },
  ) {
    const { claim, checkpoint, writes, taken = [], tag = null } = call;
    const [row, batches = 0, inbox, places] = await Promise.all([
      this.#claimed(claim),
      this.#read<number>(keyOf.batches(checkpoint)),
      taken.length === 0 ? undefined : this.#read<InboxRow>(keyOf.inbox),
      Promise.all(taken.map((id) => this.#read<number>(keyOf.signal(id)))),
    ]);
    this.#addBatch(checkpoint, batches, { put: writes });
    this.#moveSignals(inbox, places, [], []);
    if (row.tag !== tag) this.#write(keyOf.thread, { ...row, tag });
  }

  async clearWrites({ claim, checkpoint, tasks }: Claimed & { checkpoint: CheckpointId; tasks?: readonly string[] }) {
    const [, batches = 0] = await Promise.all([this.#claimed(claim), this.#read<number>(keyOf.batches(checkpoint))]);
    if (batches === 0) return;
    if (tasks === undefined) this.#clearBatches(checkpoint, batches);
    else if (tasks.length > 0) this.#addBatch(checkpoint, batches, { clear: tasks });
  }

  async writes({ checkpoint }: { checkpoint: CheckpointId }): Promise<readonly PendingWrite[]> {
    const batches = (await this.#read<number>(keyOf.batches(checkpoint))) ?? 0;
    const rows = await Promise.all(
      range(0, batches).map((index) => this.#read<WritesRow>(keyOf.batch(checkpoint, index))),
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
      this.#thread(),
      this.#read<number>(keyOf.signal(signal.id)),
      this.#read<InboxRow>(keyOf.inbox),
    ]);
    if (row.checkpoints === 0) throw unknownThread(thread);
    if (known !== undefined) return false;
    this.#moveSignals(inbox, [], [signal], [undefined]);
    return true;
  }

  async signals(): Promise<readonly Signal[]> {
    const inbox = (await this.#read<InboxRow>(keyOf.inbox)) ?? NO_SIGNALS;
    const rows = await Promise.all(
      range(inbox.first, inbox.next).map((place) => this.#read<SignalRow>(keyOf.place(place))),
    );
    return rows.filter((row) => row !== undefined);
  }

  async loadLatest({ namespace }: { namespace: string }): Promise<Found | undefined> {
    const head = await this.#read<HeadRow>(keyOf.head(namespace));
    return head && this.#load(head.place, head.id);
  }

  async loadById({ id }: { id: CheckpointId }): Promise<Found | undefined> {
    const place = await this.#read<Place>(keyOf.id(id));
    return place && this.#load(place, id);
  }

  async loadByLabel({ label }: { label: string }): Promise<Found | undefined> {
    const id = await this.#read<CheckpointId>(keyOf.label(label));
    return id === undefined ? undefined : this.loadById({ id });
  }

  async label({ thread, id, label }: { thread: string; id: CheckpointId; label: string }): Promise<void> {
    const [place, former, own] = await Promise.all([
      this.#read<Place>(keyOf.id(id)),
      this.#read<CheckpointId>(keyOf.label(label)),
      this.#read<string>(keyOf.labelOf(id)),
    ]);
    if (place === undefined) throw unknownCheckpoint(thread, id);
    if (former !== undefined) this.#state.clear(keyOf.labelOf(former));
    if (own !== undefined) this.#state.clear(keyOf.label(own));
    this.#write(keyOf.label(label), id);
    this.#write(keyOf.labelOf(id), label);
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
    if (before === undefined) place = (await this.#read<HeadRow>(keyOf.head(namespace)))?.place ?? null;
    else {
      const known = await this.#read<Place>(keyOf.id(before));
      const row = known && (await this.#checkpoint(known));
      if (row === undefined || row.header.namespace !== namespace) throw unknownCheckpoint(thread, before);
      place = row.parent;
    }
    const parts: ListPart[] = [];
    while (place !== null && left > 0) {
      const [chain, position]: Place = place;
      const count = Math.min(left, position + 1);
      const page: CheckpointRow[] = await this.#rows(chain, position - count + 1, position);
      const [oldest] = page as [CheckpointRow];
      const earlier = await this.#rows(chain, oldest.full, position - count);
      const labels = await Promise.all(page.map(({ header }) => this.#read<string>(keyOf.labelOf(header.id))));
      const headers = page.map(({ header }, index) => ({ ...header, label: labels[index] ?? null }));
      parts.push({ headers, rows: [...earlier, ...page].map(({ changes }) => changes) });
      left -= count;
      place = oldest.parent;
    }
    return parts;
  }

  /**
   * The head, and the invocation that has written last, for a driver that starts. Ends every claim: a write of an earlier driver that
   * is still on its way fails, and one that has arrived was executed before this call.
   */
  async fence(): Promise<{ readonly head: CheckpointId | null; readonly tag: string | null }> {
    const [row, head] = await Promise.all([this.#thread(), this.#read<HeadRow>(keyOf.head(""))]);
    this.#write(keyOf.thread, { ...row, epoch: row.epoch + 1, owner: null });
    return { head: head?.id ?? null, tag: row.tag };
  }

  /** Removes everything but the counters of claims and chains, which never repeat. */
  async deleteThread(): Promise<void> {
    const [row, keys] = await Promise.all([this.#thread(), this.#state.keys()]);
    for (const key of keys) if (key !== keyOf.thread) this.#state.clear(key);
    if (keys.length > 0) this.#write(keyOf.thread, { ...NEW_THREAD, epoch: row.epoch, chains: row.chains });
  }

  async #load(place: Place, id: CheckpointId): Promise<Found> {
    const [row, label] = await Promise.all([this.#checkpoint(place), this.#read<string>(keyOf.labelOf(id))]);
    const [chain, position] = place;
    const earlier = await this.#rows(chain, row.full, position - 1);
    return { header: row.header, label: label ?? null, rows: [...earlier, row].map(({ changes }) => changes) };
  }

  async #rows(chain: number, first: number, last: number): Promise<CheckpointRow[]> {
    return Promise.all(range(first, last + 1).map((position) => this.#checkpoint([chain, position])));
  }

  async #checkpoint(place: Place): Promise<CheckpointRow> {
    const key = keyOf.checkpoint(place);
    const row = await this.#read<CheckpointRow>(key);
    if (row === undefined) throw corruptRecord(`row ${quote(key)} of the thread in Restate`, "it is missing");
    return row;
  }

  async #placeIn(id: CheckpointId, namespace: string): Promise<Place | undefined> {
    const place = await this.#read<Place>(keyOf.id(id));
    if (place === undefined) return undefined;
    return (await this.#checkpoint(place)).header.namespace === namespace ? place : undefined;
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
    const rows = await this.#rows(chain, head.full, position);
    const values = new Chain(header.threadId);
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
    this.#write(keyOf.batch(checkpoint, batches), row);
    this.#write(keyOf.batches(checkpoint), batches + 1);
  }

  #clearBatches(checkpoint: CheckpointId, batches: number): void {
    if (batches === 0) return;
    this.#state.clear(keyOf.batches(checkpoint));
    for (const index of range(0, batches)) this.#state.clear(keyOf.batch(checkpoint, index));
  }

  /** Whether the new values are lists: later changes of a list can only start from one. */
  #writeKinds({ header, changes }: SaveCall, chain: number): void {
    for (const change of changes) {
      const key = keyOf.kind(header.namespace, change.channel);
      if (change.kind === "reset") this.#state.clear(key);
      else if (change.kind === "set") this.#write(key, { chain, isList: Array.isArray(change.value) });
    }
  }

  /** Takes signals from the inbox, then puts others into it: at their former place, or at its end. */
  #moveSignals(
    inbox: InboxRow = NO_SIGNALS,
    takenPlaces: readonly (number | undefined)[],
    returned: readonly Signal[],
    returnedPlaces: readonly (number | undefined)[],
  ): void {
    let { first, next } = inbox;
    const gone = new Set(takenPlaces.filter((place) => place !== undefined));
    for (const place of gone) this.#state.clear(keyOf.place(place));
    while (gone.has(first)) first++;
    for (const [index, signal] of returned.entries()) {
      const place = returnedPlaces[index] ?? next++;
      first = Math.min(first, place);
      this.#write(keyOf.place(place), signal);
      this.#write(keyOf.signal(signal.id), place);
    }
    if (first !== inbox.first || next !== inbox.next) this.#write(keyOf.inbox, { first, next });
  }

  async #thread(): Promise<ThreadRow> {
    return (await this.#read<ThreadRow>(keyOf.thread)) ?? NEW_THREAD;
  }

  async #claimed(claim: Claim): Promise<ThreadRow> {
    const row = await this.#thread();
    if (!holds(row, claim)) throw claimIsLost(claim);
    return row;
  }

  async #read<T>(key: string): Promise<T | undefined> {
    const text = await this.#state.get(key);
    return text === undefined ? undefined : decodeRow<T>(key, text);
  }

  #write(key: string, content: object | string | number): void {
    this.#state.set(key, encodeRow(key, content));
  }
}

const NO_SIGNALS: InboxRow = { first: 0, next: 0 };

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

function range(first: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
}
