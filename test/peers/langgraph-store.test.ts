/** Programs of LangGraph's long-term memory behave over our stores as with LangGraph's own store. */
import {
  Annotation,
  type BaseStore,
  END,
  InMemoryStore,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { LangGraphStore } from "../../adapters/langgraph/langgraph-store.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";

const WORDS = ["cat", "dog", "car"];
const embed = (text: string): number[] => [...WORDS.map((word) => text.split(word).length - 1), 0.1];
const embeddings = {
  embedQuery: async (text: string) => embed(text),
  embedDocuments: async (texts: string[]) => texts.map(embed),
};
const vectors = (texts: readonly string[]) => texts.map(embed);

const OURS = {
  MemoryStore: () => new LangGraphStore(new MemoryStore(), { vectors, fields: ["text"] }),
  SqliteStore: () => new LangGraphStore(new SqliteStore(":memory:"), { vectors, fields: ["text"] }),
};

/** What a program sees, without times. */
async function transcript(store: BaseStore): Promise<unknown[]> {
  const seen: unknown[] = [];
  const see = (value: unknown): void => {
    const plain = JSON.parse(JSON.stringify(value ?? null)) as unknown;
    seen.push(
      JSON.parse(
        JSON.stringify(plain, (name, part: unknown) => (/^(?:created|updated)At$/.test(name) ? "time" : part)),
      ),
    );
  };
  see(await store.get(["users"], "a"));
  await store.put(["users", "1"], "a", { text: "the cat", age: 3 });
  await store.put(["users", "1"], "b", { text: "a dog", age: 5 });
  await store.put(["users", "2"], "a", { text: "cat and dog", age: 7 });
  await store.put(["cars"], "c", { text: "a car", age: 9 });
  see(await store.get(["users", "1"], "a"));
  await store.put(["users", "1"], "a", { text: "two cat cat", age: 4 });
  see(await store.get(["users", "1"], "a"));
  see(await store.search(["users"]));
  see(await store.search(["users"], { filter: { age: 5 } }));
  see(await store.search(["users"], { filter: { age: { $gte: 5 } } }));
  see(await store.search(["users"], { filter: { age: { $ne: 5 } } }));
  see(await store.search(["users"], { limit: 1, offset: 1 }));
  see((await store.search(["users"], { query: "cat" })).map(({ key, namespace }) => [...namespace, key]));
  see((await store.search([], { query: "car", limit: 1 })).map(({ key }) => key));
  see(await store.listNamespaces({}));
  see(await store.listNamespaces({ prefix: ["users"] }));
  see(await store.listNamespaces({ suffix: ["2"] }));
  see(await store.listNamespaces({ prefix: ["*", "1"] }));
  see(await store.listNamespaces({ maxDepth: 1 }));
  see(
    await store.batch([
      { namespace: ["users", "1"], key: "a" },
      { namespace: ["users", "1"], key: "b", value: { text: "first" } },
      { namespace: ["users", "1"], key: "b", value: { text: "last" } },
      { namespacePrefix: ["users"], limit: 10, offset: 0 },
    ]),
  );
  see(await store.get(["users", "1"], "b"));
  await store.delete(["users", "1"], "a");
  see(await store.get(["users", "1"], "a"));
  return seen;
}

test.each(Object.entries(OURS))("%s: reads, writes and searches as InMemoryStore does", async (_, make) => {
  const theirs = new InMemoryStore({ index: { dims: 4, embeddings: embeddings as never, fields: ["text"] } });
  expect(await transcript(make() as unknown as BaseStore)).toEqual(await transcript(theirs));
});

test.each(Object.entries(OURS))("%s: differs from InMemoryStore as the documentation says", async (_, make) => {
  const theirs: BaseStore = new InMemoryStore({
    index: { dims: 4, embeddings: embeddings as never, fields: ["text"] },
  });
  const seen = async (store: BaseStore): Promise<unknown[]> => {
    const keys = async (...search: Parameters<BaseStore["search"]>) =>
      (await store.search(...search)).map(({ key }) => key);
    await store.put(["ab"], "b", { text: "cat", tags: ["x"] });
    await store.put(["ab"], "a", { text: "dog", tags: [] }, false);
    await store.put(["abc"], "c", { text: "car" });
    (await store.get(["ab"], "b"))!.value["text"] = "changed";
    const refused = async (work: Promise<unknown>) => work.then(() => false, () => true); // prettier-ignore
    return [
      await keys(["ab"]),
      await keys(["ab"], { query: "cat" }),
      await keys([], { filter: { tags: ["x"] } }),
      (await store.get(["ab"], "b"))!.value["text"],
      await refused(keys([], { filter: { text: { $in: ["cat"] } } as never })),
      await refused(store.put(["ab"], "", { text: "" })),
      await refused(store.put(["ab"], "d", { at: new Date(0) })),
    ];
  };
  expect(await seen(theirs)).toEqual([["b", "a", "c"], ["b", "c", "a"], [], "changed", false, false, false]);
  expect(await seen(make() as unknown as BaseStore)).toEqual([["a", "b"], ["b"], ["b"], "cat", true, true, true]);
});

test.each(Object.entries(OURS))("%s: nodes of a graph reach it", async (_, make) => {
  const State = Annotation.Root({ name: Annotation<string>, visits: Annotation<number> });
  const visit = async ({ name }: { name: string }, { store }: LangGraphRunnableConfig) => {
    const known = (await store!.get(["visits"], name))?.value as { count: number } | undefined;
    const count = (known?.count ?? 0) + 1;
    await store!.put(["visits"], name, { count });
    return { visits: count };
  };
  const graph = new StateGraph(State).addNode("visit", visit).addEdge(START, "visit").addEdge("visit", END);
  const app = graph.compile({ store: make() as unknown as BaseStore });
  expect((await app.invoke({ name: "ann" })).visits).toBe(1);
  expect((await app.invoke({ name: "ann" })).visits).toBe(2);
});

test("the engine of this package and LangGraph share the items of a store", async () => {
  const store = new MemoryStore();
  await new LangGraphStore(store).put(["users"], "a", { n: 1 });
  const { StoreMemory } = await import("../../runtime/memory/long-term-memory.ts");
  const memory = new StoreMemory({ store, now: () => Date.now(), options: {} });
  expect((await memory.get("users", "a"))?.value).toEqual({ n: 1 });
});
