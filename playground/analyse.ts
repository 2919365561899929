/** What the page shows of a text, computed in the worker. */
import type { BoundGraph } from "../compiler/bind/bound-graph.ts";
import { compile, type CompiledGraph, type CompileResult } from "../compiler/compile.ts";
import { memoryHost } from "../compiler/load/host.ts";
import { lowerGraph } from "../compiler/lower/lower.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { toJson } from "../diagnostics/render/json.ts";
import { convert } from "../grammar/convert.ts";
import { drawPlan } from "../cli/drawing/plan.ts";
import { drawTable, printableDrawing, type Drawing } from "../cli/drawing/drawing.ts";
import { renderSvg } from "../cli/drawing/svg.ts";
import { CommandError } from "../cli/process/command-error.ts";
import { boundGraphs, chooseGraph } from "../cli/replay/choose-graph.ts";
import type { Analysis, Finding, GraphView } from "./messages.ts";
import { otherName, type MainName, type ProjectFiles } from "./project.ts";
import { runnableOf } from "./runnable.ts";

/** Where the files of the page are, for the compiler and the language server. */
export const ROOT = "/playground";

/** Pictures of one file: each is laid out at every change. */
const MAX_PICTURES = 12;
/** States of a proof: a page answers sooner than a command line. */
const MAX_STATES = 20_000;

export function hostOf(files: ProjectFiles): ReturnType<typeof memoryHost> {
  return memoryHost(Object.fromEntries(Object.entries(files).map(([name, text]) => [`${ROOT}/${name}`, text])));
}

export function compileProject(files: ProjectFiles, main: string): CompileResult {
  return compile(files[main] ?? "", {
    path: `${ROOT}/${main}`,
    host: hostOf(files),
    root: ROOT,
    maxStates: MAX_STATES,
  });
}

export async function analyse(files: ProjectFiles, main: MainName): Promise<Analysis> {
  const compiled = compileProject(files, main);
  const to = otherName(main) === "graph.ngraph" ? "ngraph" : "yaml";
  const converted = convert(files[main] ?? "", { to, path: `${ROOT}/${main}` });
  const hasText = !converted.diagnostics.some(({ severity }) => severity === "error");
  const graphs = compiled.graphs.length === 0 ? [] : boundGraphs(compiled, undefined, main);
  const views: GraphView[] = [];
  for (const bound of graphs) {
    const own = compiled.graphs.find((graph) => graph.bound === bound);
    views.push(await viewOf(bound, own, compiled, views.length < MAX_PICTURES));
  }
  for (const { name, table, bound } of compiled.plans) {
    const places = Object.fromEntries(bound.tasks.map((task) => [task.name, task.declaration.span.start]));
    const picture = table === undefined ? UNKNOWN : await pictureOf(drawPlan(table));
    views.push({ name, kind: "plan", proofs: [], places, ...picture });
  }
  return {
    // The comment that names the schema is for editors of files.
    ...(hasText ? { other: converted.text.replace(/^# yaml-language-server:.*\n/, "") } : {}),
    lost: converted.lost,
    findings: compiled.diagnostics.map((diagnostic) => findingOf(diagnostic, graphs)),
    graphs: views,
  };
}

const UNKNOWN = { problem: "The file has errors: its picture comes back when they are mended." } as const;

async function viewOf(
  bound: BoundGraph,
  own: CompiledGraph | undefined,
  compiled: CompileResult,
  hasPicture: boolean,
): Promise<GraphView> {
  const table = own?.table ?? (bound.hasErrors ? undefined : lowerGraph(bound));
  const picture =
    table === undefined
      ? UNKNOWN
      : hasPicture
        ? await pictureOf(drawTable(table))
        : { problem: `The page draws the first ${MAX_PICTURES} graphs of a file.` };
  return {
    name: bound.name,
    kind: "graph",
    ...(own?.verdict === undefined ? {} : { verdict: own.verdict.text }),
    proofs: own?.proofs.map(({ message }) => message) ?? [],
    places: Object.fromEntries(
      own === undefined ? [] : bound.nodes.map((node) => [node.name, node.declaration.span.start]),
    ),
    ...picture,
    ...(own?.table === undefined ? {} : { runnable: runnableOf(own.table, bound, compiled.namedTypes) }),
  };
}

async function pictureOf(drawing: Drawing): Promise<{ readonly svg: string } | { readonly problem: string }> {
  try {
    return { svg: await renderSvg(printableDrawing(drawing)) };
  } catch (error) {
    if (error instanceof CommandError) return { problem: `There is no picture: ${error.message}.` };
    throw error;
  }
}

function findingOf(diagnostic: Diagnostic, graphs: readonly BoundGraph[]): Finding {
  const [json] = toJson([diagnostic]) as [Finding];
  const short = { ...json, file: json.file.replace(`${ROOT}/`, "") };
  const { trace } = json;
  if (trace.length === 0 || trace[0]?.entry === "finally") return short;
  try {
    return { ...short, graph: chooseGraph(graphs, { trace, line: json.range.start.line }).name };
  } catch (error) {
    if (error instanceof CommandError) return short;
    throw error;
  }
}
