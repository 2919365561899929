/** The pending writes of a step, compared with a `Map` by task. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { PendingWrite } from "../../runtime/interface/checkpoint.ts";
import { WritesByTask } from "../../runtime/checkpoint/writes-by-task.ts";

const write = (taskId: string, result: number): PendingWrite => ({ taskId, node: "each", result });

/** @param prefilled items that have a result at the start */
function compare(prefilled: number, operations: readonly (readonly [string, string, number])[]): void {
  const writes = new WritesByTask();
  const model = new Map<string, PendingWrite>();
  const set = (one: PendingWrite): void => {
    writes.set(one);
    model.set(one.taskId, one);
  };
  for (let n = 0; n < prefilled; n++) set(write(`each[${n}]`, n));
  for (const [kind, task, n] of operations) {
    if (kind === "set") set(write(task, n));
    else if (kind === "delete") {
      writes.delete(task);
      model.delete(task);
    } else {
      writes.clear();
      model.clear();
    }
    expect(writes.has(task)).toBe(model.has(task));
    expect(writes.size).toBe(model.size);
  }
  expect(writes.values()).toEqual([...model.values()]);
}

it("keeps the newest write of each task, in the order of the first ones", () => {
  const task = fc.oneof(
    fc.constantFrom("", "a", "each"),
    fc.integer({ min: 0, max: 9 }).map((n) => `each[${n}]`),
  );
  const kind = fc.constantFrom("set", "set", "set", "delete", "clear");
  fc.assert(fc.property(fc.array(fc.tuple(kind, task, fc.integer())), (operations) => compare(0, operations)));
});

it("does so for many tasks", () => {
  for (const prefilled of [4095, 4096, 20_000]) {
    compare(prefilled, [
      ["set", "each[7]", 1],
      ["delete", "each[4000]", 0],
      ["set", "each[4000]", 2],
      ["set", "other", 3],
      ["delete", "unknown", 0],
      ["delete", "each[4094]", 0],
    ]);
    compare(prefilled, [
      ["clear", "each[7]", 0],
      ["set", "each[7]", 1],
    ]);
  }
});
