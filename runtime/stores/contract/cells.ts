/**
 * How channel values are kept: a cell a change. A list that grows costs its new items; now and then a
 * full value is written, so that reading stays bounded (5.12).
 */
import type { ChannelChange, ThreadId } from "../../interface/checkpoint.ts";
import type { SaveRequest } from "../../interface/store.ts";
import { jsonText } from "./json-text.ts";
import { decodeKey, encodeKey } from "./key.ts";
import { CELL_APPEND, CELL_LIST, CELL_RESET, CELL_VALUE, CELLS, type CellRow, cellMark, seal } from "./rows.ts";
import { changedTwice, corruptRecord, notAList, quote } from "./store-error.ts";

/** A full value comes after this many appends at the earliest … */
const FEWEST_APPENDS = 64;
/** … and once what was appended, with this much a row, outweighs the last full value: all full values together stay O(n). */
const ROW_WEIGHT = 40;

/** A change that needs no further encoding: this much happens before the database is locked. */
export interface EncodedChange {
  readonly channel: string;
  readonly version: number;
  readonly kind: ChannelChange["kind"];
  readonly text: string | null;
}

/** What must be known of a channel's newest cell to write the next one. */
export type LastCell = Omit<CellRow, "data" | "v" | "sum">;

/** The chain that a cell belongs to, and the checkpoint that it is of. */
export interface Place {
  readonly chain: number;
  readonly ord: number;
}

/** Whether this checkpoint goes on with its parent's chain. If not (the first, a fork), it starts with all values. */
export function continuesChain(request: SaveRequest): boolean {
  return request.expectedHead !== null && request.header.parentId === request.expectedHead;
}

export function encodeChanges(request: SaveRequest): readonly EncodedChange[] {
  const changes = continuesChain(request) ? request.changes : snapshotChanges(request);
  const seen = new Set<string>();
  return changes.map((change) => {
    const { channel, version, kind } = change;
    if (seen.has(channel)) throw changedTwice(channel);
    seen.add(channel);
    const what = () => `channel ${quote(channel)}`;
    const text = kind === "reset" ? null : jsonText(kind === "set" ? change.value : change.items, what);
    return { channel: encodeKey(channel), version, kind, text };
  });
}

/** All values and versions as changes. A version without a value is a channel that was reset. */
export function snapshotChanges(request: SaveRequest): ChannelChange[] {
  const { values, versions } = request.snapshot();
  const version = (channel: string): number => (Object.hasOwn(versions, channel) ? versions[channel]! : 0);
  return [
    ...Object.entries(values).map(([channel, value]) => ({
      channel,
      version: version(channel),
      kind: "set" as const,
      value,
    })),
    ...Object.keys(versions)
      .filter((channel) => !Object.hasOwn(values, channel))
      .map((channel) => ({ channel, version: version(channel), kind: "reset" as const })),
  ];
}

/**
 * The cell that a change becomes.
 *
 * @param last the channel's newest cell in the chain
 * @param currentList gives the channel's list as JSON text; called where a full value is due
 */
export function nextCell(
  threadId: ThreadId,
  place: Place,
  change: EncodedChange,
  last: LastCell | undefined,
  currentList: (last: LastCell) => string,
): CellRow {
  const { channel, kind, text } = change;
  const { ord } = place;
  if (kind === "reset" || text === null) {
    return cell(place, change, CELL_RESET, ord, 0, 0, null);
  }
  if (kind === "set" || last === undefined || last.kind === CELL_RESET) return full(place, change, text);
  if (last.kind === CELL_VALUE) throw notAList(threadId, decodeKey(channel));
  const count = last.count + 1;
  const slack = last.slack - text.length - ROW_WEIGHT;
  if (count >= FEWEST_APPENDS && slack <= 0) return full(place, change, joinLists([currentList(last), text]));
  return cell(place, change, CELL_APPEND, last.base, count, slack, text);
}

/** State of a checkpoint after its changes: see `CheckpointRow.state`. */
export function nextState(state: number, last: LastCell | undefined, next: CellRow): number {
  const without = last === undefined ? state : state ^ cellMark(last);
  return (without ^ cellMark(next)) >>> 0;
}

/** The list that a channel holds, as text: nothing is parsed. `cells` reach from the base of `last` to `last` itself. */
export function listText(cells: readonly CellRow[], last: LastCell): string {
  if (cells.length !== last.count + 1) {
    const row = `channel "${last.channel}" of chain ${last.chain} in table \`${CELLS.name}\``;
    throw corruptRecord(
      row,
      `${last.count + 1} rows should lead to checkpoint no. ${last.ord}, but ${cells.length} are there`,
    );
  }
  return joinLists(cells.map((cell) => cell.data!));
}

function joinLists(lists: readonly string[]): string {
  const inner = lists.map((list) => list.slice(1, -1)).filter((items) => items !== "");
  return `[${inner.join(",")}]`;
}

function full(place: Place, change: EncodedChange, data: string): CellRow {
  return cell(place, change, data.startsWith("[") ? CELL_LIST : CELL_VALUE, place.ord, 0, data.length, data);
}

function cell(
  { chain, ord }: Place,
  { channel, version }: EncodedChange,
  kind: number,
  base: number,
  count: number,
  slack: number,
  data: string | null,
): CellRow {
  return seal(CELLS, { chain, channel, ord, kind, version, base, count, slack, data, v: 0, sum: 0 });
}
