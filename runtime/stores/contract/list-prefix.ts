import type { Json } from "../../value/json.ts";

/** Lists up to this length are copied at once: a lazy property costs more. */
const EAGER_LENGTH = 16;

/**
 * A list that a channel had at one checkpoint, as the first items of a list that later checkpoints extend. A history of n
 * checkpoints then holds one list, not n copies of it.
 */
export class ListPrefix {
  readonly #items: readonly Json[];
  readonly #length: number;
  #list: Json | undefined;

  /** @param items only ever extended; the first `length` of them are the list */
  constructor(items: readonly Json[], length: number) {
    this.#items = items;
    this.#length = length;
  }

  /** The list, frozen. The first call copies it. */
  list(): Json {
    return (this.#list ??= Object.freeze(this.#items.slice(0, this.#length)));
  }

  /** Defines an own property of `values` that copies the list when it is first read. */
  defineOn(values: Record<string, Json>, channel: string): void {
    const isEager = this.#length <= EAGER_LENGTH;
    const value = isEager ? { value: this.list() } : { get: () => this.list() };
    Object.defineProperty(values, channel, { ...value, enumerable: true, configurable: true });
  }
}
