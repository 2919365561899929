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
    return this.#call("put", namespace, key, value, options);
  }

  get(namespace: Namespace, key: string): Promise<MemoryItem | undefined> {
    return this.#call("get", namespace, key);
  }

  delete(namespace: Namespace, key: string): Promise<boolean> {
    return this.#call("delete", namespace, key);
  }

  list(prefix?: Namespace, options?: MemoryListOptions): Promise<readonly MemoryItem[]> {
    return this.#call("list", prefix, options);
  }

  search(prefix: Namespace, options?: SearchOptions | string): Promise<readonly ScoredItem[]> {
    return this.#call("search", prefix, options);
  }

  prune(): Promise<number> {
    return this.#call("prune");
  }

  async #call<Name extends keyof LongTermMemory>(
    name: Name,
    ...args: readonly unknown[]
  ): Promise<Awaited<ReturnType<LongTermMemory[Name]>>> {
    const copies = args.map(snapshotJson);
    const memory: unknown = await this.#load();
    return (memory as Record<Name, (...given: readonly unknown[]) => never>)[name](...copies);
  }
}
