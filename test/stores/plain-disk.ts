/** Data of a `PlainStore`: JSON texts, and lists of JSON texts that checkpoints share. */
import type { ChannelChange } from "../../runtime/interface/checkpoint.ts";
import { StoreError } from "../../runtime/interface/errors.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { SaveRequest } from "../../runtime/interface/store.ts";

export interface Disk {
  /** Counters over all threads: a thread that is deleted and created again has no number of its predecessor. */
  epoch: number;
  written: number;
  readonly threads: Map<string, Thread>;
  /** Items of the long-term memory as JSON, by namespace and key. */
  readonly items: Map<string, string>;
}

export interface Thread {
  readonly threadId: string;
  holder: { readonly owner: string; readonly epoch: number; readonly until: number } | undefined;
  /** Value of `Disk.written` at the last save. */
  written: number;
  /** Namespace -> checkpoint. */
  readonly heads: Map<string, string>;
  readonly checkpoints: Map<string, { readonly header: string; readonly cells: Cells }>;
  /** Label -> checkpoint. */
  readonly labels: Map<string, string>;
  /** Checkpoint -> task -> result. */
  readonly writes: Map<string, Map<string, string>>;
  /** Id -> signal as JSON; `null` after it was taken. */
  readonly signals: Map<string, string | null>;
}

/** Channel -> its value as JSON. A list has one text per item. */
export type Cells = ReadonlyMap<string, Cell>;

interface Cell {
  readonly version: number;
  readonly kind: "value" | "list" | "none";
  readonly texts: readonly string[];
}

export function newDisk(): Disk {
  return { epoch: 0, written: 0, threads: new Map(), items: new Map() };
}

export function snapshotCells({ values, versions }: ReturnType<SaveRequest["snapshot"]>): Cells {
  const cells = new Map<string, Cell>();
  for (const [channel, version] of Object.entries(versions)) cells.set(channel, { version, kind: "none", texts: [] });
  for (const [channel, value] of Object.entries(values)) cells.set(channel, cell(versions[channel] ?? 0, value));
  return cells;
}

export function changedCells(parent: Cells, changes: readonly ChannelChange[]): Cells {
  const cells = new Map(parent);
  for (const change of changes) {
    const { channel, version } = change;
    if (change.kind === "set") {
      // Mutation point: set-channel
      cells.set(channel, cell(version, change.value));
    } else if (change.kind === "reset") {
      // Mutation point: reset-channel
      cells.set(channel, { version, kind: "none", texts: [] });
    } else {
      // Mutation point: append
      const { kind, texts } = cells.get(channel) ?? { kind: "none", texts: [] };
      // Mutation point: append-check
      if (kind === "value") throw new StoreError("NG_STORE_FAILED", `channel ${JSON.stringify(channel)} is no list`);
      if (change.kind === "append") {
        // Mutation point: appended-items
        cells.set(channel, { version, kind: "list", texts: [...texts, ...change.items.map(jsonText)] });
        continue;
      }
      const edited = [...texts];
      // Mutation point: edits
      for (const { at, remove, items } of [...change.edits].reverse())
        edited.splice(at, remove, ...items.map(jsonText));
      cells.set(channel, { version, kind: "list", texts: edited });
    }
  }
  return cells;
}

export function readCells(cells: Cells): ReturnType<SaveRequest["snapshot"]> {
  // Without a prototype, because `__proto__` is a valid name of a channel.
  // Mutation point: read-values
  const values: Record<string, Json> = Object.create(null);
  const versions: Record<string, number> = Object.create(null);
  for (const [channel, { version, kind, texts }] of cells) {
    // Mutation point: read-version
    if (version !== 0) versions[channel] = version;
    // Mutation point: cell-text
    const text = kind === "list" ? `[${texts.join(",")}]` : texts.join("");
    // Mutation point: read-value
    if (kind !== "none") values[channel] = JSON.parse(text) as Json;
  }
  return { values, versions };
}

function cell(version: number, value: Json): Cell {
  // Mutation point: stored-cell
  return Array.isArray(value)
    ? { version, kind: "list", texts: value.map(jsonText) }
    : { version, kind: "value", texts: [jsonText(value)] };
}

/** @throws StoreError if the value cannot be written as JSON */
export function jsonText(value: unknown): string {
  try {
    // Mutation point: json-text
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) return text;
  } catch (cause) {
    throw new StoreError("NG_STORE_FAILED", "a value cannot be written as JSON", { cause });
  }
  throw new StoreError("NG_STORE_FAILED", `a value of type ${typeof value} cannot be written as JSON`);
}
