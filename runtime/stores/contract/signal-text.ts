/** Encoding of signals in rows. */
import type { Signal } from "../../interface/checkpoint.ts";
import type { Json } from "../../value/json.ts";
import { freezeDeep } from "./frozen-json.ts";
import { jsonText } from "./json-text.ts";
import { decodeKey, encodeKey } from "./key.ts";
import { rowName, SIGNALS, type SignalRow } from "./rows.ts";
import { corruptRecord, quote } from "./store-error.ts";

export function encodeSignal({ id, name, value }: Signal): string {
  return jsonText([name, value], () => `the value of signal ${quote(id)}`);
}

/** JSON text by the key of the id. */
export function encodeSignals(signals: readonly Signal[] = []): ReadonlyMap<string, string> {
  return new Map(signals.map((signal) => [encodeKey(signal.id), encodeSignal(signal)]));
}

/** @param row with a verified checksum, of a signal that was not taken */
export function decodeSignal(row: SignalRow): Signal {
  let parsed: unknown;
  try {
    parsed = JSON.parse(row.data ?? "");
  } catch (error) {
    throw corruptRecord(rowName(SIGNALS, row), "it is not JSON", error);
  }
  if (!Array.isArray(parsed) || parsed.length !== 2 || typeof parsed[0] !== "string") {
    throw corruptRecord(rowName(SIGNALS, row), "it is not a name and a value");
  }
  return Object.freeze({ id: decodeKey(row.id), name: parsed[0], value: freezeDeep(parsed[1] as Json) });
}

/** Whether the text of a header has the field `due`, or may have it. */
export function mayBeDue(header: string): boolean {
  return header.includes('"due":');
}
