/** Execution, 4.3: the value of `error`. */
import { describe, expect, test } from "vitest";
import type { Json } from "../../runtime/index.ts";
import { NodeFailure } from "../../stdlib/node-failure.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

class RateLimit extends Error {
  readonly status = 429;
  readonly code = "rate_limit";
}

class Named extends Error {
  override readonly name = "QuotaError";
}

const unreadable = Object.defineProperties(new Error("odd"), {
  name: {
    get: () => {
      throw new Error("no name");
    },
  },
  status: {
    get: () => {
      throw new Error("no status");
    },
  },
});

describe("4.3 `name` and `status` are those of the thrown error", () => {
  const cases: readonly (readonly [what: string, thrown: unknown, name: string, status: Json])[] = [
    ["a class with a status", new RateLimit("slow down"), "RateLimit", 429],
    ["a class with a name", new Named("too much"), "QuotaError", null],
    ["a built-in class", new TypeError("not so"), "TypeError", null],
    ["an error of the system", Object.assign(new Error("refused"), { code: "ECONNREFUSED" }), "Error", "ECONNREFUSED"],
    ["an abort", new DOMException("stopped", "AbortError"), "AbortError", 20],
    ["a failure of a built-in node", new NodeFailure("busy", { details: { status: 503 } }), "NodeFailure", 503],
    ["a status that is no int", Object.assign(new Error("half"), { status: 1.5, code: {} }), "Error", null],
    ["a record", { message: "no", code: 7 }, "Object", 7],
    ["a string", "no", "string", null],
    ["null", null, "null", null],
    ["an object without a prototype", Object.create(null), "Error", null],
    ["an error that cannot be read", unreadable, "Error", null],
  ];
  test.each(cases)("%s", async (_what, thrown, name, status) => {
    const engine = engineOf(
      `graph g { output seen: json = null  node a = a()  node b = error into seen
        start -> a  a -> end  a -> b on error  b -> end }`,
      { a: () => Promise.reject(thrown) },
    );
    expect((await engine.run({})).output).toMatchObject({ seen: { node: "a", name, status } });
  });

  test("secrets are removed from both", async () => {
    const engine = engineOf(
      `secret KEY  graph g { output seen: json = null  node a = a(KEY)  node b = error into seen
        start -> a  a -> end  a -> b on error  b -> end }`,
      { a: (key: string) => Promise.reject(Object.assign(new Error("no"), { name: `of ${key}`, status: key })) },
      { secrets: { KEY: "s3cr3t-value" } },
    );
    expect(JSON.stringify(await engine.run({}))).not.toContain("s3cr3t-value");
  });

  test("a call of a graph has those of the error inside", async () => {
    const engine = engineOf(
      `graph inner { output x: int = 0  node a = a() into x  start -> a }
       graph g { output seen: json = null  node call = inner()  node b = error into seen
         start -> call  call -> end  call -> b on error  b -> end }`,
      { a: () => Promise.reject(new RateLimit("slow down")) },
    );
    expect((await engine.run({})).output).toMatchObject({ seen: { node: "call", name: "RateLimit", status: 429 } });
  });

  test("a timeout has a code, and no status", async () => {
    const engine = engineOf(
      `graph g { output seen: json = null  node a = a() { timeout 1ms }  node b = error into seen
        start -> a  a -> end  a -> b on error  b -> end }`,
      { a: () => new Promise(() => undefined) },
    );
    expect((await engine.run({})).output).toMatchObject({ seen: { code: "NG_NODE_TIMEOUT", status: null } });
  });
});

test("4.3: error edges choose by the status, and the run fails if none holds", async () => {
  const engine = engineOf(
    `graph g { input status: int  output took: string = ""
      node a = a(status)  node slow = "slow" into took  node gone = "gone" into took
      start -> a  a -> end
      a -> slow on error when error.status == 429
      a -> gone on error when error.status == 404
      any(slow, gone) -> end }`,
    { a: (status: number) => Promise.reject(Object.assign(new Error("no"), { status })) },
  );
  expect((await engine.run({ status: 429 })).output).toEqual({ took: "slow" });
  expect((await engine.run({ status: 404 })).output).toEqual({ took: "gone" });
  expect(await engine.run({ status: 500 })).toMatchObject({ status: "failed", error: { nodeId: "a" } });
});

describe("4.3 `error` stays", () => {
  const text = `graph g { output log: string[] = [] reduce append
    node a = a()  node mend = "mended" into log  node gate = \`\${error?.message ?? "none"}\` into log { pause before }
    node last = [f(x, error) for x in [1]] into log
    start -> a  a -> gate  a -> mend on error when error.message != "quiet"  mend -> gate
    gate -> last when error?.name == "RateLimit"  gate -> end otherwise }`;
  const functions = (thrown: Error | undefined) => ({
    a: () => (thrown === undefined ? 1 : Promise.reject(thrown)),
    f: (_: number, error: { status: number } | null) => `f ${error?.status ?? "none"}`,
  });

  test("in later nodes, in conditions of plain edges, after a resume and in a fork; not in a new run", async () => {
    const store = new MemoryStore();
    const engine = engineOf(text, functions(new RateLimit("slow down")), { store });
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "paused" });
    // Another engine has only what the store has.
    const later = engineOf(text, functions(new RateLimit("slow down")), { store });
    const log = ["mended", "slow down", "f 429"];
    await later.fork("t", { as: "copy" });
    expect(await later.resume("copy", {})).toMatchObject({ status: "completed", output: { log } });
    expect(await later.resume("t", {})).toMatchObject({ status: "completed", output: { log } });

    const other = engineOf(text, functions(undefined), { store });
    expect(await other.run({}, { thread: "t" })).toMatchObject({ status: "paused" });
    expect((await store.loadLatest("t", ""))!.values["error"] ?? null).toBeNull();
    expect(await other.resume("t", {})).toMatchObject({ output: { log: ["none"] } });
  });

  test("a called graph has its own", async () => {
    const engine = engineOf(
      `graph inner { output seen: json = 1  node b = error into seen  start -> b }
       graph g { output seen: json = 1  node a = a()  node call = inner() into { seen }
         start -> a  a -> end  a -> call on error  call -> end }`,
      { a: () => Promise.reject(new Error("no")) },
    );
    expect((await engine.run({})).output).toEqual({ seen: null });
  });
});

describe("E1 several failures in a step", () => {
  const fails = (name: string) => () => Promise.reject(new Error(name));

  test("a target of several reads the first in task order; each other target reads its own", async () => {
    const engine = engineOf(
      `graph g { output seen: string[] = [] reduce append
        node a = a()  node b = b()  node c = c()
        node both = \`both \${error.message}\` into seen  node own = \`own \${error.message}\` into seen
        node after = \`after \${error?.message ?? ""}\` into seen
        start -> a, b, c  any(a, b, c) -> end
        b -> both on error  a -> both on error  c -> own on error  all(both, own) -> after -> end }`,
      { a: fails("a"), b: fails("b"), c: fails("c") },
    );
    expect((await engine.run({})).output).toEqual({ seen: ["both a", "own c", "after a"] });
  });

  test("a later failure replaces it; a failure that no error edge takes does not", async () => {
    const store = new MemoryStore();
    let broken = true;
    const engine = engineOf(
      `graph g { output seen: string = ""
        node a = a()  node b = b()  node c = c()  node last = error?.message ?? "" into seen
        start -> a  any(a, b) -> end  a -> b on error  b -> c on error  c -> last -> end }`,
      {
        a: fails("a"),
        b: fails("b"),
        c: () => {
          if (broken) throw new Error("c");
        },
      },
      { store },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed" });
    broken = false;
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { seen: "b" } });
  });
});

test("4.3: a checkpoint of an older version has the failures of the next nodes only", async () => {
  const store = new MemoryStore();
  const text = `graph g { output seen: string = ""
    node a = a()  node b = error.message into seen { pause before }  start -> a  a -> end  a -> b on error  b -> end }`;
  const functions = { a: () => Promise.reject(new Error("old")) };
  await engineOf(text, functions, { store }).run({}, { thread: "t" });
  const head = (await store.loadLatest("t", ""))!;
  const { error: _, ...values } = head.values;
  const old = {
    ...head,
    values,
    errors: { b: { node: "a", code: "NG_NODE_FAILED", message: "old", attempts: 1, items: [] } },
  };
  store.loadLatest = () => Promise.resolve(old) as never;
  store.loadById = () => Promise.resolve(old) as never;
  expect(await engineOf(text, functions, { store }).resume("t", {})).toMatchObject({ output: { seen: "old" } });
});
