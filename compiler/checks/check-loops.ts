import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { selfGrowingList, unboundedList } from "../../diagnostics/catalog/data.ts";
import { setBy } from "../bind/bound-graph.ts";
import { channelsOf, readsOnlyLast } from "../explore/terms.ts";
import { loopBoundText, loopEndsText, stepBoundText } from "../../diagnostics/catalog/proofs.ts";
import { exitUnchanged, noLoopBound, stepLimitTooLow } from "../../diagnostics/catalog/reachability.ts";
import { type Bounds, findBounds, findStretches } from "../explore/bounds.ts";
import { findComponents, isCyclic, shortestCycle } from "../algorithms/components.ts";
import { findFrozenLoops } from "../explore/frozen-loops.ts";
import { type Rank, ranksOf } from "../explore/ranked-loops.ts";
import { repeatsOneOf } from "../explore/repeats.ts";
import type { Run, RunFinder } from "../explore/runs.ts";
import { nodesInLoops, startTargets, successorsOf } from "../control/signals.ts";
import { endingOf, FLAG_INEXACT, type State, type StateGraph } from "../explore/state-graph.ts";
import type { CheckContext } from "./check-context.ts";
import { outputPlace } from "./check-data.ts";
import { shownRun } from "./check-soundness.ts";

/** Limit of the analysed loops. */
const MAX_LOOPS = 50;

/** Reports NG208. It runs before the livelocks, because NG208 explains the same loop better. */
export function checkFrozenLoops(context: CheckContext, graph: StateGraph, finder: RunFinder): void {
  const successors = successorsOf(context.model);
  for (const loop of findFrozenLoops(graph)) {
    if ([...loop.nodes].some((node) => context.trapped.has(node))) continue;
    const repeats = repeatsOneOf(graph, finder, [...loop.nodes]);
    if (repeats === "never") continue;
    for (const node of loop.nodes) context.trapped.add(node);
    const cycle = shortestCycle(
      loop.decides,
      (node) => successors[node]!,
      (node) => loop.nodes.has(node),
    );
    const span = loop.branches.find((branch) => branch.label !== "otherwise" && branch.label !== "else")?.span;
    const diagnostic: Diagnostic = {
      ...exitUnchanged(span === undefined ? context.nodePlace(loop.decides) : context.place(span), {
        cycle: cycle.map(context.nodeName),
        reads: loop.reads.map((channel) => context.model.data.channels[channel]?.name ?? ""),
        areInputs: loop.reads.every((channel) => GIVEN.has(context.graph.channels[channel]?.role)),
        labels: [],
      }),
      ...(repeats === "sure" ? {} : { severity: "warning" as const }),
    };
    if (repeats === "possible") context.undecided.add(diagnostic);
    context.report(diagnostic);
  }
}

/** Roles of channels that no node writes. */
const GIVEN: ReadonlySet<string | undefined> = new Set(["input", "config"]);

/** Reducers that keep the items of the list before. */
const GROWING: ReadonlySet<string> = new Set(["append", "union", "merge", "function"]);

/** Reports NG410 for a `for` node in a loop that iterates over a list and appends its results to this list. */
export function checkGrowingMaps(context: CheckContext): void {
  const { graph, model } = context;
  const index = new Map(graph.channels.map(({ name }, at) => [name, at]));
  for (const node of nodesInLoops(model)) {
    const bound = context.node(node);
    if (bound.each === undefined || model.nodes[node]!.isSent) continue;
    const list = bound.each.list.expression;
    const read = new Set(channelsOf(list).filter((channel) => !readsOnlyLast(list, channel)));
    const replaced = setBy(bound);
    for (const name of bound.writes) {
      const channel = graph.channels[index.get(name) ?? -1];
      const reducer = channel?.reducer?.kind;
      if (reducer === undefined || !GROWING.has(reducer) || channel?.type.kind !== "list") continue;
      if (!read.has(index.get(name) ?? -1) || replaced.includes(name)) continue;
      const text = channel.reducer?.kind === "function" ? channel.reducer.function.name : reducer;
      const facts = { channel: name, node: context.nodeName(node), reducer: text };
      context.report(selfGrowingList(outputPlace(context, node, name), facts));
    }
  }
}

/** Reports NG206, NG207, NG210, NG211 and NG410. Requires a complete state graph that tracks conditions. */
export function checkBounds(
  context: CheckContext,
  graph: StateGraph,
  finder: RunFinder,
  /** A state graph with more runs, if this one does not contain all of them. */
  wider: StateGraph = graph,
): Bounds {
  const bounds = findBounds(graph);
  const successors = successorsOf(context.model);
  const limit = limitOf(context);
  if (bounds.endless.length > 0) reportEndless(context, graph, bounds, successors, limit);
  else {
    proveLoopBounds(context, graph, bounds, successors);
    if (bounds.steps !== undefined && bounds.steps > 0) {
      context.prove("NG210", stepBoundText({ steps: bounds.steps, perAnswer: bounds.perAnswer }));
    }
  }
  reportLowLimit(context, graph, wider, finder, bounds, limit);
  return bounds;
}

interface StepLimit {
  readonly steps: number | null;
  /** The `limit` in the text. */
  readonly span: { readonly start: number; readonly end: number } | undefined;
}

function limitOf({ graph }: CheckContext): StepLimit {
  const stated = graph.declaration.statements.find((item) => item.kind === "Limit" && item.of === "steps");
  return { steps: graph.limits.steps, span: stated?.span };
}

function reportEndless(
  context: CheckContext,
  graph: StateGraph,
  bounds: Bounds,
  successors: readonly (readonly number[])[],
  limit: StepLimit,
): void {
  const seen = new Set<string>();
  const ranks = ranksFromStart(context, successors);
  const groups = bounds.endless.slice(0, MAX_LOOPS).map((group) => {
    const nodes = new Set<number>();
    for (const id of group) {
      const { places, ready } = graph.states[id]!;
      for (let index = 0; index < ready; index++) nodes.add(places[index]!);
    }
    const bounded = ranksOf(graph, group);
    const cycles = cyclesWithin(context, nodes, ranks, MAX_LOOPS, successors);
    return { bounded, cycles: cycles.filter((cycle) => !cycle.nodes.some((node) => context.trapped.has(node))) };
  });
  const unbounded: ReadonlySet<number>[] = [];
  for (const { bounded, cycles } of groups) {
    if (bounded !== undefined) continue;
    for (const cycle of cycles) {
      const key = cycle.nodes.join();
      if (seen.has(key)) continue;
      seen.add(key);
      unbounded.push(new Set(cycle.nodes));
      const names = cycle.shown.map(context.nodeName);
      // A stated step limit bounds the loop.
      if (limit.span === undefined || limit.steps === null) {
        context.report(noLoopBound(context.nodePlace(cycle.shown[0] ?? 0), { cycle: names, limit: limit.steps }));
      }
      if (limit.steps === null) reportGrowingLists(context, cycle.nodes, names);
    }
  }
  for (const { bounded, cycles } of groups) {
    if (bounded === undefined) continue;
    for (const cycle of cycles) {
      // A loop that ends in one part of its states can be without a bound in another part.
      if (unbounded.some((nodes) => cycle.nodes.every((node) => nodes.has(node)))) continue;
      const text = rankedText(context, cycle.nodes, cycle.shown.map(context.nodeName), bounded);
      if (!seen.has(text)) context.prove("NG207", text, context.nodePlace(cycle.shown[0] ?? 0).span);
      seen.add(text);
    }
  }
}

/** NG207 for a loop that ends when a counter reaches a bound of unknown value. */
function rankedText(
  context: CheckContext,
  nodes: readonly number[],
  cycle: readonly string[],
  ranks: readonly Rank[],
): string {
  const own = new Set(nodes.flatMap((node) => context.model.data.writes[node]!.map(({ channel }) => channel)));
  const counters = [...new Set(ranks.map(({ counter }) => counter))];
  const moved = counters.filter((counter) => own.has(counter));
  // Another loop that runs beside this one can move the counter.
  const names = (moved.length > 0 ? moved : counters).map((counter) => context.model.data.channels[counter]!.name);
  return loopEndsText({ cycle, counters: names });
}

/** The loops of the graph among nodes that run in one endless component of states. */
function cyclesWithin(
  context: CheckContext,
  nodes: ReadonlySet<number>,
  ranks: ReadonlyMap<number, number>,
  most: number,
  successors: readonly (readonly number[])[],
): { readonly nodes: readonly number[]; readonly shown: readonly number[] }[] {
  const inside = (node: number): readonly number[] =>
    nodes.has(node) ? successors[node]!.filter((target) => nodes.has(target)) : [];
  const { members } = findComponents(context.model.nodes.length, inside);
  const rank = (node: number): number => ranks.get(node) ?? Infinity;
  return members
    .filter((group) => nodes.has(group[0]!) && isCyclic(group, inside))
    .slice(0, most)
    .map((group) => {
      // The node of the loop nearest to `start`.
      const entry = group.reduce((a, b) => (rank(b) < rank(a) ? b : a));
      const own = new Set(group);
      const shown = shortestCycle(entry, inside, (node) => own.has(node));
      return { nodes: group.toSorted((a, b) => a - b), shown: shown.length > 0 ? shown : [entry] };
    });
}

/** Nodes in breadth-first order from `start`. */
function ranksFromStart(
  context: CheckContext,
  successors: readonly (readonly number[])[],
): ReadonlyMap<number, number> {
  const seen = new Set(startTargets(context.model));
  for (const node of seen) for (const next of successors[node]!) seen.add(next);
  return new Map([...seen].map((node, rank) => [node, rank]));
}

/** NG410. */
function reportGrowingLists(context: CheckContext, nodes: readonly number[], cycle: readonly string[]): void {
  const lists = new Set(
    context.graph.channels
      .filter(({ reducer, type }) => reducer?.kind === "append" && type.kind === "list")
      .map(({ name }) => name),
  );
  // A write with `set` in the loop makes the list short again.
  for (const node of nodes) for (const channel of setBy(context.node(node))) lists.delete(channel);
  for (const node of nodes) {
    for (const channel of context.node(node).writes) {
      if (!lists.delete(channel)) continue;
      const facts = { channel, node: context.nodeName(node), cycle };
      context.report(unboundedList(outputPlace(context, node, channel), facts));
    }
  }
}

/** NG207. */
function proveLoopBounds(
  context: CheckContext,
  graph: StateGraph,
  bounds: Bounds,
  successors: readonly (readonly number[])[],
): void {
  const ranks = ranksFromStart(context, successors);
  const all = new Set(context.model.nodes.filter(({ index }) => graph.nodeRuns[index] === 1).map(({ index }) => index));
  const loops = cyclesWithin(context, all, ranks, MAX_LOOPS, successors);
  if (loops.length === 0) return;
  const statesOf = new Map(loops.map(({ shown: [node = 0] }): [number, number[]] => [node, []]));
  for (const { id, places, ready } of graph.states) {
    for (let index = 0; index < ready; index++) statesOf.get(places[index]!)?.push(id);
  }
  // Any number of tasks can be sent to a node.
  const sent = context.model.nodes.filter(({ index, isSent }) => isSent && graph.nodeRuns[index] === 1);
  for (const { declared } of sent) {
    if (!statesOf.delete(declared)) continue;
    const why = `tasks can be sent to \`${context.nodeName(declared)}\``;
    context.open.push({ property: `bound of the loop at \`${context.nodeName(declared)}\``, why, isMinor: true });
  }
  const stretches = findStretches(graph, bounds.perAnswer);
  const weights = new Uint8Array(graph.states.length);
  for (const [node, states] of statesOf) {
    for (const id of states) weights[id] = 1;
    const rounds = stretches.heaviest(weights);
    for (const id of states) weights[id] = 0;
    // A reported endless loop has no bound.
    if (rounds < 1 || context.trapped.has(node)) continue;
    context.prove(
      "NG207",
      loopBoundText({ node: context.nodeName(node), rounds, perAnswer: bounds.perAnswer }),
      context.nodePlace(node).span,
    );
  }
}

/** NG211. */
function reportLowLimit(
  context: CheckContext,
  graph: StateGraph,
  wider: StateGraph,
  finder: RunFinder,
  bounds: Bounds,
  limit: StepLimit,
): void {
  const { steps, span } = limit;
  if (steps === null) return;
  const shortestOf = (of: StateGraph): State | undefined =>
    of.states.find(({ id }) => endingOf(of, id) === "completed");
  const shortest = shortestOf(graph);
  if (shortest === undefined) return;
  const isSure = wider.complete && (shortestOf(wider)?.depth ?? 0) > steps;
  const place = span === undefined ? context.graphPlace() : context.place(span);
  if (shortest.depth > steps && isSure) {
    const run = shownRun(graph, finder.to(shortest.id), "completed");
    context.report(
      stepLimitTooLow(place, { limit: steps, needed: shortest.depth, every: true, stated: span !== undefined, run }),
    );
    return;
  }
  if (bounds.endless.length > 0 || bounds.perAnswer) return;
  const longest = longestCompletion(graph);
  if (longest === undefined || longest.steps <= steps) return;
  const run = shownRun(graph, longest.run, "completed");
  context.report(
    stepLimitTooLow(place, { limit: steps, needed: longest.steps, every: false, stated: span !== undefined, run }),
  );
}

/** The longest completed run, by exact steps; `undefined` if there are loops. */
function longestCompletion(graph: StateGraph): { steps: number; run: Run } | undefined {
  const { members } = findComponents(graph.states.length, (id) => graph.successors[id] ?? []);
  const steps = new Int32Array(graph.states.length).fill(-1);
  const next = new Int32Array(graph.states.length).fill(-1);
  for (const [id = 0] of members) {
    if (endingOf(graph, id) === "completed") steps[id] = 0;
    const targets = graph.successors[id];
    for (let edge = 0; edge < (targets?.length ?? 0); edge++) {
      const target = targets![edge]!;
      if (steps[target] === -1 || (graph.flags[id]![edge]! & FLAG_INEXACT) !== 0) continue;
      // The edge from `start` is not a step.
      const length = steps[target]! + (id === 0 ? 0 : 1);
      if (length <= steps[id]!) continue;
      steps[id] = length;
      next[id] = target;
    }
  }
  if (steps[0] === -1) return undefined;
  const states: number[] = [];
  for (let at = 0; at !== -1; at = next[at]!) states.push(at);
  return { steps: steps[0]!, run: { states, last: undefined, feasible: true } };
}
