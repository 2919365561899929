import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { TraceStep } from "../../diagnostics/diagnostic.ts";
import { expectedFailures } from "./expected-failures.ts";
import { observe, type Observation } from "./observe.ts";
import { replayComputed } from "./computed-replay.ts";
import { replayTrace, type Replayed, type ReplayOptions } from "./replay-trace.ts";

/**
 * Replays the trace of a finding, and tries to show its failure. `code` is undefined for a trace without a finding. If
 * no values are found with which the conditions hold as in the trace, they are assumed to hold.
 */
export async function replayFinding(
  graph: BoundGraph,
  trace: readonly TraceStep[],
  code: string | undefined,
): Promise<Replayed> {
  const options: ReplayOptions = {
    ownLimit: code === "NG211",
    breaksAssertions: code === "NG213",
    keepRaces: code === undefined || code === "NG401",
    accept: (replayed) => failuresOf(replayed, code).length > 0,
  };
  return (await replayComputed(graph, trace, options)) ?? replayTrace(graph, trace, options);
}

/** The failures of a replay that confirm the finding. */
export function failuresOf(replayed: Replayed, code: string | undefined): Observation[] {
  const expected = expectedFailures(code);
  return observe(replayed).filter(({ what }) => expected.includes(what));
}
