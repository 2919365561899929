import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { CompileResult } from "../../compiler/compile.ts";
import { listNames } from "../../diagnostics/similar.ts";
import { CommandError } from "../process/command-error.ts";
import type { GivenTrace } from "./read-traces.ts";

/** The graphs of the file and the graphs that they call: findings of these are reported for the file too. */
export function boundGraphs({ graphs }: CompileResult, name: string | undefined, file: string): BoundGraph[] {
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
export function chooseGraph(graphs: readonly BoundGraph[], { trace, line }: GivenTrace): BoundGraph {
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
