/**
 * Interface: if the options of a call are not an object, the call fails with an error code, and the message describes
 * the options.
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
    await expect(createPlanRunner(plan).resume("t", wrong)).rejects.toMatchObject(refused("a resume"));
  });
});

describe("names of options that a call does not know", () => {
  const refused = (message: string): object => ({ code: "NG_BAD_INPUT", message });
  const given = (options: object) => options as never;

  test("are refused with the similar name", async () => {
    const store = new MemoryStore();
    const create = () => createEngine(tableOf(TEXT), given({ stroe: store }));
    expect(create).toThrow(
      expect.objectContaining(refused("`stroe` is not an option of an engine; did you mean `store`?")) as Error,
    );
    const engine = engineOf(TEXT, {}, { store });
    await engine.run({}, { thread: "t" });
    const before = await engine.history("t");
    for (const [call, message] of [
      [() => engine.run({}, given({ treads: "x" })), "`treads` is not an option of a run; did you mean `thread`?"],
      [
        () => engine.resume("t", given({ anwsers: {} })),
        "`anwsers` is not an option of a resume; did you mean `answers`?",
      ],
      [() => engine.fork("t", given({ form: "x" })), "`form` is not an option of a fork; did you mean `from`?"],
      [
        () => engine.update("t", {}, given({ asNode: "a" })),
        "`asNode` is not an option of an update; did you mean `as`?",
      ],
      [
        () => engine.history("t", given({ limits: 1 })),
        "`limits` is not an option of a history; did you mean `limit`?",
      ],
      [
        () => engine.label("t", "x", given({ chekpoint: "y" })),
        "`chekpoint` is not an option of a label; did you mean `checkpoint`?",
      ],
    ] as const) {
      await expect(call()).rejects.toMatchObject(refused(message));
    }
    expect(await engine.history("t")).toEqual(before);
  });

  test("are refused with all names if none is similar", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await expect(engine.update("t", { n: 5 }, given({ namespace: "s" }))).rejects.toMatchObject(
      refused(
        "`namespace` is not an option of an update; its options are `as`, `in`, `replace`, `set`, `config`, `metadata`",
      ),
    );
    expect((await engine.state("t"))?.state).toEqual({ n: 1 });
  });

  test("are refused by an engine without a store, by streams and by plan runners", async () => {
    const engine = engineOf(TEXT);
    await expect(engine.run({}, given({ timeout: 5 }))).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    const veiw = expect.objectContaining(refused("`veiw` is not an option of a stream; did you mean `view`?")) as Error;
    expect(() => engine.stream({}, given({ veiw: "values" }))).toThrow(veiw);
    expect(() => engine.streamResume("t", given({ veiw: "values" }))).toThrow(veiw);
    const plan = planTable("plan p { output n: int = 0  task a = 1 into n }");
    expect(() => createPlanRunner(plan, given({ maxSteps: 5 }))).toThrow(
      /`maxSteps` is not an option of a plan runner/,
    );
    const runner = createPlanRunner(plan);
    await expect(runner.run({}, given({ fromTsk: "a" }))).rejects.toThrow(/of a run; did you mean `fromTask`\?/);
    await expect(runner.resume("t", given({ onyl: [] }))).rejects.toThrow(/of a resume; did you mean `only`\?/);
    expect(() => runner.stream({}, given({ bufer: 1 }))).toThrow(/of a stream; did you mean `buffer`\?/);
  });

  test("pass if they are symbols, and known names pass everywhere", async () => {
    const engine = engineOf(TEXT, {}, given({ store: new MemoryStore(), [Symbol("mine")]: 1 }));
    expect((await engine.run({}, given({ thread: "t", [Symbol("mine")]: 1 }))).status).toBe("completed");
    const stream = engine.stream({}, { view: "values", buffer: 5, thread: "u", metadata: {} });
    expect((await stream.result).status).toBe("completed");
    const plan = createPlanRunner(planTable("plan p { output n: int = 0  task a = 1 into n }"));
    expect((await plan.stream({}, { buffer: 5, maxParallel: 1 }).result).status).toBe("completed");
  });
});
