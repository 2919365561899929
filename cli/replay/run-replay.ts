import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import { formatTrace } from "../../diagnostics/render/trace.ts";
import type { IncompleteBarrier, RunStatus } from "../../runtime/interface/engine-options.ts";
import type { JsonObject } from "../../runtime/value/json.ts";
import { CommandError } from "../process/command-error.ts";
import { compileSource } from "../sources/compile-source.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import type { Output } from "../output/output.ts";
import { printDiagnostics } from "../output/print-diagnostics.ts";
import { failuresOf, replayFinding } from "./replay-finding.ts";
import { nextNodes, type Observation } from "./observe.ts";
import { boundGraphs, chooseGraph } from "./choose-graph.ts";
import { readTraces, type GivenTrace } from "./read-traces.ts";
import type { Replayed } from "./replay-trace.ts";

/**
 * `ngc run FILE --replay-trace TRACE`: replays each trace of the file, and reports whether its failure occurs. Runs no user
 * code and stores nothing.
 */
export async function runReplay(
  file: string,
  traceFile: string,
  graphName: string | undefined,
  output: Output,
): Promise<ExitCode> {
  const traces = readTraces(traceFile);
  const compiled = await compileSource(file);
  const graphs = boundGraphs(compiled, graphName, file);
  if (graphs.every((graph) => graph.hasErrors)) {
    printDiagnostics(compiled.diagnostics, {}, output);
    throw new CommandError(`${file} cannot be replayed: its names or types have errors`, {
      exitCode: EXIT.invalid,
      code: "invalid",
    });
  }
  const replays: ReplayReport[] = [];
  for (const given of traces) {
    const graph = chooseGraph(graphs, given);
    const replayed = await replayFinding(graph, given.trace, given.code);
    replays.push(report(graph, given, replayed, output));
  }
  output.document({ version: 1, ok: replays.every(({ shown }) => !shown), replays });
  return replays.some(({ shown }) => shown) ? EXIT.failed : EXIT.ok;
}

/** An entry of `replays` in the document. */
interface ReplayReport {
  readonly graph: string;
  readonly code: string | null;
  readonly message: string | null;
  /** Whether the failure occurred. */
  readonly shown: boolean;
  /** Whether the engine computed the conditions, or the replay assumed that they hold as in the trace. */
  readonly conditions: "computed" | "assumed";
  readonly input: JsonObject;
  readonly status: RunStatus;
  readonly steps: readonly (readonly string[])[];
  /** The nodes that would run next. */
  readonly next: readonly string[];
  readonly happenings: readonly Observation[];
  readonly incompleteBarriers: readonly IncompleteBarrier[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

function report(graph: BoundGraph, given: GivenTrace, replayed: Replayed, output: Output): ReplayReport {
  const { code, trace, message } = given;
  const happenings = failuresOf(replayed, code);
  const { result, steps } = replayed;
  const next = nextNodes(replayed);
  const shown = happenings.length > 0;
  output.result(`${graph.name}${code === undefined ? "" : ` · ${code}`}${message === undefined ? "" : `: ${message}`}`);
  output.result(`  chosen: ${formatTrace(trace)}`);
  output.result(`  ran: ${steps.map((step) => (step.length === 1 ? step[0] : `[${step.join(", ")}]`)).join(" · ")}`);
  if (next.length > 0) output.result(`  next: ${next.join(", ")}`);
  const styles = output.stdoutStyles;
  output.result(
    replayed.isComputed
      ? `  input: ${JSON.stringify(replayed.given)}`
      : "  conditions: assumed to hold as in the trace (no values were found with which they do)",
  );
  for (const { text } of happenings) output.result(`  ${styles.error("shown")}: ${text}`);
  if (!shown) {
    output.result(
      `  ${styles.info("not shown")}: the run follows the trace and ${result.status === "limit" ? "has no failure so far" : `ends ${result.status}`}`,
    );
  }
  return {
    graph: graph.name,
    code: code ?? null,
    message: message ?? null,
    shown,
    conditions: replayed.isComputed ? "computed" : "assumed",
    input: replayed.given,
    status: result.status,
    steps,
    next,
    happenings,
    incompleteBarriers: result.incompleteBarriers,
    error: result.error === null ? null : { code: result.error.code, message: result.error.message },
  };
}
