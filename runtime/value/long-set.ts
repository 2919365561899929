import { hashOfEnd, MANY, PARTS } from "./long-map.ts";
import type { Json } from "./json.ts";

/** A set of texts, numbers and other values without parts. Many are in many small sets, for the reason that `LongMap` has. */
export class LongSet {
  #parts: Set<Json>[] = [new Set()];

  has(value: Json): boolean {
    return this.#partOf(value).has(value);
  }

  add(value: Json): void {
    const part = this.#partOf(value);
    part.add(value);
    if (this.#parts.length > 1 || part.size < MANY) return;
    this.#parts = Array.from({ length: PARTS }, () => new Set<Json>());
    for (const each of part) this.#partOf(each).add(each);
  }

  #partOf(value: Json): Set<Json> {
    if (this.#parts.length === 1) return this.#parts[0]!;
    const hash = typeof value === "number" ? value : typeof value === "string" ? hashOfEnd(value) : 0;
    return this.#parts[hash & (PARTS - 1)]!;
  }
}
