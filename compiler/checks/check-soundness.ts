import {
  accidentalJoin,
  exclusiveMembers,
  leftIncomplete,
  livelock,
  neverComplete,
  runsTwice,
  signalLost,
  waitsForExclusiveArms,
} from "../../diagnostics/catalog/barriers.ts";
import { exitNeverHolds, type ShownRun } from "../../diagnostics/catalog/reachability.ts";
import type { Severity } from "../../diagnostics/codes.ts";
import type { Diagnostic, Fix, Label, Place } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Defects } from "../explore/defects.ts";
import { type ExclusiveMembers, findExclusiveMembers } from "../explore/exclusive-members.ts";
import { shortestCycle } from "../algorithms/components.ts";
import type { BarrierMember, ControlBarrier } from "../control/net.ts";
import type { Branch, Routing } from "../explore/model.ts";
import { describeStuck, memberName, type Run, traceOf } from "../explore/runs.ts";
import type { DoubleRun } from "../explore/runs-twice.ts";
import { choicesOf, signalsOf, successorsOf } from "../control/signals.ts";
import type { StateGraph } from "../explore/state-graph.ts";
import { type CheckContext, edgeOf, targetName, targetOf } from "./check-context.ts";
import { memberSpan } from "./check-reachability.ts";
import { joinEdges, replaceMember, replaceSource } from "./route-fixes.ts";

/** Reports the soundness defects NG301 to NG303, NG306, NG307, NG309, NG311 and NG316. */
export function reportDefects(context: CheckContext, graph: StateGraph, defects: Defects): void {
  const exclusive = new Map(findExclusiveMembers(context.model).map((found) => [found.barrier.index, found]));
  reportNeverComplete(context, graph, defects, exclusive);
  reportLeftIncomplete(context, graph, defects, exclusive);
  reportDoubleRuns(context, graph, defects);
  reportLivelocks(context, graph, defects);
}

/** Reports NG301 by dominators alone, for graphs that were not explored completely. */
export function reportExclusiveMembers(context: CheckContext): void {
  for (const found of findExclusiveMembers(context.model)) {
    if (!found.repeats && context.reach.barrierOpens[found.barrier.index] === 1)
      reportExclusive(context, found, undefined, undefined, "error");
  }
}

/** The place of a barrier in the text: `all(…)`, `settled(…)`, or the policy. */
export function barrierPlace(context: CheckContext, barrier: ControlBarrier): Place {
  const source = edgeOf(context, barrier.origin)?.source;
  if (source !== undefined && source.kind !== "nodes") return context.place(source.span);
  const policies = context.graph.nodes[barrier.target]?.declaration.policies ?? [];
  const policy = policies.find((candidate) => candidate.kind === "Waits");
  return policy === undefined ? context.nodePlace(barrier.target) : context.place(policy.span);
}

/** A run in the form that catalog functions take. */
export function shownRun(graph: StateGraph, run: Run, traceEnd: string): ShownRun {
  return { trace: traceOf(graph, run), traceEnd };
}

function reportNeverComplete(
  context: CheckContext,
  graph: StateGraph,
  defects: Defects,
  exclusive: ReadonlyMap<number, ExclusiveMembers>,
): void {
  const { model } = context;
  const isLooping = defects.livelocks.length > 0 || context.trapped.size > 0;
  // If no run ends with the barrier partly filled, because all of them stay in a loop, the loop is reported instead.
  const silent = defects.neverFire.filter(
    ({ barrier, ends }) => !context.explained.has(barrier) && (ends || !isLooping),
  );
  const roots = silent.filter(({ barrier }) => !followsFromOthers(context, graph, barrier));
  const isExplained =
    context.explained.size > 0 ||
    model.nodes.some(
      ({ index, name }) => context.reach.possible[index] === 0 && context.graph.absent?.has(name) !== true,
    );
  for (const { barrier: index, run } of roots.length > 0 || isExplained ? roots : silent.slice(0, 1)) {
    const barrier = model.barriers[index]!;
    const shown = run === undefined ? undefined : shownRun(graph, run, stuckText(graph, run, index));
    const found = exclusive.get(index);
    // No run fires the barrier. It may be unknown whether a run signals one of its members.
    const severity = run === undefined || run.feasible ? "error" : "warning";
    if (found !== undefined) reportExclusive(context, found, shown, run, severity);
    else {
      const missing = barrier.members.filter(({ place }) => graph.placeMarked[place] === 0);
      const failing = missing.filter(({ nodes }) => nodes.every((node) => model.nodes[node]!.alwaysFails));
      reportWith(
        context,
        run,
        neverComplete(barrierPlace(context, barrier), {
          ...targetOf(context, barrier),
          missing: missing.map((member) => memberName(graph, member.nodes)),
          failing: failing.map((member) => memberName(graph, member.nodes)),
          severity,
          run: shown,
        }),
      );
    }
  }
}

/**
 * Whether another finding explains why members never signal: their nodes never run, because no edge leads to them or
 * only another barrier that never fires does.
 */
function followsFromOthers({ model, reach }: CheckContext, graph: StateGraph, index: number): boolean {
  const missing = model.barriers[index]!.members.filter(({ place }) => graph.placeMarked[place] === 0);
  if (missing.length === 0) return false;
  const downstream = new Set<number>();
  for (const other of model.barriers) {
    if (other.index !== index && graph.barrierFires[other.index] === 0 && other.target >= 0)
      downstream.add(other.target);
  }
  const successors = successorsOf(model);
  for (const node of downstream) for (const next of successors[node]!) downstream.add(next);
  return missing.every(({ nodes }) =>
    nodes.every((node) => graph.nodeRuns[node] === 0 && (reach.possible[node] === 0 || downstream.has(node))),
  );
}

function stuckText(graph: StateGraph, run: Run, barrier: number): string {
  return describeStuck(graph, barrier, graph.states[run.states.at(-1) ?? 0]!.places);
}

function reportWith(context: CheckContext, run: Run | undefined, diagnostic: Diagnostic): void {
  if (run === undefined) context.report(diagnostic);
  else context.reportFinding(diagnostic, run);
}

function reportExclusive(
  context: CheckContext,
  found: ExclusiveMembers,
  shown: ShownRun | undefined,
  run: Run | undefined,
  severity: Severity,
): void {
  const { barrier } = found;
  const names = found.members.map((member) => memberName(context, barrier.members[member]!.nodes));
  reportWith(
    context,
    run,
    waitsForExclusiveArms(barrierPlace(context, barrier), {
      ...targetOf(context, barrier),
      members: names,
      arms: armLabels(context, found),
      run: shown,
      severity,
      fixes: eitherFix(context, barrier),
    }),
  );
}

function armLabels(context: CheckContext, found: ExclusiveMembers): Label[] {
  const spans = found.arms.map((signal) => signal?.origin.target);
  const [first, second] = spans;
  if (first === undefined || second === undefined || first === second) return [];
  return [context.label(first, "this arm"), context.label(second, "and this arm are exclusive")];
}

/** `all(a, b) -> c` becomes `any(a, b) -> c`. */
function eitherFix(context: CheckContext, barrier: ControlBarrier): Fix[] {
  const edge = edgeOf(context, barrier.origin);
  if (edge?.source.kind !== "all" || barrier.members.length !== 2) return [];
  const names = barrier.members.flatMap((member) => member.nodes).map(context.nodeName);
  const source = { word: "any", members: names.map((name) => [name]) } as const;
  return replaceSource(context.graph.file, edge.syntax, "signal it from either", source);
}

function reportLeftIncomplete(
  context: CheckContext,
  graph: StateGraph,
  defects: Defects,
  exclusive: ReadonlyMap<number, ExclusiveMembers>,
): void {
  const { model } = context;
  for (const { barrier: index, run, firesFirst } of defects.leftIncomplete) {
    const barrier = model.barriers[index]!;
    const { places } = graph.states[run.states.at(-1) ?? 0]!;
    const present = barrier.members.filter((member) => places.includes(member.place));
    const missing = barrier.members.filter((member) => !places.includes(member.place));
    const handler = errorHandlerOf(context, barrier, missing);
    const name = targetName(context.nodeName, barrier);
    context.reportFinding(
      leftIncomplete(barrierPlace(context, barrier), {
        target: name,
        present: present.map((member) => memberName(graph, member.nodes)),
        missing: missing.map((member) => memberName(graph, member.nodes)),
        firesFirst,
        severity: run.feasible ? "error" : "warning",
        undecided: !run.feasible,
        run: shownRun(graph, run, describeStuck(graph, index, places)),
        labels: [],
        help: handler?.help,
        fixes: handler?.fixes ?? [],
      }),
      run,
    );
  }
  for (const [index, found] of exclusive) {
    if (graph.barrierFires[index] === 1 && found.repeats) reportExclusiveInRound(context, found);
  }
}

/** NG306. */
function reportExclusiveInRound(context: CheckContext, found: ExclusiveMembers): void {
  const { barrier } = found;
  const names = found.members.map((member) => memberName(context, barrier.members[member]!.nodes));
  const joined = found.members.flatMap((member) => barrier.members[member]!.nodes).map(context.nodeName);
  const rest = barrier.members.filter((_, position) => !found.members.includes(position));
  const target = targetName(context.nodeName, barrier);
  const replacement =
    rest.length === 0
      ? `any(${joined.join(", ")}) -> ${target}`
      : `all(any(${joined.join(", ")}), ${rest.map((member) => memberName(context, member.nodes)).join(", ")}) -> ${target}`;
  context.report(
    exclusiveMembers(barrierPlace(context, barrier), {
      members: names,
      labels: armLabels(context, found),
      replacement,
      fixes: [],
    }),
  );
}

/** The error handler of a failed member. The barrier can wait for it instead. */
function errorHandlerOf(
  context: CheckContext,
  barrier: ControlBarrier,
  missing: readonly BarrierMember[],
): { readonly help: string; readonly fixes: readonly Fix[] } | undefined {
  for (const node of missing.flatMap((member) => member.nodes)) {
    const signals = signalsOf(context.model.nodes[node]?.errorRouting);
    const handler = signals.find(({ place, node: target }) => place === target && target !== barrier.target);
    if (handler === undefined) continue;
    const name = context.nodeName(node);
    const names = [name, context.nodeName(handler.node)] as const;
    const edge = edgeOf(context, barrier.origin);
    const isAlone = missing.some((member) => member.nodes.length === 1 && member.nodes[0] === node);
    const span = isAlone && barrier.kind === "all" ? memberSpan(context, barrier, node) : undefined;
    return {
      help: `where \`${name}\` fails, let its handler fill the place: \`any(${names.join(", ")})\``,
      fixes:
        span === undefined || edge === undefined
          ? []
          : replaceMember(context.graph.file, edge.syntax, `let \`${names[1]}\` stand in for \`${name}\``, span, names),
    };
  }
  return undefined;
}

function reportDoubleRuns(context: CheckContext, graph: StateGraph, defects: Defects): void {
  const nameOf = (source: number): string => {
    if (source === -1) return context.model.entry;
    const barrier = context.model.barriers[source - context.model.nodes.length];
    if (barrier === undefined) return context.nodeName(source);
    return `${barrier.kind === "settled" ? "settled" : "all"}(${barrier.members.map((member) => memberName(graph, member.nodes)).join(", ")})`;
  };
  /** The members of a barrier that waits for all sources; `undefined` if `start` is one of them. */
  const membersOf = (sources: readonly number[]): readonly string[] | undefined => {
    if (sources.includes(-1)) return undefined;
    const names = sources.flatMap((source) => {
      const barrier = context.model.barriers[source - context.model.nodes.length];
      if (barrier === undefined) return [context.nodeName(source)];
      return barrier.members.map((member) => memberName(graph, member.nodes));
    });
    return [...new Set(names)];
  };
  const report = (found: DoubleRun, make: typeof runsTwice, traceEnd: string): void => {
    const sources = found.sources.map(nameOf) as [string, string];
    const node = context.nodeName(found.node);
    const spans = found.sources.map((source) => signalSpan(context, source, found.node));
    const [first, second] = spans;
    const place = second ?? first;
    context.reportFinding(
      make(place === undefined ? context.nodePlace(found.node) : context.place(place), {
        node,
        sources,
        labels:
          first === undefined || second === undefined || first === second
            ? []
            : [context.label(first, "and for this one")],
        run: shownRun(graph, found.run, traceEnd),
        fixes: barrierFix(context, found, sources),
        help: joinHelp(membersOf(found.sources), node),
      }),
      found.run,
    );
  };
  for (const found of defects.doubleRuns) report(found, runsTwice, `${context.nodeName(found.node)} again`);
  for (const found of defects.accidentalJoins) report(found, accidentalJoin, `${context.nodeName(found.node)}, once`);
  const downstream = nodesAfter(
    context,
    [...defects.doubleRuns, ...defects.accidentalJoins].map(({ node }) => node),
  );
  const reported = new Set<number>();
  for (const { place, sameStep, run } of defects.lostSignals) {
    const barrier = context.model.barriers[context.model.barrierOfPlace[place]!]!;
    if (reported.has(barrier.index)) continue;
    const member = barrier.members.find((candidate) => candidate.place === place)!;
    // A node after a double run signals twice, which is a consequence of it.
    if (member.nodes.some((node) => downstream.has(node))) continue;
    reported.add(barrier.index);
    context.reportFinding(
      signalLost(barrierPlace(context, barrier), {
        target: targetName(context.nodeName, barrier),
        member: memberName(graph, member.nodes),
        sameStep,
        run: shownRun(graph, run, "a signal is lost"),
      }),
      run,
    );
  }
}

function joinHelp(members: readonly string[] | undefined, node: string): string {
  if (members === undefined) return `signal \`${node}\` once: remove one of the edges`;
  const list = members.join(", ");
  return `in place of these edges, wait for both: \`all(${list}) -> ${node}\`, or \`settled(${list}) -> ${node}\` if one of them may not run`;
}

/** Replaces `a -> c` and `b -> c`, or `any(a, b) -> c`, by `all(a, b) -> c`, if these statements have no other nodes. */
function barrierFix(context: CheckContext, found: DoubleRun, names: readonly string[]): Fix[] {
  const edges = found.sources.map((source) => plainEdge(context, source, found.node));
  const [first, second] = edges;
  if (first === undefined || second === undefined) return [];
  const isOne = first.syntax === second.syntax;
  if (isOne ? first.sources.length !== 2 : first.sources.length + second.sources.length !== 2) return [];
  const inOrder = [first.syntax, ...(isOne ? [] : [second.syntax])].toSorted((a, b) => a.span.start - b.span.start);
  const source = { word: "all", members: names.map((name) => [name]) } as const;
  return joinEdges(context.graph.file, inOrder as [Ast.EdgeDecl, ...Ast.EdgeDecl[]], "wait for both", source);
}

/** An unconditional edge statement whose only target is this node. */
function plainEdge(context: CheckContext, source: number, target: number) {
  if (source < 0 || source >= context.model.nodes.length) return undefined;
  const signal = signalsOf(context.model.nodes[source]!.routing).find(
    ({ place, node }) => place === target && node === target,
  );
  const edge = edgeOf(context, signal?.origin);
  if (edge?.source.kind !== "nodes" || edge.to.kind !== "plain" || edge.onError || edge.to.targets.length !== 1) {
    return undefined;
  }
  const { syntax, source: from } = edge;
  return syntax.chain.length === 0 && syntax.doc === undefined ? { syntax, sources: from.nodes } : undefined;
}

/** Nodes that are reachable from these nodes, including themselves. */
function nodesAfter(context: CheckContext, nodes: readonly number[]): ReadonlySet<number> {
  const seen = new Set<number>(nodes);
  for (const node of seen) {
    for (const routing of [context.model.nodes[node]?.routing, context.model.nodes[node]?.errorRouting]) {
      for (const signal of signalsOf(routing))
        if (signal.place !== undefined && signal.node >= 0) seen.add(signal.node);
    }
  }
  return seen;
}

/** The position of the signal from a node to another. A source index from the number of nodes on is a barrier. */
function signalSpan(context: CheckContext, source: number, target: number): Label["span"] | undefined {
  const { model } = context;
  const barrier = model.barriers[source - model.nodes.length];
  if (barrier !== undefined) return barrier.origin?.target;
  const routings: (Routing | undefined)[] =
    source === -1 ? [model.start] : [model.nodes[source]?.routing, model.nodes[source]?.errorRouting];
  return routings
    .flatMap((routing) => signalsOf(routing))
    .find(({ place, node }) => place === target && node === target)?.origin.target;
}

/** Reports NG311, or NG205 if a branch leads out of the loop but its condition is never true. */
function reportLivelocks(context: CheckContext, graph: StateGraph, defects: Defects): void {
  for (const { nodes, states, run } of defects.livelocks) {
    // Loops that have been reported without an exploration (NG203, NG204, NG208).
    if (nodes.some((node) => context.trapped.has(node))) continue;
    for (const node of nodes) context.trapped.add(node);
    const first = graph.states[run.states.at(-1) ?? 0]!.places[0] ?? nodes[0] ?? 0;
    const exit = deadExit(context, graph, states, nodes);
    const severity = run.feasible ? "error" : "warning";
    const shown = shownRun(graph, onceAround(graph, run), "and so on, without end");
    if (exit === undefined) {
      const facts = { nodes: nodes.map(context.nodeName), severity, run: shown } as const;
      context.reportFinding(livelock(context.nodePlace(first), facts), run);
      continue;
    }
    const { node, branch } = exit;
    if (branch.span !== undefined) context.reportedConditions.add(branch.span);
    const inside = new Set(nodes);
    const successors = successorsOf(context.model);
    const cycle = shortestCycle(
      node,
      (at) => successors[at]!,
      (at) => inside.has(at),
    );
    context.reportFinding(
      exitNeverHolds(branch.span === undefined ? context.nodePlace(node) : context.place(branch.span), {
        condition: `\`${branch.label}\``,
        node: context.nodeName(node),
        cycle: (cycle.length > 0 ? cycle : nodes).map(context.nodeName),
        severity,
        run: shown,
      }),
      run,
    );
  }
}

/** Extends a run until it reaches a state for the second time. */
function onceAround(graph: StateGraph, run: Run): Run {
  const states = [...run.states];
  const seen = new Set(states);
  if (seen.size < states.length) return run;
  for (let at = graph.successors[states.at(-1) ?? 0]?.[0]; at !== undefined; at = graph.successors[at]?.[0]) {
    states.push(at);
    if (seen.has(at)) break;
    seen.add(at);
  }
  return { ...run, states };
}

/** A branch out of these nodes that no step from these states takes. */
function deadExit(
  context: CheckContext,
  graph: StateGraph,
  states: readonly number[],
  nodes: readonly number[],
): { node: number; branch: Branch } | undefined {
  const inside = new Set(nodes);
  const taken = new Set<Branch>();
  for (const id of states.slice(0, MAX_STATES_OF_LOOP)) {
    for (const { outcomes } of graph.steps(id)) {
      for (const outcome of outcomes) for (const branch of outcome.branches) taken.add(branch);
    }
  }
  for (const node of nodes) {
    for (const branch of choicesOf(context.model.nodes[node]!.routing)) {
      if (taken.has(branch) || branch.signals.length === 0) continue;
      if (branch.signals.every((signal) => !inside.has(signal.node))) return { node, branch };
    }
  }
  return undefined;
}

/** Limit of the states of one loop whose steps are searched. */
const MAX_STATES_OF_LOOP = 1000;
