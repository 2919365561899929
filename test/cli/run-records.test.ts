/** The store's record of a run: how often it is written. */
import { expect, test } from "vitest";
import { RunRecords } from "../../cli/plan/run-records.ts";
import type { StoredItem } from "../../runtime/interface/memory.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";

test("commands that start in one turn are written at once, before each of them may run", async () => {
  const written: StoredItem[] = [];
  class Observed extends MemoryStore {
    override putItem(item: StoredItem): void {
      written.push(item);
      super.putItem(item);
    }
  }
  const records = RunRecords.of(new Observed(), false, { gone: [], redact: (text) => text, onNote: () => undefined });
  await records?.begin({ run: "r", thread: null, plan: "p", kind: "plan" }, () => false);
  expect(written).toHaveLength(1);
  const start = (group: number) =>
    records?.onStart({ group, command: `c${group}`, key: `k${group}`, node: "a", attempt: 1 }, "1");
  await Promise.all([start(4_000_001), start(4_000_002), start(4_000_003)]);
  expect(written).toHaveLength(2);
  expect(written[1]?.value).toMatchObject({
    commands: [{ command: "c4000001" }, { command: "c4000002" }, { command: "c4000003" }],
  });
  await start(4_000_004);
  expect(written).toHaveLength(3);
  await records?.end();
});

test("a record that cannot be written refuses all commands that wait for it", async () => {
  let isFull = false;
  class Full extends MemoryStore {
    override putItem(item: StoredItem): void {
      if (isFull) throw new Error("the disk is full");
      super.putItem(item);
    }
  }
  const records = RunRecords.of(new Full(), false, { gone: [], redact: (text) => text, onNote: () => undefined });
  await records?.begin({ run: "r", thread: null, plan: "p", kind: "plan" }, () => false);
  isFull = true;
  const started = [1, 2].map((key) =>
    records?.onStart({ group: 4_000_000 + key, command: "c", key: `${key}`, node: "a", attempt: 1 }, "1"),
  );
  for (const one of started) await expect(one).rejects.toThrow("the disk is full");
  await records?.end();
});
