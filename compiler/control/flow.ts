/**
 * Data flow at each node and edge: channels that may be unwritten, and facts that follow from the conditions before it.
 */
import {
  bothFacts,
  factsOf,
  hasItemsFact,
  matchFacts,
  meetFacts,
  NO_FACTS,
  type Facts,
  type Scalar,
} from "../expressions/facts.ts";
import { positionsByName } from "../algorithms/positions-by-name.ts";
import type * as Ast from "../../grammar/ast.ts";
import { collectNames } from "../bind/collect-names.ts";
import { conditionsOf, sourcesOf } from "../bind/edge-parts.ts";
import type { ChannelEntry, NodeEntry } from "../bind/graph-context.ts";
import { FINALLY, START } from "../bind/bound-graph.ts";
import type { ResolvedEdge } from "../bind/resolve-edges.ts";
import { type ControlGraph, controlGraphOf, type FactsOf } from "./control-graph.ts";
import { type ControlNet, ELSE_ARM } from "./net.ts";
import { findUnwritten, type Site, type Unwritten, unwrittenChannels } from "./unwritten.ts";

/** Earlier conditions of a statement that add facts to an arm. More of them are ignored, which loses facts only. */
const MAX_EARLIER = 32;
/** Arrivals of a node whose facts are intersected; a node with more has no facts. */
const MAX_ARRIVALS = 16;

export interface Flow {
  /** The state when a node starts. */
  readonly atNode: (node: number) => SiteFlow;
  /** The state when the conditions of an edge are evaluated. */
  readonly atEdge: (edge: ResolvedEdge) => SiteFlow;
  /** Nothing is known. */
  readonly anywhere: SiteFlow;
}

export interface SiteFlow {
  /** By channel index. */
  readonly unwritten: ReadonlyMap<number, Unwritten>;
  readonly facts: Facts;
  /** Whether `error` is readable here: after all arrivals, after some, or after none. */
  readonly error: "always" | "sometimes" | "never";
  /** Whether `outcome` is readable here: only `finally` leads here, or other paths do, too, or none. */
  readonly outcome: "always" | "sometimes" | "never";
}

export interface FlowInput {
  readonly channels: readonly ChannelEntry[];
  readonly nodes: readonly NodeEntry[];
  readonly edges: readonly ResolvedEdge[];
  readonly net: ControlNet;
  /** By node: channels that it writes. */
  readonly writes: readonly (readonly string[])[];
  /** By node: channels that it may write. For example, a `for` over an empty list writes no number. */
  readonly mayWrite: readonly (readonly string[])[];
  /** By node: channels to whose list it adds an item whenever it succeeds. No node removes items of these channels. */
  readonly fills: readonly (readonly string[])[];
  /** Assertions, whose conditions are evaluated when their node starts. */
  readonly assertions: readonly Ast.AssertDecl[];
  /** Edges are missing because of errors. The analysis then returns no facts. */
  readonly isPartial: boolean;
}

const NO_CHANNELS: readonly number[] = [];

const NOTHING: SiteFlow = { unwritten: new Map(), facts: NO_FACTS, error: "sometimes", outcome: "always" };

export function analyseFlow(input: FlowInput): Flow {
  if (input.isPartial) return { atNode: () => NOTHING, atEdge: () => NOTHING, anywhere: NOTHING };
  const graph = controlGraphOf(input.net, branchFacts(input.edges));
  const starts = input.channels.filter((channel) => channel.startsNull);
  const indexes = positionsByName(input.nodes);
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
  const itemsAt = filledLists(graph, input.fills);
  const outcomeAt = readableOutcome(graph);
  const reads: { site: Site; channels: readonly number[] }[] = [];
  const nodeItems: Facts[] = [];
  const asserted = new Map<string, Ast.Expr[]>();
  for (const { node, condition } of input.assertions) {
    if (condition !== undefined) asserted.set(node.name, [...(asserted.get(node.name) ?? []), condition]);
  }
  // Without such channels and lists, nothing depends on what a node reads.
  const hasNothingToFind = local.size === 0 && input.fills.every(({ length }) => length === 0);
  const nodeReads = (hasNothingToFind ? [] : input.nodes).map(({ declaration, name, index }) => {
    const names = new Set<string>();
    for (const condition of asserted.get(name) ?? []) collectNames(condition, names);
    collectNames(declaration.call, names);
    if (declaration.each !== undefined) {
      collectNames(declaration.each.list, names);
      if (declaration.each.condition !== undefined) collectNames(declaration.each.condition, names);
    }
    const site: Site = { vertex: index, when: "before" };
    nodeItems[index] = itemsAt([site], names);
    return addRead(site, names);
  });
  const edgeReads = new Map<ResolvedEdge, number[]>();
  const edgeItems = new Map<ResolvedEdge, Facts>();
  for (const edge of input.edges) {
    const conditions = conditionsOf(edge);
    if (conditions.length === 0) continue;
    const names = new Set<string>();
    for (const condition of conditions) collectNames(condition, names);
    if (names.size === 0) continue;
    const when = edge.onError ? "failed" : "after";
    const sites = sourcesOf(edge).map(({ name }): Site => ({ vertex: vertexOf(name), when }));
    edgeItems.set(edge, itemsAt(sites, names));
    edgeReads.set(
      edge,
      sites.map((site) => addRead(site, names)),
    );
  }
  const unwritten = findUnwritten(
    graph,
    starts.map((channel, index) => ({
      name: channel.name,
      writers: writers[index] ?? [],
      mayWrite: mayWrite[index] ?? [],
    })),
    // Taken out of the list, which the functions below keep alive.
    reads.splice(0),
  ).map((found) =>
    found.size === 0 ? found : new Map([...found].map(([channel, when]) => [starts[channel]?.index ?? -1, when])),
  );

  return {
    anywhere: NOTHING,
    atNode: (node) => {
      const { facts, error } = arrivalFacts(graph, node);
      return {
        unwritten: unwritten[nodeReads[node] ?? -1] ?? NOTHING.unwritten,
        facts: bothFacts(facts, nodeItems[node] ?? NO_FACTS),
        error,
        outcome: outcomeAt([node]),
      };
    },
    atEdge: (edge) => ({
      unwritten: meetUnwritten((edgeReads.get(edge) ?? []).map((read) => unwritten[read] ?? new Map())),
      facts: edgeItems.get(edge) ?? NO_FACTS,
      error: edge.onError ? "always" : "sometimes",
      outcome: outcomeAt(sourcesOf(edge).map(({ name }) => vertexOf(name))),
    }),
  };

  function vertexOf(name: string): number {
    if (name === FINALLY && graph.finally !== -1) return graph.finally;
    return name === START ? graph.start : (indexes.get(name) ?? graph.start);
  }

  function addRead(site: Site, names: ReadonlySet<string>): number {
    const channels = [...names].flatMap((name) => local.get(name) ?? []);
    return reads.push({ site, channels: channels.length === 0 ? NO_CHANNELS : channels }) - 1;
  }
}

/** Which of `finally` and the rest of the graph reach each vertex. */
function readableOutcome(graph: ControlGraph): (vertices: readonly number[]) => SiteFlow["outcome"] {
  if (graph.finally === -1) return () => "never";
  const reachFrom = (first: number, without: number): Uint8Array => {
    const reached = new Uint8Array(graph.size);
    const pending = [first];
    reached[first] = 1;
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      for (const next of graph.successors[at] ?? []) {
        if (next === without || reached[next] === 1) continue;
        reached[next] = 1;
        pending.push(next);
      }
    }
    return reached;
  };
  const byFinally = reachFrom(graph.finally, -1);
  const byStart = reachFrom(graph.start, graph.finally);
  return (vertices) => {
    if (vertices.every((vertex) => byFinally[vertex] === 0)) return "never";
    return vertices.every((vertex) => byFinally[vertex] === 1 && byStart[vertex] === 0) ? "always" : "sometimes";
  };
}

/**
 * The lists among `names` that have items at all of these sites: every path from `start` passes a node that adds one.
 * It is the analysis of unwritten channels, applied to "has no item".
 */
function filledLists(
  graph: ControlGraph,
  fills: FlowInput["fills"],
): (sites: readonly Site[], names: ReadonlySet<string>) => Facts {
  const writers = new Map<string, number[]>();
  for (const [node, names] of fills.entries()) {
    for (const name of names) {
      const known = writers.get(name);
      if (known === undefined) writers.set(name, [node]);
      else known.push(node);
    }
  }
  if (writers.size === 0) return () => NO_FACTS;
  const lists = [...writers.keys()];
  // A fact that the channel is not null does not fill its list, so these names are no paths.
  const mayBeEmpty = unwrittenChannels(
    graph,
    lists.map((name) => ({ name: `items of ${name}`, writers: writers.get(name) ?? [] })),
  );
  return (sites, names) => {
    let facts = NO_FACTS;
    for (const [index, name] of lists.entries()) {
      if (!names.has(name) || sites.some((site) => mayBeEmpty(site, index))) continue;
      facts = bothFacts(facts, hasItemsFact(name));
    }
    return facts;
  };
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
  if (vertex <= graph.start || vertex === graph.finally) return false;
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

/** Facts of branches by the syntax of their conditions. */
function branchFacts(edges: readonly ResolvedEdge[]): FactsOf {
  const known = new Map<number, readonly Facts[]>();
  return ({ edge: position, arm }, routing) => {
    const { to } = edges[position]!;
    if (to.kind === "plain") return NO_FACTS;
    if (to.kind === "when") return factsOf(to.condition, true);
    if (to.kind === "otherwise") {
      // All conditional edges of the node are false.
      let facts = NO_FACTS;
      const group = routing?.groups.find(({ kind }) => kind === "several");
      for (const branch of group?.kind === "several" ? group.branches.slice(0, MAX_EARLIER) : []) {
        const other = edges[branch.edge]!.to;
        if (other.kind === "when") facts = bothFacts(facts, factsOf(other.condition, false));
      }
      return facts;
    }
    const facts = known.get(position) ?? factsOfArms(to);
    known.set(position, facts);
    return facts.at(arm === ELSE_ARM ? -1 : arm) ?? NO_FACTS;
  };
}

/** By arm; `else` is the last. */
function factsOfArms(to: Extract<ResolvedEdge["to"], { readonly kind: "match" | "cases" }>): readonly Facts[] {
  if (to.kind === "match") {
    const listed: Scalar[] = [];
    const facts = to.arms.map(({ patterns }) => {
      const values = patterns.map(({ value }) => value);
      if (listed.length < MAX_EARLIER * 8) for (const value of values) listed.push(value);
      return matchFacts(to.subject, values, true);
    });
    return [...facts, matchFacts(to.subject, listed, false)];
  }
  let earlier = NO_FACTS;
  const facts = to.arms.map(({ condition }, index) => {
    const own = bothFacts(earlier, factsOf(condition, true));
    if (index < MAX_EARLIER) earlier = bothFacts(earlier, factsOf(condition, false));
    return own;
  });
  return [...facts, earlier];
}
