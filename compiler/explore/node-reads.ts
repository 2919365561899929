/** What the conditions of each node read, for the liveness analysis of terms. */
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { type Formula, formulaOf, isCondition, termsOf } from "./formula.ts";
import { type ControlModel, type Routing, formulasOf } from "./model.ts";
import { START_NODE } from "./outcomes.ts";
import type { Term } from "./terms.ts";

/** The conditions of one node. */
export interface NodeReads {
  /** Conditions of its edges, evaluated after its step. */
  readonly edges: readonly Formula[];
  /** Conditions inside the expressions that it writes to channels, evaluated during its step. */
  readonly inside: readonly Formula[];
  /** The condition under which its expression has a value. Its constants do not bound counters (`windowOf`). */
  readonly defined: readonly Formula[];
  /** The conditions of its assertions, evaluated before its step. */
  readonly asserted: readonly Formula[];
  /** Terms of `edges`. */
  readonly after: ReadonlySet<Term>;
  /** Terms of `inside`, `defined` and `asserted`. */
  readonly before: ReadonlySet<Term>;
}

/** By term: the nodes whose conditions read it. */
export type Readers = ReadonlyMap<Term, ReadonlySet<number>>;

/** Shared by the nodes without conditions, which are most nodes of a large graph. */
const NO_READS: NodeReads = {
  edges: [],
  inside: [],
  defined: [],
  asserted: [],
  after: new Set(),
  before: new Set(),
};

/**
 * By node. Nodes that have nothing but an equal condition under which their expressions have a value share their reads. The result is
 * cached, because each exploration of the model needs it.
 */
export function readsOfNodes(model: ControlModel): readonly NodeReads[] {
  const found = knownReads.get(model) ?? findReads(model);
  knownReads.set(model, found);
  return found;
}

const knownReads = new WeakMap<ControlModel, readonly NodeReads[]>();

function findReads(model: ControlModel): readonly NodeReads[] {
  const known = new Map<Formula, NodeReads>();
  return model.nodes.map((node) => {
    const { routing, errorRouting, asserted, defined } = node;
    const inside = conditionsInside(model, node.index);
    if (asserted.length > 0) {
      const formulas = asserted.map(({ formula }) => formula);
      return readsOf([routing, errorRouting], inside, defined, formulas);
    }
    if (inside.length > 0 || hasChoices(routing) || hasChoices(errorRouting))
      return readsOf([routing, errorRouting], inside, defined);
    if (defined === undefined) return NO_READS;
    const equal = known.get(defined) ?? readsOf([], inside, defined);
    known.set(defined, equal);
    return equal;
  });
}

function hasChoices(routing: Routing | undefined): boolean {
  return routing !== undefined && routing.groups.some(({ kind }) => kind !== "always");
}

export function readsOf(
  routings: readonly (Routing | undefined)[],
  inside: readonly Formula[],
  condition?: Formula,
  asserted: readonly Formula[] = [],
): NodeReads {
  const edges = routings.flatMap(formulasOf);
  if (edges.length === 0 && inside.length === 0 && condition === undefined && asserted.length === 0) return NO_READS;
  const defined = condition === undefined ? [] : [condition];
  return {
    edges,
    inside,
    defined,
    asserted,
    after: termsOfAll(edges),
    before: termsOfAll([...inside, ...defined, ...asserted]),
  };
}

function termsOfAll(formulas: readonly Formula[]): ReadonlySet<Term> {
  const found = new Set<Term>();
  for (const formula of formulas) for (const term of termsOf(formula)) found.add(term);
  return found;
}

/** Conditions inside written expressions: `x < 3` in `x < 3 ? x + 1 : 0`. */
function conditionsInside(model: ControlModel, node: number): Formula[] {
  const found: Formula[] = [];
  const pending: Expression[] = [];
  for (const { expression } of model.data.writes[node] ?? []) if (expression !== undefined) pending.push(expression);
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (isCondition(part)) found.push(formulaOf(model.terms, part));
    else {
      if (part.op === "if") found.push(formulaOf(model.terms, part.condition));
      for (const each of expressionParts(part)) pending.push(each);
    }
  }
  return found;
}

export function readersByTerm(startReads: NodeReads, reads: readonly NodeReads[]): Readers {
  const found = new Map<Term, Set<number>>();
  const note = (reader: number, { after, before }: NodeReads): void => {
    for (const terms of [after, before]) {
      for (const term of terms) {
        const known = found.get(term);
        if (known === undefined) found.set(term, new Set([reader]));
        else known.add(reader);
      }
    }
  };
  note(START_NODE, startReads);
  reads.forEach((read, node) => {
    if (read !== NO_READS) note(node, read);
  });
  return found;
}
