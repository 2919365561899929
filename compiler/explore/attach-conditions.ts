/** Adds to the branches of a net the formulas of their conditions. */
import type { Span } from "../../diagnostics/source.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundGraph, BoundNode, TypedExpression } from "../bind/bound-graph.ts";
import {
  ELSE_ARM,
  type NetBranch,
  type NetRouting,
  type RouteGroup,
  type Routing as RoutingOf,
  type Signal,
} from "../control/net.ts";
import { definedFormula } from "./defined-formula.ts";
import type { Definitions } from "./definitions.ts";
import {
  ALWAYS,
  type Atom,
  cubesOf,
  type Formula,
  formulaOf,
  formulaOfArm,
  membershipFormula,
  termsOf,
  withEquals,
} from "./formula.ts";
import { choicesOf } from "../control/signals.ts";
import type { ListFacts } from "./list-facts.ts";
import type { Branch, Routing } from "./model.ts";
import { replaceParts } from "./replace-parts.ts";
import type { TermTable } from "./terms.ts";
import { type ValueSet, valueSetOfType } from "./value-set.ts";

export interface Conditions {
  /** @param equal definitions of channels that hold where the conditions are evaluated */
  routing(
    routing: NetRouting,
    equal: Definitions | undefined,
  ): { readonly routing: Routing; readonly equals: ReadonlySet<number> };
  /** The conditions of `on error` edges, with the known parts of `error` replaced. */
  errorRouting(routing: NetRouting, failed: BoundNode): Routing;
}

export function createConditions(graph: BoundGraph, terms: TermTable, lists: ListFacts): Conditions {
  const read = branchReader(graph, terms, lists.read);
  /** Nodes with the same targets share their branches. */
  const shared = new Map<NetBranch, Branch>();
  return {
    routing: (routing, equal) => {
      const plain = mapBranches(routing, (branch) => {
        const known = shared.get(branch) ?? read(branch);
        shared.set(branch, known);
        return known;
      });
      if (equal === undefined || choicesOf(plain).length > MAX_CHOICES) return { routing: plain, equals: NO_CHANNELS };
      return withDefinitions(terms, plain, equal);
    },
    errorRouting: (routing, failed) =>
      mapBranches(
        routing,
        branchReader(graph, terms, (expression) => withKnownError(lists.read(expression), failed)),
      ),
  };
}

/** Limit of the branches of one node whose conditions are copied. */
const MAX_CHOICES = 64;
const NO_CHANNELS: ReadonlySet<number> = new Set();

/**
 * Adds to the conditions on defined channels the same conditions on what their definitions read. `equals`: channels for
 * which each condition has such a condition.
 */
function withDefinitions(
  terms: TermTable,
  routing: Routing,
  equal: Definitions,
): { readonly routing: Routing; readonly equals: ReadonlySet<number> } {
  const defined = new Set<number>();
  const others = new Set<number>();
  const find = ({ term: { channel }, set }: Atom): Formula | undefined => {
    const expression = channel === undefined ? undefined : equal(channel);
    if (channel === undefined || expression === undefined) return undefined;
    const same = membershipFormula(terms, expression, set);
    const isExact = same !== undefined && cubesOf(same).exact && cubesOf(same, false).exact;
    (isExact ? defined : others).add(channel);
    return isExact ? same : undefined;
  };
  const changed = mapBranches(routing, (branch) => {
    const reads = [...termsOf(branch.formula)].some(({ channel }) => channel !== undefined && equal(channel));
    return reads ? { ...branch, formula: withEquals(branch.formula, find) } : branch;
  });
  for (const channel of others) defined.delete(channel);
  return { routing: changed, equals: defined };
}

function mapBranches<B extends { readonly signals: readonly Signal[] }>(
  routing: { readonly groups: readonly RouteGroup<B>[] },
  change: (branch: B) => Branch,
): Routing {
  // Most routings have no conditions.
  if (hasNoBranches(routing)) return routing;
  return {
    groups: routing.groups.map((group): RouteGroup<Branch> => {
      switch (group.kind) {
        case "always":
          return group;
        case "several": {
          const otherwise = group.otherwise && change(group.otherwise);
          return { kind: "several", branches: group.branches.map(change), otherwise };
        }
        case "one":
          return { kind: "one", branches: group.branches.map(change) };
        default:
          return group satisfies never;
      }
    }),
  };
}

function hasNoBranches(routing: { readonly groups: readonly RouteGroup<unknown>[] }): routing is RoutingOf<never> {
  return routing.groups.every(({ kind }) => kind === "always");
}

function branchReader(
  { edges, file }: BoundGraph,
  terms: TermTable,
  read: (expression: Expression) => Expression,
): (branch: NetBranch) => Branch {
  const textOf = (part: Span): string => file.text.slice(part.start, part.end);
  const conditionOf = ({ expression, span }: TypedExpression): Omit<Branch, "signals" | "label"> => {
    const condition = read(expression);
    return { formula: formulaOf(terms, condition), ...definedPart(terms, condition), span };
  };
  /** The subject of each `match` is read once, because its domain can be large. */
  const subjects = new Map<number, Subject>();
  const subjectOf = (edge: number, { expression, type }: TypedExpression): Subject => {
    const known = subjects.get(edge) ?? readSubject(terms, read(expression), type);
    subjects.set(edge, known);
    return known;
  };
  return ({ edge, arm, signals }) => {
    const { to, span } = edges[edge]!;
    switch (to.kind) {
      case "plain":
        return { formula: ALWAYS, signals, label: "", span };
      case "otherwise":
        return { formula: ALWAYS, signals, label: "otherwise", span };
      case "when":
        return { ...conditionOf(to.condition), signals, label: `when ${textOf(to.condition.span)}` };
      case "match": {
        if (arm === ELSE_ARM) return elseBranch(signals, to.otherwise?.span);
        const { values, span: place } = to.arms[arm]!;
        const { expression, domain, defined } = subjectOf(edge, to.subject);
        const label = values.map((value) => JSON.stringify(value)).join(" | ");
        return { formula: formulaOfArm(terms, expression, values, domain), ...defined, signals, label, span: place };
      }
      case "cases": {
        if (arm === ELSE_ARM) return elseBranch(signals, to.otherwise?.span);
        const { condition } = to.arms[arm]!;
        return { ...conditionOf(condition), signals, label: textOf(condition.span) };
      }
      default:
        return to satisfies never;
    }
  };
}

function elseBranch(signals: Branch["signals"], span: Span | undefined): Branch {
  return { formula: ALWAYS, signals, label: "else", span };
}

function definedPart(terms: TermTable, expression: Expression): Pick<Branch, "defined"> {
  const defined = definedFormula(terms, expression);
  return defined === ALWAYS ? {} : { defined };
}

interface Subject {
  readonly expression: Expression;
  /** By its bound type. A channel has its own domain, because it can be `null` initially. */
  readonly domain: ValueSet | undefined;
  readonly defined: Pick<Branch, "defined">;
}

function readSubject(terms: TermTable, expression: Expression, type: ValueType): Subject {
  const domain = expression.op === "channel" ? undefined : valueSetOfType(type, terms.resolve);
  return { expression, domain, defined: definedPart(terms, expression) };
}

/** A condition of an error edge with the known parts of `error` replaced: the node, no items, and the fields after `fail("…")`. */
function withKnownError(expression: Expression, { name, call, each }: BoundNode): Expression {
  const known = new Map<string, Json>([["node", name]]);
  if (each === undefined) known.set("items", null);
  if (call.kind === "builtin" && call.signature.name === "fail" && each === undefined) {
    const message = call.args.find((argument) => argument.name === "message")?.value.expression;
    known.set("code", "NG_NODE_FAILED");
    known.set("name", "NodeFailure");
    known.set("status", null);
    known.set("attempts", 1);
    if (message?.op === "const" && typeof message.value === "string") known.set("message", message.value);
  }
  return replaceParts(expression, (part) => {
    const value = part.op === "member" && part.of.op === "error" ? known.get(part.name) : undefined;
    return value === undefined ? undefined : { op: "const", value };
  });
}
