/**
 * Every trace of a random graph can be replayed in the engine, and its run shows what the finding reports. The replay of
 * an error computes the conditions.
 */
import { describe, expect, test } from "vitest";
import { failuresOf, replayFinding } from "../../cli/replay/replay-finding.ts";
import { observe } from "../../cli/replay/observe.ts";
import { checkGraph } from "../../compiler/checks/check-graph.ts";
import { bindText } from "../checks/support/bind-text.ts";
import { generateGraph } from "../proofs/engine/generate.ts";
import { scale } from "../support/depth.ts";
import { randomGraphText } from "./random-graph-text.ts";

interface Replays {
  /** Traces that do not replay, or replay without the failure. */
  readonly wrong: readonly string[];
  /** Errors whose conditions were not computed. */
  readonly assumed: readonly string[];
  /** By code: the traces that were replayed. */
  readonly shown: ReadonlyMap<string, number>;
  /** The part of all replays that computed the conditions. */
  readonly computed: number;
}

async function replayAll(seeds: number, textOf: (seed: number) => string): Promise<Replays> {
  const wrong: string[] = [];
  const assumed: string[] = [];
  const shown = new Map<string, number>();
  let [all, computed] = [0, 0];
  for (let seed = 1; seed <= seeds; seed++) {
    const { graphs } = bindText(textOf(seed));
    const graph = graphs.at(-1);
    if (graph === undefined || graphs.some(({ hasErrors }) => hasErrors)) continue;
    for (const { code, severity, trace = [], message } of checkGraph(graph).diagnostics) {
      if (trace.length === 0) continue;
      try {
        const replayed = await replayFinding(graph, trace, code);
        all++;
        if (replayed.isComputed) computed++;
        else if (severity === "error") assumed.push(`${seed} ${code} ${message} ${JSON.stringify(trace)}`);
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
  return { wrong, assumed, shown, computed: computed / all };
}

const total = (shown: ReadonlyMap<string, number>): number =>
  [...shown.values()].reduce((sum, count) => sum + count, 0);

describe("traces replay with conditions computed", () => {
  test("of dense graphs", { timeout: 900_000 }, async () => {
    const seeds = scale(250, 20);
    const { wrong, assumed, shown, computed } = await replayAll(seeds, randomGraphText);
    expect(wrong).toEqual([]);
    expect(assumed).toEqual([]);
    expect(computed).toBeGreaterThan(0.9);
    expect(total(shown)).toBeGreaterThan(seeds / 2);
    const least = scale(3, 0);
    for (const code of ["NG213", "NG302", "NG307", "NG309", "NG401"])
      expect(shown.get(code) ?? 0).toBeGreaterThan(least);
  });

  test("of graphs of the whole language", { timeout: 900_000 }, async () => {
    const seeds = scale(500, 60);
    const { wrong, assumed, shown, computed } = await replayAll(seeds, generateGraph);
    expect(wrong).toEqual([]);
    expect(assumed).toEqual([]);
    expect(computed).toBeGreaterThan(0.9);
    expect(total(shown)).toBeGreaterThan(seeds / 4);
  });
});
