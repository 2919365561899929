import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/index.ts";
import { findingsOf } from "./compile-plan.ts";
import { textRunner, type Command } from "./run-text.ts";

async function endsOf(text: string, commands: Readonly<Record<string, Command>> = {}): Promise<Record<string, string>> {
  const { tasks } = await textRunner(text, commands).run();
  return Object.fromEntries(tasks.map(({ id, status }) => [id, status]));
}

describe("status(a) in `when`", () => {
  const TEXT = `plan p {
    task build  = shell("build")
    task test   = shell("test") after build
    task notify = shell("notify") after done build, test when status(build) == "done" && status(test) == "failed"
    task revert = shell("revert") after done build, test when status(test) == "blocked"
  }`;

  test("is the end of a dependency", async () => {
    expect(await endsOf(TEXT)).toMatchObject({ test: "done", notify: "skipped", revert: "skipped" });
    expect(await endsOf(TEXT, { test: { codes: [1] } })).toMatchObject({ notify: "done", revert: "skipped" });
    expect(await endsOf(TEXT, { build: { codes: [1] } })).toMatchObject({ notify: "skipped", revert: "done" });
  });

  test("sees the failures that a task allows, and all tasks for a `finally` task", async () => {
    const text = `plan p {
      task bench = shell("bench") { allow failure }
      task slow  = shell("slow") after bench when status(bench) == "failed"
      finally task report = shell("report") when status(slow) == "done"
    }`;
    expect(await endsOf(text, { bench: { codes: [1] } })).toEqual({ bench: "failed", slow: "done", report: "done" });
    expect(await endsOf(text)).toEqual({ bench: "done", slow: "skipped", report: "skipped" });
  });

  test("of a matrix is `failed` if one of its tasks has failed, and `skipped` only if all are", async () => {
    const text = `plan p {
      input  only: string = "b"
      task test = shell(raw(v)) for v in ["a", "b"] when v == only || only == "all"
      task next = shell("next") after done test when status(test) == "failed"
      task last = shell("last") after done test when status(test) == "done"
    }`;
    expect(await endsOf(text)).toMatchObject({ "test[a]": "skipped", next: "skipped", last: "done" });
    expect(await endsOf(text, { b: { codes: [1] } })).toMatchObject({ next: "done", last: "skipped" });
  });

  test("is evaluated again when a resume runs the dependency again", async () => {
    const runner = textRunner(TEXT, { test: { codes: [1, 0] } }, { store: new MemoryStore() });
    await runner.run({ thread: "t" });
    const { tasks } = await runner.resume("t");
    expect(tasks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "build done",
      "test done",
      "notify skipped",
      "revert skipped",
    ]);
  });

  test.each([
    ['after done a when status(b) == "done"', "NG703: `b` may not have ended when `t` starts"],
    ['after any a, b when status(b) == "done"', "NG703: `b` may not have ended when `t` starts"],
    ['after a when status(c) == "done"', "NG703: unknown task `c`"],
    ['after a when status("a") == "done"', "NG703: `status` takes the name of one task"],
    ['after a when status() == "done"', "NG703: `status` takes the name of one task"],
    ['after a when status(a) == "failed"', 'NG513: `"failed"` is not one of the possible values'],
    ['after done a when status(a) == "broken"', 'NG513: `"broken"` is not one of the possible values'],
    ["after done a when status(a)", "NG508: a condition is a bool"],
  ])("%s", (clauses, message) => {
    const text = `plan p {\n task a = shell("a")\n task b = shell("b")\n task t = shell("t") ${clauses}\n}`;
    expect(findingsOf(text)).toEqual([expect.stringContaining(message)]);
  });

  test("is an unknown function outside of `when`", () => {
    const text = 'plan p {\n task a = shell("a")\n task t = print(status("a")) after done a\n}';
    expect(findingsOf(text)).toEqual(["NG510: unknown function `status`"]);
  });

  test("hides behind a graph of the same name", () => {
    const text = `import { status } from "./status.ts"
      plan p {
        task a = shell("a")
        task t = shell("t") after a when status("a") == 1
      }`;
    expect(findingsOf(text).filter((line) => line.startsWith("NG703"))).toEqual([]);
  });
});
