import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/index.ts";
import { findingsOf } from "./compile-plan.ts";
import { textRunner } from "./run-text.ts";

const statuses = (tasks: readonly { readonly id: string; readonly status: string }[]): Record<string, string> =>
  Object.fromEntries(tasks.map(({ id, status }) => [id, status]));

const FAILS = { bench: { codes: [1] } };

describe("allow failure", () => {
  test("counts as done for the tasks behind it and for the outcome", async () => {
    const runner = textRunner(
      `plan p {
        task bench = shell("bench") { allow failure }
        task next  = shell("next") after bench
        task other = shell("other") after failed bench
      }`,
      FAILS,
    );
    const { tasks, outcome, exitCode, error } = await runner.run();
    expect(statuses(tasks)).toEqual({ bench: "failed", next: "done", other: "done" });
    expect(tasks[0]).toMatchObject({ allowed: true, reason: "task_failed" });
    expect({ outcome, exitCode, error }).toEqual({ outcome: "clean", exitCode: 0, error: null });
  });

  test.each(["kill", "no-new"])("does not trigger `on failure %s`", async (mode) => {
    const runner = textRunner(
      `plan p {
        on failure ${mode}
        task bench = shell("bench") { allow failure }
        task slow  = shell("slow")
        task next  = shell("next") after slow
      }`,
      { ...FAILS, slow: { takes: 5 } },
    );
    expect(statuses((await runner.run()).tasks)).toEqual({ bench: "failed", slow: "done", next: "done" });
  });

  test("does not hide other failures", async () => {
    const store = new MemoryStore();
    const runner = textRunner(
      `plan p {
        task bench = shell("bench") { allow failure }
        task test  = shell("test") after bench
        task next  = shell("next") after test
      }`,
      { ...FAILS, test: { codes: [1, 0] } },
      { store },
    );
    const first = await runner.run({ thread: "t" });
    expect(statuses(first.tasks)).toEqual({ bench: "failed", test: "failed", next: "blocked" });
    expect(first.outcome).toBe("catastrophic");
    const second = await runner.resume("t");
    expect(statuses(second.tasks)).toEqual({ bench: "failed", test: "done", next: "done" });
    expect(second.outcome).toBe("clean");
  });

  test("a blocked task is blocked although it allows failures", async () => {
    const runner = textRunner(
      `plan p {
        task bench = shell("bench")
        task next  = shell("next") after bench { allow failure }
        task last  = shell("last") after next
      }`,
      FAILS,
    );
    expect(statuses((await runner.run()).tasks)).toEqual({ bench: "failed", next: "blocked", last: "blocked" });
  });

  test("what the task writes may be missing", () => {
    const text = (policies: string): string =>
      `plan p {
        state  log: string
        output size: int
        task bench = shell("bench") into { stdout: log } ${policies}
        task next  = len(log) after bench into size
      }`;
    expect(findingsOf(text(""))).toEqual([]);
    expect(findingsOf(text("{ allow failure }"))).toEqual([expect.stringMatching(/^NG509: /)]);
  });
});
