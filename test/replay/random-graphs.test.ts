import { expect, test } from "vitest";
import { failuresOf, replayFinding } from "../../cli/replay/replay-finding.ts";
import { observe } from "../../cli/replay/observe.ts";
import { compile } from "../../compiler/index.ts";
import { scale } from "../support/depth.ts";
import { randomGraphText } from "./random-graph-text.ts";

const GRAPHS = scale(250, 50);

test("every trace of random graphs replays in the engine, and what it shows happens", async () => {
  const wrong: string[] = [];
  const shown = new Map<string, number>();
  for (let seed = 1; seed <= GRAPHS; seed++) {
    const text = randomGraphText(seed);
    const { diagnostics, graphs } = compile(text);
    const [graph] = graphs;
    if (graph === undefined || graph.bound.hasErrors) continue;
    for (const { code, trace = [], message } of diagnostics) {
      if (trace.length === 0) continue;
      try {
        const replayed = await replayFinding(graph.bound, trace, code);
        if (failuresOf(replayed, code).length === 0) {
          wrong.push(
            `${seed} ${code} ${message}: saw ${observe(replayed)
              .map(({ what }) => what)
              .join()}`,
          );
        } else shown.set(code, (shown.get(code) ?? 0) + 1);
      } catch (error) {
        wrong.push(`${seed} ${code} ${message}: ${String(error)} ${JSON.stringify(trace)}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  // The graphs are worth looking at: many traces, of many codes.
  expect([...shown.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(GRAPHS / 2);
  for (const code of ["NG213", "NG302", "NG307", "NG309", "NG401"])
    expect(shown.get(code) ?? 0).toBeGreaterThan(scale(3, 0));
}, 600_000);
