/** What a `PlainStore` keeps: text, and lists of text that checkpoints share. */
import type { ChannelChange } from "../../runtime/interface/checkpoint.ts";
import { StoreError } from "../../runtime/interface/errors.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { SaveRequest } from "../../runtime/interface/store.ts";

export interface Disk {
  /** Both count over all threads, so that one that was deleted and made again meets no old number. */
  epoch: number;
  written: number;
  readonly threads: Map<string, Thread>;
}

export interface Thread {
  readonly threadId: string;
  holder: { readonly owner: string; readonly epoch: number; readonly until: number } | undefined;
  /** Order of the newest checkpoint. */
  written: number;
  /** Namespace -> checkpoint. */
  readonly heads: Map<string, string>;
  readonly checkpoints: Map<string, { readonly header: string; readonly cells: Cells }>;
  /** Label -> checkpoint. */
  readonly labels: Map<string, string>;
  /** Checkpoint -> task -> result. */
  readonly writes: Map<string, Map<string, string>>;
}

/** Channel -> its value as JSON: the items of a list one by one. */
export type Cells = ReadonlyMap<string, Cell>;

interface Cell {
  readonly version: number;
  readonly kind: "value" | "list" | "none";
  readonly texts: readonly string[];
}

export function newDisk(): Disk {
  return { epoch: 0, written: 0, threads: new Map() };
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
      cells.set(channel, cell(version, change.value));
    } else if (change.kind === "reset") {
      cells.set(channel, { version, kind: "none", texts: [] });
    } else {
      const { kind, texts } = cells.get(channel) ?? { kind: "none", texts: [] };
      if (kind === "value") throw new StoreError("NG_STORE_FAILED", `channel ${JSON.stringify(channel)} is no list`);
      cells.set(channel, { version, kind: "list", texts: [...texts, ...change.items.map(jsonText)] });
    }
  }
  return cells;
}

export function readCells(cells: Cells): ReturnType<SaveRequest["snapshot"]> {
  // A channel may be called `__proto__`.
  const values: Record<string, Json> = Object.create(null);
  const versions: Record<string, number> = Object.create(null);
  for (const [channel, { version, kind, texts }] of cells) {
    if (version !== 0) versions[channel] = version;
    const text = kind === "list" ? `[${texts.join(",")}]` : texts.join("");
    if (kind !== "none") values[channel] = JSON.parse(text) as Json;
  }
  return { values, versions };
}

function cell(version: number, value: Json): Cell {
  return Array.isArray(value)
    ? { version, kind: "list", texts: value.map(jsonText) }
    : { version, kind: "value", texts: [jsonText(value)] };
}

/** A copy that nobody can alter, of what JSON can hold. */
export function jsonText(value: unknown): string {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) return text;
  } catch (cause) {
    throw new StoreError("NG_STORE_FAILED", "a value cannot be written as JSON", { cause });
  }
  throw new StoreError("NG_STORE_FAILED", `a value of type ${typeof value} cannot be written as JSON`);
}
