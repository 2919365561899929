import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { CompileResult } from "../../compiler/compile.ts";
import { formatTrace } from "../../diagnostics/render/trace.ts";
import { listNames } from "../../diagnostics/similar.ts";
import type { IncompleteBarrier, RunStatus } from "../../runtime/interface/engine-options.ts";
import type { JsonObject } from "../../runtime/value/json.ts";
import { CommandError } from "../process/command-error.ts";
import { compileSource } from "../sources/compile-source.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import type { Output } from "../output/output.ts";
import { printDiagnostics } from "../output/print-diagnostics.ts";
import { failuresOf, replayFinding } from "./replay-finding.ts";
import { nextNodes, type Observation } from "./observe.ts";
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

/** The graphs of the file and the graphs that they call: findings of these are reported for the file too. */
function boundGraphs({ graphs }: CompileResult, name: string | undefined, file: string): BoundGraph[] {
  const found = new Set<BoundGraph>();
  const open = graphs.filter((graph) => name === undefined || graph.name === name).map(({ bound }) => bound);
  if (open.length === 0) {
    throw new CommandError(name === undefined ? `${file} contains no graph` : `${file} has no graph \`${name}\``, {
      help: graphs.length === 0 ? undefined : `it contains ${listNames(graphs.map((graph) => graph.name))}`,
    });
  }
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    if (found.has(next)) continue;
    found.add(next);
    for (const each of next.graphs) open.push(each);
  }
  return [...found];
}

/** The graph that has all nodes of the trace; if there are several, the one that contains the finding. */
function chooseGraph(graphs: readonly BoundGraph[], { trace, line }: GivenTrace): BoundGraph {
  const wanted = new Set(trace.flatMap(({ ran }) => ran));
  const runnable = graphs.filter((graph) => !graph.hasErrors);
  const fitting = runnable.filter((graph) => {
    const names = new Set(graph.nodes.map((node) => node.name));
    return [...wanted].every((name) => names.has(name));
  });
  const here = fitting.find(({ file, declaration: { span } }) => {
    const { start, end } = file.range(span);
    return line !== undefined && start.line <= line && line <= end.line;
  });
  const found = here ?? fitting[0];
  if (found !== undefined) return found;
  const known = new Set(runnable.flatMap((graph) => graph.nodes.map((node) => node.name)));
  const missing = [...wanted].filter((name) => !known.has(name));
  throw new CommandError(
    missing.length > 0
      ? `the trace does not fit the graph: it runs ${listNames(missing)}, which does not exist`
      : "the trace does not fit the file: no graph has all the nodes of the trace",
    {
      code: "trace_misfit",
      help: "it may belong to an older version of the file: create it again with `ngc check FILE --json`",
    },
  );
}
