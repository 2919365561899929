import type { Checkpoint, ListEdit, ThreadId } from "../../interface/checkpoint.ts";
import { setField } from "../../expression/operations.ts";
import type { Json } from "../../value/json.ts";
import { freezeDeep } from "./frozen-json.ts";
import { decodeHeader } from "./header-text.ts";
import { decodeKey } from "./key.ts";
import { editedList } from "./list-edits.ts";
import { ListPrefix } from "./list-prefix.ts";
import {
  CELL_APPEND,
  CELL_LIST,
  CELL_RESET,
  CELL_SPLICE,
  CELL_VALUE,
  CELLS,
  cellMark,
  type CellRow,
  CHECKPOINTS,
  type CheckpointRow,
  rowName,
  verifyRow,
} from "./rows.ts";
import { corruptRecord } from "./store-error.ts";

/**
 * Checkpoints of one chain with their values. Each cell is parsed once. The frozen values are shared between the
 * checkpoints that contain them, and a list that grows is copied only where it is read, so that the cost is linear.
 *
 * @param rows of one chain, ascending
 * @param cells by channel, ascending; each list starts with a full value and reaches to the newest of `rows`
 */
export function checkpointsOf(
  threadId: ThreadId,
  rows: readonly CheckpointRow[],
  cells: ReadonlyMap<string, readonly CellRow[]>,
): Checkpoint[] {
  const states = rows.map(() => 0);
  const values = rows.map((): Record<string, Json> => ({}));
  const versions = rows.map((): Record<string, Json> => ({}));
  for (const [key, history] of cells) {
    const channel = decodeKey(key);
    const reader = new ChannelReader(history);
    for (const [index, row] of rows.entries()) {
      const cell = reader.advance(row.ord);
      if (cell === undefined) continue;
      states[index] = (states[index]! ^ cellMark(cell)) >>> 0;
      if (cell.version !== 0) setField(versions[index]!, channel, cell.version);
      const value = reader.value();
      if (value instanceof ListPrefix) value.defineOn(values[index]!, channel);
      else if (value !== undefined) setField(values[index]!, channel, value);
    }
  }
  return rows.map((row, index) => {
    if (states[index] !== row.state) {
      throw corruptRecord(rowName(CHECKPOINTS, row), "rows of its channels are missing in table `cells`");
    }
    const checkpoint: Checkpoint = Object.assign(decodeHeader(row, threadId), {
      values: Object.freeze(values[index]!),
      versions: Object.freeze(versions[index]!) as Checkpoint["versions"],
    });
    return Object.freeze(checkpoint);
  });
}

/** Reads the cells of a channel in one pass, from older to newer checkpoints. */
class ChannelReader {
  readonly #cells: readonly CellRow[];
  #next = 0;
  /** The items of a list with changes; shared with the prefixes that have been returned, so it is only ever extended. */
  #items: Json[] | undefined;
  #value: Json | ListPrefix | undefined;

  constructor(cells: readonly CellRow[]) {
    this.#cells = cells;
  }

  /** The newest cell up to an `ord`, verified. */
  advance(ord: number): CellRow | undefined {
    for (let cell = this.#cells[this.#next]; cell !== undefined && cell.ord <= ord; cell = this.#cells[++this.#next]) {
      this.#apply(verifyRow(CELLS, cell));
    }
    return this.#cells[this.#next - 1];
  }

  /** The value at the current cell. */
  value(): Json | ListPrefix | undefined {
    if (this.#items === undefined) return this.#value;
    return (this.#value ??= new ListPrefix(this.#items, this.#items.length));
  }

  #apply(cell: CellRow): void {
    switch (cell.kind) {
      case CELL_VALUE:
      case CELL_LIST:
        this.#items = undefined;
        this.#value = parse(cell);
        return;
      case CELL_RESET:
        this.#items = undefined;
        this.#value = undefined;
        return;
      case CELL_APPEND:
      case CELL_SPLICE: {
        const previous = this.#cells[this.#next - 1];
        if (previous === undefined || previous.base !== cell.base || previous.count + 1 !== cell.count) {
          throw corruptRecord(rowName(CELLS, cell), "rows before it are missing");
        }
        const added = parse(cell);
        const list = this.#items ?? this.#value;
        if (!Array.isArray(added) || !Array.isArray(list)) {
          throw corruptRecord(rowName(CELLS, cell), "it appends to a value that is not a list");
        }
        this.#items ??= [...(list as readonly Json[])];
        this.#value = undefined;
        if (cell.kind === CELL_APPEND) for (const item of added as readonly Json[]) this.#items!.push(item);
        else this.#splice(cell, added);
        return;
      }
      default:
        throw corruptRecord(rowName(CELLS, cell), `its kind reads as ${cell.kind}`);
    }
  }

  #splice(cell: CellRow, edits: readonly unknown[]): void {
    try {
      this.#items = editedList(this.#items!, edits as readonly ListEdit[]);
    } catch (error) {
      throw corruptRecord(rowName(CELLS, cell), "it changes items that the list does not have", error);
    }
  }
}

function parse(cell: CellRow): Json {
  try {
    return freezeDeep(JSON.parse(cell.data!) as Json);
  } catch (error) {
    throw corruptRecord(rowName(CELLS, cell), "its value is not JSON", error);
  }
}
