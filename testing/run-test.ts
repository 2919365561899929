/** Runs a `test` block on the engine: memory store, simulated clock, mocked nodes. */
import type { BoundTest, TestExpectation } from "../compiler/bind/bind-tests.ts";
import { createEngine } from "../runtime/engine/create-engine.ts";
import { compileExpression } from "../runtime/expression/compile-expression.ts";
import type { RunEvent } from "../runtime/interface/events.ts";
import type { Bindings, ImportedFunction, RunResult } from "../runtime/interface/engine-options.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import type { Table } from "../runtime/table/table.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { stubBindings } from "../runtime/program/stub-bindings.ts";
import type { CoverageCounter } from "./coverage.ts";
import { SimulatedClock } from "./simulated-clock.ts";
import { testNodes } from "./test-nodes.ts";

/** The result of one `test` block. */
export interface TestResult {
  readonly title: string;
  readonly graph: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly ok: boolean;
  /** How the run ended; `null` if it could not start. */
  readonly status: string | null;
  /** The nodes of each step. */
  readonly steps: readonly (readonly string[])[];
  readonly failures: readonly TestFailure[];
  /** Of a test with cases: its number, from 1, and its fields. */
  readonly case?: { readonly number: number; readonly of: number; readonly values: JsonObject };
}

/** A statement of a `test` block that is not satisfied. */
export interface TestFailure {
  readonly message: string;
  /** Of the statement that is not satisfied. */
  readonly line: number;
  readonly column: number;
  /** The details of a text output, one line each. */
  readonly details: readonly string[];
}

/** Loads the imported functions that a table and its called graphs list. */
export type LoadFunctions = (table: Table) => Promise<Bindings>;

/** Pauses of one test. A graph that pauses more often is stopped. */
const MAX_RESUMES = 1000;
const MAX_SHOWN = 200;
/** Checkpoints of one test whose conditions the coverage evaluates. */
const MAX_CHECKPOINTS = 10_000;
/** The longest time that a timer of JavaScript can have. */
const MAX_LEASE_MS = 2 ** 31 - 1;

/**
 * Runs a test. Never throws for a failure of the graph or of `load`: it is a failure of the test.
 *
 * @param coverage counts the parts of the graph that the run takes
 */
export async function runTest(
  test: BoundTest,
  table: Table,
  load: LoadFunctions,
  coverage?: CoverageCounter,
): Promise<TestResult> {
  const { graph, declaration } = test;
  const at = (offset: number): { line: number; column: number } => graph.file.position(offset);
  const { case: inCase } = test;
  const start = (inCase ?? declaration).span.start;
  const base = {
    title: test.title,
    graph: graph.name,
    file: graph.file.path,
    ...at(start),
    ...(inCase === undefined ? {} : { case: { number: inCase.number, of: inCase.of, values: inCase.values } }),
  };
  const caseDetails =
    inCase === undefined ? [] : [`case ${inCase.number}    ${shorten(JSON.stringify(inCase.values))}`];
  let ran: { readonly result: RunResult; readonly steps: readonly (readonly string[])[] };
  try {
    ran = await runToEnd(test, table, load, coverage);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const failure = {
      message: `the run did not start: ${message}`,
      ...at(declaration.title.span.start),
      details: caseDetails,
    };
    return { ...base, ok: false, status: null, steps: [], failures: [failure] };
  }
  const { result, steps } = ran;
  const failures: TestFailure[] = [];
  const fail = (span: { readonly start: number }, message: string, details: readonly string[] = []): void =>
    void failures.push({ message, ...at(span.start), details: [...caseDetails, ...details] });
  const ended = `the run ${endOf(result)}`;
  const expectsStatus = test.expectations.some(({ kind }) => ENDS.has(kind));
  const path = [`ran       ${pathText(steps)}`];
  if (!expectsStatus && result.status !== "completed") fail(declaration.title.span, ended, waitsOf(result));
  for (const expectation of test.expectations) {
    switch (expectation.kind) {
      case "status":
        if (result.status !== expectation.status) {
          fail(expectation.span, `expected status ${expectation.status}, and ${ended}`, waitsOf(result));
        }
        break;
      case "ran": {
        const details = comparePaths(expectation.steps, steps);
        if (details !== undefined) fail(expectation.span, "the run took another path", details);
        break;
      }
      case "never": {
        const step = steps.findIndex((each) => each.some((node) => expectation.nodes.includes(node)));
        if (step === -1) break;
        const node = expectation.nodes.find((each) => steps[step]?.includes(each)) ?? "";
        const first = `first difference in step ${step}: \`${node}\` ran`;
        fail(expectation.span, `expected that \`${node}\` never runs`, [...path, first]);
        break;
      }
      case "paused": {
        const { node } = expectation;
        const isThere = result.pauses.some((pause) => (pause.namespace[0] ?? pause.node) === node);
        if (result.status === "paused" && isThere) break;
        const message = `expected a pause at \`${node}\`, and ${ended}`;
        fail(expectation.span, message, [...path, ...waitsOf(result)]);
        break;
      }
      case "fails": {
        const codes = codesOf(result.error);
        if (codes.includes(expectation.code)) break;
        const codeText = codes.length === 0 ? "" : ` (${codes.join(", caused by ")})`;
        fail(expectation.span, `expected error ${expectation.code}, and ${ended}${codeText}`, path);
        break;
      }
      case "undone": {
        const details = compareUndos(expectation.nodes, result);
        if (details !== undefined) fail(expectation.span, "the run undid other results", [...details, ...path]);
        break;
      }
      case "before": {
        const message = compareOrder(expectation, steps);
        if (message !== undefined) fail(expectation.span, message, path);
        break;
      }
      case "condition": {
        const problem = checkCondition(expectation, test, result.state);
        if (problem !== undefined) fail(expectation.span, problem.message, problem.details);
        break;
      }
    }
  }
  return { ...base, ok: failures.length === 0, status: result.status, steps, failures };
}

/** Expectations that name an end other than `completed`. */
const ENDS: ReadonlySet<TestExpectation["kind"]> = new Set(["status", "paused", "fails", "undone"]);

async function runToEnd(
  test: BoundTest,
  table: Table,
  load: LoadFunctions,
  coverage: CoverageCounter | undefined,
): Promise<{ readonly result: RunResult; readonly steps: readonly (readonly string[])[] }> {
  let calls = 0;
  const bindings = await bindingsOf(test, table, load, (change) => {
    calls += change;
  });
  const clock = new SimulatedClock(() => calls > 0);
  const events: RunEvent[] = [];
  const engine = createEngine(table, {
    ...bindings,
    ...(coverage === undefined ? {} : { onEvent: (event: RunEvent) => void events.push(event) }),
    builtins: testNodes((name) => `a test does not run \`${name}\`: add \`mock NODE = …\` for the node that calls it`),
    store: new MemoryStore(),
    // Tests read no secrets of the environment.
    secrets: (name) => `value of ${name} in tests`,
    clock,
    random: () => 0.5,
    wake: false,
    // No other process wants the thread, and each renewal of a claim costs turns: a mock may take a year.
    leaseMs: MAX_LEASE_MS,
    mocks: mocksOf(test, clock),
  });
  const configNames = new Set(table.channels.flatMap(({ name, role }) => (role === "config" ? [name] : [])));
  const part = (isConfig: boolean): JsonObject =>
    Object.fromEntries(Object.entries(test.given).filter(([name]) => configNames.has(name) === isConfig));
  const thread = "test";
  let result = await engine.run(part(false), { thread, config: part(true) });
  const steps = [...result.steps];
  const used = new Map<string, number>();
  const received = new Map<string, number>();
  for (let resumes = 0; result.status === "paused" && resumes < MAX_RESUMES; resumes++) {
    const answers: Record<string, Json> = {};
    for (const pause of result.pauses) {
      const values = pause.namespace.length === 0 ? test.answers.get(pause.node) : undefined;
      const count = used.get(pause.node) ?? 0;
      const value = values?.[count];
      if (value === undefined) continue;
      used.set(pause.node, count + 1);
      answers[pause.id] = value;
    }
    let signals = 0;
    for (const { kind, payload } of result.pauses) {
      if (kind !== "signal" || typeof payload !== "string") continue;
      const count = received.get(payload) ?? 0;
      const value = test.signals.get(payload)?.[count];
      if (value === undefined) continue;
      received.set(payload, count + 1);
      await engine.signal(thread, payload, value);
      signals++;
    }
    const due = result.pauses.flatMap((pause) => pause.due ?? []);
    if (Object.keys(answers).length === 0 && signals === 0) {
      if (due.length === 0) break;
      clock.advanceTo(Math.min(...due));
    }
    result = await engine.resume(thread, { answers });
    steps.push(...result.steps);
  }
  if (coverage !== undefined) {
    coverage.add({ events, checkpoints: await engine.history(thread, { limit: MAX_CHECKPOINTS }) });
  }
  return { result, steps };
}

function mocksOf({ mocks }: BoundTest, clock: SimulatedClock): Record<string, () => Json | Promise<Json>> {
  return Object.fromEntries(
    [...mocks].map(([node, mock]) => {
      let call = 0;
      const body = (): Json => {
        if ("fails" in mock) throw Object.assign(new Error(mock.fails), { retryable: false });
        // The last value is returned again.
        return mock.results[Math.min(call++, mock.results.length - 1)] ?? null;
      };
      const { delay } = mock;
      if (delay === undefined) return [node, body];
      return [node, () => new Promise<void>((resolve) => clock.setTimeout(resolve, delay)).then(body)];
    }),
  );
}

/** Bindings that load only the modules of functions that the test calls. */
async function bindingsOf(
  { mocks }: BoundTest,
  table: Table,
  load: LoadFunctions,
  count: (change: number) => void,
): Promise<Bindings> {
  const nodes = table.nodes.filter(({ name }) => !mocks.has(name));
  const functions = new Set<number>();
  const graphs = new Set<number>();
  const collect = (_key: string, value: unknown): unknown => {
    if (typeof value === "object" && value !== null) {
      const { function: called, graph } = value as { readonly function?: unknown; readonly graph?: unknown };
      if (typeof called === "number") functions.add(called);
      if (typeof graph === "number") graphs.add(graph);
    }
    return value;
  };
  JSON.stringify([nodes, table.expressions, table.channels], collect);
  const needed = {
    ...table,
    functions: table.functions.filter((_, index) => functions.has(index)),
    graphs: table.graphs.filter((_, index) => graphs.has(index)),
  };
  const none = stubBindings(table, "the test mocks each node that calls it");
  const counted = (each: Bindings): Bindings => ({
    functions: Object.fromEntries(
      Object.entries(each.functions ?? {}).map(([name, body]) => [name, countCalls(body, count)]),
    ),
    graphs: Object.fromEntries(Object.entries(each.graphs ?? {}).map(([name, graph]) => [name, counted(graph)])),
  });
  const loaded = counted(await load(needed));
  return {
    functions: { ...none.functions, ...loaded.functions },
    graphs: { ...none.graphs, ...loaded.graphs },
  };
}

/** Reports to `count` how many calls of a function are in progress. */
function countCalls(body: ImportedFunction, count: (change: number) => void): ImportedFunction {
  return (...args: never[]): unknown => {
    const result = body(...args);
    if (!(result instanceof Promise)) return result;
    count(1);
    return result.finally(() => count(-1));
  };
}

function endOf({ status, error }: RunResult): string {
  const why = error === null ? "" : `: ${error.message}`;
  return status === "failed" ? `failed${why}` : `ended with status ${status}${why}`;
}

/** What a paused run waits for. */
function waitsOf({ pauses }: RunResult): string[] {
  return pauses.map(({ node, kind, payload }) =>
    kind === "interrupt"
      ? `\`${node}\` waits for an answer: add \`answer ${node} = …\``
      : kind === "signal"
        ? `\`${node}\` waits for a signal: add \`signal ${signalText(payload)} = …\``
        : `\`${node}\` waits (${kind})`,
  );
}

function signalText(name: Json): string {
  return typeof name === "string" && /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

/** The code of an error and those of its causes. */
function codesOf(error: RunResult["error"]): string[] {
  const codes: string[] = [];
  const seen = new Set<unknown>();
  for (let each: unknown = error; typeof each === "object" && each !== null && !seen.has(each);) {
    seen.add(each);
    const { code, cause } = each as { readonly code?: unknown; readonly cause?: unknown };
    if (typeof code === "string") codes.push(code);
    each = cause;
  }
  return codes;
}

/** The expected undos beside those of the run, and their first difference; `undefined` if they are equal. */
function compareUndos(expected: readonly string[], { rollback }: RunResult): string[] | undefined {
  const undone = (rollback?.undone ?? []).map(({ task }) => task.split("/", 1)[0]?.replace(/\[.*$/, "") ?? task);
  const length = Math.max(expected.length, undone.length);
  for (let place = 0; place < length; place++) {
    const [wanted, found] = [expected[place] ?? "nothing", undone[place] ?? "nothing"];
    if (wanted === found) continue;
    return [
      `expected  ${expected.join(", ")}`,
      `undone    ${undone.join(", ") || "nothing"}`,
      `first difference in undo ${place + 1}: expected ${wanted}, undone ${found}`,
    ];
  }
  return undefined;
}

/** Why a node does not run before another one; `undefined` if it does. */
function compareOrder(
  { earlier, later }: TestExpectation & { readonly kind: "before" },
  steps: readonly (readonly string[])[],
): string | undefined {
  const stepOf = (node: string): number => steps.findIndex((step) => step.includes(node));
  const missing = [earlier, later].find((node) => stepOf(node) === -1);
  if (missing !== undefined) return `\`${missing}\` did not run`;
  if (stepOf(earlier) < stepOf(later)) return undefined;
  return stepOf(earlier) === stepOf(later)
    ? `\`${earlier}\` and \`${later}\` ran in the same step`
    : `\`${earlier}\` ran after \`${later}\``;
}

function stepText(step: readonly string[] | undefined): string {
  return step === undefined ? "nothing" : step.length === 1 ? (step[0] ?? "") : `[${step.join(", ")}]`;
}

function pathText(steps: readonly (readonly string[])[]): string {
  return steps.map(stepText).join(" → ") || "nothing";
}

/** The expected path beside the path of the run, and their first difference; `undefined` if they are equal. */
function comparePaths(
  expected: readonly (readonly string[])[],
  actual: readonly (readonly string[])[],
): string[] | undefined {
  const key = (step: readonly string[] | undefined): string => (step === undefined ? "" : step.toSorted().join(" "));
  const length = Math.max(expected.length, actual.length);
  for (let step = 0; step < length; step++) {
    if (key(expected[step]) === key(actual[step])) continue;
    return [
      `expected  ${pathText(expected)}`,
      `ran       ${pathText(actual)}`,
      `first difference in step ${step}: expected ${stepText(expected[step])}, ran ${stepText(actual[step])}`,
    ];
  }
  return undefined;
}

function checkCondition(
  { condition, span, reads }: TestExpectation & { readonly kind: "condition" },
  { graph }: BoundTest,
  state: JsonObject,
): { readonly message: string; readonly details: readonly string[] } | undefined {
  const values = graph.channels.map(({ name }) => state[name] ?? null);
  const text = graph.file.text.slice(span.start, span.end);
  const details = reads.map((name) => `${name} is ${shorten(JSON.stringify(state[name] ?? null))}`);
  try {
    const names = { channels: graph.channels.map(({ name }) => name), functions: [] };
    if (compileExpression(condition, { names })({ state: values }) === true) return undefined;
    return { message: `not satisfied: ${text}`, details };
  } catch (error) {
    return { message: `${text} has no value: ${error instanceof Error ? error.message : String(error)}`, details };
  }
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
