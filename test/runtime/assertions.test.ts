/** `assert … at`: a condition that holds whenever a node starts. */
import { describe, expect, test } from "vitest";
import { createEngine } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf, tableOf } from "../support/graph.ts";

const MAIL = `graph mail {
  input verdict: string = "no"
  output sent: string = ""
  state approved: string = ""
  node review = verdict into approved
  node send = send() into sent { tries 3 }
  assert approved == "yes" at send
  start -> review -> send
}`;

describe("a node whose condition does not hold", () => {
  test("fails the run before its body runs, and names the node and the place", async () => {
    let calls = 0;
    const engine = engineOf(MAIL, { send: () => `call ${++calls}` });
    expect(await engine.run({ verdict: "yes" })).toMatchObject({ status: "completed", output: { sent: "call 1" } });
    const { status, error } = await engine.run({ verdict: "no" });
    expect({ status, calls }).toEqual({ status: "failed", calls: 1 });
    expect(error).toMatchObject({ code: "NG_ASSERTION", nodeId: "send", attempts: 1 });
    expect(error?.message).toBe(
      'node `send` cannot start: `assert approved == "yes" at send` does not hold (test.ngraph:8:10)',
    );
  });

  test("fails the run although the node has error edges, or allows failures", async () => {
    const handled = engineOf(
      `graph g { input n: int  output o: int[] = []  node a = f(x) for x in [1, 2] into o { allow failure }
        node b = print("handled")  assert n > 3 at a  start -> a  a -> end  a -> b on error  b -> end }`,
      { f: (x: number) => x },
    );
    expect(await handled.run({ n: 4 })).toMatchObject({ status: "completed", output: { o: [1, 2] } });
    const { status, error, steps } = await handled.run({ n: 3 });
    expect({ status, steps }).toEqual({ status: "failed", steps: [] });
    expect(error).toMatchObject({ code: "NG_ASSERTION", nodeId: "a", items: [0, 1] });
    expect(error?.message).toContain("cannot start at item 0");
  });

  test("tasks that are sent are checked too", async () => {
    const engine = engineOf(
      `graph g { input n: int  output o: int[] = [] reduce append  node a = spread() { goes b }
        node b = item for item in [] into o  assert n > 3 at b  start -> a  a -> end  b -> end }`,
      {
        spread: (context: { send(node: string, item: number): void }) => {
          context.send("b", 1);
          context.send("b", 2);
        },
      },
    );
    expect(await engine.run({ n: 4 })).toMatchObject({ status: "completed", output: { o: [1, 2] } });
    expect(await engine.run({ n: 3 })).toMatchObject({ status: "failed", error: { code: "NG_ASSERTION" } });
  });

  test("a condition without a value does not hold", async () => {
    const engine = engineOf(`graph g { input n: int  node a = print("x")  assert 10 / n > 1 at a  start -> a }`);
    const { error } = await engine.run({ n: 0 });
    expect(error).toMatchObject({ code: "NG_ASSERTION", nodeId: "a" });
    expect(error?.message).toMatch(/cannot be evaluated: .*0/);
  });
});

describe("a resume", () => {
  test("evaluates the condition again, on the state of an edit", async () => {
    const store = new MemoryStore();
    const engine = engineOf(MAIL, { send: () => "sent" }, { store });
    expect(await engine.run({ verdict: "no" }, { thread: "t" })).toMatchObject({ error: { code: "NG_ASSERTION" } });
    expect(await engine.resume("t", {})).toMatchObject({ status: "failed", error: { code: "NG_ASSERTION" } });
    await engine.update("t", { approved: "yes" });
    expect(await engine.resume("t", {})).toMatchObject({ status: "completed", output: { sent: "sent" } });
  });

  test("with an answer checks the node that waits once more", async () => {
    const text = `graph g { output o: string = ""  state open: bool = true  node a = ask("?") into o  assert open at a  start -> a }`;
    const store = new MemoryStore();
    const engine = engineOf(text, {}, { store });
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "paused" });
    await engine.update("t", { open: false });
    expect(await engine.resume("t", { answer: "yes" })).toMatchObject({ error: { code: "NG_ASSERTION" } });
  });
});

test("siblings of the node keep their results for the resume", async () => {
  const store = new MemoryStore();
  const calls: string[] = [];
  const functions = {
    f: (name: string) => {
      calls.push(name);
      return name;
    },
  };
  const text = `graph g { output x: string = ""  output y: string = ""  state ok: bool = false
    node a = f("a") into x  node b = f("b") into y  assert ok at b  start -> a, b }`;
  const engine = engineOf(text, functions, { store });
  expect(await engine.run({}, { thread: "t" })).toMatchObject({ error: { nodeId: "b" }, output: { x: "" } });
  await engine.update("t", { ok: true });
  expect(await engine.resume("t", {})).toMatchObject({ status: "completed", output: { x: "a", y: "b" } });
  expect(calls).toEqual(["a", "b"]);
});

test("a called graph fails its caller, whose error edges apply", async () => {
  const engine = engineOf(
    `graph inner { input n: int  node a = print("x")  assert n > 3 at a  start -> a }
     graph g { output why: string = ""  node call = inner(n: 1)  node b = error?.message ?? "" into why
       start -> call  call -> end  call -> b on error  b -> end }`,
  );
  const { status, output } = await engine.run({});
  expect(status).toBe("completed");
  expect(output["why"]).toContain("`assert n > 3 at a` does not hold");
});

test("a mocked node is checked, and a table without debug information names no place", async () => {
  const { debug: _, ...table } = tableOf(MAIL, ["send"]);
  const engine = createEngine(table, { functions: { send: () => "" }, mocks: { send: () => "mocked" } });
  const { error } = await engine.run({});
  expect(error?.message).toBe('node `send` cannot start: `assert approved == "yes" at send` does not hold');
});
