/** The newest events of a stream, in the state of its object. A reader continues from any position that is still there. */
import type { JsonObject } from "../../runtime/value/json.ts";
import type { KeyValues } from "./store/key-values.ts";
import { decodeRow, encodeRow } from "./store/rows.ts";

/** Events that a stream keeps at least. */
const KEPT = 4096;
/** Events that one read returns at most, whole batches. */
const PAGE = 1024;

interface Range {
  /** Numbers of the kept batches. */
  readonly first: number;
  readonly next: number;
  /** Positions of the first event of each kept batch, and of the next event. */
  readonly starts: readonly number[];
  readonly end: number;
}

export interface EventPage {
  readonly events: readonly JsonObject[];
  /** The position of the first of them: later than the one that was asked for if events were dropped. */
  readonly from: number;
  /** The position for the next read. */
  readonly next: number;
}

const EMPTY: Range = { first: 0, next: 0, starts: [], end: 0 };

export class EventLog {
  readonly #state: KeyValues;

  constructor(state: KeyValues) {
    this.#state = state;
  }

  /** Returns whether these are the first events of the stream. */
  async append(events: readonly JsonObject[]): Promise<boolean> {
    const range = await this.#range();
    const starts = [...range.starts, range.end];
    const end = range.end + events.length;
    let { first } = range;
    const batch = `b/${range.next}`;
    this.#state.set(batch, encodeRow(batch, events));
    while (starts.length > 1 && end - starts[1]! >= KEPT) {
      this.#state.clear(`b/${first++}`);
      starts.shift();
    }
    this.#state.set("range", encodeRow("range", { first, next: range.next + 1, starts, end }));
    return range.next === 0;
  }

  async read(from: number): Promise<EventPage> {
    const { first, starts, end } = await this.#range();
    let index = starts.findLastIndex((start) => start <= from);
    if (index === -1) index = 0;
    const events: JsonObject[] = [];
    const start = Math.max(from, starts[index] ?? end);
    for (let at = index; at < starts.length && events.length < PAGE; at++) {
      const key = `b/${first + at}`;
      const text = await this.#state.get(key);
      // Dropped since the range was read.
      if (text === undefined) break;
      const batch = decodeRow<readonly JsonObject[]>(key, text);
      for (const event of batch.slice(Math.max(0, start - starts[at]!))) events.push(event);
    }
    return { events, from: start, next: start + events.length };
  }

  async #range(): Promise<Range> {
    const text = await this.#state.get("range");
    return text === undefined ? EMPTY : decodeRow<Range>("range", text);
  }
}
