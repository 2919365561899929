import type { ChannelChange, Checkpoint, ThreadId } from "../../interface/checkpoint.ts";
import { setField } from "../../expression/operations.ts";
import type { SaveRequest } from "../../interface/store.ts";
import type { Json } from "../../value/json.ts";
import { frozenJson } from "../contract/frozen-json.ts";
import { checkName } from "../contract/key.ts";
import { editedList } from "../contract/list-edits.ts";
import { ListPrefix } from "../contract/list-prefix.ts";
import { superseded } from "../contract/retention.ts";
import { changedTwice, notAList, quote } from "../contract/store-error.ts";

/** A value of a channel, from one checkpoint on. */
interface Cell {
  readonly ord: number;
  readonly version: number;
  /** The whole value, the beginning of a list that grows, or `undefined` after a reset. */
  readonly value: Json | GrowingList | undefined;
}

/** A list that later cells extend. The cells share `items`; each of them consists of the first `length` items. */
class GrowingList {
  readonly items: Json[];
  readonly length: number;

  constructor(items: Json[]) {
    this.items = items;
    this.length = items.length;
  }
}

/** The thread of a chain. */
export interface ChainThread {
  readonly threadId: ThreadId;
  /** Adds the changes that the thread has not added yet: called before the chain is read. */
  readChanges?(): void;
}

/** The changes of all channels along a line of checkpoints, oldest first. A fork starts a chain of its own. */
export class Chain {
  readonly #thread: ChainThread;
  /** By channel. Filled when the chain is read. */
  #cells: Map<string, Cell[]> | undefined;

  constructor(thread: ChainThread) {
    this.#thread = thread;
  }

  /** @throws StoreError NG_STORE_FAILED if the changes do not fit the newest values */
  check(changes: readonly ChannelChange[]): void {
    for (const change of changes) {
      const { channel, kind } = change;
      if (kind !== "append" && kind !== "splice") continue;
      if (!isList(this.#history(channel)?.at(-1)?.value)) throw notAList(this.#thread.threadId, channel);
    }
  }

  /** Adds changes. The caller must not modify them afterwards. */
  add(ord: number, changes: readonly ChannelChange[]): void {
    for (const change of changes) addCell((this.#cells ??= new Map()), ord, change);
  }

  /** The values and versions at a checkpoint, frozen. */
  at(ord: number): Pick<Checkpoint, "values" | "versions"> {
    const cells = this.#index();
    const values: Record<string, Json> = {};
    const versions: Record<string, Json> = {};
    for (const [channel, history] of cells) {
      const cell = history[newestAt(history, ord)];
      if (cell === undefined) continue;
      if (cell.version !== 0) setField(versions, channel, cell.version);
      const { value } = cell;
      if (value instanceof GrowingList) new ListPrefix(value.items, value.length).defineOn(values, channel);
      else if (value !== undefined) setField(values, channel, value);
    }
    return { values: Object.freeze(values), versions: Object.freeze(versions) as Checkpoint["versions"] };
  }

  /** Removes what only other checkpoints than these read. */
  keep(ords: readonly number[]): void {
    const cells = this.#index();
    for (const [channel, history] of cells) {
      const gone = new Set(superseded(history.map(asFull), ords).map(({ cell }) => cell));
      if (gone.size === 0) continue;
      cells.set(
        channel,
        history.filter((cell) => !gone.has(cell)),
      );
    }
  }

  #history(channel: string): readonly Cell[] | undefined {
    return this.#index().get(channel);
  }

  #index(): Map<string, Cell[]> {
    this.#thread.readChanges?.();
    return (this.#cells ??= new Map());
  }
}

function addCell(cells: Map<string, Cell[]>, ord: number, change: ChannelChange): void {
  const { channel, version } = change;
  let history = cells.get(channel);
  if (history === undefined) cells.set(channel, (history = []));
  // A checkpoint continues the chain only from its head, so the newest cell has all of the items.
  history.push({ ord, version, value: valueAfter(history.at(-1)?.value, change) });
}

function valueAfter(before: Cell["value"], change: ChannelChange): Cell["value"] {
  switch (change.kind) {
    case "set":
      return change.value;
    case "reset":
      return undefined;
    case "append": {
      if (before === undefined) return change.items as Json;
      const items = before instanceof GrowingList ? before.items : [...(before as readonly Json[])];
      for (const item of change.items) items.push(item);
      return new GrowingList(items);
    }
    case "splice": {
      const list = before instanceof GrowingList ? before.items.slice(0, before.length) : (before as readonly Json[]);
      return Object.freeze(editedList(list ?? [], change.edits));
    }
  }
}

/** Whether changes of a list can start from the value. */
function isList(value: Cell["value"]): boolean {
  return value === undefined || value instanceof GrowingList || Array.isArray(value);
}

/** Copies of changes that the caller cannot modify. @throws StoreError NG_STORE_FAILED for values that are not plain JSON */
export function frozenChanges(changes: readonly ChannelChange[]): readonly ChannelChange[] {
  const copies: ChannelChange[] = [];
  // A set costs more than the search in a few names.
  const seen = changes.length > 8 ? new Set<string>() : undefined;
  for (const change of changes) {
    const { channel } = change;
    checkName(channel);
    const isKnown = seen?.has(channel) ?? copies.some((copy) => copy.channel === channel);
    if (isKnown) throw changedTwice(channel);
    seen?.add(channel);
    const what = (): string => `channel ${quote(channel)}`;
    if (change.kind === "set") copies.push({ ...change, value: frozenJson(change.value, what) });
    else if (change.kind === "reset") copies.push({ ...change });
    else if (change.kind === "append") copies.push({ ...change, items: frozenJson(change.items, what) });
    else copies.push({ ...change, edits: frozenJson(change.edits, what) });
  }
  return copies;
}

/** All values and versions as changes. A version without a value is a channel that was reset. */
export function snapshotChanges({ values, versions }: ReturnType<SaveRequest["snapshot"]>): readonly ChannelChange[] {
  const changes = Object.keys(values).map((channel): ChannelChange => {
    const version = Object.hasOwn(versions, channel) ? versions[channel]! : 0;
    return { channel, version, kind: "set", value: values[channel]! };
  });
  for (const [channel, version] of Object.entries(versions)) {
    if (!Object.hasOwn(values, channel)) changes.push({ channel, version, kind: "reset" });
  }
  return changes;
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

/** Every cell has its whole value, so it needs no cell before it. */
function asFull(cell: Cell): { readonly ord: number; readonly full: true; readonly cell: Cell } {
  return { ord: cell.ord, full: true, cell };
}
