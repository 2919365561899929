import { expect, test } from "vitest";
import { createPlanRunner } from "../../runtime/index.ts";
import { planTable } from "./compile-plan.ts";

const PLAN = planTable(`plan p {
  output n: int = 0
  task a = 1 into n
  task b = n + 1 after a
  task c = n * 3 after b
}`);

test("8.1: the events of a run, as they happen", async () => {
  const stream = createPlanRunner(PLAN).stream();
  const types: string[] = [];
  for await (const event of stream) types.push(event.type);
  expect([types[0], types.at(-1)]).toEqual(["run_start", "run_end"]);
  expect(types).toHaveLength(14);
  expect(await stream.result).toMatchObject({ outcome: "clean" });
});

test("8.2: events that a slow consumer does not take are dropped, and the stream reports how many", async () => {
  const stream = createPlanRunner(PLAN).stream({}, { buffer: 2 });
  await stream.result;
  const items: unknown[] = [];
  for await (const event of stream) items.push("count" in event ? event.count : event.type);
  expect(items).toEqual([12, "node_transition", "run_end"]);
});

test("leaving the loop cancels the run", async () => {
  const stream = createPlanRunner(PLAN).stream();
  for await (const event of stream) if (event.type === "node_attempt") break;
  expect(await stream.result).toMatchObject({ status: "cancelled", exitCode: 130 });
});

test("an error reaches a consumer that only reads the stream", async () => {
  const stream = createPlanRunner(PLAN).stream({ n: 1 });
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
});
