import type { StoredItem } from "../../interface/memory.ts";
import { expectCode, expectEqual } from "./expect.ts";
import { optionalCase, type StoreCase } from "./store-case.ts";

const NEEDS = ["putItem", "getItem", "deleteItem", "listItems", "pruneItems"] as const;

function item(namespace: readonly string[], key: string, more: Partial<StoredItem> = {}): StoredItem {
  return {
    namespace,
    key,
    value: `${key} of ${namespace.join("/")}`,
    created: 1000,
    updated: 1000,
    expires: null,
    vector: null,
    ...more,
  };
}

export const MEMORY: readonly StoreCase[] = [
  optionalCase("the memory keeps items by namespace and key", NEEDS, async (store) => {
    expectEqual(await store.getItem(["users"], "a"), undefined, "an item of an empty memory");
    expectEqual(await store.listItems([], { limit: 10, now: 0 }), [], "the items of an empty memory");
    expectEqual(await store.deleteItem(["users"], "a"), false, "deleting from an empty memory");
    expectEqual(await store.pruneItems(5000), 0, "pruning an empty memory");
    const first = item(["users", "1"], "a", { value: { deep: [1, null, "x"] }, vector: "AAAA" });
    await store.putItem(first);
    await store.putItem(item(["users", "1"], "b"));
    await store.putItem(item(["users"], "a"));
    expectEqual(await store.getItem(["users", "1"], "a"), first, "an item");
    expectEqual(await store.getItem(["users", "1"], "c"), undefined, "an item that is not there");
    await store.putItem({ ...first, value: 2, created: 2000, updated: 2000, vector: null });
    const replaced = { ...first, value: 2, updated: 2000, vector: null };
    expectEqual(
      await store.getItem(["users", "1"], "a"),
      replaced,
      "an item that was replaced keeps when it was created",
    );
    expectEqual(await store.deleteItem(["users", "1"], "a"), true, "deleting an item");
    expectEqual(await store.getItem(["users", "1"], "a"), undefined, "a deleted item");
    expectEqual((await store.getItem(["users"], "a"))?.value, "a of users", "an item of another namespace");
  }),

  optionalCase("the memory lists items below a prefix, in pages, without expired ones", NEEDS, async (store) => {
    const names: [readonly string[], string][] = [
      [["a"], "1"],
      [["a"], "2"],
      [["a", "b"], "1"],
      [["ab"], "1"],
      [["b"], "1"],
      [["\u{1f600}"], "1"],
      [["\uffee"], "1"],
    ];
    for (const [namespace, key] of names) await store.putItem(item(namespace, key));
    await store.putItem(item(["a"], "expired", { expires: 1500 }));
    const list = async (
      prefix: readonly string[],
      options: { limit?: number; after?: StoredItem; now?: number } = {},
    ) =>
      (await store.listItems(prefix, { limit: 100, now: 2000, ...options })).map(
        (one) => `${one.namespace.join("/")} ${one.key}`,
      );
    const all = ["a 1", "a 2", "a/b 1", "ab 1", "b 1", "\uffee 1", "\u{1f600} 1"];
    expectEqual(await list([]), all, "all items, in the order of their code points");
    expectEqual(await list(["a"]), ["a 1", "a 2", "a/b 1"], "the items below a prefix of one part");
    expectEqual(await list(["a", "b"]), ["a/b 1"], "the items below a prefix of two parts");
    expectEqual(await list(["c"]), [], "the items below a prefix without items");
    expectEqual(
      await list(["a"], { now: 1000 }),
      ["a 1", "a 2", "a expired", "a/b 1"],
      "items that have not expired yet",
    );
    const paged: string[] = [];
    let after: StoredItem | undefined;
    // A store that ignores `after` would return pages for ever.
    for (let pages = 0; pages <= all.length; pages++) {
      const page = await store.listItems([], { limit: 2, now: 2000, ...(after === undefined ? {} : { after }) });
      for (const one of page) paged.push(`${one.namespace.join("/")} ${one.key}`);
      after = page.at(-1);
      if (after === undefined) break;
    }
    expectEqual(paged, all, "all items, in pages of two");
    await store.putItem(item(["a"], "expired", { created: 3000, updated: 3000 }));
    expectEqual((await store.getItem(["a"], "expired"))?.created, 3000, "an item in place of an expired one is new");
    await store.putItem(item(["a"], "expired", { updated: 3000, expires: 4000 }));
    expectEqual(await store.pruneItems(3999), 0, "pruning before an item expires");
    expectEqual(await store.pruneItems(4000), 1, "pruning when an item has expired");
    expectEqual(await list([]), all, "the items after pruning");
  }),

  optionalCase(
    "the memory takes names of any characters, and refuses values that are not JSON",
    NEEDS,
    async (store) => {
      const names = [
        "",
        "\u0000",
        "\n",
        "\t",
        "a\nb",
        "\ud800",
        "%",
        "_",
        "'",
        '"',
        "\\",
        "__proto__",
        "constructor",
        " ",
        "\u{10ffff}",
      ];
      for (const name of names) await store.putItem(item(["names", name], name));
      for (const name of names) {
        const found = await store.getItem(["names", name], name);
        expectEqual(found, item(["names", name], name), `the item named ${JSON.stringify(name)}`);
      }
      const found = await store.listItems(["names"], { limit: 100, now: 0 });
      expectEqual(found.length, names.length, "the number of items");
      const cycle: { self?: unknown } = {};
      cycle.self = cycle;
      for (const value of [1n, cycle]) {
        const given = item(["names"], "bad", { value: value as unknown as StoredItem["value"] });
        await expectCode("NG_STORE_FAILED", () => store.putItem(given), "a value that is not JSON");
      }
      expectEqual(await store.getItem(["names"], "bad"), undefined, "an item that was refused");
    },
  ),

  optionalCase("the memory outlives the process", [...NEEDS, "reopen"], async (store, under) => {
    const kept = item(["users"], "a", { value: { language: "Portuguese" }, expires: 9000, vector: "AACAPw==" });
    await store.putItem(kept);
    const reopened = await under.reopen();
    expectEqual(await reopened.getItem?.(["users"], "a"), kept, "the item");
  }),
];
