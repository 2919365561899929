/** The `test` blocks of a file: names are resolved, values are constants, and conditions are typed. */
import {
  duplicateField,
  notSupported,
  graphHelp,
  unknownChannel,
  unknownGraph,
  unknownNode,
  unknownSignal,
  wrongSortOfName,
} from "../../diagnostics/catalog/names.ts";
import { computedTestValue, wrongType } from "../../diagnostics/catalog/types.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { NodeErrorCode, RunErrorCode } from "../../runtime/interface/errors.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { evaluateConstant } from "../expressions/constant.ts";
import { reportMisfit } from "../expressions/fit-value.ts";
import { typeCondition } from "../expressions/type-expression.ts";
import { graphsCalledBy, type BoundGraph } from "./bound-graph.ts";
import { checkCaseFields, readCases, substituteCase, type ReadCase, type TestCase } from "./test-cases.ts";
import { isPoisoned, KIND_NAMES, namesOf, type FileScope } from "./file-scope.ts";
import { placeIn, type GraphContext } from "./graph-context.ts";
import { receivedSignal } from "./received-signal.ts";
import type { ResolvedGraph } from "./resolve-graph.ts";
import { scopeAt } from "./resolve-names.ts";

/** A `test` block of a graph. */
export interface BoundTest {
  readonly declaration: Ast.TestDecl;
  readonly title: string;
  readonly graph: BoundGraph;
  /** Inputs and configuration of the run, by name. */
  readonly given: JsonObject;
  /** The results of each mocked node, in the order of its calls, or the message with which each call fails. */
  readonly mocks: ReadonlyMap<string, NodeMock>;
  /** The answers to the pauses of each node, in their order. */
  readonly answers: ReadonlyMap<string, readonly Json[]>;
  /** The values of signals, by name, in the order in which nodes receive them. */
  readonly signals: ReadonlyMap<string, readonly Json[]>;
  readonly expectations: readonly TestExpectation[];
  /** Of a test with cases: each is a test of its own. */
  readonly case?: TestCase;
}

/** What replaces the calls of a node. `delay`: milliseconds of each call, on the simulated clock. */
export type NodeMock = ({ readonly results: readonly Json[] } | { readonly fails: string }) & {
  readonly delay?: number;
};

export type TestExpectation =
  | { readonly kind: "ran"; readonly span: Span; readonly steps: readonly (readonly string[])[] }
  | { readonly kind: "status"; readonly span: Span; readonly status: string }
  | { readonly kind: "never"; readonly span: Span; readonly nodes: readonly string[] }
  | { readonly kind: "paused"; readonly span: Span; readonly node: string }
  /** The code of the run's error or of one of its causes. */
  | { readonly kind: "fails"; readonly span: Span; readonly code: string }
  /** The nodes whose results a rollback has undone, in the order of the undos. */
  | { readonly kind: "undone"; readonly span: Span; readonly nodes: readonly string[] }
  /** The first step of `earlier` comes before the first step of `later`, and both run. */
  | { readonly kind: "before"; readonly span: Span; readonly earlier: string; readonly later: string }
  /** A condition on the channels at the end. `channel` has indexes into `BoundGraph.channels`. */
  | {
      readonly kind: "condition";
      readonly span: Span;
      readonly condition: Expression;
      readonly reads: readonly string[];
    };

/** The ends that `expect status` can name. */
const STATUSES = ["completed", "incomplete", "paused", "failed", "limit", "rolled_back"];

/** The codes of errors with which a run can end. Other codes are those of imported functions and built-in nodes. */
const RUN_CODES: ReadonlySet<string> = new Set<NodeErrorCode | RunErrorCode>([
  "NG_NODE_FAILED",
  "NG_NODE_TIMEOUT",
  "NG_NULL_VALUE",
  "NG_CONDITION",
  "NG_ASSERTION",
  "NG_BAD_RESULT",
  "NG_NO_ROUTE",
  "NG_UNDECLARED_GOTO",
  "NG_ROLLED_BACK",
  "NG_UNDO_FAILED",
  "NG_CONCURRENT_WRITE",
  "NG_REDUCER_FAILED",
  "NG_STEP_LIMIT",
  "NG_TOKEN_LIMIT",
  "NG_COST_LIMIT",
  "NG_EFFECT_DENIED",
  "NG_DEADLOCK",
]);

/** The graph of a test: `undefined` where it is unknown (reported) or is a plan. */
export type FindGraph = (
  declaration: Ast.GraphDecl,
) => { readonly resolved: ResolvedGraph; readonly bound: BoundGraph } | undefined;

/** Binds the tests of a file. A test with errors is omitted, and its errors are reported. */
export function bindTests(
  tests: readonly Ast.TestDecl[],
  scope: FileScope,
  find: FindGraph,
  report: GraphContext["report"],
): BoundTest[] {
  return tests.flatMap((test): BoundTest[] => {
    const place = { file: scope.file.source, span: test.subject.span };
    const { name } = test.subject;
    const declared = scope.names.get(name);
    if (declared?.kind === "plan") {
      report(notSupported(place, { what: "a test of a plan is", help: "test the graphs that its tasks call" }));
      return [];
    }
    if (declared?.kind === "graph" && !scope.graphs.includes(declared.unit)) {
      report(
        notSupported(place, {
          what: "a test of an imported graph is",
          help: "write the test in the file of the graph",
        }),
      );
      return [];
    }
    if (declared?.kind === "graph") {
      const graph = find(declared.unit.declaration);
      return graph === undefined ? [] : bindCases(test, graph.resolved, graph.bound, report);
    }
    if (declared?.kind === "broken" || (declared === undefined && isPoisoned(name, scope))) return [];
    const { similar, known } = suggest(name, () => [...namesOf("graph", scope)], scope.suggestions);
    report(
      declared === undefined
        ? unknownGraph(place, { name, similar, known })
        : wrongSortOfName(place, {
            name,
            is: KIND_NAMES[declared.kind],
            expected: "a graph",
            help: graphHelp(similar, known),
          }),
    );
    return [];
  });
}

/** The test, once for each of its cases. */
function bindCases(
  declaration: Ast.TestDecl,
  resolved: ResolvedGraph,
  graph: BoundGraph,
  report: GraphContext["report"],
): BoundTest[] {
  if (declaration.cases === undefined) return [bindTest(declaration, resolved, graph, report)];
  const file = resolved.unit.scope.file.source;
  const cases = readCases(declaration.cases, resolved.unit.scope, report);
  if (cases === undefined) return [];
  // What is wrong in a line is wrong in each case.
  const reported = new Set<string>();
  const once = (found: Diagnostic): void => {
    const key = `${found.code} ${found.span.start} ${found.message}`;
    if (reported.has(key)) return;
    reported.add(key);
    report(found);
  };
  const used = new Set<string>();
  const channels = new Set(graph.channels.map(({ name }) => name));
  const given = new Set(
    graph.channels.flatMap(({ name, role }) => (role === "input" || role === "config" ? [name] : [])),
  );
  const shared = { all: cases, used, given, channels };
  const tests = cases.map((each) => bindTest(declaration, resolved, graph, once, { ...shared, each }));
  const { suggestions } = resolved.context;
  checkCaseFields(cases, used, { file, given, channels, report, suggestions });
  return tests;
}

/** One case of a test that is bound. */
interface BoundCase {
  readonly each: ReadCase;
  readonly all: readonly ReadCase[];
  /** Receives the names of fields that lines read. */
  readonly used: Set<string>;
  /** Names of inputs and of the configuration. */
  readonly given: ReadonlySet<string>;
  /** Names of all channels. */
  readonly channels: ReadonlySet<string>;
}

function bindTest(
  declaration: Ast.TestDecl,
  { context: shared, unit, expansion }: ResolvedGraph,
  graph: BoundGraph,
  report: GraphContext["report"],
  inCase?: BoundCase,
): BoundTest {
  const file = unit.scope.file.source;
  // A condition registers its functions in copies: the graph is bound already.
  const context: GraphContext = { ...shared, report, typeScriptChecks: [], functions: new Map(shared.functions) };
  const given: Record<string, Json> = Object.create(null) as Record<string, Json>;
  const mocks = new Map<string, NodeMock>();
  const answers = new Map<string, readonly Json[]>();
  const signals = new Map<string, readonly Json[]>();
  const expectations: TestExpectation[] = [];
  const first = new Map<string, Span>();

  /** Reports a second statement about the same name. */
  const isRepeated = (what: string, name: Ast.Identifier): boolean => {
    const key = `${what} ${name.name}`;
    const before = first.get(key);
    if (before !== undefined) {
      report(duplicateField({ file, span: name.span }, { name: name.name, first: { file, span: before } }));
      return true;
    }
    first.set(key, name.span);
    return false;
  };
  const nodeOf = (name: Ast.Identifier): BoundGraph["nodes"][number] | undefined => {
    const node = graph.nodes.find((each) => each.name === name.name);
    if (node === undefined && !graph.poisoned.has(name.name) && !context.hasUnknownNames) {
      const all = (): string[] => graph.nodes.map((each) => each.name);
      const { similar, known } = suggest(name.name, all, context.suggestions);
      report(unknownNode({ file, span: name.span }, { name: name.name, similar, known }));
    }
    return node;
  };
  /** The expression with the values of the case, and of constants, in it. `keeps`: names of channels. */
  const expand = (syntax: Ast.Expr, keeps?: ReadonlySet<string>, reportTo = report): Ast.Expr =>
    expansion.expand(
      inCase === undefined
        ? syntax
        : substituteCase(syntax, inCase.each, inCase.all, {
            file,
            report: reportTo,
            used: inCase.used,
            ...(keeps === undefined ? {} : { keeps }),
          }),
    );
  const valueOf = (syntax: Ast.Expr, target: string, type: ValueType | undefined): Json => {
    const expanded = expand(syntax);
    const constant = evaluateConstant(expanded);
    if (constant.kind === "computed") report(computedTestValue({ file, span: constant.span }, target));
    if (constant.kind !== "constant") return null;
    if (type !== undefined) {
      const fit = { file, types: context.types, report, suggestions: context.suggestions };
      // A value of a case is wrong where the case is written.
      const written = inCase === undefined ? syntax : expanded;
      reportMisfit({ type: constant.type, syntax: written }, type, { target }, fit);
    }
    return constant.value;
  };

  /** The signals that nodes receive, with the types of their values. Not complete if a name is computed or a call may receive. */
  const received = (): { readonly types: Map<string, ValueType | undefined>; readonly isComplete: boolean } => {
    const types = new Map<string, ValueType | undefined>();
    let isComplete = !context.hasUnknownNames;
    for (const node of graph.nodes) {
      const { call } = node;
      if (call.kind === "function" || call.kind === "broken" || graphsCalledBy(call).length > 0) isComplete = false;
      const signal = receivedSignal(call);
      if (signal === undefined) continue;
      if (signal.name === undefined) isComplete = false;
      // Two nodes may receive a signal as different types: the run checks its value.
      else types.set(signal.name, types.has(signal.name) ? undefined : mockedType(node, graph));
    }
    return { types, isComplete };
  };

  for (const [name, { span, value }] of inCase?.each.fields ?? []) {
    const channel = inCase?.given.has(name) === true ? graph.channels.find((each) => each.name === name) : undefined;
    if (channel === undefined || isRepeated("given", { kind: "Identifier", name, span })) continue;
    given[name] = valueOf(value, `${channel.role} \`${name}\``, channel.type);
  }
  for (const item of declaration.items) {
    switch (item.kind) {
      case "Broken":
        break;
      case "Given": {
        const { name, span } = item.channel;
        const open = graph.channels.filter(({ role }) => role === "input" || role === "config" || role === "memory");
        const channel = open.find((each) => each.name === name && each.role !== "memory");
        if (channel === undefined) {
          const all = (): string[] => open.filter(({ role }) => role !== "memory").map((each) => each.name);
          const { similar, known } = suggest(name, all, context.suggestions);
          const help = graph.channels.some((each) => each.name === name)
            ? `\`${name}\` is not an input: mock the node that writes it`
            : undefined;
          report(unknownChannel({ file, span }, { name, use: "read", similar, known, help }));
        } else if (!isRepeated("given", item.channel)) {
          given[name] = valueOf(item.value, `${channel.role} \`${name}\``, channel.type);
        }
        break;
      }
      case "Mock":
      case "MockFails": {
        const node = nodeOf(item.node);
        if (node === undefined || isRepeated("mock", item.node)) break;
        const delay = item.delay === undefined ? {} : { delay: item.delay.milliseconds };
        if (item.kind === "MockFails") mocks.set(node.name, { fails: item.message.value, ...delay });
        else {
          const type = mockedType(node, graph);
          const target = `the mock of \`${node.name}\``;
          mocks.set(node.name, { results: item.results.map((value) => valueOf(value, target, type)), ...delay });
        }
        break;
      }
      case "Answer": {
        const node = nodeOf(item.node);
        if (node === undefined || isRepeated("answer", item.node)) break;
        const target = `the answer of \`${node.name}\``;
        answers.set(
          node.name,
          item.values.map((value) => valueOf(value, target, undefined)),
        );
        break;
      }
      case "Signal": {
        const { span } = item.name;
        const name = item.name.kind === "Identifier" ? item.name.name : item.name.value;
        const { types, isComplete } = received();
        if (!types.has(name) && isComplete) {
          const { similar, known } = suggest(name, () => [...types.keys()], context.suggestions);
          report(unknownSignal({ file, span }, { name, similar, known }));
        } else if (!isRepeated("signal", { kind: "Identifier", span, name })) {
          const target = `the value of signal \`${name}\``;
          signals.set(
            name,
            item.values.map((value) => valueOf(value, target, types.get(name))),
          );
        }
        break;
      }
      case "ExpectNeverRan":
        expectations.push({
          kind: "never",
          span: item.span,
          nodes: item.nodes.flatMap((name) => nodeOf(name)?.name ?? []),
        });
        break;
      case "ExpectPausedAt": {
        const node = nodeOf(item.node);
        if (node === undefined) break;
        if (mayPause(node)) expectations.push({ kind: "paused", span: item.span, node: node.name });
        else {
          const facts = {
            message: `no run pauses at \`${node.name}\``,
            label: "neither waits nor has `pause`",
            help: "name a node that calls `ask` or `receive`, or one with the policy `pause before` or `pause after`",
          };
          report(wrongType({ file, span: item.node.span }, facts));
        }
        break;
      }
      case "ExpectFailsWith": {
        const { name, span } = item.code;
        if (!name.startsWith("NG_") || RUN_CODES.has(name)) {
          expectations.push({ kind: "fails", span: item.span, code: name });
          break;
        }
        const { similar } = suggest(name, () => [...RUN_CODES], context.suggestions);
        const help =
          similar === undefined
            ? "docs/execution.md lists the codes of errors"
            : `a code with a similar name exists: \`${similar}\``;
        report(wrongType({ file, span }, { message: `a run has no error \`${name}\``, label: "unknown code", help }));
        break;
      }
      case "ExpectUndone": {
        const nodes = item.nodes.map((name) => ({ name, node: nodeOf(name) }));
        for (const { name, node } of nodes) {
          if (node === undefined || node.undo !== undefined || graphsCalledBy(node.call).length > 0) continue;
          const facts = {
            message: `no rollback undoes \`${node.name}\``,
            label: "has no `undo`",
            help: `write \`undo\` in the braces of \`${node.name}\``,
          };
          report(wrongType({ file, span: name.span }, facts));
        }
        expectations.push({ kind: "undone", span: item.span, nodes: nodes.flatMap(({ node }) => node?.name ?? []) });
        break;
      }
      case "ExpectRan":
        expectations.push({
          kind: "ran",
          span: item.span,
          steps: item.steps.map((step) => step.flatMap((name) => nodeOf(name)?.name ?? [])),
        });
        break;
      case "ExpectStatus": {
        const { name, span } = item.status;
        if (STATUSES.includes(name)) expectations.push({ kind: "status", span: item.span, status: name });
        else {
          const help = `a run ends as ${STATUSES.map((each) => `\`${each}\``).join(", ")}`;
          report(
            wrongType({ file, span }, { message: `a run has no status \`${name}\``, label: "unknown status", help }),
          );
        }
        break;
      }
      case "Expect": {
        if (item.condition.kind === "Call" && item.condition.callee.name === "before") {
          const [earlier, later, ...more] = item.condition.args.map((argument) => nameOf(argument));
          if (earlier === undefined || later === undefined || more.length > 0) {
            const facts = {
              message: "`before` compares two nodes",
              label: "expected the names of two nodes",
              help: "write `expect before(a, b)`: `a` runs in an earlier step than `b`",
            };
            report(wrongType({ file, span: item.condition.span }, facts));
            break;
          }
          const nodes = [nodeOf(earlier), nodeOf(later)] as const;
          if (nodes[0] !== undefined && nodes[1] !== undefined) {
            expectations.push({ kind: "before", span: item.span, earlier: nodes[0].name, later: nodes[1].name });
          }
          break;
        }
        // The flow of the end of a run: every channel may still be unwritten, and comparisons with `null` hold.
        const place = { flow: NOWHERE, reader: `the test`, locals: new Map<string, never>() };
        let hasErrors = false;
        const watched = (found: Diagnostic): void => {
          if (found.severity === "error") hasErrors = true;
          report(found);
        };
        const names = scopeAt(place, { ...context, report: watched });
        const typed = typeCondition(expand(item.condition, inCase?.channels, watched), {
          ...names,
          where: "condition",
        });
        if (hasErrors) break;
        const problem = partsOf(typed.expression).find(({ op }) => op === "call" || op === "secret");
        if (problem !== undefined) {
          const what = problem.op === "call" ? "a call of an imported function" : "a secret";
          const help = "compare channels with constants";
          report(notSupported(placeIn({ file }, item.condition.span), { what: `${what} in \`expect\` is`, help }));
        }
        const reads = partsOf(typed.expression).flatMap((part) =>
          part.op === "channel" ? [context.channelNames[part.channel] ?? ""] : [],
        );
        expectations.push({
          kind: "condition",
          span: item.span,
          condition: typed.expression,
          reads: [...new Set(reads)],
        });
        break;
      }
    }
  }
  const title = declaration.title.value;
  const bound = { declaration, title, graph, given, mocks, answers, signals, expectations };
  if (inCase === undefined) return bound;
  const { number, of, span, values } = inCase.each;
  return { ...bound, title: `${title} (case ${number})`, case: { number, of, span, values } };
}

const NOWHERE = {
  unwritten: new Map<number, never>(),
  facts: new Map<string, never>(),
  error: "never",
  outcome: "never",
} as const;

/** The argument of a call, if it is a plain name. */
function nameOf({ name, value }: Ast.Argument): Ast.Identifier | undefined {
  if (name !== undefined || value.kind !== "Name") return undefined;
  return { kind: "Identifier", span: value.span, name: value.name };
}

/** Whether a run may wait at a node. A function may interrupt, and a graph has nodes of its own. */
function mayPause({ call, pauseBefore, pauseAfter }: BoundGraph["nodes"][number]): boolean {
  if (pauseBefore || pauseAfter || call.kind === "function" || call.kind === "graph" || call.kind === "broken")
    return true;
  if (call.kind !== "builtin") return false;
  const { name, pauses } = call.signature;
  return pauses === true || name === "sleep" || call.tools !== undefined;
}

/** The type of one result of a node, where the graph declares it. */
function mockedType({ result, output, each }: BoundGraph["nodes"][number], graph: BoundGraph): ValueType | undefined {
  if (result !== undefined) return result;
  if (output?.kind !== "channel" || each !== undefined) return undefined;
  const channel = graph.channels.find(({ name }) => name === output.channel);
  return channel === undefined || channel.reducer !== undefined || output.optional === true ? undefined : channel.type;
}

function partsOf(expression: Expression): readonly Expression[] {
  const found: Expression[] = [expression];
  for (const part of found) for (const child of expressionParts(part)) found.push(child);
  return found;
}
