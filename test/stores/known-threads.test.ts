import { expect, test } from "vitest";
import { newThread } from "../../runtime/stores/contract/thread-row.ts";
import { addChecksum, THREADS } from "../../runtime/stores/contract/rows.ts";
import { KnownThreads } from "../../runtime/stores/postgres/known-threads.ts";

test("released rows are those of the stored row alone, also if another one has the same checksum", () => {
  const threads = new KnownThreads();
  const thread = addChecksum(THREADS, { ...newThread("t"), thread: 1, epoch: 5, head: 9, last: 9, checkpoints: 3 });
  const known = { thread, head: undefined, cells: new Map(), isComplete: true };
  threads.release(known);
  expect(threads.takeReleased({ ...thread })).toBe(known);
  expect(threads.takeReleased({ ...thread })).toBeUndefined();
  for (const change of [{ epoch: 6 }, { last: 10 }, { checkpoints: 2 }, { namespaces: 1 }, { writes: 1 }, { sum: 0 }]) {
    threads.release(known);
    expect(threads.takeReleased({ ...thread, ...change })).toBeUndefined();
  }
});
