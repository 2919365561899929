/** The examples that port published workflows, run with their stubs. */
import { describe, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { compile } from "../../api/compile-text.ts";
import { runTests } from "../../api/testing.ts";
import { createEngine, type Clock, type Engine, type FunctionRegistry } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { fail } from "../../stdlib/nodes/fail.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import * as corrective from "../../examples/corrective-rag/nodes.ts";
import * as expenses from "../../examples/expense-approval/nodes.ts";
import * as planExecute from "../../examples/plan-execute/nodes.ts";
import * as react from "../../examples/react/nodes.ts";
import * as research from "../../examples/research-assistant/nodes.ts";
import * as summaries from "../../examples/summaries/nodes.ts";
import * as supervisor from "../../examples/supervisor/nodes.ts";

const DAY = 24 * 3_600_000;

function engineOf(name: string, functions: object, options: { readonly clock?: Clock } = {}): Engine {
  const path = `examples/${name}/${name}.ngraph`;
  const { table } = compile(readFileSync(path, "utf8"), { path });
  if (table === undefined) throw new Error(`${path} has no table`);
  return createEngine(table, {
    functions: { ...(functions as FunctionRegistry) },
    builtins: { ask, fail },
    store: new MemoryStore(),
    ...options,
  });
}

describe.each([
  "corrective-rag",
  "expense-approval",
  "plan-execute",
  "react",
  "research-assistant",
  "summaries",
  "supervisor",
  "trip",
])("the tests of %s pass", (name) => {
  test.each(["ngraph", "yaml"])("as .%s", async (spelling) => {
    const results = await runTests(`examples/${name}/${name}.${spelling}`, { load: (url) => import(url) });
    expect(results.length).toBeGreaterThan(0);
    expect(results.flatMap(({ title, failures }) => failures.map(({ message }) => `${title}: ${message}`))).toEqual([]);
  });
});

test("research assistant: waits for the sources that were chosen, and reports how the run has ended", async () => {
  const ends: string[] = [];
  const functions = { ...research, log: (_question: string, status: string) => void ends.push(status) };
  const engine = engineOf("research-assistant", functions);
  const asked = await engine.run({ question: "Is aspirin a medicine?" });
  expect(asked.output["evidence"]).toEqual(["Aspirin is tolerated by most adults.", "It is sunny."]);
  expect(asked.steps).toEqual([["choose"], ["papers", "web"], ["answer"]]);
  expect(await engine.run({ question: "Hello?" })).toMatchObject({ status: "failed" });
  expect(ends).toEqual(["completed", "failed"]);
});

test("react: the model calls tools, twice in parallel, until it can answer", async () => {
  const { status, output, steps } = await engineOf("react", react).run({});
  expect({ status, output }).toEqual({
    status: "completed",
    output: { answer: "Together they have 5800000 inhabitants." },
  });
  expect(steps.flat().filter((node) => node === "tools")).toHaveLength(2);
});

test("react: a model that never answers fails the run after eight replies", async () => {
  const endless = {
    ...react,
    callModel: () => ({
      message: { role: "assistant", content: "" },
      calls: [{ id: "x", name: "calculator", input: "1 + 1" }],
    }),
  };
  const { status, error } = await engineOf("react", endless).run({});
  expect({ status, message: error?.message }).toEqual({
    status: "failed",
    message: "node `give_up` failed: no answer after 8 replies",
  });
});

test("supervisor: each worker works once", async () => {
  const { output } = await engineOf("supervisor", supervisor).run({});
  expect(output["finished"]).toBe(true);
  expect(output["notes"]).toMatchObject([
    { author: "user" },
    { author: "researcher" },
    { author: "coder" },
    { author: "writer" },
  ]);
});

test("supervisor: rounds are limited", async () => {
  const restless = { ...supervisor, supervise: () => "coder" };
  const { status, output } = await engineOf("supervisor", restless).run({});
  expect({ status, finished: output["finished"] }).toEqual({ status: "completed", finished: false });
  expect(output["notes"]).toHaveLength(7);
});

test("corrective RAG: relevant documents suffice, or the web is asked", async () => {
  const engine = engineOf("corrective-rag", corrective);
  const sources = async (question: string): Promise<unknown> => {
    const { output } = await engine.run({ question });
    return (output["sources"] as { readonly source: string }[]).map(({ source }) => source);
  };
  expect(await sources("What memory do agents have?")).toEqual(["library", "library"]);
  expect(await sources("Which flour makes bread?")).toEqual(["library", "web"]);
});

test("plan and execute: the plan shrinks, and the response comes last", async () => {
  const { status, output } = await engineOf("plan-execute", planExecute).run({});
  expect({ status, response: output["response"] }).toEqual({ status: "completed", response: "Jannik Sinner, Sesto" });
  expect(output["done"]).toHaveLength(2);
});

test("summaries: a text that fails is reported, and the others are collapsed", async () => {
  const engine = engineOf("summaries", summaries);
  expect((await engine.run({})).output).toMatchObject({ missing: [1] });
  const texts = Array.from(
    { length: 12 },
    (_, at) => `text ${at} has quite a few words, more than eight of them for sure`,
  );
  const { status, output, steps } = await engine.run({ texts });
  expect({ status, missing: output["missing"] }).toEqual({ status: "completed", missing: [] });
  expect(steps.flat()).toContain("collapse");
});

describe("expense approval", () => {
  const expense = { employee: "ada", amount: 250, purpose: "books" };

  test("a small expense needs no approval", async () => {
    const { output } = await engineOf("expense-approval", expenses).run({ expense: { ...expense, amount: 20 } });
    expect(output).toEqual({ result: "paid 20.00 to ada" });
  });

  test.each([
    ["approve", "paid 250.00 to ada"],
    ["reject", "rejected"],
  ])("%s", async (answer, result) => {
    const engine = engineOf("expense-approval", expenses);
    expect(await engine.run({ expense }, { thread: "t" })).toMatchObject({ status: "paused" });
    expect((await engine.resume("t", { answer })).output).toEqual({ result });
  });

  test("without an answer within three days the director is asked, and after one more day it expires", async () => {
    const clock = new VirtualClock();
    const engine = engineOf("expense-approval", expenses, { clock });
    expect(await engine.run({ expense }, { thread: "t" })).toMatchObject({ pauses: [{ node: "manager" }] });
    await clock.advance(3 * DAY);
    await engine.due();
    expect((await engine.state("t"))?.pauses).toMatchObject([{ node: "director" }]);
    await clock.advance(DAY);
    await engine.due();
    expect((await engine.state("t"))?.state).toMatchObject({ result: "nobody answered in time" });
  });

  test.each([
    [{ ...expense, employee: "nobody" }, "the bank refused: no such account"],
    [{ ...expense, amount: 9_000 }, "the bank takes it tomorrow"],
  ])("the bank fails for %j", async (given, result) => {
    const engine = engineOf("expense-approval", expenses);
    await engine.run({ expense: given }, { thread: "t" });
    expect((await engine.resume("t", { answer: "approve" })).output).toEqual({ result });
  });
});
