/**
 * All runs of a graph, executed through the real scheduler with concrete values: every choice of every node, every
 * failure. Slow and simple on purpose; it shares no code with the proofs.
 */
import type { BarrierSignals } from "../../../runtime/routing/barrier-state.ts";
import { createScheduler, type NodeRouting, type Scheduler } from "../../../runtime/routing/scheduler.ts";
import type { Table } from "../../../runtime/table/table.ts";
import type { RandomGraph, RandomNode, Value } from "./random-graph.ts";

export interface Verdicts {
  readonly sound: boolean;
  /** Some run ends with a barrier partly filled. */
  readonly deadlock: boolean;
  readonly race: boolean;
  /** In the order of the graph's assertions: whether they hold. */
  readonly holds: readonly boolean[];
  /** Most nodes that run in one step. */
  readonly parallel: number;
  /** Most steps of a run; `undefined` where runs can go round. */
  readonly steps: number | undefined;
  /** Nodes (or `start`) whose conditions leave some value of the declared types out. */
  gaps(): readonly string[];
  /** Whether some run goes through these steps, from its first on. */
  canRun(steps: readonly (readonly string[])[]): boolean;
}

interface Concrete {
  readonly id: number;
  readonly ready: readonly string[];
  readonly values: Readonly<Record<string, Value>>;
  readonly barriers: BarrierSignals;
  readonly next: Transition[];
  failed: boolean;
}

interface Transition {
  readonly to: Concrete;
  readonly failed: readonly string[];
  readonly ends: boolean;
  /** By node that ran: its signals (`name`, or `id/member` of a barrier). */
  readonly signals: ReadonlyMap<string, readonly string[]>;
  readonly fired: readonly string[];
}

/** `undefined` when there are too many states. */
export function bruteForce(graph: RandomGraph, table: Table, maxStates = 3000): Verdicts | undefined {
  const scheduler = createScheduler(table);
  const states = allStates(graph, scheduler, maxStates);
  if (states === undefined) return undefined;
  const { list, roots, barriers, startSignals } = states;
  const deadlock = list.some((state) => state.ready.length === 0 && Object.keys(state.barriers).length > 0);
  const race = list.some((state) => writesTwice(graph, state));
  const sound =
    !deadlock &&
    everyStateEnds(list) &&
    !neverFires(list, barriers) &&
    !list.some((state) => state.next.some((step) => losesSignal(barriers, state, step) || collapses(barriers, step))) &&
    !meetsTwice(list, roots, barriers, startSignals);
  return {
    sound,
    deadlock,
    race,
    holds: graph.assertions.map((assertion) => holds(assertion, list, roots, startSignals)),
    parallel: Math.max(0, ...list.map((state) => state.ready.length)),
    steps: longestRun(list),
    gaps: () => graph.nodes.map(({ name }) => name).filter((name) => hasGap(graph, scheduler, name)),
    canRun: (steps) => canRun(roots, steps),
  };
}

/** Tries every value of the declared types; for counters, values around the numbers that conditions compare them with. */
function hasGap(graph: RandomGraph, scheduler: Scheduler, node: string): boolean {
  const counts = [-2, -1, 0, 1, 2, 3, 4, 5];
  const asked = Object.entries(graph.domains).filter(([channel]) => !channel.startsWith("free"));
  const free = Object.keys(graph.domains).filter((channel) => channel.startsWith("free"));
  const others = Object.fromEntries(free.map((channel) => [channel, [true]]));
  return combinations({ ...Object.fromEntries(asked), ...others, count: counts }).some(
    (values) => attempt(() => scheduler.resolveNextNodes(node, values)) === undefined,
  );
}

function longestRun(list: readonly Concrete[]): number | undefined {
  const longest = new Map<Concrete, number>();
  const open = new Set<Concrete>();
  const from = (state: Concrete): number | undefined => {
    const known = longest.get(state);
    if (known !== undefined) return known;
    if (open.has(state)) return undefined;
    open.add(state);
    let most = 0;
    for (const { to } of state.next) {
      const behind = from(to);
      if (behind === undefined) return undefined;
      most = Math.max(most, behind);
    }
    open.delete(state);
    const steps = most + (state.ready.length > 0 ? 1 : 0);
    longest.set(state, steps);
    return steps;
  };
  let most = 0;
  for (const state of list) {
    const steps = from(state);
    if (steps === undefined) return undefined;
    most = Math.max(most, steps);
  }
  return most;
}

function canRun(roots: readonly Concrete[], steps: readonly (readonly string[])[]): boolean {
  let here = new Set(roots);
  for (const [index, ran] of steps.entries()) {
    const wanted = ran.toSorted().join();
    here = new Set([...here].filter((state) => state.ready.toSorted().join() === wanted));
    if (here.size === 0) return false;
    if (index < steps.length - 1) here = new Set([...here].flatMap((state) => state.next.map((step) => step.to)));
  }
  return true;
}

type Barriers = ReturnType<Scheduler["barrierSpecs"]>;

interface Explored {
  readonly list: readonly Concrete[];
  readonly roots: readonly Concrete[];
  readonly barriers: Barriers;
  /** By root: the signals of `start`, and whether a branch ends there. */
  readonly startSignals: ReadonlyMap<Concrete, { readonly targets: readonly string[]; readonly ends: boolean }>;
}

function allStates(graph: RandomGraph, scheduler: Scheduler, maxStates: number): Explored | undefined {
  const byName = new Map(graph.nodes.map((node) => [node.name, node]));
  const barriers = scheduler.barrierSpecs();
  const ids = barriers.map(({ id }) => id);
  // Only the deciding node reads a free choice. It is removed at once, so it creates no additional states.
  const forgotten = Object.keys(graph.domains)
    .filter((channel) => channel.startsWith("free"))
    .map((channel) => [channel, false] as const);
  const known = new Map<string, Concrete>();
  const list: Concrete[] = [];
  const intern = (
    ready: readonly string[],
    values: Readonly<Record<string, Value>>,
    held: BarrierSignals,
  ): Concrete => {
    const key = `${ready.join()}|${Object.values(values).join()}|${ids.map((id) => held[id]?.join() ?? "").join(";")}`;
    let state = known.get(key);
    if (state === undefined) {
      state = { id: list.length, ready, values, barriers: held, next: [], failed: false };
      known.set(key, state);
      list.push(state);
    }
    return state;
  };
  const roots: Concrete[] = [];
  const startSignals: Explored["startSignals"] & Map<Concrete, { targets: readonly string[]; ends: boolean }> =
    new Map();
  for (const values of combinations(graph.initial)) {
    const plan = attempt(() => scheduler.planStartStep(values));
    if (plan === undefined) continue;
    const root = intern(plan.ready, values, {});
    roots.push(root);
    startSignals.set(root, { targets: plan.ready, ends: plan.hitEnd || plan.ready.length === 0 });
  }
  for (const state of list) {
    if (list.length > maxStates) return undefined;
    if (state.ready.length === 0) continue;
    for (const way of ways(state.ready.map((name) => byName.get(name)!))) {
      for (const values of writeAll(graph, state.values, way)) {
        const routings = way.map(toRouting);
        const plan = attempt(() => scheduler.planNextStep(routings, values, state.barriers));
        if (plan === undefined) continue;
        const signals = new Map<string, readonly string[]>();
        let ends = false;
        for (const routing of routings) {
          // Work everywhere keeps each `settled` from firing, so its signal is seen.
          const own = scheduler.planNextStep([{ ...routing, send: [...byName.keys()] }], values, {});
          const held = Object.entries(own.barrierState).flatMap(([id, nodes]) =>
            nodes.length === 0 ? [] : membersOf(barriers, id, routing.node).map((member) => `${id}/${member}`),
          );
          signals.set(routing.node, [...own.ready, ...held]);
          ends ||= own.hitEnd || (own.ready.length === 0 && held.length === 0);
        }
        const fired = firedBarriers(barriers, state, signals, plan.barrierState);
        ends ||= fired.some((id) => targetsOf(barriers, id).includes("end"));
        state.next.push({
          to: intern(plan.ready, { ...values, ...Object.fromEntries(forgotten) }, plan.barrierState),
          failed: way.filter((task) => task.outcome === "fails").map((task) => task.node.name),
          ends,
          signals,
          fired,
        });
      }
    }
    state.failed = state.next.length === 0;
  }
  return { list, roots, barriers, startSignals };
}

interface Task {
  readonly node: RandomNode;
  readonly outcome: "succeeds" | "fails" | string;
}

/** What each node may do: succeed, fail (where an edge handles it), or jump. */
function ways(nodes: readonly RandomNode[]): Task[][] {
  let found: Task[][] = [[]];
  for (const node of nodes) {
    const outcomes = ["succeeds", ...(mayFail(node) ? ["fails"] : []), ...node.goes.map((target) => `goto ${target}`)];
    found = found.flatMap((tasks) => outcomes.map((outcome) => [...tasks, { node, outcome }]));
  }
  return found;
}

/** An expression that has a value for all of its operands never fails. */
function mayFail({ canFail, writes }: RandomNode): boolean {
  return canFail && (writes === undefined || writes.kind === "any");
}

function toRouting({ node, outcome }: Task): NodeRouting {
  if (outcome === "fails") return { node: node.name, error: { node: node.name } };
  if (outcome.startsWith("goto ")) return { node: node.name, goto: outcome.slice(5) };
  return { node: node.name };
}

/**
 * Every state of channels that a step may leave. Either of two writers of a channel may win: a race is a separate
 * verdict.
 */
function writeAll(
  graph: RandomGraph,
  values: Readonly<Record<string, Value>>,
  way: readonly Task[],
): Record<string, Value>[] {
  const options: Record<string, readonly Value[]> = {};
  for (const { node, outcome } of way) {
    const { writes } = node;
    if (writes === undefined || outcome === "fails") continue;
    const { channel } = writes;
    const jumped = outcome.startsWith("goto ");
    const written =
      writes.kind === "any"
        ? graph.domains[channel]!
        : writes.kind === "constant"
          ? [writes.value ?? null]
          : writes.kind === "copy"
            ? [values[writes.from!]!]
            : [Math.min((values["count"] as number) + 1, graph.counterLimit)];
    options[channel] = [...new Set([...(options[channel] ?? []), ...written, ...(jumped ? [values[channel]!] : [])])];
  }
  return combinations(options).map((update) => ({ ...values, ...update }));
}

function combinations(options: Readonly<Record<string, readonly Value[]>>): Record<string, Value>[] {
  let found: Record<string, Value>[] = [{}];
  for (const [name, values] of Object.entries(options)) {
    found = found.flatMap((known) => values.map((value) => ({ ...known, [name]: value })));
  }
  return found;
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

function membersOf(barriers: Barriers, id: string, node: string): number[] {
  const { members } = barriers.find((barrier) => barrier.id === id)!;
  return members.flatMap((nodes, index) => (nodes.includes(node) ? [index] : []));
}

function heldMembers(barriers: Barriers, state: Concrete): Set<string> {
  return new Set(
    Object.entries(state.barriers).flatMap(([id, nodes]) =>
      nodes.flatMap((node) => membersOf(barriers, id, node).map((member) => `${id}/${member}`)),
    ),
  );
}

function targetsOf(barriers: Barriers, id: string): readonly string[] {
  const { target, others = [] } = barriers.find((barrier) => barrier.id === id)!;
  return [target, ...others];
}

function firedBarriers(
  barriers: Barriers,
  state: Concrete,
  signals: ReadonlyMap<string, readonly string[]>,
  after: BarrierSignals,
): string[] {
  const filled = heldMembers(barriers, state);
  const fresh = new Set<string>();
  for (const list of signals.values()) for (const signal of list) if (signal.includes("/")) fresh.add(signal);
  return barriers
    .filter(({ id, kind, members }) => {
      if (kind === "settled") {
        const isSignalled = state.barriers[id] !== undefined || [...fresh].some((place) => place.startsWith(`${id}/`));
        return isSignalled && after[id] === undefined;
      }
      const places = members.map((_, index) => `${id}/${index}`);
      return places.every((place) => filled.has(place) || fresh.has(place)) && places.some((place) => fresh.has(place));
    })
    .map(({ id }) => id);
}

function writesTwice(graph: RandomGraph, state: Concrete): boolean {
  const seen = new Set<string>();
  for (const { name, writes } of graph.nodes) {
    if (writes === undefined || !state.ready.includes(name)) continue;
    if (seen.has(writes.channel)) return true;
    seen.add(writes.channel);
  }
  return false;
}

function everyStateEnds(list: readonly Concrete[]): boolean {
  const before: Concrete[][] = list.map(() => []);
  for (const state of list) for (const { to } of state.next) before[to.id]!.push(state);
  const open = list.filter((state) => state.next.length === 0);
  const ends = new Set(open);
  for (const state of open) {
    for (const earlier of before[state.id]!) {
      if (ends.has(earlier)) continue;
      ends.add(earlier);
      open.push(earlier);
    }
  }
  return ends.size === list.length;
}

/**
 * A barrier that is signalled in some run and fires in none, even where each of those runs fails before it could end.
 */
function neverFires(list: readonly Concrete[], barriers: Barriers): boolean {
  const fired = new Set(list.flatMap((state) => state.next.flatMap((step) => step.fired)));
  const signalled = new Set(list.flatMap((state) => Object.keys(state.barriers)));
  return barriers.some(({ id }) => signalled.has(id) && !fired.has(id));
}

function losesSignal(barriers: Barriers, state: Concrete, step: Transition): boolean {
  const seen = heldMembers(barriers, state);
  for (const list of step.signals.values()) {
    for (const signal of list) {
      if (!signal.includes("/") || isSettled(barriers, signal.slice(0, signal.indexOf("/")))) continue;
      if (seen.has(signal)) return true;
      seen.add(signal);
    }
  }
  return false;
}

function isSettled(barriers: Barriers, id: string): boolean {
  return barriers.some((barrier) => barrier.id === id && barrier.kind === "settled");
}

function collapses(barriers: Barriers, step: Transition): boolean {
  const seen = new Set<string>();
  const targets = [
    ...[...step.signals.values()].map((list) => list.filter((signal) => !signal.includes("/"))),
    ...step.fired.map((id) => targetsOf(barriers, id)),
  ];
  for (const list of targets) {
    for (const target of new Set(list)) {
      if (target === "end") continue;
      if (seen.has(target)) return true;
      seen.add(target);
    }
  }
  return false;
}

/** What starts a node after a step: nodes by name, barriers as `*id`. */
function sourcesOf(barriers: Barriers, step: Transition, node: string): string[] {
  const found: string[] = [];
  for (const [source, list] of step.signals) if (list.includes(node)) found.push(source);
  for (const id of step.fired) if (targetsOf(barriers, id).includes(node)) found.push(`*${id}`);
  return found;
}

/**
 * Finds two runs of a node that different sources start in different steps, if the first run does not cause the second.
 * Marks the descendants of the first run. A signal from an unmarked source starts the second run.
 */
function meetsTwice(
  list: readonly Concrete[],
  roots: readonly Concrete[],
  barriers: Barriers,
  startSignals: Explored["startSignals"],
): boolean {
  const sources = new Map<string, Set<string>>();
  const note = (state: Concrete, node: string, source: string): void => {
    const key = `${state.id}/${node}`;
    sources.set(key, (sources.get(key) ?? new Set()).add(source));
  };
  for (const root of roots) for (const node of startSignals.get(root)?.targets ?? []) note(root, node, "start");
  for (const state of list) {
    for (const step of state.next) {
      for (const node of step.to.ready)
        for (const source of sourcesOf(barriers, step, node)) note(step.to, node, source);
    }
  }
  for (const state of list) {
    if (state.ready.length < 2) continue;
    for (const node of state.ready) {
      const first = sources.get(`${state.id}/${node}`) ?? new Set<string>();
      if (startsAgain(state, node, first, barriers)) return true;
    }
  }
  return false;
}

function startsAgain(from: Concrete, node: string, first: ReadonlySet<string>, barriers: Barriers): boolean {
  const seen = new Set<string>();
  const open: { state: Concrete; marked: ReadonlySet<string> }[] = [{ state: from, marked: new Set([node]) }];
  for (const { state, marked } of open) {
    for (const step of state.next) {
      const next = new Set<string>();
      const fresh: string[] = [];
      // Marks of barrier members that are held, and of what this step signals.
      for (const mark of marked) if (mark.includes("/")) next.add(mark);
      for (const [source, list] of step.signals) {
        for (const signal of list) {
          if (marked.has(source)) next.add(signal);
          else if (signal === node) fresh.push(source);
        }
      }
      for (const id of step.fired) {
        const barrier = barriers.find((candidate) => candidate.id === id)!;
        const places = barrier.members.map((_, index) => `${id}/${index}`);
        const isMarked = places.some((place) => next.has(place));
        for (const place of places) next.delete(place);
        for (const target of targetsOf(barriers, id)) {
          if (isMarked) next.add(target);
          else if (target === node) fresh.push(`*${id}`);
        }
      }
      if (!next.has(node) && fresh.some((source) => [...first].some((other) => other !== source))) return true;
      if (step.to.ready.every((name) => next.has(name))) continue;
      const key = `${step.to.id}|${[...next].sort().join()}`;
      if (seen.has(key)) continue;
      seen.add(key);
      open.push({ state: step.to, marked: next });
    }
  }
  return false;
}

function holds(
  { form, a, b }: RandomGraph["assertions"][number],
  list: readonly Concrete[],
  roots: readonly Concrete[],
  startSignals: Explored["startSignals"],
): boolean {
  switch (form) {
    case "never":
      return !list.some((state) => state.ready.includes(a) && state.ready.includes(b!));
    case "once":
      return !reach(
        list.filter((state) => state.ready.includes(a)).flatMap((state) => state.next.map((step) => step.to)),
        () => true,
      ).some((state) => state.ready.includes(a));
    case "eventually":
      return !reach(roots, (state, step) => !finishes(state, step, a)).some(
        (state) => state.ready.length === 0 && Object.keys(state.barriers).length === 0,
      );
    case "before each": {
      // Pairs of a state and whether `a` has finished since `b` last ran.
      const released = [new Set<Concrete>(roots), new Set<Concrete>()] as const;
      const open = roots.map((state): readonly [Concrete, boolean] => [state, false]);
      for (const [state, isReleased] of open) {
        const runs = state.ready.includes(b!);
        if (runs && !isReleased) return false;
        for (const step of state.next) {
          const flag = !runs && (isReleased || finishes(state, step, a));
          const seen = released[flag ? 1 : 0];
          if (!seen.has(step.to)) open.push([step.to, flag]);
          seen.add(step.to);
        }
      }
      return true;
    }
    case "before": {
      const without = reach(roots, (state, step) => !finishes(state, step, a));
      if (b !== "end") return !without.some((state) => state.ready.includes(b!));
      return (
        !roots.some((root) => startSignals.get(root)?.ends === true) &&
        !without.some((state) => state.next.some((step) => step.ends && !finishes(state, step, a)))
      );
    }
  }
}

function finishes(state: Concrete, step: Transition, node: string): boolean {
  return state.ready.includes(node) && !step.failed.includes(node);
}

function reach(from: readonly Concrete[], allow: (state: Concrete, step: Transition) => boolean): Concrete[] {
  const found = new Set(from);
  for (const state of found) for (const step of state.next) if (allow(state, step)) found.add(step.to);
  return [...found];
}
