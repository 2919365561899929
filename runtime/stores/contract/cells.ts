/**
 * Encoding of channel values: each change is one cell. A list that grows costs its new items. From time to time a cell
 * holds the full value, so that the cost of reading stays bounded (5.12).
 */
import type { ChannelChange, ListEdit, ThreadId } from "../../interface/checkpoint.ts";
import type { SaveRequest } from "../../interface/store.ts";
import { jsonText, takeText } from "./json-text.ts";
import { decodeKey, encodeKey } from "./key.ts";
import { editedList } from "./list-edits.ts";
import type { Json } from "../../value/json.ts";
import {
  CELL_APPEND,
  CELL_LIST,
  CELL_RESET,
  CELL_SPLICE,
  CELL_VALUE,
  CELLS,
  type CellRow,
  cellMark,
  addChecksum,
} from "./rows.ts";
import { changedTwice, corruptRecord, notAList, quote } from "./store-error.ts";

/** Minimum number of appends between two full values. */
const MIN_APPENDS = 64;
/**
 * Weight of a row in characters. A full value is due when the weight of the appends exceeds the last full value, so that all
 * full values together stay O(n).
 */
const ROW_WEIGHT = 40;

/** A change with its value as JSON text. Encoding happens before the database is locked. */
export interface EncodedChange {
  readonly channel: string;
  readonly version: number;
  readonly kind: ChannelChange["kind"];
  readonly text: string | null;
}

/** The part of a channel's newest cell that the next cell depends on. */
export type LastCell = Omit<CellRow, "data" | "v" | "sum">;

/** The chain that a cell belongs to, and the `ord` of its checkpoint. */
export interface Place {
  readonly chain: number;
  readonly ord: number;
}

/** Whether this checkpoint continues its parent's chain. Otherwise (the first checkpoint, a fork) it starts with all values. */
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
    if (kind === "reset") return { channel: encodeKey(channel), version, kind, text: null };
    const content = contentOf(change);
    const text = takeText(content) ?? jsonText(content, what);
    return { channel: encodeKey(channel), version, kind, text };
  });
}

function contentOf(change: Exclude<ChannelChange, { kind: "reset" }>): Json {
  if (change.kind === "set") return change.value;
  return change.kind === "append" ? change.items : (change.edits as unknown as Json);
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
 * The cell of a change.
 *
 * @param last the channel's newest cell in the chain
 * @param currentList returns the channel's list as JSON text; called when a full value is due
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
  if (kind === "set") return full(place, change, text);
  if (last === undefined || last.kind === CELL_RESET) return full(place, change, listAfter("[]", change, text));
  if (last.kind === CELL_VALUE) throw notAList(threadId, decodeKey(channel));
  const count = last.count + 1;
  const slack = last.slack - text.length - ROW_WEIGHT;
  if (count >= MIN_APPENDS && slack <= 0) return full(place, change, listAfter(currentList(last), change, text));
  return cell(place, change, kind === "append" ? CELL_APPEND : CELL_SPLICE, last.base, count, slack, text);
}

/** `CheckpointRow.state` after a change: the mark of the former cell is removed, the mark of the new one added. */
export function nextState(state: number, last: LastCell | undefined, next: CellRow): number {
  const without = last === undefined ? state : state ^ cellMark(last);
  return (without ^ cellMark(next)) >>> 0;
}

/** The list of a channel as JSON text, joined without parsing. `cells` reach from the base of `last` to `last` itself. */
export function listText(cells: readonly CellRow[], last: LastCell): string {
  if (cells.length !== last.count + 1) {
    const row = `channel "${last.channel}" of chain ${last.chain} in table \`${CELLS.name}\``;
    throw corruptRecord(
      row,
      `${last.count + 1} rows should lead to checkpoint no. ${last.ord}, but ${cells.length} are there`,
    );
  }
  if (!cells.some(({ kind }) => kind === CELL_SPLICE)) return joinLists(cells.map((cell) => cell.data!));
  const [base, ...changes] = cells;
  let list = JSON.parse(base!.data!) as readonly Json[];
  for (const { kind, data } of changes) {
    const content = JSON.parse(data!) as readonly Json[];
    list = kind === CELL_SPLICE ? editedList(list, content as unknown as readonly ListEdit[]) : list.concat(content);
  }
  return JSON.stringify(list);
}

/** A list as JSON text after an append or a splice. */
function listAfter(list: string, { kind }: EncodedChange, text: string): string {
  if (kind === "append") return joinLists([list, text]);
  return JSON.stringify(editedList(JSON.parse(list) as readonly Json[], JSON.parse(text) as readonly ListEdit[]));
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
  return addChecksum(CELLS, { chain, channel, ord, kind, version, base, count, slack, data, v: 0, sum: 0 });
}
