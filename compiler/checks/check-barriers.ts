import {
  degenerateBarrier,
  settledOnTarget,
  signalIgnored,
  waitsForItself,
  waitsWithoutEdge,
} from "../../diagnostics/catalog/barriers.ts";
import type { Fix } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { BoundEdge, BoundReference } from "../bind/bound-graph.ts";
import { findComponents } from "../algorithms/components.ts";
import { type ControlBarrier, END_TARGET } from "../control/net.ts";
import { signalsOf, successorsOf } from "../control/signals.ts";
import { targetsOf } from "../bind/edge-parts.ts";
import { type CheckContext, targetOf } from "./check-context.ts";
import { memberSpan } from "./check-reachability.ts";
import { removeMember, replaceSource } from "./route-fixes.ts";

/**
 * Reports NG305, NG315, and the NG301 that need no exploration: a barrier that waits for itself or for a node without
 * an edge.
 */
export function checkBarriers(context: CheckContext): void {
  reportDegenerate(context);
  if (!context.isComplete || signalsOf(context.model.start).length === 0) return;
  reportIgnoredSignals(context);
  const silent = reportMissingEdges(context);
  reportWaitsForItself(context, silent);
}

/** NG305. */
function reportDegenerate(context: CheckContext): void {
  for (const edge of context.graph.edges)
    if (edge.source.kind !== "nodes") reportDegenerateEdge(context, edge, edge.source);
  for (const node of context.graph.nodes) {
    for (const policy of node.declaration.policies) {
      if (policy.kind !== "Waits") continue;
      const seen = new Set<string>();
      for (const reference of policy.nodes) {
        if (seen.has(reference.name)) reportRepeated(context, reference, []);
        seen.add(reference.name);
      }
      const [only] = policy.nodes;
      if (policy.nodes.length === 1 && only !== undefined) {
        const help = `leave \`waits ${only.name}\` out: the edges of \`${only.name}\` lead here anyway`;
        context.report(
          degenerateBarrier(context.place(policy.span), { what: "one", member: only.name, help, fixes: [] }),
        );
      }
    }
  }
}

function reportDegenerateEdge(
  context: CheckContext,
  edge: BoundEdge,
  source: Exclude<BoundEdge["source"], { kind: "nodes" }>,
): void {
  const { file } = context.graph;
  const [only] = source.members;
  if (source.members.length === 1 && only !== undefined && edge.syntax.source.kind !== "NodeList") {
    const inner = edge.syntax.source.members.length === 1 ? edge.syntax.source.members[0] : undefined;
    const names = only.map((reference) => reference.name).join(", ");
    const written = inner === undefined ? names : file.text.slice(inner.span.start, inner.span.end);
    // No fix for `all(any(a, b)) -> c`: its barrier stores signals, so it differs from `any(a, b) -> c`. The author of
    // `settled(any(a, b)) -> c` probably means `settled(a, b)`, which is another graph, too.
    const fixes =
      only.length === 1
        ? replaceSource(file, edge.syntax, "remove the barrier", { word: "from", members: [[names]] })
        : [];
    context.report(
      degenerateBarrier(context.place(source.span), {
        what: "one",
        member: written,
        help:
          source.kind === "settled" && only.length > 1
            ? `to wait until each of them has signalled or cannot signal: \`settled(${names}) -> …\``
            : `write \`${names} -> …\``,
        fixes,
      }),
    );
    return;
  }
  const targets = new Set(source.kind === "settled" ? targetsOf(edge).map(({ name }) => name) : []);
  for (const reference of source.members.flat()) {
    if (!targets.has(reference.name)) continue;
    const fixes = removeMember(file, edge.syntax, "remove the member", reference.span);
    context.report(settledOnTarget(context.place(reference.span), { member: reference.name, fixes }));
  }
  const seen = new Set<string>();
  for (const reference of source.members.flat()) {
    if (seen.has(reference.name)) {
      reportRepeated(context, reference, removeMember(file, edge.syntax, "remove the repetition", reference.span));
    }
    seen.add(reference.name);
  }
}

function reportRepeated(
  context: CheckContext,
  reference: Pick<BoundReference, "name" | "span">,
  fixes: readonly Fix[],
): void {
  const help = `name \`${reference.name}\` once`;
  context.report(
    degenerateBarrier(context.place(reference.span), { what: "repeated", member: reference.name, help, fixes }),
  );
}

/** NG315. */
function reportIgnoredSignals(context: CheckContext): void {
  const { model, graph } = context;
  const seen = new Set<Span>();
  const visit = (source: string, signals: ReturnType<typeof signalsOf>): void => {
    for (const { place, node, origin } of signals) {
      const target = origin?.target;
      if (place !== undefined || node === END_TARGET || target === undefined || seen.has(target)) continue;
      seen.add(target);
      const policy = graph.nodes[node]?.declaration.policies.find((candidate) => candidate.kind === "Waits");
      context.report(
        signalIgnored(context.place(target), {
          source,
          target: context.nodeName(node),
          waits: graph.nodes[node]?.waits ?? [],
          declaration: { ...context.place(policy?.span ?? target), message: "only these signals count" },
        }),
      );
    }
  };
  visit(model.entry, signalsOf(model.start));
  for (const node of model.nodes) {
    visit(node.name, signalsOf(node.routing));
    visit(node.name, signalsOf(node.errorRouting));
  }
}

/** Reports NG301 for `waits b` without an edge from b. Returns the reported barriers. */
function reportMissingEdges(context: CheckContext): ReadonlySet<number> {
  const { model } = context;
  const silent = new Set<number>();
  if (!model.barriers.some(({ kind }) => kind === "waits")) return silent;
  const signalled = new Set<number>();
  for (const node of model.nodes) {
    for (const routing of [node.routing, node.errorRouting]) {
      for (const { place } of signalsOf(routing)) if (place !== undefined) signalled.add(place);
    }
    for (const jump of node.jumps ?? []) {
      for (const member of model.barriers[model.nodes[jump]?.waits ?? -1]?.members ?? []) {
        if (member.nodes.includes(node.index)) signalled.add(member.place);
      }
    }
  }
  for (const { passesOn = [] } of model.barriers)
    for (const { places } of passesOn) for (const place of places) signalled.add(place);
  for (const barrier of model.barriers) {
    if (barrier.kind !== "waits" || !barrier.members.some(({ place }) => context.reach.placeFilled[place] === 1))
      continue;
    for (const { place, nodes } of barrier.members) {
      const [node] = nodes;
      if (signalled.has(place) || node === undefined) continue;
      silent.add(barrier.index);
      context.explained.add(barrier.index);
      const span = memberSpan(context, barrier, node);
      context.report(
        waitsWithoutEdge(span === undefined ? context.nodePlace(barrier.target) : context.place(span), {
          ...targetOf(context, barrier),
          member: context.nodeName(node),
        }),
      );
    }
  }
  return silent;
}

/**
 * Reports NG301 for barriers that cannot open although each member is reachable. The graph of blocked nodes and
 * barriers is reduced to its strongly connected components (Tarjan). Only components without a blocked predecessor are
 * reported, because the others are consequences of them.
 */
function reportWaitsForItself(context: CheckContext, silent: ReadonlySet<number>): void {
  const { model, reach } = context;
  const count = model.nodes.length;
  const isBlocked = (barrier: ControlBarrier): boolean => reach.barrierOpens[barrier.index] === 0;
  if (!model.barriers.some(isBlocked)) return;
  const successors = successorsOf(model);
  const waitingFor: number[][] = model.nodes.map(() => []);
  for (const barrier of model.barriers) {
    if (!isBlocked(barrier)) continue;
    for (const { place, nodes } of barrier.members) {
      if (reach.placeFilled[place] === 0) for (const node of nodes) waitingFor[node]?.push(count + barrier.index);
    }
  }
  // Vertices: nodes that never run, then blocked barriers.
  const inside = (vertex: number): readonly number[] => {
    const barrier = model.barriers[vertex - count];
    if (barrier !== undefined)
      return isBlocked(barrier) && barrier.target !== END_TARGET && reach.actual[barrier.target] === 0
        ? [barrier.target]
        : [];
    if (reach.actual[vertex] === 1) return [];
    const direct = (successors[vertex] ?? []).filter((target) => reach.actual[target] === 0);
    return [...direct, ...(waitingFor[vertex] ?? [])];
  };
  const { componentOf, members } = findComponents(count + model.barriers.length, inside);
  const entered = new Uint8Array(members.length);
  for (let vertex = 0; vertex < count + model.barriers.length; vertex++) {
    for (const target of inside(vertex)) {
      if (componentOf[target] !== componentOf[vertex]) entered[componentOf[target]!] = 1;
    }
  }
  members.forEach((group, component) => {
    if (entered[component] === 1) return;
    const barriers = group.filter((vertex) => vertex >= count).map((vertex) => model.barriers[vertex - count]!);
    const barrier = barriers.toSorted((a, b) => a.index - b.index)[0];
    if (barrier === undefined || !isBlocked(barrier) || silent.has(barrier.index)) return;
    const inGroup = new Set(group);
    const member = barrier.members
      .filter(({ place }) => reach.placeFilled[place] === 0)
      .flatMap(({ nodes }) => nodes)
      .find((node) => inGroup.has(node));
    if (member === undefined) return;
    for (const { index } of barriers) context.explained.add(index);
    const span = memberSpan(context, barrier, member);
    const others = group.filter((vertex) => vertex < count && vertex !== member && vertex !== barrier.target);
    context.report(
      waitsForItself(span === undefined ? context.nodePlace(barrier.target) : context.place(span), {
        ...targetOf(context, barrier),
        member: context.nodeName(member),
        others: others.map(context.nodeName),
      }),
    );
  });
}
