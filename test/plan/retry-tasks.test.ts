/** 9.10: `retry` runs tasks again that were done, with all that depends on them, and what they call. */
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { TaskCache } from "../../runtime/plan/task-cache.ts";
import { textRunner } from "./run-text.ts";

const PLAN = `plan p {
  task a = shell("a")
  task m = shell(\`m\${v}\`) for v in ["1", "2"] after a
  task b = shell("b") after m
  task side = shell("side")
  task c = shell("c") after b
  finally task f = shell("f")
}`;

const CALLS = `plan p {
  task g = sub()
  task n = inner() after g
  task t = shell("t") after n { done when sub() done when shell("check last") tries 1 }
}
plan inner { task q = sub()  task r = shell("r") after q }
graph sub {
  output text: string
  node work = shell("sub") into { stdout: text }
  start -> work -> end
}`;

describe("retry", () => {
  test("runs done tasks again, with what is not done and what depends on them", async () => {
    const { run, resume, started } = textRunner(PLAN, { b: { codes: [1, 1, 0] } }, { store: new MemoryStore() });
    expect(await run({ thread: "t" })).toMatchObject({ outcome: "stuck" });
    started.length = 0;
    expect(await resume("t", { retry: ["side"] })).toMatchObject({ outcome: "stuck" });
    expect(started.sort()).toEqual(["b", "f", "side"]);
    started.length = 0;
    expect(await resume("t", { retry: ["m[1]"] })).toMatchObject({ outcome: "clean" });
    expect(started).toEqual(["m'1'", "b", "c", "f"]);
  });

  test("of a completed thread; the name of a matrix selects its tasks", async () => {
    const { run, resume, started } = textRunner(PLAN, {}, { store: new MemoryStore() });
    await run({ thread: "t" });
    await expect(resume("t")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
    started.length = 0;
    expect(await resume("t", { retry: ["m", "side"] })).toMatchObject({ outcome: "clean" });
    expect(started.slice(0, 3).sort()).toEqual(["m'1'", "m'2'", "side"]);
    expect(started.slice(3)).toEqual(["b", "c", "f"]);
    started.length = 0;
    expect(await resume("t", { retry: ["f"] })).toMatchObject({ outcome: "clean" });
    expect(started).toEqual(["f"]);
  });

  test("a failed retry leaves the task to the next resume", async () => {
    const { run, resume, started } = textRunner(PLAN, { a: { codes: [0, 1, 0] } }, { store: new MemoryStore() });
    await run({ thread: "t" });
    expect(await resume("t", { retry: ["a"] })).toMatchObject({ totals: { failed: 1, blocked: 4 } });
    started.length = 0;
    expect(await resume("t")).toMatchObject({ outcome: "clean" });
    expect(started).toEqual(["a", "m'1'", "m'2'", "b", "c", "f"]);
  });

  test("does not take the result of a cache", async () => {
    let kept = 0;
    const taskCache: TaskCache = {
      look: () => (kept === 0 ? { changed: ["first run"] } : { result: [], changed: [] }),
      keep: () => void kept++,
      fingerprint: () => "",
    };
    const text = 'plan p { task a = shell("a") { cache inputs "in" } }';
    const { run, resume, started } = textRunner(text, {}, { store: new MemoryStore() });
    await run({ thread: "t", taskCache });
    await resume("t", { fromTask: "a", taskCache });
    expect(started).toEqual(["a"]);
    await resume("t", { retry: ["a"], taskCache });
    expect(started).toEqual(["a", "a"]);
  });

  test("refuses unknown tasks, selections and wrong kinds", async () => {
    const { run, resume } = textRunner(PLAN, {}, { store: new MemoryStore() });
    await run({ thread: "t" });
    const refused = (options: object): Promise<unknown> =>
      resume("t", options).then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(await refused({ retry: ["nope"] })).toMatchObject({ code: "NG_BAD_INPUT" });
    for (const other of [{ only: ["a"] }, { fromTask: "a" }])
      expect(await refused({ retry: ["a"], ...other })).toMatchObject({ code: "NG_BAD_INPUT" });
    expect(await refused({ retry: "a" })).toMatchObject({ code: "NG_BAD_INPUT" });
  });
});

describe("a task that calls a graph or a plan", () => {
  test.each([{ retry: ["g"] }, { fromTask: "g" }])("runs it again: %j", async (options) => {
    const { run, resume, started } = textRunner(CALLS, {}, { store: new MemoryStore() });
    await run({ thread: "t" });
    started.length = 0;
    expect(await resume("t", options)).toMatchObject({ outcome: "clean" });
    expect(started).toEqual(["sub", "sub", "r", "t", "sub", "check last"]);
  });

  test("runs it again when it runs by itself", async () => {
    const { run, resume, started } = textRunner(CALLS, {}, { store: new MemoryStore() });
    await run({ thread: "t" });
    for (const [task, commands] of [
      ["g", ["sub"]],
      ["n", ["sub", "r"]],
    ] as const) {
      started.length = 0;
      expect(await resume("t", { only: [task] })).toMatchObject({ outcome: "clean" });
      expect(started).toEqual(commands);
    }
  });

  test("continues it after a failure: what it has finished is not repeated", async () => {
    const { run, resume, started } = textRunner(CALLS, { r: { codes: [1, 0] } }, { store: new MemoryStore() });
    await run({ thread: "t" });
    started.length = 0;
    expect(await resume("t")).toMatchObject({ outcome: "clean" });
    expect(started).toEqual(["r", "t", "sub", "check last"]);
  });

  test("a check that had passed runs again beside one that had not", async () => {
    const { run, resume, started } = textRunner(
      CALLS,
      { "check last": { codes: [1, 0] } },
      { store: new MemoryStore() },
    );
    await run({ thread: "t" });
    started.length = 0;
    expect(await resume("t")).toMatchObject({ outcome: "clean" });
    expect(started).toEqual(["t", "sub", "check last"]);
  });
});
