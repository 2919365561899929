import { expect, test } from "vitest";
import { findCheckpoint } from "../../cli/threads/find-checkpoint.ts";
import { MemoryStore } from "../../runtime/index.ts";
import { engineOf } from "../support/graph.ts";

const LOOP = `graph loop {
  state n: int = 0
  limit steps none
  node add = n + 1 into n
  start -> add
  add -> add when n < 2100
  add -> end otherwise
}`;

test("the beginning of an id is compared with the newest checkpoints; a short one of an older is not guessed at", async () => {
  const store = new MemoryStore();
  await engineOf(LOOP, {}, { store }).run({}, { thread: "t" });
  const [newest] = store.list("t", { limit: 1 });
  if (newest === undefined) throw new Error("the run has left no checkpoint");
  expect(await findCheckpoint(store, newest.id.slice(0, 13), "t")).toMatchObject({ id: newest.id });
  await expect(findCheckpoint(store, newest.id.slice(0, 5), "t")).rejects.toMatchObject({
    code: "NG_UNKNOWN_CHECKPOINT",
    message: expect.stringContaining("newest 2000 checkpoints"),
    help: expect.stringContaining(newest.id),
  });
  await expect(findCheckpoint(store, "ffffffff-ffff-f", "t")).rejects.toMatchObject({ help: "use the whole id" });
});
