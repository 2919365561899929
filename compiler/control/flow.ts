/**
 * Data flow at each node and edge: channels that may be unwritten, and facts that follow from the conditions before it.
 */
import type * as Ast from "../../grammar/ast.ts";
import { bothFacts, factsOf, matchFacts, meetFacts, NO_FACTS, type Facts, type Scalar } from "../expressions/facts.ts";
import { collectNames } from "../bind/collect-names.ts";
import { ControlGraphBuilder, type ControlGraph, type Exit } from "./control-graph.ts";
import type { ChannelEntry, NodeEntry } from "../bind/graph-context.ts";
import { END_INDEX, START_INDEX, targetsOf, type Reference, type ResolvedEdge } from "../bind/resolve-edges.ts";
import { findUnwritten, type Site, type Unwritten } from "./unwritten.ts";

/** Earlier conditions of a statement that add facts to an arm. More of them are ignored, which loses facts only. */
const MAX_EARLIER = 32;
/** Arrivals of a node whose facts are intersected; a node with more has no facts. */
const MAX_ARRIVALS = 16;
/** Sources of one edge after which its condition is analysed. */
const MAX_SOURCES = 64;

export interface Flow {
  /** The state when a node starts. */
  readonly atNode: (node: number) => SiteFlow;
  /** The state when the conditions of an edge are evaluated. */
  readonly atEdge: (edge: ResolvedEdge) => SiteFlow;
}

export interface SiteFlow {
  /** By channel index. */
  readonly unwritten: ReadonlyMap<number, Unwritten>;
  readonly facts: Facts;
  /** Whether `error` is readable here: after all arrivals, after some, or after none. */
  readonly error: "always" | "sometimes" | "never";
}

export interface FlowInput {
  readonly channels: readonly ChannelEntry[];
  readonly nodes: readonly NodeEntry[];
  readonly edges: readonly ResolvedEdge[];
  /** By node: nodes that `waits` names, and those that `goes` does. */
  readonly waits: ReadonlyMap<number, readonly number[]>;
  readonly goes: ReadonlyMap<number, readonly number[]>;
  /** By node: channels that it writes. */
  readonly writes: readonly (readonly string[])[];
  /** By node: channels that it may write. For example, a `for` over an empty list writes no number. */
  readonly mayWrite: readonly (readonly string[])[];
  /** Edges are missing because of errors. The analysis then returns no facts. */
  readonly isPartial: boolean;
}

const NOTHING: SiteFlow = { unwritten: new Map(), facts: NO_FACTS, error: "sometimes" };

export function analyseFlow(input: FlowInput): Flow {
  if (input.isPartial) return { atNode: () => NOTHING, atEdge: () => NOTHING };
  const graph = buildControlGraph(input);
  const starts = input.channels.filter((channel) => channel.startsNull);
  const local = new Map(starts.map((channel, index) => [channel.name, index]));
  const writersOf = (writes: FlowInput["writes"]): number[][] => {
    const writers: number[][] = starts.map(() => []);
    for (const [node, written] of writes.entries()) {
      for (const name of written) writers[local.get(name) ?? -1]?.push(node);
    }
    return writers;
  };
  const writers = writersOf(input.writes);
  const mayWrite = writersOf(input.mayWrite);
  const reads: { site: Site; channels: Set<number> }[] = [];
  const nodeReads = input.nodes.map(({ declaration, index }) => {
    const names = new Set<string>();
    collectNames(declaration.call, names);
    if (declaration.each !== undefined) collectNames(declaration.each.list, names);
    return addRead({ vertex: index, when: "before" }, names);
  });
  const edgeReads = new Map<ResolvedEdge, number[]>();
  for (const edge of input.edges) {
    const names = new Set<string>();
    for (const condition of conditionsOf(edge)) collectNames(condition, names);
    if (names.size === 0) continue;
    const sources = sourcesOf(edge).slice(0, MAX_SOURCES);
    edgeReads.set(
      edge,
      sources.map(({ index }) =>
        addRead({ vertex: vertexOf(index, graph), when: edge.onError ? "failed" : "after" }, names),
      ),
    );
  }
  const unwritten = findUnwritten(
    graph,
    starts.map((channel, index) => ({
      name: channel.name,
      writers: writers[index] ?? [],
      mayWrite: mayWrite[index] ?? [],
    })),
    reads,
  ).map((found) => new Map([...found].map(([channel, when]) => [starts[channel]?.index ?? -1, when])));

  return {
    atNode: (node) => ({ unwritten: unwritten[nodeReads[node] ?? -1] ?? new Map(), ...arrivalFacts(graph, node) }),
    atEdge: (edge) => ({
      unwritten: meetUnwritten((edgeReads.get(edge) ?? []).map((read) => unwritten[read] ?? new Map())),
      facts: NO_FACTS,
      error: edge.onError ? "always" : "sometimes",
    }),
  };

  function addRead(site: Site, names: ReadonlySet<string>): number {
    const channels = new Set<number>();
    for (const name of names) {
      const channel = local.get(name);
      if (channel !== undefined) channels.add(channel);
    }
    return reads.push({ site, channels }) - 1;
  }
}

/**
 * The facts that hold after every arrival of a node. A barrier or a jump has no facts, because nodes can write between
 * the evaluation of a condition and the start of the target.
 */
function arrivalFacts(graph: ControlGraph, node: number): { facts: Facts; error: SiteFlow["error"] } {
  const arrivals = graph.arrivals[node] ?? [];
  const factsOfArrivals: Facts[] = [];
  let failed = 0;
  for (const arrival of arrivals) {
    if (arrival.kind === "barrier" || arrival.exit === "jump") continue;
    if (arrival.exit === "error" || isFailedJoint(graph, arrival.from)) failed++;
    factsOfArrivals.push(arrival.facts ?? NO_FACTS);
  }
  const error = failed === 0 ? "never" : failed === arrivals.length ? "always" : "sometimes";
  const isKnown = factsOfArrivals.length === arrivals.length && arrivals.length <= MAX_ARRIVALS;
  return { facts: isKnown ? meetFacts(factsOfArrivals) : NO_FACTS, error };
}

/** A joint represents the sources of one statement, which all have the same exit: the first one decides. */
function isFailedJoint(graph: ControlGraph, vertex: number): boolean {
  if (vertex <= graph.start) return false;
  const [first] = graph.arrivals[vertex] ?? [];
  return first?.kind === "signal" && first.exit === "error";
}

function meetUnwritten(sites: readonly ReadonlyMap<number, Unwritten>[]): ReadonlyMap<number, Unwritten> {
  const [first, ...others] = sites;
  if (first === undefined || others.length === 0) return first ?? new Map();
  const result = new Map<number, Unwritten>();
  for (const site of sites) {
    for (const [channel, when] of site) {
      const isAlways = when === "always" && sites.every((other) => other.get(channel) === "always");
      result.set(channel, isAlways ? "always" : "sometimes");
    }
  }
  return result;
}

function buildControlGraph(input: FlowInput): ControlGraph {
  const builder = new ControlGraphBuilder(input.nodes.length);
  const gated = new Map(
    [...input.waits].map(([node, members]) => [node, new Map<number, Exit>(members.map((m) => [m, "done"]))]),
  );
  const whens = collectWhens(input.edges);
  const signal = (sources: readonly number[], targets: readonly Reference[], exit: Exit, facts: Facts): void => {
    const open: number[] = [];
    for (const { index } of targets) {
      if (index === END_INDEX) continue;
      const gate = gated.get(index);
      if (gate === undefined) open.push(index);
      else if (exit === "error") for (const source of sources) if (gate.has(source)) gate.set(source, "error");
    }
    builder.signal(sources, open, exit, facts);
  };
  for (const edge of input.edges) {
    const exit: Exit = edge.onError ? "error" : "done";
    if (edge.source.kind === "all") {
      const members = edge.source.members.map((group) => group.map(({ index }) => ({ from: index, exit })));
      for (const { index } of targetsOf(edge.to)) {
        if (index !== END_INDEX && !gated.has(index)) builder.arrive(index, { kind: "barrier", members });
      }
      continue;
    }
    const sources = edge.source.nodes.map(({ index }) => (index === START_INDEX ? builder.start : index));
    for (const { targets, facts } of branchesOf(edge, whens)) signal(sources, targets, exit, facts);
  }
  for (const [node, members] of gated) {
    builder.arrive(node, { kind: "barrier", members: [...members].map(([from, exit]) => [{ from, exit }]) });
  }
  for (const [node, targets] of input.goes) {
    for (const target of targets) {
      if (target !== END_INDEX) builder.arrive(target, { kind: "signal", from: node, exit: "jump" });
    }
  }
  return builder.build();
}

/** The branches of an edge, each with the facts that its condition implies. */
function branchesOf(
  edge: ResolvedEdge,
  whens: ReadonlyMap<string, readonly Ast.Expr[]>,
): readonly { readonly targets: readonly Reference[]; readonly facts: Facts }[] {
  const { to } = edge;
  switch (to.kind) {
    case "plain":
      return [{ targets: to.targets, facts: NO_FACTS }];
    case "when":
      return [{ targets: to.targets, facts: factsOf(to.condition, true) }];
    case "otherwise": {
      let facts = NO_FACTS;
      for (const condition of whens.get(keyOfSource(edge) ?? "") ?? [])
        facts = bothFacts(facts, factsOf(condition, false));
      return [{ targets: to.targets, facts }];
    }
    case "match": {
      const listed: Scalar[] = [];
      for (const arm of to.arms)
        if (listed.length < MAX_EARLIER * 8)
          for (const each of arm.patterns.map(({ value }) => value)) listed.push(each);
      return to.arms.map((arm) => ({
        targets: arm.targets,
        facts:
          arm.patterns.length === 0
            ? matchFacts(to.subject, listed, false)
            : matchFacts(
                to.subject,
                arm.patterns.map(({ value }) => value),
                true,
              ),
      }));
    }
    case "cases": {
      let earlier = NO_FACTS;
      return to.arms.map((arm, index) => {
        const facts = arm.condition === undefined ? earlier : bothFacts(earlier, factsOf(arm.condition, true));
        if (arm.condition !== undefined && index < MAX_EARLIER)
          earlier = bothFacts(earlier, factsOf(arm.condition, false));
        return { targets: arm.targets, facts };
      });
    }
  }
}

/** The `when` conditions of each source and exit. All of them are false where `otherwise` is taken. */
function collectWhens(edges: readonly ResolvedEdge[]): ReadonlyMap<string, readonly Ast.Expr[]> {
  const whens = new Map<string, Ast.Expr[]>();
  for (const edge of edges) {
    const key = keyOfSource(edge);
    if (key === undefined || edge.to.kind !== "when") continue;
    const known = whens.get(key);
    if (known === undefined) whens.set(key, [edge.to.condition]);
    else if (known.length < MAX_EARLIER) known.push(edge.to.condition);
  }
  return whens;
}

function keyOfSource(edge: ResolvedEdge): string | undefined {
  const only = edge.source.kind === "nodes" && edge.source.nodes.length === 1 ? edge.source.nodes[0] : undefined;
  return only === undefined ? undefined : `${only.index} ${edge.onError}`;
}

function sourcesOf(edge: ResolvedEdge): readonly Reference[] {
  return edge.source.kind === "nodes" ? edge.source.nodes : edge.source.members.flat();
}

function conditionsOf(edge: ResolvedEdge): readonly Ast.Expr[] {
  const { to } = edge;
  switch (to.kind) {
    case "when":
      return [to.condition];
    case "match":
      return [to.subject];
    case "cases":
      return to.arms.flatMap((arm) => arm.condition ?? []);
    default:
      return [];
  }
}

function vertexOf(index: number, graph: ControlGraph): number {
  return index === START_INDEX ? graph.start : index;
}
