import { parallelismText, worstCaseCallsText } from "../../diagnostics/catalog/proofs.ts";
import type { BoundGraph, BoundNode } from "../bind/bound-graph.ts";
import { type Bounds, findStretches } from "../explore/bounds.ts";
import type { StateGraph } from "../explore/state-graph.ts";
import type { CheckContext } from "./check-context.ts";

/** The number of external calls in one run, by kind: "model call", "request", … */
export type Calls = ReadonlyMap<string, number>;

/** The results of a checked graph that its callers need. */
export interface GraphSummary {
  readonly isSound: boolean;
  /** External calls of one run in the worst case; `undefined` without a bound. */
  readonly calls: Calls | undefined;
  /** Some run is known to complete. */
  readonly completes: boolean;
}

/** Records NG609, and NG605 if runs are bounded. Returns the calls in the worst case. */
export function proveWorstCase(
  context: CheckContext,
  graph: StateGraph,
  bounds: Bounds,
  summaryOf: (graph: BoundGraph) => GraphSummary | undefined,
): Calls | undefined {
  const { nodes } = context.graph;
  const perItem = nodes.some((node) => node.each !== undefined);
  const [split] = graph.outcomes.split;
  if (split !== undefined) {
    const why = `the branches of the jumps of \`${context.nodeName(split)}\` are explored separately`;
    context.open.push({ property: "largest parallelism", why, isMinor: true });
    return undefined;
  }
  proveParallelism(context, graph, perItem);
  if (bounds.endless.length > 0) return undefined;
  const { model } = context;
  // The number of sent tasks is unknown.
  const isSent = model.nodes.some((node) => node.isSent && graph.nodeRuns[node.index] === 1);
  const perNode = model.nodes.map(({ index, isSent }) => {
    const calls = callsOf(context.node(index), summaryOf);
    return isSent && graph.nodeRuns[index] === 1 && calls?.size !== 0 ? undefined : calls;
  });
  if (perNode.includes(undefined)) return undefined;
  const kinds = new Set(perNode.flatMap((calls) => [...(calls?.keys() ?? [])]));
  const total = new Map<string, number>();
  const stretches = findStretches(graph, bounds.perAnswer);
  for (const kind of [...kinds].sort()) {
    const weights = Float64Array.from(graph.states, ({ places, ready }) => {
      let sum = 0;
      for (let index = 0; index < ready; index++) sum += perNode[places[index]!]?.get(kind) ?? 0;
      return sum;
    });
    const count = stretches.heaviest(weights);
    if (count > 0) total.set(kind, count);
  }
  if (total.size > 0) {
    const calls = [...total].map(([what, count]) => ({ what, count }));
    const isPerItem = nodes.some((node, index) => node.each !== undefined && (perNode[index]?.size ?? 0) > 0);
    context.prove("NG605", worstCaseCallsText({ calls, perAnswer: bounds.perAnswer, perItem: isPerItem }));
  }
  return bounds.perAnswer || perItem || isSent ? undefined : total;
}

function proveParallelism(context: CheckContext, graph: StateGraph, perItem: boolean): void {
  const { nodes } = context.model;
  let most: readonly number[] = [];
  for (const { places, ready } of graph.states) {
    if (ready <= most.length) continue;
    // A node and the tasks sent to it count once.
    const running = places.slice(0, ready).filter((place, _, all) => {
      const { isSent, declared } = nodes[place]!;
      return !isSent || !all.includes(declared);
    });
    if (running.length > most.length) most = running;
  }
  const perTask = most.some((node) => context.model.nodes[node]!.isSent);
  const isSent = context.model.nodes.some((node) => node.isSent && graph.nodeRuns[node.index] === 1);
  const names = [...new Set(most.map(context.nodeName))];
  if (most.length > 0) context.prove("NG609", parallelismText({ nodes: names, perItem, perTask: perTask || isSent }));
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ["llm", "model call"],
  ["http", "request"],
  ["shell", "shell command"],
  ["tool", "tool call"],
]);

/** The calls of one run of a node, including retries. */
function callsOf(node: BoundNode, summaryOf: (graph: BoundGraph) => GraphSummary | undefined): Calls | undefined {
  const { call } = node;
  // Mutation point: attempts
  const attempts = node.tries?.attempts ?? 1;
  if (call.kind === "builtin") {
    const kind = KINDS.get(call.signature.name);
    // A model with tools answers several times, and calls the tools as often as it wants.
    if (call.tools !== undefined || (call.signature.name === "llm" && call.args.some(({ name }) => name === "servers")))
      return undefined;
    return kind === undefined ? new Map() : new Map([[kind, attempts]]);
  }
  // Mutation point: called-graphs
  if (call.kind !== "graph") return new Map();
  const inner = summaryOf(call.graph)?.calls;
  return inner === undefined ? undefined : new Map([...inner].map(([kind, count]) => [kind, count * attempts]));
}
