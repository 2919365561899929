import {
  armsAgree,
  conditionGap,
  constantCondition,
  elseNeverReached,
  notExhaustive,
  routeNeverTaken,
  shadowedArm,
} from "../../diagnostics/catalog/routes.ts";
import type { Fix } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import { type BoundEdge, END_NAME, START, type TypedExpression } from "../bind/bound-graph.ts";
import { alternativesOf, conditionsOf, sourcesOf } from "../bind/edge-parts.ts";
import {
  both,
  cubesOf,
  type Formula,
  formulaOf,
  formulaOfArm,
  either,
  isUnsatisfiable,
  membershipFormula,
  negation,
  productOf,
  termsOf,
} from "../explore/formula.ts";
import type { ControlModel, ControlNode } from "../explore/model.ts";
import { createTermTable, termOf, type TermTable } from "../explore/terms.ts";
import {
  intersectValues,
  isNothing,
  sampleValues,
  type ValueSet,
  valueSetOf,
  valueSetOfType,
} from "../explore/value-set.ts";
import { isBroken } from "../types/construct.ts";
import type { CheckContext } from "./check-context.ts";
import { describeCube } from "./describe-cube.ts";
import { addArm, addEdge, replaceArms } from "./route-fixes.ts";

type Match = Extract<BoundEdge["to"], { kind: "match" }>;
type Cases = Extract<BoundEdge["to"], { kind: "cases" }>;

/**
 * Reports NG501 to NG507 and NG515: findings about the choices of one node, without the rest of the graph. If binding
 * reported errors, only a `match` whose subject has no error is checked.
 */
export function checkRoutes(context: CheckContext): void {
  const { graph } = context;
  const resolve = context.model.terms.resolve;
  const terms = createTermTable(
    graph.channels.map(({ name, type }, index) => ({
      name,
      type,
      // All values during a run, including the initial `null`.
      domain: context.model.data.channels[index]?.domain ?? valueSetOfType(type, resolve),
    })),
    graph.functions.map((spec) => spec.name),
    resolve,
  );
  for (const edge of graph.edges) {
    if (edge.to.kind === "match" && !isBroken(edge.to.subject.type)) checkMatch(context, terms, edge, edge.to);
    else if (edge.to.kind === "cases" && !graph.hasErrors) checkCases(context, terms, edge, edge.to);
  }
  if (graph.hasErrors) return;
  for (const name of [context.model.entry, ...graph.nodes.map((node) => node.name)]) {
    const edges = context.edgesFrom.get(name);
    if (edges?.some(({ to }) => to.kind === "when") !== true) continue;
    checkConditions(
      context,
      terms,
      name,
      edges.filter((edge) => !edge.onError),
      false,
    );
    checkConditions(
      context,
      terms,
      name,
      edges.filter((edge) => edge.onError),
      true,
    );
  }
}

function sourceName(edge: BoundEdge): string {
  return edge.source.kind === "nodes" ? (edge.source.nodes[0]?.name ?? START) : "";
}

function textOf(context: CheckContext, span: Span): string {
  return context.graph.file.text.slice(span.start, span.end).replace(/\s+/g, " ");
}

// match EXPR { … } ------------------------------------------------------------------------------------

function checkMatch(context: CheckContext, terms: TermTable, edge: BoundEdge, to: Match): void {
  const domain = valueSetOfType(to.subject.type, terms.resolve);
  const subject = textOf(context, to.subject.span);
  if (to.subject.expression.op === "const") {
    context.report(
      constantCondition(context.place(to.subject.span), { value: true, why: "a literal: only one arm can be taken" }),
    );
    return;
  }
  // An arm with an impossible value has been reported, and may be a misspelled missing value.
  if (to.arms.some((arm) => isNothing(intersectValues(valueSetOf(arm.values), domain)))) return;
  const seen = new Map<string, Span>();
  for (const arm of to.arms) {
    const repeated = arm.values.filter((value) => seen.has(JSON.stringify(value)));
    const first = repeated[0] === undefined ? undefined : seen.get(JSON.stringify(repeated[0]));
    if (first !== undefined) {
      context.report(
        shadowedArm(context.place(arm.span), {
          values: repeated.map((value) => JSON.stringify(value)),
          by: context.label(first, "taken here"),
        }),
      );
    }
    for (const value of arm.values) {
      const key = JSON.stringify(value);
      if (!seen.has(key)) seen.set(key, arm.span);
    }
  }
  const formula = formulaOfArm(
    terms,
    to.subject.expression,
    to.arms.flatMap((arm) => arm.values),
    domain,
  );
  const missing = productOf(cubesOf(knownAt(context, terms, [edge])), cubesOf(formula, false));
  if (to.otherwise !== undefined) {
    if (missing.cubes.length === 0 && to.arms.length > 0) {
      context.report(
        elseNeverReached(context.place(to.otherwise.span), {
          word: "else",
          covered: `the arms cover every value of \`${subject}\``,
        }),
      );
    }
  } else if (missing.cubes.length > 0 && !hasPlainEdge(context, edge)) {
    const values = missingValues(missing.cubes, domain);
    context.report(
      notExhaustive(context.place(to.subject.span), {
        what: `\`match\` on \`${subject}\``,
        missing: values,
        help: `add an arm for ${values.length === 1 ? "it" : "them"}, or \`else -> …\``,
        fixes: armFix(context, edge, values),
      }),
    );
  }
  reportAgreement(context, edge);
}

function missingValues(cubes: readonly ReadonlyMap<number, ValueSet>[], domain: ValueSet): string[] {
  const found = new Set<string>();
  for (const cube of cubes) {
    for (const set of cube.size === 0 ? [domain] : cube.values())
      for (const value of sampleValues(set, 100)) found.add(value);
  }
  return [...found];
}

function armFix({ graph }: CheckContext, edge: BoundEdge, values: readonly string[]): Fix[] {
  const literal = values.every((value) => !value.startsWith("any other"));
  const isListed = literal && values.length > 0 && values.length <= 8;
  return addArm(graph.file, edge.syntax, isListed ? values : "else", END_NAME);
}

// match { CONDITION -> … } ----------------------------------------------------------------------------

function checkCases(context: CheckContext, terms: TermTable, edge: BoundEdge, to: Cases): void {
  const earlier: { formula: Formula; span: Span }[] = [];
  // The cases that no earlier arm covers, updated for each arm instead of computed again.
  const known = knownAt(context, terms, [edge]);
  let missing = cubesOf(known);
  for (const { condition, span } of to.arms) {
    const formula = formulaOf(terms, condition.expression);
    const isDecided = reportDecided(context, condition, formula, known);
    if (!isDecided) {
      if (productOf(missing, cubesOf(formula)).cubes.length === 0) {
        const by = earlier.find((arm) => isUnsatisfiable(both([known, formula, negation(arm.formula)])));
        context.report(
          shadowedArm(context.place(span), {
            values: [],
            by: by === undefined ? undefined : context.label(by.span, "takes all of it"),
          }),
        );
      }
    }
    // An arm that is always true hides all later arms, which is reported once.
    if (isUnsatisfiable(both([known, negation(formula)]))) return;
    earlier.push({ formula, span });
    missing = productOf(missing, cubesOf(formula, false));
  }
  if (to.otherwise !== undefined) {
    if (missing.cubes.length === 0 && earlier.length > 0) {
      context.report(
        elseNeverReached(context.place(to.otherwise.span), {
          word: "else",
          covered: "the arms before it cover every case",
        }),
      );
    }
  } else if (missing.cubes.length > 0 && !hasPlainEdge(context, edge)) {
    const source = sourceName(edge);
    const last = to.arms.at(-1);
    reportMissing(context, terms, {
      span: last?.condition.span ?? edge.span,
      what: `the \`match\` of \`${source}\``,
      missing,
      help: "add `else -> …`",
      fixes: armFix(context, edge, []),
    });
  }
  reportAgreement(context, edge);
}

// … when CONDITION ------------------------------------------------------------------------------------

function checkConditions(
  context: CheckContext,
  terms: TermTable,
  name: string,
  edges: readonly BoundEdge[],
  onError: boolean,
): void {
  if (!edges.some(({ to }) => to.kind === "when")) return;
  const formulas: Formula[] = [];
  const known = knownAt(context, terms, edges);
  let last: { edge: BoundEdge; condition: TypedExpression } | undefined;
  for (const edge of edges) {
    if (edge.to.kind !== "when") continue;
    const { condition } = edge.to;
    const formula = formulaOf(terms, condition.expression);
    formulas.push(formula);
    // An edge with several sources is visited once for each source, and reported for the first one.
    if (sourceName(edge) === name) reportDecided(context, condition, formula, knownAt(context, terms, [edge]));
    last = { edge, condition };
  }
  if (last === undefined) return;
  const missing = cubesOf(both([known, ...formulas.map(negation)]));
  const otherwise = edges.find((edge) => edge.to.kind === "otherwise");
  if (otherwise !== undefined) {
    if (missing.cubes.length === 0 && !formulas.some((formula) => isUnsatisfiable(both([known, negation(formula)])))) {
      context.report(
        elseNeverReached(context.place(otherwise.span), {
          word: "otherwise",
          covered: `the conditions of \`${name}\` cover every case`,
        }),
      );
    }
    return;
  }
  // A failure that no `on error` edge takes fails the run, as it does without such edges.
  if (onError || missing.cubes.length === 0) return;
  if (edges.some((edge) => edge.to.kind !== "when")) return;
  reportMissing(context, terms, {
    span: last.condition.span,
    what: edges.length === 1 ? `the only edge of \`${name}\`` : `the conditions of \`${name}\``,
    missing,
    help: `add \`${name} -> … otherwise\``,
    fixes: addEdge(context.graph.file, last.edge.syntax, `${name} -> ${END_NAME} otherwise`),
  });
}

// Shared ----------------------------------------------------------------------------------------------

function reportMissing(
  context: CheckContext,
  terms: TermTable,
  facts: { span: Span; what: string; missing: ReturnType<typeof cubesOf>; help: string; fixes: readonly Fix[] },
): void {
  const { span, what, missing, help, fixes } = facts;
  const described = missing.exact ? missing.cubes.map((cube) => describeCube(terms, cube)) : [];
  const gap = described.find((item) => item.isNumeric);
  if (gap !== undefined && described.every((item) => item.isNumeric)) {
    context.report(conditionGap(context.place(span), { what, value: gap.text, help, fixes }));
    return;
  }
  const values = described.filter((item) => item.text !== "").map((item) => item.text);
  context.report(notExhaustive(context.place(span), { what, missing: values, help, fixes }));
}

/**
 * The formula that holds whenever the conditions of these edges are evaluated: channels that have been written there
 * are not `null`.
 */
function knownAt(context: CheckContext, terms: TermTable, edges: readonly BoundEdge[]): Formula {
  const read = new Set(edges.flatMap(conditionsOf).flatMap(({ reads }) => reads));
  const unwritten = new Set(edges.flatMap((edge) => edge.unwritten ?? []));
  const written = [...read].filter((name) => !unwritten.has(name));
  const channels = written.flatMap((name) => context.channelIndex.get(name) ?? []).sort((a, b) => a - b);
  return both([
    ...channels.flatMap((channel): Formula[] => {
      const { declared, domain } = context.model.data.channels[channel]!;
      if (!domain.null || declared.null) return [];
      return [{ kind: "in", term: termOf(terms, { op: "channel", channel }), set: declared }];
    }),
    ...channels.flatMap((channel) => definedValue(context, terms, edges, channel)),
  ]);
}

/** Limit of the values of a channel for which `definedValue` lists what its definition reads. */
const MAX_DEFINED = 8;

/** The formula that a channel has the value of its definition (`definitions.ts`), if one holds at these edges. */
function definedValue(
  { model }: CheckContext,
  terms: TermTable,
  edges: readonly BoundEdge[],
  channel: number,
): readonly Formula[] {
  // A channel of numbers has too many values: its definition is not searched.
  const values = valuesOf(model.data.channels[channel]!.declared);
  if (values === undefined || values.length > MAX_DEFINED) return [];
  const sources = new Set(edges.flatMap((edge) => (edge.onError ? [START] : sourcesOf(edge).map(({ name }) => name))));
  const [source = START] = sources;
  const definition = sources.size === 1 ? nodeNamed(model, source)?.definitions?.(channel) : undefined;
  const expression = definition && model.lists.original(definition);
  if (expression === undefined) return [];
  const term = termOf(terms, { op: "channel", channel });
  const cases = values.map((value): Formula | undefined => {
    const set = valueSetOf([value]);
    const same = membershipFormula(terms, expression, set);
    return same && both([{ kind: "in", term, set }, same]);
  });
  return cases.every((item) => item !== undefined) ? [either(cases)] : [];
}

function nodeNamed({ nodes }: ControlModel, name: string): ControlNode | undefined {
  let found = knownNodes.get(nodes);
  if (found === undefined) {
    found = new Map(nodes.flatMap((node) => (node.isSent ? [] : [[node.name, node]])));
    knownNodes.set(nodes, found);
  }
  return found.get(name);
}

const knownNodes = new WeakMap<ControlModel["nodes"], ReadonlyMap<string, ControlNode>>();

/** All values of a set of booleans and strings; `undefined` for other sets. */
function valuesOf(set: ValueSet): (string | boolean)[] | undefined {
  if (set.null || set.other || set.strings.negated || set.numbers.intervals.length > 0) return undefined;
  return [...(set.true ? [true] : []), ...(set.false ? [false] : []), ...set.strings.values];
}

/**
 * Reports NG505 and NG502: conditions that are always or never true when they are evaluated. Returns whether it is one.
 */
function reportDecided(context: CheckContext, condition: TypedExpression, formula: Formula, known: Formula): boolean {
  const place = context.place(condition.span);
  if (context.reportedConditions.has(condition.span)) return true;
  if (isUnsatisfiable(both([known, formula]))) {
    if (formula.kind === "const") context.report(constantCondition(place, { value: false, why: "depends on nothing" }));
    else {
      const names = [...termsOf(formula)].map((term) => `\`${term.text}\``);
      context.report(
        routeNeverTaken(place, {
          condition: `\`${textOf(context, condition.span)}\``,
          why: `no value of ${names.join(" and ")} fits`,
        }),
      );
    }
    return true;
  }
  if (!isUnsatisfiable(both([known, negation(formula)]))) return false;
  const why = formula.kind === "const" ? "depends on nothing" : "holds for every value";
  context.report(constantCondition(place, { value: true, why }));
  return true;
}

function hasPlainEdge(context: CheckContext, edge: BoundEdge): boolean {
  return (context.edgesFrom.get(sourceName(edge)) ?? []).some((other) => other.to.kind === "plain" && !other.onError);
}

/** NG506. */
function reportAgreement(context: CheckContext, edge: BoundEdge): void {
  const arms = alternativesOf(edge);
  if (arms.length < 2) return;
  const keys = new Set(
    arms.map((targets) =>
      targets
        .map((target) => target.name)
        .toSorted()
        .join(","),
    ),
  );
  if (keys.size > 1 || arms[0]?.length === 0) return;
  const target = arms[0]!.map((reference) => `\`${reference.name}\``).join(", ");
  const names = arms[0]!.map((reference) => reference.name);
  const fixes = replaceArms(context.graph.file, edge.syntax, "make it a plain edge", names);
  context.report(armsAgree(context.place(edge.syntax.to.span), { target, fixes }));
}
