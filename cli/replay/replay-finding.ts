import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { TraceStep } from "../../diagnostics/diagnostic.ts";
import { expectedFailures } from "./expected-failures.ts";
import { observe, type Observation } from "./observe.ts";
import { replayTrace, type Replayed } from "./replay-trace.ts";

/** Replays the trace of a finding, and tries to show its failure. `code` is undefined for a trace without a finding. */
export function replayFinding(
  graph: BoundGraph,
  trace: readonly TraceStep[],
  code: string | undefined,
): Promise<Replayed> {
  return replayTrace(graph, trace, {
    ownLimit: code === "NG211",
    keepRaces: code === undefined || code === "NG401",
    accept: (replayed) => failuresOf(replayed, code).length > 0,
  });
}

/** The failures of a replay that confirm the finding. */
export function failuresOf(replayed: Replayed, code: string | undefined): Observation[] {
  const expected = expectedFailures(code);
  return observe(replayed).filter(({ what }) => expected.includes(what));
}
