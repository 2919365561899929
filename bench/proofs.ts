/**
 * What a proof costs: `check` of a sound graph of a hundred nodes and ten barriers, of realistic graphs of ten thousand
 * nodes (chains, diamonds, choices, loops), how cost grows with size up to the cap, and with the values of an enum.
 * Parsing and binding stand beside it, in the same run.
 */
import { bindProject } from "../compiler/bind/bind-project.ts";
import { loadProject } from "../compiler/load/load-project.ts";
import type { BoundGraph } from "../compiler/bind/bound-graph.ts";
import { type CheckResult, checkGraph } from "../compiler/checks/check-graph.ts";
import { emptyHost } from "../compiler/load/host.ts";
import {
  chains,
  choices,
  diamonds,
  driftingBranches,
  enumChoice,
  independentConditions,
  jumpingNodes,
  loops,
  manyBounds,
  manyJumps,
  manySettled,
  mixture,
  parallelLanes,
  processModel,
  randomForks,
  soundWithBarriers,
  supervisor,
} from "./support/proof-graphs.ts";

interface Measured {
  /** Milliseconds. */
  readonly bind: number;
  readonly check: number;
  readonly result: CheckResult;
}

function bind(text: string): BoundGraph {
  const { graphs } = bindProject(loadProject(text, { path: "bench.ngraph", host: emptyHost }));
  const [graph] = graphs;
  if (graph === undefined || graph.hasErrors) throw new Error("the graph of a benchmark does not bind");
  return graph;
}

/**
 * The fastest of several rounds, because other load only adds time. Each round binds the graph again, because results
 * are cached by bound graph.
 */
function measure(text: string, rounds: number): Measured {
  let best: Measured | undefined;
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    const graph = bind(text);
    const bound = performance.now();
    const result = checkGraph(graph);
    const check = performance.now() - bound;
    if (best === undefined || check < best.check) best = { bind: bound - begin, check, result };
  }
  return best!;
}

function row(name: string, { bind: binding, check, result }: Measured, goal?: number): void {
  const codes = [...new Set(result.diagnostics.filter((d) => d.severity !== "info").map((d) => d.code))];
  const sound = result.proofs.find((proof) => proof.code === "NG310");
  const states = /[\d,]+(?= states)/.exec(sound?.message ?? "")?.[0] ?? "-";
  const verdict = goal === undefined ? "" : check < goal ? `  < ${goal}` : `  NOT < ${goal}`;
  console.log(
    `${name.padEnd(44)}${binding.toFixed(1).padStart(9)}${check.toFixed(1).padStart(9)}${states.padStart(9)}  ${codes.join(" ")}${verdict}`,
  );
}

console.log(`ms${" ".repeat(42)}${["bind", "check", "states"].map((head) => head.padStart(9)).join("")}`);
row("100 nodes, 10 barriers, sound", measure(soundWithBarriers(10), 30), 30);
for (const [name, build] of [
  ["chains", chains],
  ["diamonds", diamonds],
  ["choices", choices],
  ["loops", loops],
  ["mixture", mixture],
] as const) {
  for (const size of [1250, 2500, 5000, 10_000])
    row(`${name}, ${size} nodes`, measure(build(size), 3), size === 10_000 ? 1000 : undefined);
}
for (const values of [250, 500, 1000, 2000, 4000])
  row(`a choice among ${values} values`, measure(enumChoice(values), 3));
for (const length of [2, 4, 8, 16, 32])
  row(`three branches that drift apart, ${length} choices each`, measure(driftingBranches(length), 1));
/** Searches that end at their limits. */
for (const count of [3, 5, 8]) row(`${count} nodes that jump to each other`, measure(jumpingNodes(count), 1), 5000);
for (const workers of [3, 6, 10]) {
  row(`a router with ${workers} targets`, measure(supervisor(workers, false), 3), 100);
  row(`a supervisor with ${workers} workers`, measure(supervisor(workers, true), 3), 100);
}

/** Large graphs whose searches end at their limits. */
for (const [name, build] of [
  ["300 independent conditions, 10,000 nodes", () => independentConditions(300, 10_000)],
  ["100 parallel lanes, 10,000 nodes", () => parallelLanes(100, 10_000)],
  ["1,000 parallel lanes, 10,000 nodes", () => parallelLanes(1000, 10_000)],
  ["10,000 nodes that jump to 4 others", () => manyJumps(10_000)],
  ["10,000 nodes that fork at random", () => randomForks(10_000)],
  ["3,000 conditions on one number", () => manyBounds(3000)],
  ["2,000 settled statements, 8,000 nodes", () => manySettled(2000)],
] as const)
  row(name, measure(build(), 1), 5000);

/** Business processes. Each model is checked once, without warm-up rounds, as users check a file. */
for (const size of [50, 100, 150]) {
  const times = Array.from({ length: 100 }, (_, seed) => measure(processModel(seed, size), 1)).map(
    ({ check }) => check,
  );
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.ceil(share * times.length) - 1] ?? 0).toFixed(1).padStart(9);
  const verdict = (times[98] ?? 0) < 100 && (times[99] ?? 0) < 5000 ? "< 100, < 5000" : "NOT < 100, < 5000";
  console.log(
    `${`100 processes of ${size} nodes: median, 99 %, most`.padEnd(44)}${at(0.5)}${at(0.99)}${at(1)}  ${verdict}`,
  );
}
