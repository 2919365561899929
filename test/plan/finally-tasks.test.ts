/** `finally` tasks run when all others have ended, however they ended, and a resume runs them again. */
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compilePlan } from "./compile-plan.ts";
import { textRunner } from "./run-text.ts";
import { ask } from "../../stdlib/nodes/ask.ts";

const plan = (settings: string, more = "") => `plan p {
  ${settings}
  task a = shell("a")
  task b = shell("b") after a
  task c = shell("c")
  finally task clean = shell("clean")
  finally task last = shell("last") after clean
  ${more}
}`;

const statuses = (tasks: readonly { readonly id: string; readonly status: string }[]) =>
  Object.fromEntries(tasks.map(({ id, status }) => [id, status]));

describe("a finally task", () => {
  test("runs after all other tasks, in the order of `after`", async () => {
    const { run, started } = textRunner(plan(""));
    expect((await run()).outcome).toBe("clean");
    expect(started).toEqual(["a", "c", "b", "clean", "last"]);
  });

  test.each(["continue", "no-new", "kill"])("runs after a failure with `on failure %s`", async (mode) => {
    const { run, started } = textRunner(plan(`on failure ${mode}`), { a: { codes: [1] }, c: { takes: 5 } });
    const { tasks, outcome } = await run();
    expect(statuses(tasks)).toEqual({
      a: "failed",
      b: "blocked",
      c: mode === "kill" ? "cancelled" : "done",
      clean: "done",
      last: "done",
    });
    expect(outcome).toBe(mode === "kill" ? "catastrophic" : "stuck");
    expect(started.slice(-2)).toEqual(["clean", "last"]);
  });

  test("runs after the run was drained, and not after it was cancelled", async () => {
    const drain = new AbortController();
    const drained = textRunner(plan("max parallel 1"), {});
    const result = await drained.run({
      drain: drain.signal,
      afterTask: () => void drain.abort(),
    });
    expect(statuses(result.tasks)).toMatchObject({ b: "cancelled", clean: "done", last: "done" });
    expect(result).toMatchObject({ status: "cancelled", exitCode: 130 });

    const signal = new AbortController();
    const cancelled = textRunner(plan("max parallel 1"), {});
    const { tasks } = await cancelled.run({
      signal: signal.signal,
      afterTask: () => void signal.abort(),
    });
    expect(statuses(tasks)).toMatchObject({ clean: "cancelled", last: "cancelled" });
  });

  test("whose own failure stops no other, and makes the outcome partial", async () => {
    const { run } = textRunner(plan("on failure kill", 'finally task other = shell("other")'), {
      clean: { codes: [1] },
      other: { takes: 5 },
    });
    const { tasks, outcome } = await run();
    expect(statuses(tasks)).toMatchObject({
      a: "done",
      b: "done",
      c: "done",
      clean: "failed",
      last: "blocked",
      other: "done",
    });
    expect(outcome).toBe("stuck");
  });

  test("runs again after a resume has run other tasks, and not if only it was left", async () => {
    const store = new MemoryStore();
    const first = textRunner(plan(""), { b: { codes: [1, 0] }, last: { codes: [1, 1, 0] } }, { store });
    await first.run({ thread: "t" });
    await first.resume("t");
    expect(first.started).toEqual(["a", "c", "b", "clean", "last", "b", "clean", "last"]);
    await first.resume("t");
    expect(first.started.slice(8)).toEqual(["last"]);
  });

  test("waits while a task waits for an answer", async () => {
    const store = new MemoryStore();
    const text = `plan p { output said: string  task q = ask("go?") into said  finally task clean = shell("clean") }`;
    const { run, resume, started } = textRunner(text, {}, { store, builtins: { ask } });
    expect((await run({ thread: "t" })).status).toBe("paused");
    expect(started).toEqual([]);
    expect((await resume("t", { answer: "yes" })).status).toBe("completed");
    expect(started).toEqual(["clean"]);
  });
});

test("tasks cannot come after a finally task", () => {
  const { diagnostics } = compilePlan(
    `plan p { task a = shell("a") after z  task b = shell("b")  finally task z = shell("z") }`,
  );
  expect(diagnostics.map(({ code }) => code)).toEqual(["NG702"]);
  const { diagnostics: any } = compilePlan(`plan p { task a = shell("a")  finally task z = shell("z") after any a }`);
  expect(any.map(({ code, help }) => [code, help])).toEqual([
    ["NG117", "a `finally` task waits for all other tasks: leave `any` out, or name another `finally` task"],
  ]);
});

test("what an ordinary task wrote may be null in a finally task, unless the task is named", () => {
  const text = (after: string) => `plan p {
  output made: string  output said: string
  task a = shell("a") into { stdout: made }
  finally task z = \`made \${made}\`${after} into said
}`;
  const codes = (after: string) => compilePlan(text(after)).diagnostics.map(({ code }) => code);
  expect(codes("")).toEqual(["NG601", "NG403"]);
  expect(codes(" after a")).toEqual(["NG601"]);
});
