/** 9.10: a resume keeps a result while the call of its task and the results of its dependencies are the same. */
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { textRunner } from "./run-text.ts";

const REPORT = `plan p {
  task test   = shell("test")
  task lint   = shell("lint")
  task report = shell("report") after done test, lint
  task send   = shell("send") after report
}`;

describe("a task after failed ones", () => {
  test("runs again, with all that depends on it, when one of them is done at last", async () => {
    const { run, resume, started, events } = textRunner(
      REPORT,
      { test: { codes: [1, 0] } },
      { store: new MemoryStore() },
    );
    expect(await run({ thread: "t" })).toMatchObject({ outcome: "partial" });
    expect(started).toEqual(["test", "lint", "report", "send"]);
    started.length = 0;
    expect(await resume("t")).toMatchObject({ outcome: "clean" });
    expect(started).toEqual(["test", "report", "send"]);
    const changed = events.flatMap((event) => (event.type === "node_changed" ? [[event.node_id, event.changed]] : []));
    expect(changed).toEqual([
      ["report", ["test"]],
      ["send", ["report"]],
    ]);
  });

  test("keeps its result while they fail again", async () => {
    const { run, resume, started } = textRunner(REPORT, { test: { codes: [1] } }, { store: new MemoryStore() });
    await run({ thread: "t" });
    started.length = 0;
    const { tasks } = await resume("t");
    expect(started).toEqual(["test"]);
    expect(tasks.map(({ status }) => status)).toEqual(["failed", "done", "done", "done"]);
  });

  test("`after any` keeps its result: it needed one of them only", async () => {
    const text = REPORT.replace("after done", "after any");
    const { run, resume, started } = textRunner(text, { test: { codes: [1, 0] } }, { store: new MemoryStore() });
    await run({ thread: "t" });
    started.length = 0;
    expect(await resume("t")).toMatchObject({ outcome: "clean" });
    expect(started).toEqual(["test"]);
  });
});

describe("a task whose call has changed", () => {
  const PLAN = `plan p {
  state text: string
  task make = shell("make") into { stdout: text }
  task show = shell(\`show \${raw(text)}\`) after make
  task side = shell("side")
  task last = shell("last") after show, side
}`;
  const failing = { last: { codes: [1] }, make: { stdout: "one" } };

  test("runs again, with all that depends on it", async () => {
    const store = new MemoryStore();
    await textRunner(PLAN, failing, { store }).run({ thread: "t" });
    const next = textRunner(PLAN.replace('"make"', '"make all"'), { "make all": { stdout: "two" } }, { store });
    expect(await next.resume("t")).toMatchObject({ outcome: "clean" });
    expect(next.started).toEqual(["make all", "show two", "last"]);
    expect(next.events).toContainEqual(
      expect.objectContaining({ type: "node_changed", node_id: "make", changed: ["its call"] }),
    );
  });

  test("tasks and channels in another order are no change", async () => {
    const store = new MemoryStore();
    await textRunner(PLAN, failing, { store }).run({ thread: "t" });
    const lines = PLAN.split("\n");
    const moved = [lines[0], '  state other: string = ""', lines[4], ...lines.slice(1, 4), ...lines.slice(5)].join(
      "\n",
    );
    const next = textRunner(moved, {}, { store });
    expect(await next.resume("t")).toMatchObject({ outcome: "clean" });
    expect(next.started).toEqual(["last"]);
  });

  test("a selection leaves it alone", async () => {
    const store = new MemoryStore();
    await textRunner(PLAN, failing, { store }).run({ thread: "t" });
    const next = textRunner(PLAN.replace('"make"', '"make all"'), {}, { store });
    await next.resume("t", { only: ["side"] });
    expect(next.started).toEqual(["side"]);
  });

  test("a run that is killed after it ran again does not bring the old results back", async () => {
    const store = new MemoryStore();
    await textRunner(PLAN, failing, { store }).run({ thread: "t" });
    const edited = PLAN.replace('"make"', '"make all"');
    const stopped = textRunner(edited, { "make all": { stdout: "two" }, "show two": { codes: [1] } }, { store });
    await stopped.resume("t");
    expect(stopped.started).toEqual(["make all", "show two"]);
    const next = textRunner(edited, {}, { store });
    expect(await next.resume("t")).toMatchObject({ outcome: "clean" });
    expect(next.started).toEqual(["show two", "last"]);
  });
});
