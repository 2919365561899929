/** Spans of runs (`ngraph/opentelemetry`): names, parents, attributes and errors. */
import {
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from "@opentelemetry/api";
import { describe, expect, test } from "vitest";
import { traceRuns } from "../../adapters/opentelemetry/trace-runs.ts";
import { createEngine } from "../../api/create-engine.ts";
import { compile } from "../../compiler/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { Table } from "../../runtime/table/table.ts";
import { CrashingStore } from "../support/crashing-store.ts";

interface Recorded {
  readonly name: string;
  readonly parent: string | undefined;
  readonly kind: SpanKind | undefined;
  readonly attributes: Attributes;
  error?: string;
  ends: number;
}

/** A tracer that records its spans. */
function recorder(): { readonly tracer: Tracer; readonly spans: Recorded[] } {
  const spans: Recorded[] = [];
  const names = new Map<Span, string>();
  const startSpan: Tracer["startSpan"] = (name, { kind, attributes } = {}, parent?: Context) => {
    const above = parent === undefined ? undefined : trace.getSpan(parent);
    const record: Recorded = {
      name,
      parent: above === undefined ? undefined : names.get(above),
      kind,
      attributes: { ...attributes },
      ends: 0,
    };
    const span = {
      setAttribute: (key: string, value: string) => void (record.attributes[key] = value),
      setStatus: ({ code, message }: { code: SpanStatusCode; message?: string }) => {
        if (code === SpanStatusCode.ERROR) record.error = message ?? "";
      },
      end: () => void record.ends++,
    } as unknown as Span;
    names.set(span, name);
    spans.push(record);
    return span;
  };
  return { tracer: { startSpan } as Tracer, spans };
}

function tableOf(text: string, name: string): Table {
  const { tables, diagnostics } = compile(text);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return tables.get(name) as Table;
}

const NESTED = `
graph inner { input x: int  output y: int  node f = x + 1 into y  start -> f -> end }
graph outer {
  output ys: int[] = [] reduce append
  node many = inner(x: i) for i in [1, 2] into { y: ys }
  node bad = fail("no") { tries 2 backoff 1ms..1ms }
  start -> many -> bad -> end
}`;

describe("traceRuns", () => {
  test("has a span for each run, step and attempt, with those of called graphs below the call", async () => {
    const { tracer, spans } = recorder();
    const table = tableOf(NESTED, "outer");
    const mocks = {
      bad: () => {
        throw new Error("no");
      },
    };
    const engine = createEngine(table, { mocks, onEvent: traceRuns({ tracer, table }) });
    expect((await engine.run({})).status).toBe("failed");
    expect(spans.map(({ name, parent }) => `${parent ?? "-"} > ${name}`)).toEqual([
      "- > run outer",
      "run outer > step 0",
      "step 0 > node many",
      "node many > step 0",
      "step 0 > node f",
      "step 0 > node many",
      "node many > step 0",
      "step 0 > node f",
      "run outer > step 1",
      "step 1 > node bad",
      "step 1 > node bad",
    ]);
    expect(spans.map(({ ends }) => ends)).toEqual(spans.map(() => 1));
    expect(spans[0]).toMatchObject({
      error: expect.stringContaining("node `bad` failed after 2 attempts"),
      attributes: { "ngraph.graph": "outer", "ngraph.status": "failed", "error.type": "NG_NODE_FAILED" },
    });
    expect(spans.slice(-2)).toMatchObject([
      { error: "no", attributes: { "ngraph.attempt": 1 } },
      { attributes: { "ngraph.attempt": 2, "error.type": "NG_NODE_FAILED" } },
    ]);
    expect(spans[5]?.attributes).toMatchObject({ "ngraph.task": "many[1]", "ngraph.item": 1 });
  });

  test("a pause ends the spans, and a resume is a run of its own on the same thread", async () => {
    const { tracer, spans } = recorder();
    const table = tableOf(`graph g { output a: string  node q = ask("?") into a  start -> q -> end }`, "g");
    const engine = createEngine(table, { store: new MemoryStore(), onEvent: traceRuns({ tracer }) });
    await engine.run({}, { thread: "t" });
    expect(spans.every(({ ends }) => ends === 1)).toBe(true);
    await engine.resume("t", "yes");
    const runs = spans.filter(({ name }) => name === "run g");
    expect(runs.map(({ attributes }) => attributes)).toMatchObject([
      { "ngraph.thread": "t", "ngraph.resumed": false, "ngraph.status": "paused" },
      { "ngraph.thread": "t", "ngraph.resumed": true, "ngraph.status": "completed" },
    ]);
    expect(spans.every(({ ends }) => ends === 1)).toBe(true);
  });

  test("a call of a model has the attributes of the GenAI conventions, in called graphs too", async () => {
    const { tracer, spans } = recorder();
    const table = tableOf(
      `graph inner { output t: string  node say = llm("hi", model: "small") into t  start -> say -> end }
graph outer { output a: string  output b: string  node call = inner() into { t: a }  node own = llm("hi") into b  start -> call -> own -> end }`,
      "outer",
    );
    const engine = createEngine(table, { builtins: { llm: () => "hello" }, onEvent: traceRuns({ tracer, table }) });
    expect((await engine.run({})).status).toBe("completed");
    expect(spans.filter(({ kind }) => kind === SpanKind.CLIENT)).toMatchObject([
      {
        name: "chat small",
        attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "small", "ngraph.node": "say" },
      },
      { name: "chat", attributes: { "gen_ai.operation.name": "chat", "ngraph.node": "own" } },
    ]);
  });

  test("steps of a graph that a model calls as a tool are below the node of the model", async () => {
    const { tracer, spans } = recorder();
    const table = tableOf(
      `graph find { input x: string  output t: string  node say = llm(x, model: "small") into t  start -> say -> end }
graph outer { output b: string[] = [] reduce append  node own = llm(i, tools: [find]) for i in ["p"] into b { timeout 1h }  start -> own -> end }`,
      "outer",
    );
    const llm: BuiltinNode = async (_, { tools }) => {
      await tools?.[0]?.call(["y"], "call 0");
      return "hello";
    };
    const engine = createEngine(table, {
      builtins: { llm },
      store: new MemoryStore(),
      onEvent: traceRuns({ tracer, table }),
    });
    expect((await engine.run({})).error).toBe(null);
    expect(spans.map(({ name, parent }) => `${parent ?? "-"} > ${name}`)).toEqual([
      "- > run outer",
      "run outer > step 0",
      "step 0 > chat",
      "chat > step 0",
      "step 0 > chat small",
    ]);
    expect(spans.every(({ ends }) => ends === 1)).toBe(true);
  });

  test("a `finally` part and the attempts of undos have spans of their own", async () => {
    const { tracer, spans } = recorder();
    const table = tableOf(
      `graph g {
  output a: string = ""  output b: string = ""
  node book = "x" into a { undo shell("unbook") { tries 2 backoff 1ms..1ms } }
  node bad = fail("no")
  node clean = llm("clean") into b
  start -> book -> bad  bad -> rollback on error
  finally -> clean
}`,
      "g",
    );
    const broken = (): never => {
      throw new Error("not now");
    };
    const mocks = { clean: () => "done", bad: broken };
    const engine = createEngine(table, {
      builtins: { shell: broken },
      mocks,
      store: new MemoryStore(),
      onEvent: traceRuns({ tracer, table }),
    });
    expect((await engine.run({})).status).toBe("failed");
    expect(
      spans.map(({ name, parent, error }) => `${parent ?? "-"} > ${name}${error === undefined ? "" : " failed"}`),
    ).toEqual([
      "- > run g failed",
      "run g > step 0",
      "step 0 > node book",
      "run g > step 1",
      "step 1 > node bad failed",
      "run g > undo book failed",
      "run g > undo book failed",
      "run g > finally",
      "finally > step 0",
      "step 0 > chat",
    ]);
    expect(spans.find(({ name }) => name === "finally")?.attributes).toEqual({
      "ngraph.outcome": "failed",
      "ngraph.status": "completed",
    });
    expect(spans.every(({ ends }) => ends === 1)).toBe(true);
  });

  test("a run that is broken off by its store ends its spans with the error", async () => {
    const { tracer, spans } = recorder();
    const table = tableOf(
      `graph g { output a: int = 0  node c = 1 into a  node d = 2 into a  start -> c -> d -> end }`,
      "g",
    );
    const store = new CrashingStore(new MemoryStore(), 1);
    const engine = createEngine(table, { store, durability: "sync", onEvent: traceRuns({ tracer }) });
    await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    expect(spans[0]).toMatchObject({ name: "run g", ends: 1, attributes: { "error.type": "NG_STORE_FAILED" } });
    expect(spans[0]?.attributes).not.toHaveProperty("ngraph.status");
    expect(spans.every(({ ends }) => ends === 1)).toBe(true);
  });

  test("a table serves only the runs of its graph, and a list of tables those of each", async () => {
    const { tracer, spans } = recorder();
    const model = tableOf(`graph g { output a: string  node c = llm("hi") into a  start -> c -> end }`, "g");
    const plain = tableOf(`graph h { output a: string  node c = "hi" into a  start -> c -> end }`, "h");
    const builtins = { llm: () => "hello" };
    for (const table of [model, [plain, model]]) {
      const onEvent = traceRuns({ tracer, table });
      await createEngine(model, { builtins, onEvent }).run({});
      await createEngine(plain, { onEvent }).run({});
    }
    const nodes = spans.filter(({ attributes }) => "ngraph.node" in attributes).map(({ name }) => name);
    expect(nodes).toEqual(["chat", "node c", "chat", "node c"]);
  });
});
