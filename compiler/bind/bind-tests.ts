/** The `test` blocks of a file: names are resolved, values are constants, and conditions are typed. */
import {
  duplicateField,
  notSupported,
  unknownChannel,
  unknownNode,
  wrongSortOfName,
} from "../../diagnostics/catalog/names.ts";
import { computedTestValue, wrongType } from "../../diagnostics/catalog/types.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { evaluateConstant } from "../expressions/constant.ts";
import { reportMisfit } from "../expressions/fit-value.ts";
import { typeCondition } from "../expressions/type-expression.ts";
import type { BoundGraph } from "./bound-graph.ts";
import { isPoisoned, KIND_NAMES, namesOf, type FileScope } from "./file-scope.ts";
import { placeIn, type GraphContext } from "./graph-context.ts";
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
  readonly mocks: ReadonlyMap<string, { readonly results: readonly Json[] } | { readonly fails: string }>;
  /** The answers to the pauses of each node, in their order. */
  readonly answers: ReadonlyMap<string, readonly Json[]>;
  readonly expectations: readonly TestExpectation[];
}

export type TestExpectation =
  | { readonly kind: "ran"; readonly span: Span; readonly steps: readonly (readonly string[])[] }
  | { readonly kind: "status"; readonly span: Span; readonly status: string }
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
      return graph === undefined ? [] : [bindTest(test, graph.resolved, graph.bound, report)];
    }
    if (declared?.kind === "broken" || (declared === undefined && isPoisoned(name, scope))) return [];
    const is = declared === undefined ? "unknown" : KIND_NAMES[declared.kind];
    const { similar, known } = suggest(name, () => [...namesOf("graph", scope)], scope.suggestions);
    const help =
      similar !== undefined
        ? `a graph with a similar name exists: \`${similar}\``
        : known.length > 0
          ? `the graphs are ${known.map((each) => `\`${each}\``).join(", ")}`
          : "declare the graph in this file";
    report(wrongSortOfName(place, { name, is, expected: "a graph", help }));
    return [];
  });
}

function bindTest(
  declaration: Ast.TestDecl,
  { context: shared, unit, expansion }: ResolvedGraph,
  graph: BoundGraph,
  report: GraphContext["report"],
): BoundTest {
  const file = unit.scope.file.source;
  // A condition registers its functions in copies: the graph is bound already.
  const context: GraphContext = { ...shared, report, typeScriptChecks: [], functions: new Map(shared.functions) };
  const given: Record<string, Json> = Object.create(null) as Record<string, Json>;
  const mocks = new Map<string, { readonly results: readonly Json[] } | { readonly fails: string }>();
  const answers = new Map<string, readonly Json[]>();
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
  const valueOf = (syntax: Ast.Expr, target: string, type: ValueType | undefined): Json => {
    const constant = evaluateConstant(expansion.expand(syntax));
    if (constant.kind === "computed") report(computedTestValue({ file, span: constant.span }, target));
    if (constant.kind !== "constant") return null;
    if (type !== undefined) {
      const fit = { file, types: context.types, report, suggestions: context.suggestions };
      reportMisfit({ type: constant.type, syntax }, type, { target }, fit);
    }
    return constant.value;
  };

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
        if (item.kind === "MockFails") mocks.set(node.name, { fails: item.message.value });
        else {
          const type = mockedType(node, graph);
          const target = `the mock of \`${node.name}\``;
          mocks.set(node.name, { results: item.results.map((value) => valueOf(value, target, type)) });
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
        const typed = typeCondition(expansion.expand(item.condition), { ...names, where: "condition" });
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
  return { declaration, title: declaration.title.value, graph, given, mocks, answers, expectations };
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
