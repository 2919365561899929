import { expect, test } from "vitest";
import { ItemState } from "../../hosts/restate/store/item-state.ts";

test("a prune at a part of a millisecond removes the items that have expired, and no others", async () => {
  const content = new Map<string, string>();
  const state = new ItemState({
    get: async (key) => content.get(key),
    set: (key, text) => void content.set(key, text),
    clear: (key) => void content.delete(key),
    keys: async () => [...content.keys()],
  });
  const times = { created: 1, updated: 1, vector: null };
  for (const expires of [1235, 1236, 100_000, null]) {
    await state.put({ item: { namespace: ["a"], key: String(expires), value: 1, ...times, expires } });
  }
  expect(await state.prune({ now: 1235.5 })).toBe(1);
  const left = await state.list({ prefix: ["a"], limit: 10, now: 0 });
  expect(left.map(({ key }) => key)).toEqual(["100000", "1236", "null"]);
});
