/**
 * Interface: a value of any other type in place of options is an error with a code, and the message says what options
 * are.
 */
import { describe, expect, test } from "vitest";
import { createEngine, createPlanRunner, type EngineOptions } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { planTable } from "../plan/compile-plan.ts";
import { engineOf, tableOf } from "../support/graph.ts";

const TEXT = "graph g { output n: int = 0  node a = 1 into n  start -> a }";
const WRONG = [null, 5, "", []] as const;

describe.each(WRONG.map((wrong) => [JSON.stringify(wrong), wrong as never] as const))("%s as options", (_, wrong) => {
  const refused = (whose: string): object => ({
    code: "NG_BAD_INPUT",
    message: `the options of ${whose} must be a record`,
  });

  test("of calls to an engine", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await expect(engine.run({}, wrong)).rejects.toMatchObject(refused("a run"));
    await expect(engine.fork("t", wrong)).rejects.toMatchObject(refused("a fork"));
    await expect(engine.update("t", { n: 1 }, wrong)).rejects.toMatchObject(refused("an update"));
    await expect(engine.history("t", wrong)).rejects.toMatchObject(refused("a history"));
    await expect(engine.label("t", "here", wrong)).rejects.toMatchObject(refused("a label"));
    expect(() => engine.stream({}, wrong)).toThrow(expect.objectContaining(refused("a stream")) as Error);
    expect(await engine.history("t")).toHaveLength(2);
  });

  test("of engines and plan runners", async () => {
    const options = wrong as EngineOptions;
    expect(() => createEngine(tableOf(TEXT), options)).toThrow(expect.objectContaining(refused("an engine")) as Error);
    const plan = planTable("plan p { output n: int = 0  task a = 1 into n }");
    expect(() => createPlanRunner(plan, options)).toThrow(expect.objectContaining(refused("a plan runner")) as Error);
    await expect(createPlanRunner(plan).run({}, wrong)).rejects.toMatchObject(refused("a run"));
    await expect(createPlanRunner(plan).resume("t", wrong)).rejects.toMatchObject(refused("a run"));
  });
});
