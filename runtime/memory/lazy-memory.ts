import type {
  LongTermMemory,
  MemoryItem,
  MemoryListOptions,
  Namespace,
  PutOptions,
  ScoredItem,
  SearchOptions,
} from "../interface/memory.ts";
import { snapshotJson } from "../run/copy-arguments.ts";
import type { Json, MaybePromise } from "../value/json.ts";

/** A long-term memory whose code is loaded with the first call. The calls keep copies of their arguments until then. */
export class LazyMemory implements LongTermMemory {
  readonly #load: () => MaybePromise<LongTermMemory>;

  constructor(load: () => MaybePromise<LongTermMemory>) {
    this.#load = load;
  }

  put(namespace: Namespace, key: string, value: Json, options?: PutOptions): Promise<void> {
    return this.#call((memory, ...args) => memory.put(...args), namespace, key, value, options);
  }

  get(namespace: Namespace, key: string): Promise<MemoryItem | undefined> {
    return this.#call((memory, ...args) => memory.get(...args), namespace, key);
  }

  delete(namespace: Namespace, key: string): Promise<boolean> {
    return this.#call((memory, ...args) => memory.delete(...args), namespace, key);
  }

  list(prefix?: Namespace, options?: MemoryListOptions): Promise<readonly MemoryItem[]> {
    return this.#call((memory, ...args) => memory.list(...args), prefix, options);
  }

  search(prefix: Namespace, options?: SearchOptions | string): Promise<readonly ScoredItem[]> {
    return this.#call((memory, ...args) => memory.search(...args), prefix, options);
  }

  prune(): Promise<number> {
    return this.#call((memory) => memory.prune());
  }

  async #call<Args extends readonly unknown[], Result>(
    method: (memory: LongTermMemory, ...args: Args) => Promise<Result>,
    ...args: Args
  ): Promise<Result> {
    const copies = args.map(snapshotJson) as unknown as Args;
    return method(await this.#load(), ...copies);
  }
}
