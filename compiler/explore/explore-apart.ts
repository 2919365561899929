/**
 * Proofs for graphs with too many states to look at one by one. Super-steps are taken apart: nodes run one at a time, in
 * any order, choices are free, and of nodes that cannot affect each other only one order is looked at. That parallel
 * branches have choices of their own then costs the sum of their states, not the product.
 *
 * Every run by super-steps is one of these runs with its steps regrouped as long as no place is ever signalled twice, so
 * what is shown here holds there (the nets are free-choice: a node's token is nobody else's to take, and each barrier member
 * has a place of its own). What is not shown here may still hold: conditions and step lengths are not looked at.
 */
import { type ControlModel } from "./model.ts";
import { type Outcome, type Outcomes, START_NODE } from "./outcomes.ts";

export interface ApartOptions {
  readonly maxStates: number;
  /** This node never finishes (it may fail): does every run come to it? */
  readonly without?: number;
  /** Does this node run at most once? */
  readonly once?: number;
}

export interface Apart {
  /**
   * No place is ever signalled twice, every run can end, and none leaves anything behind. With `without`: no run completes.
   * With `once`: it does not run again. False: not shown.
   */
  readonly holds: boolean;
  readonly states: number;
}

/** Places that states hold and questions go through, in all. */
const MAX_WORK = 20_000_000;

/** Looks at all runs of a graph with its nodes taken one at a time. */
export function exploreApart(model: ControlModel, outcomes: Outcomes, options: ApartOptions): Apart {
  if (
    outcomes.tooMany.size > 0 ||
    model.unsupported.length > 0 ||
    model.nodes.some((node) => node.jumps !== undefined)
  ) {
    return { holds: false, states: 0 };
  }
  const { without, once } = options;
  const routed = [outcomes.start, ...outcomes.nodes].map((list) => list.filter(({ kind }) => kind !== "stuck"));
  const allowed = (node: number): readonly Outcome[] => {
    const all = routed[node + 1]!;
    return node === without ? all.filter((outcome) => outcome.kind === "error") : all;
  };
  // A run that fails for want of a route completes nothing, and runs no node twice.
  const mayStick = (node: number): boolean =>
    without === undefined && once === undefined && routed[node + 1]!.length < outcomesAt(outcomes, node).length;
  if (mayStick(START_NODE)) return { holds: false, states: 0 };
  const ids = new Map<string, number>();
  const states: { readonly places: readonly number[]; readonly hasRun: boolean }[] = [];
  const predecessors: number[][] = [];
  const ends: number[] = [];
  const reach = (places: readonly number[], hasRun: boolean, from: number): void => {
    const key = `${places.join()}${hasRun ? "!" : ""}`;
    let id = ids.get(key);
    if (id === undefined) {
      id = states.length;
      ids.set(key, id);
      states.push({ places, hasRun });
      predecessors.push([]);
    }
    if (from >= 0) predecessors[id]!.push(from);
  };
  for (const outcome of routed[0]!) {
    const next = signal(model, [], outcome.places);
    if (next === undefined) return { holds: false, states: states.length };
    reach(next, false, -1);
  }
  const budget: Budget = { left: MAX_WORK };
  for (let id = 0; id < states.length; id++) {
    const { places, hasRun } = states[id]!;
    budget.left -= places.length;
    if (states.length > options.maxStates || budget.left < 0) return { holds: false, states: states.length };
    const ready = places.filter((place) => place < model.nodes.length && allowed(place).length > 0);
    if (ready.length === 0) {
      if (without === undefined ? !endsWell(model, outcomes, places) : places.length === 0) {
        return { holds: false, states: states.length };
      }
      ends.push(id);
      continue;
    }
    for (const node of chooseNodes(model, allowed, places, ready, budget)) {
      if (mayStick(node)) return { holds: false, states: states.length };
      if (node === once && hasRun) return { holds: false, states: states.length };
      const rest = places.filter((place) => place !== node);
      for (const outcome of allowed(node)) {
        const next = signal(model, rest, outcome.places);
        if (next === undefined) return { holds: false, states: states.length };
        reach(next, hasRun || node === once, id);
      }
    }
  }
  return { holds: canAllEnd(predecessors, ends), states: states.length };
}

function outcomesAt({ start, nodes }: Outcomes, node: number): readonly Outcome[] {
  return node === START_NODE ? start : nodes[node]!;
}

interface Budget {
  left: number;
}

/** Nothing is left, or a node that always fails stops the run. */
function endsWell(model: ControlModel, outcomes: Outcomes, places: readonly number[]): boolean {
  return (
    places.length === 0 || places.some((place) => place < model.nodes.length && outcomes.nodes[place]!.length === 0)
  );
}

/** The places after more signals, with complete barriers fired; `undefined` when one would be signalled twice. */
function signal(model: ControlModel, places: readonly number[], signals: readonly number[]): number[] | undefined {
  const marked = new Set(places);
  const touched = new Set<number>();
  for (const place of signals) {
    if (marked.has(place)) return undefined;
    marked.add(place);
    const barrier = model.barrierOfPlace[place]!;
    if (barrier !== -1) touched.add(barrier);
  }
  for (const index of touched) {
    const { members, target } = model.barriers[index]!;
    if (!members.every((member) => marked.has(member.place))) continue;
    for (const member of members) marked.delete(member.place);
    if (target < 0) continue;
    if (marked.has(target)) return undefined;
    marked.add(target);
  }
  return [...marked].sort((a, b) => a - b);
}

/**
 * One node that nothing else can signal while it waits: whatever the others do, they do it the same before and after it, so
 * it may as well run now. All of them, where there is no such node.
 */
function chooseNodes(
  model: ControlModel,
  allowed: (node: number) => readonly Outcome[],
  places: readonly number[],
  ready: readonly number[],
  budget: Budget,
): readonly number[] {
  if (ready.length === 1) return ready;
  for (const node of ready) {
    if (budget.left < 0) break;
    if (!canBeSignalled(model, allowed, places, node, budget)) return [node];
  }
  return ready;
}

function canBeSignalled(
  model: ControlModel,
  allowed: (node: number) => readonly Outcome[],
  places: readonly number[],
  node: number,
  budget: Budget,
): boolean {
  const marked = new Set(places);
  const pending = places.filter((place) => place < model.nodes.length && place !== node);
  budget.left -= places.length;
  for (const at of pending) {
    budget.left--;
    for (const { places: signals } of allowed(at)) {
      for (const place of signals) {
        if (place === node) return true;
        if (marked.has(place)) continue;
        marked.add(place);
        const barrier = model.barriers[model.barrierOfPlace[place]!];
        if (barrier === undefined) pending.push(place);
        else if (barrier.target >= 0 && barrier.members.every((member) => marked.has(member.place))) {
          if (barrier.target === node) return true;
          if (marked.has(barrier.target)) continue;
          marked.add(barrier.target);
          pending.push(barrier.target);
        }
      }
    }
  }
  return false;
}

function canAllEnd(predecessors: readonly (readonly number[])[], ends: readonly number[]): boolean {
  const canEnd = new Uint8Array(predecessors.length);
  const pending = [...ends];
  for (const id of pending) canEnd[id] = 1;
  for (const id of pending) {
    for (const before of predecessors[id]!) {
      if (canEnd[before] === 1) continue;
      canEnd[before] = 1;
      pending.push(before);
    }
  }
  return !canEnd.includes(0);
}
