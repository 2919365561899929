/** A run whose graph reads a secret without a value is refused before its first node, on every way to run it. */
import { describe, expect, test } from "vitest";
import type { EngineOptions } from "../../runtime/interface/engine-options.ts";
import { createPlanRunner } from "../../runtime/plan/plan-runner.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { createService } from "../../service/index.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";
import { createProject } from "../emit/project.ts";
import { planTable } from "../plan/compile-plan.ts";
import { deferred } from "../support/deferred.ts";
import { engineOf, tableOf } from "../support/graph.ts";

const GRAPH = `secret OUTER
secret INNER
secret UNUSED

graph called {
  output text: string
  node greet = { text: "hello", key: [\`Bearer \${INNER}\`] } into { text }
  start -> greet -> end
}

graph g {
  output text: string
  node first = count()
  node wait = ask("continue?")
  node call = called() into { text }
  node last = count(of: OUTER)
  start -> first -> wait -> call -> last
}`;

const BOTH =
  "the run lacks secrets: `OUTER` (read by `g`), `INNER` (read by `called`); no node has run: give each a value, " +
  "an empty text if no run needs it";

/** The graph with `count` as an import. */
function counted(options: EngineOptions) {
  let runs = 0;
  const text = GRAPH.replace("count(of: OUTER)", "count(OUTER)");
  const functions = { count: () => void runs++ };
  return { engine: engineOf(text, functions, options), runs: () => runs };
}

const SHELL_RESULT = { stdout: "", stderr: "", exitCode: 0 };

describe("a graph", () => {
  test("does not begin without the secrets of what it calls", async () => {
    for (const secrets of [undefined, {}, { UNUSED: "1234" }, () => undefined]) {
      const { engine, runs } = counted({ store: new MemoryStore(), ...(secrets === undefined ? {} : { secrets }) });
      await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({
        code: "NG_MISSING_SECRET",
        message: BOTH,
      });
      expect(runs()).toBe(0);
      expect(await engine.state("t")).toBeUndefined();
      expect(await engine.threads()).toEqual([]);
    }
  });

  test("names only the secrets that are missing, and takes an empty text for a value", async () => {
    const { engine } = counted({ store: new MemoryStore(), secrets: { INNER: "" } });
    await expect(engine.run({})).rejects.toThrow("the run lacks secrets: `OUTER` (read by `g`); no node has run");
    const { engine: given } = counted({
      store: new MemoryStore(),
      secrets: (name) => (name === "UNUSED" ? undefined : ""),
    });
    expect(await given.run({}, { thread: "t" })).toMatchObject({ status: "paused" });
  });

  test("takes no secret from the prototype of the record", async () => {
    const text = "secret toString\ngraph g { output n: string  node a = { n: `${toString}` } into { n }  start -> a }";
    await expect(engineOf(text, {}, { secrets: {} }).run({})).rejects.toMatchObject({ code: "NG_MISSING_SECRET" });
  });

  test("refuses a value that is no text, and does not show it", () => {
    const value = (secrets: unknown) => () => counted({ secrets: secrets as NonNullable<EngineOptions["secrets"]> });
    const refused = expect.objectContaining({
      code: "NG_BAD_INPUT",
      message: "the secret `INNER` in `secrets` has to be a text, known at once",
    }) as Error;
    expect(value(async () => Promise.resolve("1234"))).toThrow(refused);
    expect(value({ INNER: 123_456 })).toThrow(refused);
  });

  test("a thread waits unchanged until the secrets are there", async () => {
    const store = new MemoryStore();
    const complete = { store, secrets: { OUTER: "1234", INNER: "5678" } };
    await counted(complete).engine.run({}, { thread: "t" });
    const { engine, runs } = counted({ store, secrets: { OUTER: "1234" } });
    const before = await engine.history("t");
    await expect(engine.resume("t", { answer: true })).rejects.toThrow("`INNER` (read by `called`)");
    expect(await engine.state("t")).toMatchObject({ status: "paused" });
    expect(await engine.history("t")).toEqual(before);
    expect(runs()).toBe(0);
    expect(await counted(complete).engine.resume("t", { answer: true })).toMatchObject({
      status: "completed",
      output: { text: "hello" },
    });
  });

  test("a rollback needs the secrets that its undos read, and no others", async () => {
    const undone: unknown[] = [];
    const functions = {
      book: () => "b1",
      cancel: (...args: unknown[]) => void undone.push(args.slice(0, 2)),
      count: () => null,
    };
    const graph = (undo: string, finallyPart = "") => `secret USED
secret UNUSED
graph g {
  output ref: string
  node first = book() into ref { undo ${undo} }
  node wait = ask("continue?")
  node last = count(UNUSED)
  ${finallyPart}
  start -> first -> wait -> last
}`;
    const paused = async (text: string) => {
      const store = new MemoryStore();
      await engineOf(text, functions, { store, secrets: { USED: "1234", UNUSED: "5678" } }).run({}, { thread: "t" });
      return (secrets: Readonly<Record<string, string>>) => engineOf(text, functions, { store, secrets });
    };
    const plain = await paused(graph("cancel(ref)"));
    await expect(plain({}).resume("t", { answer: true })).rejects.toMatchObject({ code: "NG_MISSING_SECRET" });
    expect(await plain({}).rollback("t")).toMatchObject({ status: "rolled_back" });
    expect(undone.splice(0)).toEqual([["b1", expect.anything()]]);

    const reading = await paused(graph("cancel(ref, [USED])"));
    const before = await reading({}).history("t");
    await expect(reading({ UNUSED: "" }).rollback("t")).rejects.toThrow(
      "lacks secrets: `USED` (read by `g`); no node has run",
    );
    expect(await reading({}).history("t")).toEqual(before);
    expect(undone).toEqual([]);
    expect(await reading({ USED: "1234" }).rollback("t")).toMatchObject({ status: "rolled_back" });
    expect(undone.splice(0)).toEqual([["b1", ["1234"]]]);

    const final = await paused(graph("cancel(ref)", "node tidy = count(UNUSED)\n  finally -> tidy"));
    await expect(final({}).rollback("t")).rejects.toThrow("lacks secrets: `UNUSED` (read by `g`)");
    expect(undone).toEqual([]);
  });

  test("a run that was cut off is not taken up, and waits as it is", async () => {
    const store = new MemoryStore();
    const begun = deferred<void>();
    const released = deferred<void>();
    const text = `secret KEY
graph g {
  output t: string
  node first = first()
  node last = { t: "hello", key: [KEY] } into { t }
  start -> first -> last
}`;
    const first = async (): Promise<void> => {
      begun.resolve();
      await released.promise;
    };
    const open = (secrets: Readonly<Record<string, string>>) => engineOf(text, { first }, { store, secrets });
    const dying = open({ KEY: "1234" });
    const running = dying.run({}, { thread: "t" });
    await begun.promise;
    const drained = dying.drain();
    released.resolve();
    await Promise.all([running, drained]);
    const before = await open({}).history("t");
    expect(await open({}).recover()).toMatchObject({
      results: [],
      failures: [{ thread: "t", error: { code: "NG_MISSING_SECRET" } }],
    });
    expect(await open({}).history("t")).toEqual(before);
    expect((await open({ KEY: "1234" }).recover()).results).toMatchObject([{ status: "completed" }]);
  });

  test("a mocked node needs no secret", async () => {
    const mocks = { call: () => ({ text: "mocked" }), last: () => null, wait: () => null };
    const { engine } = counted({ store: new MemoryStore(), mocks });
    expect(await engine.run({})).toMatchObject({ status: "completed", output: { text: "mocked" } });
    // Another node fails where it reads the secret.
    const { last: _, ...some } = mocks;
    expect(await counted({ store: new MemoryStore(), mocks: some }).engine.run({})).toMatchObject({
      status: "failed",
      error: { nodeId: "last", message: expect.stringContaining("the secret `OUTER`") as string },
    });
  });

  test("streams end with the error", async () => {
    const { engine } = counted({ store: new MemoryStore() });
    await expect(engine.stream({}).result).rejects.toMatchObject({ code: "NG_MISSING_SECRET" });
  });
});

describe("a plan", () => {
  const table = planTable(`secret FIRST
secret SECOND

graph called {
  output text: string
  node greet = { text: "hello", key: [\`Bearer \${SECOND}\`] } into { text }
  start -> greet -> end
}

plan p {
  output a: string = ""
  output text: string = ""
  task plain = "done" into a
  task own = shell("true", env: { KEY: FIRST }) after plain
  task calls = called() after own into { text }
}`);
  const runner = (secrets: Readonly<Record<string, string>>, store = new MemoryStore()) =>
    createPlanRunner(table, { builtins: { ...builtinNodes, shell: () => SHELL_RESULT }, secrets, store });

  test("needs the secrets of the tasks that it runs", async () => {
    await expect(runner({}).run({})).rejects.toThrow("`SECOND` (read by `called`), `FIRST` (read by `p`)");
    expect(await runner({}).run({}, { only: ["plain"] })).toMatchObject({ status: "completed" });
    await expect(runner({}).run({}, { only: ["plain", "own"] })).rejects.toThrow("lacks secrets: `FIRST`");
    await expect(runner({}).run({}, { fromTask: "calls" })).rejects.toThrow(
      "lacks secrets: `SECOND` (read by `called`)",
    );
    expect(await runner({ SECOND: "" }).run({}, { fromTask: "calls" })).toMatchObject({ status: "completed" });
  });

  test("needs no secret of a task whose result is kept", async () => {
    const store = new MemoryStore();
    await runner({ FIRST: "1234" }, store).run({}, { thread: "t", only: ["plain", "own"] });
    await expect(runner({}, store).resume("t")).rejects.toThrow("lacks secrets: `SECOND`");
    expect(await runner({ SECOND: "" }, store).resume("t")).toMatchObject({ status: "completed" });
    await expect(runner({ SECOND: "" }, store).resume("t", { retry: ["own"] })).rejects.toThrow(
      "lacks secrets: `FIRST`",
    );
    expect(await runner({ SECOND: "" }, store).resume("t", { retry: ["calls"] })).toMatchObject({
      status: "completed",
    });
  });
});

test("a refused resume of a plan stores no answer", async () => {
  const asking = planTable(`secret KEY

plan p {
  output x: json = ""
  task ask = ask("ok?") into x
  task own = shell("true", env: { KEY: KEY }) after ask
}`);
  const store = new MemoryStore();
  const open = (secrets: Readonly<Record<string, string>>) =>
    createPlanRunner(asking, { builtins: { ...builtinNodes, shell: () => SHELL_RESULT }, secrets, store });
  await open({ KEY: "1234" }).run({}, { thread: "t" });
  await expect(open({}).resume("t", { answer: "yes" })).rejects.toMatchObject({ code: "NG_MISSING_SECRET" });
  expect(await open({ KEY: "1234" }).resume("t", { answer: "no" })).toMatchObject({
    status: "completed",
    output: { x: "no" },
  });
});

test("a service answers for the other graphs", async () => {
  const free = tableOf('graph free { output text: string  node a = "hello" into text  start -> a }');
  const bound = tableOf(GRAPH.replaceAll("count()", "print(1)").replace("count(of: OUTER)", "print(`${OUTER}`)"));
  const service = createService({
    graphs: [free, bound].map((each) => ({ table: each, builtins: { ...builtinNodes, print: () => null } })),
    store: new MemoryStore(),
    hosts: ["localhost"],
  });
  const run = (graph: string) =>
    service.fetch(
      new Request(`http://localhost/graphs/${graph}/runs`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"input":{}}',
      }),
    );
  expect((await run("free")).status).toBe(200);
  const refused = await run("g");
  expect(refused.status).toBe(500);
  expect(await refused.json()).toMatchObject({ code: "NG_MISSING_SECRET", detail: BOTH });
});

test("a generated module reads the environment, and refuses alike", async () => {
  const project = createProject({
    "g.ngraph":
      "secret NGRAPH_TEST_KEY\ngraph g { output t: string  node a = { t: `${NGRAPH_TEST_KEY}` } into { t }  start -> a }",
  });
  const { g } = await project.load("g.ngraph.ts");
  const create = g as (options?: object) => ReturnType<typeof engineOf>;
  await expect(create().run({})).rejects.toMatchObject({ code: "NG_MISSING_SECRET" });
  expect(await create({ secrets: { NGRAPH_TEST_KEY: "" } }).run({})).toMatchObject({ status: "completed" });
});
