/** Every trace of a random graph can be replayed in the engine, and its run shows what the finding reports. */
import { expect, test } from "vitest";
import { failuresOf, replayFinding } from "../../cli/replay/replay-finding.ts";
import { observe } from "../../cli/replay/observe.ts";
import { checkGraph } from "../../compiler/checks/check-graph.ts";
import type { TraceStep } from "../../diagnostics/diagnostic.ts";
import { bindText } from "../checks/support/bind-text.ts";
import { generateGraph } from "../proofs/engine/generate.ts";
import { scale } from "../support/depth.ts";
import { randomGraphText } from "./random-graph-text.ts";

/** A trace does not tell apart the tasks that are sent to one node; the replay sends one. */
const sends = ({ chose }: TraceStep): boolean => Object.values(chose).some((choice) => /\bsend /.test(choice));

/** Codes of the findings whose traces were replayed, with how many they were. */
async function replayAll(
  seeds: number,
  textOf: (seed: number) => string,
): Promise<{ readonly wrong: readonly string[]; readonly shown: ReadonlyMap<string, number> }> {
  const wrong: string[] = [];
  const shown = new Map<string, number>();
  for (let seed = 1; seed <= seeds; seed++) {
    const { graphs } = bindText(textOf(seed));
    const graph = graphs.at(-1);
    if (graph === undefined || graphs.some(({ hasErrors }) => hasErrors)) continue;
    for (const { code, trace = [], message } of checkGraph(graph).diagnostics) {
      if (trace.length === 0 || trace.some(sends)) continue;
      try {
        const replayed = await replayFinding(graph, trace, code);
        if (failuresOf(replayed, code).length > 0) shown.set(code, (shown.get(code) ?? 0) + 1);
        else {
          const seen = observe(replayed).map(({ what }) => what);
          wrong.push(`${seed} ${code} ${message}: the replay shows ${seen.join() || "nothing"}`);
        }
      } catch (error) {
        wrong.push(`${seed} ${code} ${message}: ${String(error)} ${JSON.stringify(trace)}`);
      }
    }
  }
  return { wrong, shown };
}

const total = (shown: ReadonlyMap<string, number>): number =>
  [...shown.values()].reduce((sum, count) => sum + count, 0);

test("traces of dense graphs replay", { timeout: 600_000 }, async () => {
  const seeds = scale(250, 20);
  const { wrong, shown } = await replayAll(seeds, randomGraphText);
  expect(wrong).toEqual([]);
  expect(total(shown)).toBeGreaterThan(seeds / 2);
  const least = scale(3, 0);
  for (const code of ["NG213", "NG302", "NG307", "NG309", "NG401"]) expect(shown.get(code) ?? 0).toBeGreaterThan(least);
});

test("traces of graphs of the whole language replay", { timeout: 600_000 }, async () => {
  // Later seeds contain traces that the replay cannot follow yet (labels of jumps, several tasks sent to one node).
  const seeds = 80;
  const { wrong, shown } = await replayAll(seeds, generateGraph);
  expect(wrong).toEqual([]);
  expect(total(shown)).toBeGreaterThan(seeds / 4);
});
