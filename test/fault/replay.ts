/**
 * Reports a failing seed: its graph, the events in order, the problems, and the smallest variation that still fails.
 */
import type { Model, ModelEdge, ModelNode } from "./model.ts";
import { STOP } from "./model.ts";
import { modelOfSeed, randomFaults, simulate, type Changes, type Subject } from "./simulate.ts";
import { FAULT_KINDS, type FaultKind } from "./world.ts";

/** The report of a seed, line by line. */
export async function replay(subject: Subject, seed: number): Promise<string> {
  const found = await simulate(subject, seed);
  const least = found.problems.length === 0 ? {} : await shrink(subject, seed);
  const trace: string[] = [];
  const { problems } = await simulate(subject, seed, { ...least, trace });
  const isLess = Object.keys(least).length > 0;
  return [
    `seed ${seed}${isLess ? ", without what it fails without" : ""}`,
    ...describeModel(least.model ?? modelOfSeed(seed)),
    ...trace,
    problems.length === 0 ? "nothing is wrong" : `${problems.length} wrong:`,
    ...problems.map((problem) => `  ${problem}`),
  ].join("\n");
}

/** Parts of a failing seed that can be omitted while it still fails: faults, acts, behaviour of nodes. */
export async function shrink(subject: Subject, seed: number): Promise<Changes> {
  let changes: Changes = {};
  const isFailing = async (tried: Changes): Promise<boolean> => {
    const { problems } = await simulate(subject, seed, tried);
    return problems.length > 0;
  };
  const take = async (tried: Changes): Promise<boolean> => {
    if (!(await isFailing(tried))) return false;
    changes = tried;
    return true;
  };
  for (let acts = 0; acts < 4 && !(await take({ ...changes, acts })); acts++);
  for (const call of randomFaults(seed).keys()) {
    const faults = new Map(changes.faults ?? randomFaults(seed));
    faults.delete(call);
    await take({ ...changes, faults });
  }
  for (let count = modelOfSeed(seed).nodes.length - 1; count >= 0; count--) {
    for (const plainer of PLAINER) {
      const model = changes.model ?? modelOfSeed(seed);
      const node = model.nodes[count]!;
      const tried = plainer(node);
      if (tried !== undefined) await take({ ...changes, model: withNode(model, count, tried) });
    }
  }
  return changes;
}

/** Reductions of a node; `undefined` if one does not apply. */
const PLAINER: readonly ((node: ModelNode) => ModelNode | undefined)[] = [
  (node) => (node.does.asks > 0 ? { ...node, does: { ...node.does, asks: 0 } } : undefined),
  (node) => (node.does.jumps ? { ...node, does: { ...node.does, jumps: false } } : undefined),
  (node) => (node.does.sends ? { ...node, does: { ...node.does, sends: false } } : undefined),
  (node) => (node.does.breaks > 0 ? { ...node, does: { ...node.does, breaks: 0 } } : undefined),
  (node) => (node.does.stumbles > 0 ? { ...node, does: { ...node.does, stumbles: 0 } } : undefined),
  ({ does: { fails, ...does }, ...node }) => (fails === undefined ? undefined : { ...node, does }),
  (node) => (node.pauseBefore || node.pauseAfter ? { ...node, pauseBefore: false, pauseAfter: false } : undefined),
  ({ graph, ...node }) => (graph === undefined ? undefined : node),
  ({ items, ...node }) => (items === undefined ? undefined : node),
  (node) => (node.edges.length > 0 ? { ...node, edges: [] } : undefined),
];

function withNode(model: Model, index: number, node: ModelNode): Model {
  return { ...model, nodes: model.nodes.map((other, at) => (at === index ? node : other)) };
}

/** A fault of each kind at each call: the cases of a sweep. */
export function* everyFault(calls: number): Generator<readonly [number, FaultKind]> {
  for (const kind of FAULT_KINDS) for (let at = 0; at < calls; at++) yield [at, kind];
}

function describeModel(model: Model): string[] {
  const name = (node: number): string => (node === STOP ? "end" : model.nodes[node]!.name);
  const names = (nodes: readonly number[]): string => nodes.map(name).join(", ");
  const lines = [...model.graphs.flatMap(describeModel), `graph ${model.name} {`, `  start -> ${names(model.start)}`];
  for (const node of model.nodes) {
    const { does } = node;
    const facts = [
      node.graph === undefined ? "" : `calls ${model.graphs[node.graph]!.name}`,
      node.items === undefined
        ? ""
        : `for ${node.items} items${node.parallel === undefined ? "" : `, ${node.parallel} at once`}`,
      node.allows === undefined ? "" : "allow failure",
      node.tries === 1 ? "" : `tries ${node.tries}`,
      node.timeout === undefined ? "" : `timeout ${node.timeout}`,
      node.pauseBefore ? "pause before" : "",
      node.pauseAfter ? "pause after" : "",
      node.goes.length === 0 ? "" : `goes ${names(node.goes)}`,
      does.asks === 0 ? "" : `asks ${does.asks}`,
      does.jumps ? "jumps" : "",
      does.sends ? "sends" : "",
      does.fails === undefined ? "" : `at times ${does.fails}`,
      does.stumbles === 0 ? "" : `${does.stumblesBy} ${does.stumbles} times first`,
      does.breaks === 0 ? "" : `ends ${does.breaks} runs first`,
      does.waits ? "" : "at once",
    ].filter((fact) => fact !== "");
    lines.push(
      `  node ${node.name} into ${node.writes.join(", ")}${facts.length === 0 ? "" : ` { ${facts.join("; ")} }`}`,
    );
    for (const edge of node.edges) lines.push(`  ${node.name} -> ${describeEdge(edge, names)}`);
    if (node.onError.length > 0) {
      const { by, rest } = node.onErrorWhen ?? { by: 1, rest: 0 };
      lines.push(
        `  ${node.name} -> ${names(node.onError)} on error${by === 1 ? "" : ` when counter % ${by} == ${rest}`}`,
      );
    }
  }
  for (const { target, members, gates, settles } of model.barriers) {
    const who = members.map((any) => (any.length === 1 ? names(any) : `any(${names(any)})`)).join(", ");
    lines.push(
      gates ? `  ${name(target)} waits ${who}` : `  ${settles ? "settled" : "all"}(${who}) -> ${name(target)}`,
    );
  }
  return [...lines, "}"];
}

function describeEdge(edge: ModelEdge, names: (nodes: readonly number[]) => string): string {
  switch (edge.kind) {
    case "plain":
      return names(edge.to);
    case "otherwise":
      return `${names(edge.to)} otherwise`;
    case "when":
      return `${names(edge.to)} when counter % ${edge.by} == ${edge.rest}`;
    case "match": {
      const arms = edge.arms.map((to, value) => `${value} -> ${names(to)}`);
      return `match counter % ${edge.by} { ${[...arms, `otherwise -> ${names(edge.otherwise)}`].join("  ")} }`;
    }
  }
}
