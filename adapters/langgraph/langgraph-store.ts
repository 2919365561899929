import {
  BaseStore,
  type GetOperation,
  getTextAtPath,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import type { LongTermMemory, MemoryItem, MemoryOptions, ScoredItem } from "../../runtime/interface/memory.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { StoreMemory } from "../../runtime/memory/long-term-memory.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { matchesFilter } from "./match-filter.ts";

export interface LangGraphStoreOptions extends MemoryOptions {
  /** Paths of the texts that vectors are made from, as in `index.fields` of LangGraph. Default: the whole value as JSON. */
  readonly fields?: readonly string[];
}

/** Items that are read at a time: the largest page of the memory. */
const PAGE = 1000;

/**
 * A long-term memory for LangGraph JS (`BaseStore`) in a store of this package. It shares its items with `engine.memory` of an
 * engine on the same store. Needs the package `@langchain/langgraph-checkpoint`, which LangGraph installs.
 *
 * @example
 * const app = graph.compile({ checkpointer, store: new LangGraphStore(new SqliteStore("runs.db")) });
 */
export class LangGraphStore extends BaseStore {
  readonly #memory: LongTermMemory;
  readonly #fields: readonly string[] | undefined;
  readonly #compares: boolean;

  constructor(store: Store, options: LangGraphStoreOptions = {}) {
    super();
    const { fields, ...memory } = options;
    this.#memory = new StoreMemory({ store, now: () => Date.now(), options: memory });
    this.#fields = fields;
    this.#compares = memory.vectors !== undefined;
  }

  /** Reads see the state before the writes of the batch; of several writes of one item the last counts. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    const writes = new Map<string, PutOperation>();
    for (const operation of operations) {
      if ("namespacePrefix" in operation) results.push(await this.#search(operation));
      else if ("value" in operation) {
        writes.set(JSON.stringify([operation.namespace, operation.key]), operation);
        results.push(undefined);
      } else if ("key" in operation) results.push(await this.#get(operation));
      else results.push(await this.#namespaces(operation));
    }
    for (const write of writes.values()) await this.#put(write);
    return results as OperationResults<Op>;
  }

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    const item = await this.#memory.get(namespace, key);
    return item === undefined ? null : asItem(item);
  }

  async #put({ namespace, key, value, index }: PutOperation): Promise<void> {
    if (value === null) {
      await this.#memory.delete(namespace, key);
      return;
    }
    const paths = index ?? this.#fields;
    const text = paths === false ? false : textAt(value, paths);
    await this.#memory.put(namespace, key, value as JsonObject, text === undefined ? {} : { text });
  }

  async #search({ namespacePrefix, filter, query, limit = 10, offset = 0 }: SearchOperation): Promise<SearchItem[]> {
    const isCompared = query !== undefined && query !== "" && this.#compares;
    const items: readonly (MemoryItem | ScoredItem)[] = isCompared
      ? await this.#memory.search(namespacePrefix, { query, limit: PAGE })
      : await this.#all(namespacePrefix);
    const found = items.filter(({ value }) => matchesFilter(value, filter));
    return found.slice(offset, offset + limit).map((item) => {
      const score = "score" in item ? item.score : null;
      return score === null ? asItem(item) : { ...asItem(item), score };
    });
  }

  async #namespaces({ matchConditions = [], maxDepth, limit, offset }: ListNamespacesOperation): Promise<string[][]> {
    const found = new Map<string, string[]>();
    for (const { namespace } of await this.#all([])) {
      if (!matchConditions.every((condition) => matches(condition, namespace))) continue;
      const parts = namespace.slice(0, maxDepth);
      found.set(JSON.stringify(parts), parts);
    }
    return [...found.values()].slice(offset, offset + limit);
  }

  async #all(prefix: readonly string[]): Promise<readonly MemoryItem[]> {
    const items: MemoryItem[] = [];
    for (let after: MemoryItem | undefined; ;) {
      const page = await this.#memory.list(prefix, { limit: PAGE, ...(after === undefined ? {} : { after }) });
      for (const item of page) items.push(item);
      after = page.at(-1);
      if (page.length < PAGE || after === undefined) return items;
    }
  }
}

function asItem({ namespace, key, value, created, updated }: MemoryItem): Item {
  return {
    namespace: [...namespace],
    key,
    // LangGraph's programs may change what they have read.
    value: structuredClone(value) as Record<string, unknown>,
    createdAt: new Date(created),
    updatedAt: new Date(updated),
  };
}

/** The texts at some paths as one; `false` if there is none, `undefined` for the whole value. */
function textAt(value: Record<string, unknown>, paths: readonly string[] | undefined): string | false | undefined {
  if (paths === undefined) return undefined;
  const texts = paths.flatMap((path) => (path === "$" ? [JSON.stringify(value as Json)] : getTextAtPath(value, path)));
  return texts.length === 0 ? false : texts.join("\n");
}

function matches({ matchType, path }: MatchCondition, namespace: readonly string[]): boolean {
  const start = matchType === "prefix" ? 0 : namespace.length - path.length;
  return (
    path.length <= namespace.length && path.every((part, index) => part === "*" || part === namespace[start + index])
  );
}
