import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { attemptsOf, textRunner, transitions } from "./run-text.ts";

describe("values", () => {
  test("later tasks read the result of a task through the reducer of the channel", async () => {
    const run = textRunner(`plan p {
      input  n: int
      output sum: int = 0 reduce sum
      output text: string = ""
      task a = n + 1 into sum
      task b = n * 10 into sum
      task c = \`\${sum}\` after a, b into text
      task d = sum after a
    }`);
    const result = await run.run({}, { n: 4 });
    expect(result.output).toEqual({ sum: 45, text: "45" });
  });

  test("a list is in the order of the plan, whichever task was faster", async () => {
    const text = `plan p {
      output lines: string[] = [] reduce append
      task a = shell("a") into { stdout: lines }
      task b = shell("b") into { stdout: lines }
      task c = shell("c") after a into { stdout: lines }
    }`;
    const commands = { a: { takes: 9, stdout: "a" }, b: { stdout: "b" }, c: { stdout: "c" } };
    expect((await textRunner(text, commands).run()).output).toEqual({ lines: ["a", "b", "c"] });
  });

  test("a check reads the result of its own task", async () => {
    const run = textRunner(`plan p {
      state score: int = 0
      task a = 7 into score { done when score > 5 }
    }`);
    expect(await run.run()).toMatchObject({ outcome: "clean" });
  });

  test("a command whose checks pass returns its result, whatever its exit code", async () => {
    const run = textRunner(
      `plan p {
        output code: int = 0
        task a = shell("a") into { code } { done when shell("check") }
      }`,
      { a: { codes: [3] } },
    );
    expect(await run.run()).toMatchObject({ outcome: "clean", output: { code: 3 } });
  });

  test("a bad input is refused before anything runs", async () => {
    const run = textRunner(`plan p { input n: int  task a = shell("a") }`);
    await expect(run.runner.run({ n: "x" })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    expect(run.started).toEqual([]);
  });
});

describe("when and triggers", () => {
  const text = `plan p {
    input deploy: bool
    task build  = shell("build")
    task ship   = shell("ship") after build when deploy
    task tell   = shell("tell") after ship
    task clean  = shell("clean") after done ship
    task either = shell("either") after any build, ship
  }`;
  test("a task whose condition is false is skipped, and so are the tasks that need it", async () => {
    const run = textRunner(text);
    const result = await run.run({}, { deploy: false });
    expect(transitions(run.events, "ship")).toEqual(["pending→ready", "ready→skipped when"]);
    expect(transitions(run.events, "tell")).toEqual(["pending→skipped dependency_skipped:ship"]);
    expect([...run.started].sort()).toEqual(["build", "clean", "either"]);
    expect(result).toMatchObject({ outcome: "clean", exitCode: 0 });
    expect(result.totals).toMatchObject({ done: 3, skipped: 2 });
  });
  test("a task runs if its condition is true", async () => {
    const run = textRunner(text);
    expect((await run.run({}, { deploy: true })).totals).toMatchObject({ done: 5, skipped: 0 });
  });
  test("`after done` runs after a failure too; `after any` needs one task that is done", async () => {
    const run = textRunner(text, { ship: { codes: [1] } });
    const result = await run.run({}, { deploy: true });
    expect(result.tasks.map(({ status }) => status)).toEqual(["done", "failed", "blocked", "done", "done"]);
  });
  test("a condition without a value fails its task", async () => {
    const run = textRunner(`plan p { input n: int  task a = shell("a") when 1 / n > 0  task b = shell("b") after a }`);
    const result = await run.run({}, { n: 0 });
    expect(result.tasks).toMatchObject([{ status: "failed", reason: "when_failed" }, { status: "blocked" }]);
    expect(run.started).toEqual([]);
  });
});

test("a matrix task runs once for each value", async () => {
  const run = textRunner(`plan p {
    task test = shell(\`test \${v}\`) for v in ["20", "22"] { done when shell(\`check \${v}\`) }
    task end  = shell("end") after test
  }`);
  const result = await run.run();
  expect(result.batches).toEqual([["test[20]", "test[22]"], ["end"]]);
  expect(run.started.filter((line) => line.startsWith("check")).sort()).toEqual(["check '20'", "check '22'"]);
  expect(attemptsOf(run.events)[0]?.done_when_results[0]?.cmd).toBe("check '20'");
});

describe("called plans and graphs", () => {
  const text = `
    plan inner {
      input  n: int
      output twice: int = 0
      task one = shell("one")
      task two = n * 2 after one into twice
    }
    graph g { input n: int  output more: int = 0  node add = n + 1 into more  start -> add }
  `;
  const outer = `plan outer {
      output a: int = 0
      output b: int = 0
      task first  = inner(n: 4) into { twice: a }
      task second = g(n: a) after first into { more: b }
    }`;

  test("return their outputs to the calling task", async () => {
    const run = textRunner(`${outer}\n${text}`);
    const result = await run.run();
    expect(result).toMatchObject({ outcome: "clean", output: { a: 8, b: 9 } });
    expect(transitions(run.events, "first/one")).toEqual(["pending→ready", "ready→running", "running→done"]);
  });

  test("a failure inside fails the calling task, and a resume continues inside", async () => {
    const store = new MemoryStore();
    const run = textRunner(
      `plan outer { task first = inner()  task last = shell("last") after first }
       plan inner { task one = shell("one")  task two = shell("two") after one  task three = shell("three") after two }`,
      { two: { codes: [1, 0] } },
      { store },
    );
    const failed = await run.run({ thread: "t" });
    expect(failed.tasks).toMatchObject([
      { status: "failed", error: "plan `inner`: two failed" },
      { status: "blocked" },
    ]);
    const resumed = await run.resume("t");
    expect(resumed).toMatchObject({ outcome: "clean", resumedFrom: failed.runId });
    expect(run.started).toEqual(["one", "two", "two", "three", "last"]);
  });

  test("draining waits for the end of a called plan", async () => {
    const drain = new AbortController();
    const run = textRunner(
      `plan outer { task first = inner()  task last = shell("last") after first }
       plan inner { task one = shell("one")  task two = shell("two") after one }`,
    );
    const onEvent = (event: (typeof run.events)[number]): void => {
      run.events.push(event);
      if (event.type === "node_attempt") drain.abort();
    };
    const result = await run.run({ drain: drain.signal, onEvent });
    expect(result.tasks.map(({ status }) => status)).toEqual(["done", "cancelled"]);
    expect(run.started).toEqual(["one", "two"]);
  });

  test("a question in a called graph frees the slot, keeps the paths, and is answered on resume", async () => {
    const store = new MemoryStore();
    const run = textRunner(
      `plan p {
         max parallel 1
         order file
         output answer: string = ""
         task asks  = question() into { reply: answer } { touches "x" }
         task holds = shell("holds") { touches "x" }
         task free  = shell("free")
         task after_it = shell("after") after asks
       }
       graph question { output reply: string = ""  node q = ask("sure?") into reply  start -> q }`,
      {},
      { store, builtins: { ask } },
    );
    const paused = await run.run({ thread: "t" });
    expect(paused).toMatchObject({ status: "paused", outcome: "partial", exitCode: 3 });
    expect(run.started).toEqual(["free"]);
    expect(paused.tasks.map(({ status }) => status)).toEqual(["waiting", "ready", "done", "pending"]);
    expect(paused.pauses).toMatchObject([{ node: "q", namespace: ["asks"] }]);
    const resumed = await run.resume("t", { answer: "yes" });
    expect(resumed).toMatchObject({ outcome: "clean", output: { answer: "yes" } });
    expect(run.started).toEqual(["free", "holds", "after"]);
    await expect(run.runner.resume("t")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
  });

  test("9.8: a run that waits is not catastrophic, whatever has failed before its first task is done", async () => {
    const text = (other: string): string => `plan p {
      state answer: string = ""
      task other = shell("${other}") after asks
      task fails = shell("fails")
      task asks  = ask("sure?") into answer
    }`;
    const options = { builtins: { ask }, store: new MemoryStore() };
    for (const [thread, code] of [
      ["fails", 1],
      ["passes", 0],
    ] as const) {
      const run = textRunner(text("other"), { fails: { codes: [code] } }, options);
      expect(await run.run({ thread })).toMatchObject({ status: "paused", outcome: "partial", totals: { waiting: 1 } });
    }
    const waits = textRunner(`plan q { state answer: string = ""  task asks = ask("sure?") into answer }`, {}, options);
    expect(await waits.run({ thread: "waits" })).toMatchObject({ status: "paused", outcome: "partial", exitCode: 3 });
    expect(await waits.resume("waits", { answer: "no" })).toMatchObject({ outcome: "clean", output: {} });
  });

  test("without a store a plan that pauses is refused", async () => {
    const run = textRunner(`plan p { state a: string = ""  task q = ask("?") into a }`, {}, { builtins: { ask } });
    await expect(run.runner.run()).rejects.toMatchObject({ code: "NG_NO_STORE" });
    const nested = `plan outer { task o = inner() } plan inner { state a: string = ""  task q = ask("?") into a }`;
    await expect(textRunner(nested, {}, { builtins: { ask } }).runner.run()).rejects.toMatchObject({
      code: "NG_NO_STORE",
    });
  });
});

describe("resume (9.10)", () => {
  const text = `plan p {
    order file
    input  n: int
    output total: int = 0 reduce sum
    task a = n into total
    task b = shell("b") after a
    task c = total * 2 after a, b into total
    task d = shell("d")
  }`;

  test("is a new run: finished tasks are restored with their results, the others start again", async () => {
    const run = textRunner(text, { b: { codes: [1, 0] } }, { store: new MemoryStore() });
    const failed = await run.run({ thread: "t" }, { n: 3 });
    expect(failed).toMatchObject({ outcome: "stuck", output: { total: 3 } });
    const resumed = await run.resume("t");
    expect(resumed).toMatchObject({ outcome: "clean", output: { total: 9 }, resumedFrom: failed.runId });
    expect(resumed.runId).not.toBe(failed.runId);
    expect([...run.started].sort()).toEqual(["b", "b", "d"]);
    expect(run.events[0]).toMatchObject({ type: "run_start", resumed_from: failed.runId });
    expect(transitions(run.events, "a")).toEqual(["pending→done restored"]);
    expect(resumed.batches).toEqual([["b"], ["c"]]);
  });

  test("a failed run is not started again by accident", async () => {
    const run = textRunner(text, { b: { codes: [1] } }, { store: new MemoryStore() });
    await run.run({ thread: "t" }, { n: 3 });
    await expect(run.runner.run({ n: 3 }, { thread: "t" })).rejects.toMatchObject({ code: "NG_THREAD_BUSY" });
    const again = await run.run({ thread: "t", abandon: true }, { n: 1 });
    expect(again.resumedFrom).toBe(null);
  });

  test("fromTask runs a finished part again, with the results of the tasks before it", async () => {
    const run = textRunner(text, {}, { store: new MemoryStore() });
    await run.run({ thread: "t" }, { n: 3 });
    const again = await run.resume("t", { fromTask: "b" });
    expect(again.batches).toEqual([["b"], ["c"]]);
    expect(again).toMatchObject({ outcome: "clean", output: { total: 9 } });
  });

  test("a finished task stays finished when a task before it is left out", async () => {
    const chain = `plan p { order file  task a = shell("a")  task b = shell("b") after a  task c = shell("c") after b }`;
    const run = textRunner(chain, { c: { codes: [1, 0] } }, { store: new MemoryStore() });
    await run.run({ thread: "t", only: ["b"] });
    const result = await run.resume("t", { only: ["c"] });
    expect(result.batches).toEqual([["c"]]);
    expect(transitions(run.events)).toEqual([
      "a pending→skipped left_out",
      "b pending→done restored",
      "c pending→ready",
      "c ready→running",
      "c running→failed task_failed",
    ]);
  });

  test("`only`, then the other tasks", async () => {
    const run = textRunner(text, {}, { store: new MemoryStore() });
    expect((await run.run({ thread: "t", only: ["a"] }, { n: 3 })).batches).toEqual([["a"]]);
    const rest = await run.resume("t");
    expect(rest.batches).toEqual([["b", "d"], ["c"]]);
    expect(rest.output).toEqual({ total: 9 });
  });

  test("a plan without one of the finished tasks is refused (5.7)", async () => {
    const store = new MemoryStore();
    await textRunner(text, { b: { codes: [1] } }, { store }).run({ thread: "t" }, { n: 3 });
    const changed = textRunner(
      text.replace("task a = n into total", "task z = n into total").replaceAll("after a", "after z"),
      {},
      { store },
    );
    await expect(changed.runner.resume("t")).rejects.toMatchObject({
      code: "NG_DRIFT",
      details: ["task `a` is done, but no longer exists"],
    });
  });

  test("two runners on one thread: the second runs and writes nothing", async () => {
    const store = new MemoryStore();
    const run = textRunner(text, { b: { takes: 5 } }, { store });
    const first = run.runner.run({ n: 1 }, { thread: "t" });
    await run.clock.advance(1000);
    const started = run.started.length;
    await expect(run.runner.resume("t")).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    expect(run.started).toHaveLength(started);
    await run.clock.until(first);
  });
});

describe("reducers that refuse", () => {
  const text = `import { join } from "./nodes.ts"
    plan p {
      output all: string = "" reduce join
      task a = "a" into all
      task b = "b" after a into all
      task c = all after b
    }`;
  const host = { "nodes.ts": "export function join(a: string, b: string): string { return a + b; }" };
  test("a task whose update is refused fails", async () => {
    const join = (current: string, update: string): string => {
      if (update === "b") throw new Error("no b");
      return current + update;
    };
    const run = textRunner(text, {}, { functions: { join } }, host);
    const result = await run.run();
    expect(result.tasks).toMatchObject([
      { status: "done" },
      { status: "failed", reason: "reducer_failed" },
      { status: "blocked" },
    ]);
    expect(result.tasks[1]?.error).toContain("no b");
    expect(result.output).toEqual({ all: "a" });
  });

  test("a sum that exceeds the safe integers", async () => {
    const run = textRunner(`plan p {
      output n: int = 0 reduce sum
      task a = 9007199254740991 into n
      task b = 1 after a into n
    }`);
    expect((await run.run()).tasks[1]).toMatchObject({ status: "failed", reason: "reducer_failed" });
  });
});
