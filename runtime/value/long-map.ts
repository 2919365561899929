/** The number of entries from which several maps have them. */
const MANY = 4096;

/** A power of two. */
const PARTS = 64;

/**
 * Values by name, in the order in which the names were first set. A `Map` that grows copies itself, which takes 10 ms for 65,000 entries. So
 * many entries are found by many small maps, of which one grows at a time.
 */
export class LongMap<V extends object> {
  /** A removed value leaves a hole. */
  #values: (V | undefined)[] = [];
  /** Name -> index in `#values`. */
  #parts: Map<string, number>[] = [new Map()];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(name: string): boolean {
    return this.#partOf(name).has(name);
  }

  /** Adds a value, or replaces the one of the name. */
  set(name: string, value: V): void {
    const part = this.#partOf(name);
    const at = part.get(name);
    if (at !== undefined) {
      this.#values[at] = value;
      return;
    }
    part.set(name, this.#values.push(value) - 1);
    if (++this.#size === MANY && this.#parts.length === 1) this.#divide(part);
  }

  delete(name: string): void {
    const part = this.#partOf(name);
    const at = part.get(name);
    if (at === undefined) return;
    part.delete(name);
    this.#values[at] = undefined;
    this.#size--;
  }

  clear(): void {
    if (this.#values.length === 0) return;
    this.#values = [];
    this.#parts = [new Map()];
    this.#size = 0;
  }

  values(): V[] {
    if (this.#size === this.#values.length) return [...(this.#values as V[])];
    return this.#values.filter((value) => value !== undefined);
  }

  #partOf(name: string): Map<string, number> {
    return this.#parts.length === 1 ? this.#parts[0]! : this.#parts[hashOfEnd(name) & (PARTS - 1)]!;
  }

  #divide(all: ReadonlyMap<string, number>): void {
    this.#parts = Array.from({ length: PARTS }, () => new Map<string, number>());
    for (const [name, at] of all) this.#partOf(name).set(name, at);
  }
}

/** Of the last characters: the number of an item is at the end of its id. */
function hashOfEnd(name: string): number {
  let hash = 0;
  for (let at = Math.max(0, name.length - 4); at < name.length; at++) hash = hash * 31 + name.charCodeAt(at);
  return hash;
}
