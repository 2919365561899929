import type { KeyValues } from "./key-values.ts";

/** Keeps writes until all calls of a batch are done: each write of a row is an entry of the journal, and several calls write the same rows. */
export class WriteBuffer implements KeyValues {
  readonly #state: KeyValues;
  readonly #writes = new Map<string, string | undefined>();
  /** The state has no rows but those that are written here. */
  isNew = false;

  constructor(state: KeyValues) {
    this.#state = state;
  }

  async get(key: string): Promise<string | undefined> {
    return this.isNew || this.#writes.has(key) ? this.#writes.get(key) : this.#state.get(key);
  }

  set(key: string, text: string): void {
    this.#writes.set(key, text);
  }

  clear(key: string): void {
    this.#writes.set(key, undefined);
  }

  keys(): Promise<readonly string[]> {
    this.flush();
    return this.#state.keys();
  }

  flush(): void {
    for (const [key, text] of this.#writes) {
      if (text !== undefined) this.#state.set(key, text);
      else if (!this.isNew) this.#state.clear(key);
    }
    this.#writes.clear();
    this.isNew = false;
  }
}
