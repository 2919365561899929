/**
 * The outcomes of one node's step: every set of signals that its routes and jumps allow, with the conditions of each.
 */
import { addJumps, type JumpBudget, type Jumps, MAX_JUMP_OUTCOMES, singleJumps } from "./jump-outcomes.ts";
import type { Pair } from "./jump-groups.ts";
import { type Combinations, combineRoutes } from "./combine-routes.ts";
import { type Cube, termsOf } from "./formula.ts";
import { END_TARGET } from "../control/net.ts";
import { type Branch, type ControlModel, type ControlNode, formulasOf } from "./model.ts";
import type { ValueSet } from "./value-set.ts";
import { channelsWritten, type Written } from "./written-before.ts";

export interface Outcome {
  /**
   * `own`: its edges; `error`: its `on error` edges; `jump`: a `goto`, `stop` or `send`; `stuck`: none of its edges is
   * taken, or a condition has no value, which fails the run.
   */
  readonly kind: "own" | "error" | "jump" | "stuck";
  /** Places that get a signal, each once, ascending. */
  readonly places: readonly number[];
  /** The branch ends here (`end`, or no edge at all). */
  readonly ends: boolean;
  /** The taken branches, in source form; empty if the node has no choice. */
  readonly label: string;
  /** The condition in disjunctive normal form; `undefined` if it is always true. */
  readonly cubes: readonly Cube[] | undefined;
  /** Whether each condition by itself is known to be satisfiable. */
  readonly exact: boolean;
  /** It is inexact only because the text does not state that the branch can end here. */
  readonly endIsUnstated?: true;
  /** An exclusive jump: the other signals of the step are dropped, except those of error edges. */
  readonly exclusive: boolean;
  /** A signal leads to `rollback`: the run ends with this step, and the other signals of the step are dropped. */
  readonly rollsBack?: true;
  /** As `rollsBack`, by an error edge: an exclusive jump does not drop it. */
  readonly errorRollsBack?: true;
  /** Places that error edges signal, if some of the sent tasks fail and others do not. An exclusive jump keeps them. */
  readonly errorPlaces?: readonly number[];
  /** The branches that it takes. */
  readonly branches: readonly Branch[];
}

export interface Outcomes {
  /** The outcomes of `start`. */
  readonly start: readonly Outcome[];
  /** By node. */
  readonly nodes: readonly (readonly Outcome[])[];
  /**
   * Nodes (`START_NODE` for `start`) with too many combinations. Their outcomes are some of the combinations, and one
   * that signals all places, for analyses that need only the set of places that can be signalled.
   */
  readonly tooMany: ReadonlySet<number>;
  /**
   * Nodes whose jumps to several targets are represented by jumps to fewer (`jumpGroups`). Runs in one group are complete,
   * but what several branches do together is not counted: the nodes of one step, and the calls of one run.
   */
  readonly split: ReadonlySet<number>;
}

/** The index of `start` among nodes. */
export const START_NODE = -1;

const NO_NODES: ReadonlySet<number> = new Set();

/**
 * @param unsure declared nodes that are not known to succeed: no trace with their success is exact
 * @param apart pairs of nodes of which a property says that they do not run in the same step
 */
export function outcomesOf(
  model: ControlModel,
  unsure: ReadonlySet<number> = NO_NODES,
  apart: readonly Pair[] = [],
): Outcomes {
  const mayBeNull = new Set<number>();
  for (const term of model.terms.terms) {
    const channel = term.channel === undefined ? undefined : model.data.channels[term.channel];
    if (channel?.domain.null === true && !channel.declared.null) mayBeNull.add(term.channel!);
  }
  const written = mayBeNull.size === 0 ? undefined : channelsWritten(model, mayBeNull).after;
  const hasItems = createHasItems(model);
  const tooMany = new Set<number>();
  const split = new Set<number>();
  const budget: JumpBudget = { left: MAX_JUMP_OUTCOMES };
  const nodes = model.nodes.map((node) => {
    const known = notNull(model, node, written);
    const found = outcomesOfNode(model, node, known, hasItems(node), unsure.has(node.declared), apart, budget);
    if (found.isCut) tooMany.add(node.index);
    if (found.isSplit) split.add(node.index);
    return node.isSent ? outcomesOfMany(found, () => tooMany.add(node.index)) : found.outcomes;
  });
  const start = combineRoutes(model.start, "own", new Map());
  if (start.isCut) tooMany.add(START_NODE);
  return { start: start.outcomes, nodes, tooMany, split };
}

const NOTHING_KNOWN: Cube = new Map();

/** Channels that have been written when a node ends, and so are not null in its conditions. */
function notNull(model: ControlModel, node: ControlNode, written: Written | undefined): Cube {
  if (written === undefined) return NOTHING_KNOWN;
  const known = new Map<number, ValueSet>();
  for (const formula of formulasOf(node.routing)) {
    for (const { id, channel } of termsOf(formula)) {
      if (channel === undefined || known.has(id) || !written(node.index, channel)) continue;
      const declared = model.data.channels[channel]?.declared;
      if (declared !== undefined) known.set(id, declared);
    }
  }
  return known;
}

/**
 * Creates a test whether the function of a node is known to be called in some run, so that it can fail or jump. A `for`
 * node needs items for this.
 */
function createHasItems(model: ControlModel): (node: ControlNode) => boolean {
  const wanted = new Set(model.nodes.flatMap(({ itemsFrom }) => itemsFrom ?? []));
  const written = wanted.size === 0 ? undefined : channelsWritten(model, wanted).before;
  return ({ index, itemsFrom }) =>
    itemsFrom === undefined || itemsFrom.some((channel) => written?.(index, channel) === true);
}

/** @param isUnsure it is not known to succeed */
function outcomesOfNode(
  model: ControlModel,
  node: ControlNode,
  known: Cube,
  hasItems: boolean,
  isUnsure: boolean,
  apart: readonly Pair[],
  budget: JumpBudget,
): Combinations & Pick<Jumps, "isSplit"> {
  const own = node.alwaysFails ? undefined : combineRoutes(node.routing, "own", known);
  // Most nodes neither jump nor have error edges: they have the outcomes of their routes.
  if (own !== undefined && node.jumps === undefined && node.errorRouting === undefined) {
    const { outcomes, isCut } = own;
    return { outcomes: isUnsure ? outcomes.map(inexact) : outcomes, isCut, isSplit: false };
  }
  const found: Outcome[] = [];
  let isCut = false;
  let isSplit = false;
  if (own !== undefined) {
    isCut ||= own.isCut;
    // A node with `goes` and without edges may always jump. It can also end its branch, but the text does not state it.
    const canJump = node.jumps !== undefined && !node.neverCalls;
    const mayOnlyJump = canJump && node.routing.groups.length === 0;
    const endIsUnstated = mayOnlyJump && node.jumps?.includes(END_TARGET) !== true;
    for (const item of own.outcomes) {
      if (endIsUnstated) found.push({ ...item, exact: false, endIsUnstated: true as const });
      else found.push(isUnsure ? inexact(item) : item);
    }
    if (canJump) {
      const isSure = node.fails === "freely" && hasItems;
      // Mutation point: goto-one
      for (const each of singleJumps(model, node)) found.push(isSure ? each : inexact(each));
      if (model.jumps === "any") {
        const jumps = addJumps(model, node, own.outcomes, found, apart, budget);
        isCut ||= jumps.isCut;
        ({ isSplit } = jumps);
      }
    }
  }
  // Mutation point: error-edges
  if (node.errorRouting !== undefined && !node.neverCalls && (node.fails !== "never" || node.defined !== undefined)) {
    const failed = combineRoutes(node.errorRouting, "error", new Map());
    isCut ||= failed.isCut;
    // A failure that no error edge takes fails the run, as it does without error edges. Whether an expression fails
    // depends on the values in a state (`valuesAt`).
    const isSure = (node.fails === "freely" && hasItems) || node.alwaysFails || node.defined !== undefined;
    for (const item of failed.outcomes) {
      if (item.kind === "stuck") continue;
      // Failed items take the error edges, and the results of the others are written. The list itself can fail, too.
      // Mutation point: failed-items
      if (node.allowsFailure)
        found.push({ ...item, kind: "own", exact: false, errorPlaces: item.places, ...backByError(item) });
      found.push(isSure && !node.allowsFailure ? item : inexact(item));
    }
  }
  return { outcomes: found, isCut, isSplit };
}

function inexact(outcome: Outcome): Outcome {
  return { ...outcome, exact: false };
}

const ROLLS_BACK = { rollsBack: true } as const;

function backByError({ rollsBack }: Outcome): Pick<Outcome, "errorRollsBack"> {
  return rollsBack === true ? { errorRollsBack: true } : {};
}

/** The outcomes of several sent tasks in one step: each succeeds or fails independently. */
function outcomesOfMany({ outcomes }: Combinations, giveUp: () => void): readonly Outcome[] {
  const failed = outcomes.filter(({ kind }) => kind === "error");
  const others = outcomes.filter(({ kind }) => kind !== "error");
  if (failed.length > 4) giveUp();
  const some: Outcome[] = [];
  for (let mask = 1; mask < 2 ** Math.min(failed.length, 4); mask++) {
    const chosen = failed.filter((_, bit) => (mask & (2 ** bit)) !== 0);
    const [first] = chosen;
    if (first === undefined) continue;
    const places = [...new Set(chosen.flatMap((outcome) => outcome.places))].sort((a, b) => a - b);
    const back = chosen.some(({ rollsBack }) => rollsBack === true) ? ROLLS_BACK : {};
    some.push(chosen.length === 1 ? first : { ...first, places, cubes: undefined, exact: false, ...back });
  }
  const mixed = others.flatMap((own) =>
    own.kind === "stuck"
      ? []
      : some.map((failure): Outcome => ({
          ...own,
          places: [...new Set([...own.places, ...failure.places])].sort((a, b) => a - b),
          ends: own.ends || failure.ends,
          label: [own.label, failure.label].filter((part) => part !== "").join(", "),
          exact: own.exact && failure.exact && failure.cubes === undefined,
          errorPlaces: failure.places,
          ...(failure.rollsBack === true ? { ...ROLLS_BACK, ...backByError(failure) } : {}),
        })),
  );
  return [...others, ...some, ...mixed];
}
