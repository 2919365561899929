import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { MemoryItem, Namespace, PutOptions, SearchOptions } from "../../runtime/interface/memory.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";

/**
 * The long-term memory of the engine, whose items outlive threads. `namespace` says where an item belongs: `"facts"`, or
 * `["users", id]`.
 *
 * - `memory(put: key, namespace: …, value: …, ttl: 30d)` stores a value.
 * - `memory(get: key, namespace: …)` returns the value, `null` if there is none.
 * - `memory(delete: key, namespace: …)` returns whether there was such an item.
 * - `memory(list: namespace, filter: …, limit: …)` returns the items below a namespace as `{ namespace, key, value }`.
 * - `memory(search: text, namespace: …, filter: …, limit: …, minScore: …)` returns the most similar items, with `score`. It needs an
 *   engine with `memory: { vectors }`.
 *
 * A write is durable at once, and is made again when the node runs again.
 */
export const memory: BuiltinNode = async (args, context) => {
  const { put, get, search, list, namespace = null, value = null, ttl } = args;
  const place = namespace as Namespace;
  const { memory: items } = context;
  if (typeof put === "string") {
    const options: PutOptions = ttl === undefined ? {} : { ttl: ttl as number | null };
    await items.put(place, put, value, options);
    return null;
  }
  if (typeof get === "string") return (await items.get(place, get))?.value ?? null;
  if (typeof search === "string") {
    const found = await items.search(place, { query: search, ...searchOptions(args) });
    return found.map((item) => ({ ...shown(item), score: item.score }));
  }
  if (list !== undefined) return (await items.list(list as Namespace, searchOptions(args))).map(shown);
  return items.delete(place, String(args["delete"]));
};

function searchOptions({ filter, limit, minScore }: Readonly<Record<string, Json>>): Omit<SearchOptions, "query"> {
  return {
    ...(filter === undefined ? {} : { filter: filter as JsonObject }),
    ...(limit === undefined ? {} : { limit: limit as number }),
    ...(minScore === undefined ? {} : { minScore: minScore as number }),
  };
}

function shown({ namespace, key, value }: MemoryItem): JsonObject {
  return { namespace: [...namespace], key, value };
}
