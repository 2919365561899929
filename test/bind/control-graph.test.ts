import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ControlGraphBuilder, type ControlGraph, type Exit } from "../../compiler/control/control-graph.ts";
import { findComponents, isCyclic } from "../../compiler/algorithms/components.ts";
import { findDominators } from "../../compiler/control/dominators.ts";
import { findUnwritten, type Site } from "../../compiler/control/unwritten.ts";
import { numRuns } from "../support/depth.ts";

interface Link {
  readonly from: number;
  readonly to: number;
  readonly exit: Exit;
}

/** Up to 9 nodes; `start` is the vertex after them. */
const anyGraph = fc.integer({ min: 1, max: 9 }).chain((nodes) =>
  fc.record({
    nodes: fc.constant(nodes),
    links: fc.array(
      fc.record({
        from: fc.nat(nodes),
        to: fc.nat(nodes - 1),
        exit: fc.constantFrom<Exit>("done", "done", "error"),
      }),
      { maxLength: 24 },
    ),
    writers: fc.array(fc.nat(nodes - 1), { maxLength: 3 }),
  }),
);

function build(nodes: number, links: readonly Link[]): ControlGraph {
  const builder = new ControlGraphBuilder(nodes);
  for (const { from, to, exit } of links) builder.arrive(to, { kind: "signal", from, exit });
  return builder.build();
}

/** What `from` leads to, itself included, over links that `passes` lets through. */
function reach(from: number, links: readonly Link[], passes: (link: Link) => boolean): Set<number> {
  const found = new Set([from]);
  for (let grew = true; grew;) {
    grew = false;
    for (const link of links) {
      if (!found.has(link.from) || found.has(link.to) || !passes(link)) continue;
      found.add(link.to);
      grew = true;
    }
  }
  return found;
}

describe("control graphs", () => {
  it("a vertex dominates what cannot be reached without it", () => {
    fc.assert(
      fc.property(anyGraph, ({ nodes, links }) => {
        const graph = build(nodes, links);
        const { dominates } = findDominators(graph);
        const reachable = reach(nodes, links, () => true);
        for (let a = 0; a <= nodes; a++) {
          const without = a === nodes ? new Set<number>() : reach(nodes, links, ({ to }) => to !== a);
          for (let b = 0; b <= nodes; b++) {
            const expected = reachable.has(a) && reachable.has(b) && (a === b || !without.has(b));
            expect(dominates(a, b), `${a} dominates ${b}`).toBe(expected);
          }
        }
      }),
      { seed: 3, numRuns: numRuns(500) },
    );
  });

  it("vertices on a common cycle have one component", () => {
    fc.assert(
      fc.property(anyGraph, ({ nodes, links }) => {
        const { size, successors } = build(nodes, links);
        const after = (vertex: number): readonly number[] => successors[vertex]!;
        const { componentOf, members } = findComponents(size, after);
        const reachable = reach(nodes, links, () => true);
        for (const a of reachable) {
          const fromA = reach(a, links, () => true);
          for (const b of reachable) {
            const same = fromA.has(b) && reach(b, links, () => true).has(a);
            expect(componentOf[a] === componentOf[b]).toBe(same);
          }
          const around = links.some((link) => fromA.has(link.from) && link.to === a);
          expect(isCyclic(members[componentOf[a]!]!, after)).toBe(around);
        }
      }),
      { seed: 3, numRuns: numRuns(300) },
    );
  });

  it("a channel is unwritten where a way avoids all that writes it", () => {
    fc.assert(
      fc.property(anyGraph, ({ nodes, links, writers }) => {
        const graph = build(nodes, links);
        const sites: Site[] = Array.from({ length: nodes + 1 }, (_, vertex) => vertex).flatMap((vertex) => [
          { vertex, when: "before" as const },
          { vertex, when: "after" as const },
        ]);
        const found = findUnwritten(
          graph,
          [{ name: "x", writers }],
          sites.map((site) => ({ site, channels: [0] })),
        );
        const avoiding = reach(nodes, links, ({ from, exit }) => exit === "error" || !writers.includes(from));
        for (const [i, { vertex, when }] of sites.entries()) {
          const expected = avoiding.has(vertex) && (when === "before" || !writers.includes(vertex));
          expect(found[i]?.has(0)).toBe(expected);
          // `always`: no writer runs before the vertex runs for the first time.
          if (found[i]?.get(0) !== "always") continue;
          const before = reach(nodes, links, ({ to }) => to !== vertex);
          if (vertex === nodes) continue;
          expect(writers.filter((writer) => writer !== vertex && before.has(writer))).toEqual([]);
        }
      }),
      { seed: 3, numRuns: numRuns(500) },
    );
  });

  it("a statement of many sources and targets stays small", () => {
    const builder = new ControlGraphBuilder(2000);
    const sources = Array.from({ length: 1000 }, (_, i) => i);
    const targets = sources.map((i) => i + 1000);
    builder.signal([builder.start], sources, "done", undefined);
    builder.signal(sources, targets, "done", undefined);
    const graph = builder.build();
    expect(graph.successors.reduce((sum, list) => sum + list.length, 0)).toBe(3000);
    const reads = targets.map((vertex) => ({ site: { vertex, when: "before" as const }, channels: [0] }));
    const written = findUnwritten(graph, [{ name: "x", writers: sources }], reads);
    expect(written.every((found) => found.size === 0)).toBe(true);
  });
});
