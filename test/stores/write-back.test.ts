import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Connection } from "../../runtime/stores/sqlite/connection.ts";
import { WriteBack } from "../../runtime/stores/sqlite/write-back.ts";

/** Transactions before each write-back of a log that has a number of pages then. */
async function intervals(pages: readonly number[]): Promise<readonly number[]> {
  const reports = [...pages];
  const log = new WriteBack({ get: () => ({ log: reports.shift() }) } as unknown as Connection);
  const found: number[] = [];
  let count = 0;
  while (reports.length > 0) {
    const left = reports.length;
    log.count();
    count++;
    await setImmediate();
    await setImmediate();
    if (reports.length === left) continue;
    found.push(count);
    count = 0;
  }
  return found;
}

test("the log is written back at 500 pages", async () => {
  expect(await intervals([400, 500, 1000, 500])).toEqual([8, 10, 10, 8]);
});

test("a log that has begun again, because a commit has written it back, does not stop the write-backs", async () => {
  expect(await intervals([2, 2, 2, 2])).toEqual([8, 10, 13, 16]);
  expect(await intervals([20, 20, 900, 500])).toEqual([8, 10, 13, 8]);
});
