/** language.md, "Configuration": one value for each name in a run (C1). */
import { describe, expect, test } from "vitest";
import { createPlanRunner, type NodeContext } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { planTable } from "../plan/compile-plan.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf, tableOf } from "../support/graph.ts";

/** Three graphs: the innermost and the outermost declare `model`. */
const NESTED = `
  graph inner { input q: string  output a: string  config model: string = "small"  node say = \`\${q} \${model}\` into a  start -> say }
  graph middle { input q: string  output a: string  node call = inner(q: q) into { a }  start -> call }
`;

describe("the value of a configuration", () => {
  test("is the given one in the graph and in all that it calls", async () => {
    const engine = engineOf(`${NESTED}
      graph outer { output a: string  output b: string  config model: string = "large"
        node call = middle(q: "q") into { a }  node own = model into b  start -> call, own }`);
    expect((await engine.run({})).output).toEqual({ a: "q large", b: "large" });
    expect((await engine.run({}, { config: { model: "tiny" } })).output).toEqual({ a: "q tiny", b: "tiny" });
  });

  test("is the default of the outermost graph that declares it, and reaches through graphs that do not", async () => {
    const engine = engineOf(`${NESTED}
      graph outer { output a: string  node call = middle(q: "q") into { a }  start -> call }`);
    expect((await engine.run({})).output).toEqual({ a: "q small" });
    const result = await engine.run({}, { config: { model: "tiny" } });
    expect(result.output).toEqual({ a: "q tiny" });
    expect(result.state).toMatchObject({ model: "tiny" });
  });

  test("is that of the nearer graph where two called graphs have defaults", () => {
    const table = tableOf(`${NESTED}
      graph other { output a: string  config model: string = "other"  node say = model into a  start -> say }
      graph outer { output a: string  output b: string
        node call = middle(q: "q") into { a }  node near = other() into { a: b }  start -> call, near }`);
    expect(table.channels.filter(({ role }) => role === "config")).toEqual([
      { name: "model", role: "config", type: { kind: "string" }, initial: "other" },
    ]);
  });

  test("is read by every item of a `for` and by edges", async () => {
    const engine = engineOf(`${NESTED}
      graph outer { output all: string[] reduce append  config model: string = "large"  config more: bool = false
        node every = inner(q: x) for x in ["a", "b"] into { a: all }  node extra = "c" into all
        start -> every  every -> extra when more  every -> end otherwise }`);
    expect((await engine.run({}, { config: { more: true } })).output).toEqual({ all: ["a large", "b large", "c"] });
    expect((await engine.run({}, { config: { model: "x" } })).output).toEqual({ all: ["a x", "b x"] });
  });
});

describe("what does not fit is refused at the start", () => {
  const engine = engineOf(`graph inner { output a: string  config model: string  node say = model into a  start -> say }
    graph outer { output a: string  config retries: int = 2  node call = inner() into { a }  start -> call
      node n = retries  start -> n }`);
  test.each([
    [{}, "`model` is missing"],
    [{ model: 3 }, "`model`: expected string, found 3"],
    [{ model: "x", retries: "y" }, "`retries`: expected int"],
    [{ modle: "x", model: "y" }, "`modle` is not configuration: did you mean `model`?"],
    [{ other: 1 }, "`other` is not configuration (the configuration is: `retries`, `model`); `model` is missing"],
  ])("%j", async (config, message) => {
    await expect(engine.run({}, { config })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    await expect(engine.run({}, { config })).rejects.toThrow(message.split("; ")[0]);
  });

  test("an input of that name, and a state that is edited", async () => {
    await expect(engine.run({ model: "x" }, { config: { model: "x" } })).rejects.toThrow("`model` is not an input");
    const stored = engineOf(
      `graph g { output a: string  config model: string = "m"  node say = model into a  start -> say }`,
      {},
      { store: new MemoryStore() },
    );
    await stored.run({}, { thread: "t" });
    await expect(stored.update("t", { model: "x" })).rejects.toThrow(
      "`model` is configuration: change it with `config`",
    );
  });
});

const ASKING = `
  graph inner { output a: string  config model: string = "small"  node ask = wait() into a  node say = \`\${a} \${model}\` into set a
    start -> ask -> say }
  graph outer { output a: string reduce last  output b: string  config model: string = "medium"  config tone: string = "dry"
    node call = inner() into { a }  node own = \`\${model} \${tone}\` into b  start -> call -> own }`.replace(
  'output a: string  config model: string = "small"',
  'output a: string reduce last  config model: string = "small"',
);
const wait = (context: NodeContext): unknown => context.interrupt("?");

describe("over resumes and forks", () => {
  const paused = async (config?: Record<string, string>) => {
    const store = new MemoryStore();
    const engine = engineOf(ASKING, { wait }, { store });
    const first = await engine.run({}, { thread: "t", ...(config === undefined ? {} : { config }) });
    expect(first.status).toBe("paused");
    return { engine, store };
  };

  test("a resume keeps the value", async () => {
    const { engine } = await paused({ model: "large" });
    expect((await engine.resume("t", "yes")).output).toEqual({ a: "yes large", b: "large dry" });
  });

  test("a resume with another value changes it in called graphs too, and keeps the others", async () => {
    const { engine } = await paused({ model: "large", tone: "kind" });
    const { output } = await engine.resume("t", { answer: "yes", config: { model: "tiny" } });
    expect(output).toEqual({ a: "yes tiny", b: "tiny kind" });
    const [head] = await engine.history("t");
    expect(head?.values).toMatchObject({ model: "tiny", tone: "kind" });
    const [inner] = await engine.history("t", { namespace: "call" });
    expect(inner?.values).toMatchObject({ model: "tiny" });
  });

  test("a resume with a wrong value or a wrong answer changes nothing", async () => {
    const { engine } = await paused({ model: "large" });
    const before = (await engine.history("t")).length;
    await expect(engine.resume("t", { answer: "yes", config: { model: 5 } })).rejects.toThrow("`model`: expected");
    await expect(engine.resume("t", { answers: { nobody: 1 }, config: { model: "x" } })).rejects.toMatchObject({
      code: "NG_BAD_ANSWER",
    });
    expect((await engine.history("t")).length).toBe(before);
    await engine.resume("t", "yes");
    await expect(engine.resume("t", { config: { model: "x" } })).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
    expect((await engine.history("t"))[0]?.values).toMatchObject({ model: "large" });
  });

  test("a fork keeps the value, or takes another one", async () => {
    const { engine } = await paused({ model: "large" });
    await engine.fork("t", { as: "same" });
    await engine.fork("t", { as: "other", config: { tone: "kind" } });
    await expect(engine.fork("t", { as: "wrong", config: { tine: "x" } })).rejects.toThrow("did you mean `tone`?");
    expect((await engine.resume("same", "yes")).output).toEqual({ a: "yes large", b: "large dry" });
    expect((await engine.resume("other", "yes")).output).toEqual({ a: "yes large", b: "large kind" });
    expect(
      (await engine.resume("t", { from: "none", answer: "x" }).catch((error: Error) => error)) instanceof Error,
    ).toBe(true);
  });

  test("a resume from an earlier checkpoint takes a new value for its branch", async () => {
    const { engine } = await paused({ model: "large" });
    await engine.resume("t", "yes");
    const first = (await engine.history("t")).find(({ phase }) => phase === "input");
    const again = await engine.resume("t", { from: first!.id, config: { tone: "kind" } });
    expect(again.status).toBe("paused");
    expect((await engine.resume("t", "no")).output).toEqual({ a: "no large", b: "large kind" });
  });

  test("an update changes it without a run", async () => {
    const { engine } = await paused();
    await engine.update("t", {}, { config: { tone: "kind" } });
    expect((await engine.resume("t", "yes")).output).toEqual({ a: "yes medium", b: "medium kind" });
    await expect(engine.update("t", {}, { in: "call", config: { tone: "x" } })).rejects.toThrow();
  });

  test("a new run on the thread starts with the defaults again", async () => {
    const { engine } = await paused({ model: "large" });
    await engine.resume("t", "yes");
    await engine.run({}, { thread: "t" });
    expect((await engine.resume("t", "yes")).output).toEqual({ a: "yes medium", b: "medium dry" });
  });

  test("the new value of a resume is durable before a node runs, whichever write the process dies at", async () => {
    for (const when of ["before", "after"] as const) {
      for (let left = 0; left < 12; left++) {
        const { engine, store } = await paused({ model: "large" });
        const crashing = new CrashingStore(store, left, when);
        const dying = engineOf(ASKING, { wait }, { store: crashing, leaseMs: 1 });
        await dying.resume("t", { answer: "yes", config: { model: "tiny" } }).catch(() => undefined);
        if (!crashing.dead) continue;
        const head = await store.loadLatest("t");
        const isChanged = head?.values["model"] === "tiny";
        // Without the new value nothing of the resume is stored, so the answer is still open.
        const model = isChanged ? "tiny" : "large";
        await new Promise((resolve) => setTimeout(resolve, 2));
        // The answer may be consumed, and the run may be over.
        await engine.resume("t", { answer: "yes" }).catch(() => engine.resume("t").catch(() => undefined));
        const state = (await engine.state("t"))?.state;
        expect(state, `${when} ${left}`).toMatchObject({ a: `yes ${model}`, b: `${model} dry` });
      }
    }
  });
});

test("a thread with a value that the changed type does not accept is refused (NG_DRIFT)", async () => {
  const store = new MemoryStore();
  const graph = (type: string) => `graph g { output a: string  config model: ${type}  node ask = wait() into a
    node say = model  start -> ask -> say }`;
  await engineOf(graph("string"), { wait }, { store }).run({}, { thread: "t", config: { model: "x" } });
  const edited = engineOf(graph("int"), { wait }, { store });
  await expect(edited.resume("t", "a")).rejects.toMatchObject({ code: "NG_DRIFT" });
});

describe("plans", () => {
  const PLAN = `plan p {
    config model: string = "medium"
    output a: string
    output b: string
    state q: string
    task question = ask("?") into q
    task own = model after question into a
    task call = inner() after own into { a: b }
  }
  graph inner { output a: string  config model: string = "small"  config tone: string = "dry"
    node say = \`\${model} \${tone}\` into a  start -> say }`;

  test("supply the configuration to what they call, and keep it over a resume", async () => {
    const store = new MemoryStore();
    const runner = createPlanRunner(planTable(PLAN), { store, builtins: { ask } });
    for (const [thread, config] of [
      ["t", { model: "large" }],
      ["u", undefined],
    ] as const) {
      const first = await runner.run({}, { thread, config: { tone: "kind" } });
      expect(first.status).toBe("paused");
      const { output } = await runner.resume(thread, { answer: "yes", ...(config === undefined ? {} : { config }) });
      const model = config?.model ?? "medium";
      expect(output).toEqual({ a: model, b: `${model} kind` });
    }
    await expect(runner.run({}, { config: { mode: "x" } })).rejects.toThrow("did you mean `model`?");
  });

  test("have that of the graph that calls them", async () => {
    const engine = engineOf(`plan p { output a: string  config model: string = "small"  task own = model into a }
      graph outer { output a: string  node call = p() into { a }  start -> call }`);
    expect((await engine.run({}, { config: { model: "large" } })).output).toEqual({ a: "large" });
  });
});
