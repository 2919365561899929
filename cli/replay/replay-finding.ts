import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { TraceStep } from "../../diagnostics/diagnostic.ts";
import { expectedHappenings } from "./expected-happenings.ts";
import { observe, type Observation } from "./observe.ts";
import { replayTrace, type Replayed } from "./replay-trace.ts";

/** Replays the trace of a finding so that it shows what the finding is about, if it can. `code` is unknown of a bare trace. */
export function replayFinding(
  graph: BoundGraph,
  trace: readonly TraceStep[],
  code: string | undefined,
): Promise<Replayed> {
  return replayTrace(graph, trace, {
    ownLimit: code === "NG211",
    keepRaces: code === undefined || code === "NG401",
    accept: (replayed) => happeningsOf(replayed, code).length > 0,
  });
}

/** What has happened of what the finding is about. */
export function happeningsOf(replayed: Replayed, code: string | undefined): Observation[] {
  const expected = expectedHappenings(code);
  return observe(replayed).filter(({ what }) => expected.includes(what));
}
