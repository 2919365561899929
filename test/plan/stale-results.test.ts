/** 9.10: a resume keeps a result while the call of its task and the results of its dependencies are the same. */
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
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

describe("a question of a task that runs again (6.2)", () => {
  const text = (called: string): string => `plan p {
    state version: string
    output answer: string
    task find    = shell("find") into { stdout: version }
    task approve = ${called.replace(" into", " after done find into")}
    task deploy  = shell("deploy") after approve
    task other   = shell("other")
  }`;
  const ASK = 'ask(`deploy ${version ?? "nothing"}?`) into answer';
  const INNER = 'inner(version: version ?? "nothing") into { answer }';
  const CALLED = `plan inner { input version: string  output answer: string  task q = ask(\`deploy \${version}?\`) into answer }`;

  test.each([
    ["a task", ASK, ""],
    ["a called plan", INNER, CALLED],
  ])("is asked again: %s", async (_, call, rest) => {
    const options = { store: new MemoryStore(), builtins: { ask } };
    const outputs = { find: { codes: [1, 1, 0], stdout: "2" }, other: { codes: [1] } };
    const { run, resume, runner, started } = textRunner(`${text(call)}\n${rest}`, outputs, options);
    const first = await run({ thread: "t" });
    expect(first).toMatchObject({ status: "paused", pauses: [{ payload: { question: "deploy nothing?" } }] });
    const old = first.pauses[0]!.id;
    expect(await resume("t", { answers: { [old]: "yes" } })).toMatchObject({ pauses: [], output: { answer: "yes" } });
    // The second resume finds the version at last: it is another question.
    const { pauses } = await resume("t");
    expect(pauses).toMatchObject([{ payload: { question: "deploy 2?" } }]);
    expect(pauses[0]!.id).not.toBe(old);
    // An answer that is delivered twice does not reach it, and another answer to the first question is refused.
    expect(await resume("t", { answers: { [old]: "yes" } })).toMatchObject({ status: "paused", pauses });
    await expect(runner.resume("t", { answers: { [old]: "no" } })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    expect(started.filter((name) => name === "deploy")).toHaveLength(1);
    expect(await resume("t", { answers: { [pauses[0]!.id]: "no" } })).toMatchObject({ output: { answer: "no" } });
    // What is done keeps its answer.
    expect(await resume("t")).toMatchObject({ pauses: [], output: { answer: "no" } });
    const again = await resume("t", { retry: ["approve"] });
    expect(again).toMatchObject({ status: "paused", pauses: [{ payload: { question: "deploy 2?" } }] });
    expect(await resume("t", { answer: "yes" })).toMatchObject({ pauses: [], output: { answer: "yes" } });
  });

  test("is asked again by `retry` after the task has failed, and by no other resume", async () => {
    const text = `plan p {
      output answer: string
      task q = ask("go?") into answer { done when answer == "yes" tries 1 }
    }`;
    const { run, resume } = textRunner(text, {}, { store: new MemoryStore(), builtins: { ask } });
    const { pauses } = await run({ thread: "t" });
    expect(await resume("t", { answer: "no" })).toMatchObject({ tasks: [{ status: "failed" }] });
    expect(await resume("t")).toMatchObject({ tasks: [{ status: "failed" }] });
    const again = await resume("t", { retry: ["q"] });
    expect(again).toMatchObject({ status: "paused" });
    expect(again.pauses[0]!.id).not.toBe(pauses[0]!.id);
    // The open question keeps its id, and takes its answer in the call that retries the task.
    expect(await resume("t", { retry: ["q"] })).toMatchObject({ pauses: again.pauses });
    expect(await resume("t", { retry: ["q"], answer: "yes" })).toMatchObject({ outcome: "clean", pauses: [] });
  });

  test("takes no answer if the plan has its task no longer", async () => {
    const text = `plan p { output answer: string  task q = ask("go?") into answer }`;
    const options = { store: new MemoryStore(), builtins: { ask } };
    const { pauses } = await textRunner(text, {}, options).run({ thread: "t" });
    const renamed = textRunner(text.replace("task q", "task asks"), {}, options);
    await expect(renamed.runner.resume("t", { answer: "yes" })).rejects.toMatchObject({
      code: "NG_DRIFT",
      message: expect.stringContaining(`\`${pauses[0]!.id}\` waits in task \`q\`, which no longer exists`),
    });
    expect(await renamed.resume("t")).toMatchObject({ status: "paused", pauses: [{ node: "asks" }] });
    expect(await renamed.resume("t", { answer: "no" })).toMatchObject({ output: { answer: "no" } });
  });
});
