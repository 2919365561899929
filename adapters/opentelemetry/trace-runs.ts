/**
 * Spans of OpenTelemetry from the events of runs: a span for each run, each step, and each attempt of a node. Steps of a
 * called graph are below the node that calls it.
 */
import {
  context,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Tracer,
} from "@opentelemetry/api";
import type { EventError, EventListener, RunEvent } from "../../runtime/interface/events.ts";
import type { NodeSpec, Table } from "../../runtime/table/table.ts";

export interface TraceOptions {
  /** Default: the tracer `ngraph` of the global provider. */
  readonly tracer?: Tracer;
  /**
   * The table of the graph (`engine.table`). With it, calls of models have the attributes of the GenAI conventions:
   * `gen_ai.operation.name`, and `gen_ai.request.model` where the graph names the model.
   */
  readonly table?: Table;
}

type NodeEvent = Extract<RunEvent, { readonly type: "node" }>;

/** The open spans of one run, by their keys. */
type OpenSpans = Map<string, Context>;

const RUN = "run";

/**
 * A listener for `onEvent`. The span of a run is below the span that is active when the run starts. A resume is a run of
 * its own. Spans contain names, counts and messages of errors; they contain no values of channels.
 *
 * @example
 * const engine = createEngine(table, { functions, onEvent: traceRuns({ table }) });
 */
export function traceRuns({ tracer = trace.getTracer("ngraph"), table }: TraceOptions = {}): EventListener {
  const runs = new Map<string, OpenSpans>();
  const open = (spans: OpenSpans, key: string, parent: Context, name: string, attributes: Attributes): void => {
    const kind = "gen_ai.operation.name" in attributes ? SpanKind.CLIENT : SpanKind.INTERNAL;
    spans.set(key, trace.setSpan(parent, tracer.startSpan(name, { kind, attributes }, parent)));
  };
  return (event) => {
    if (event.type === "run" && event.phase === "start") {
      const spans: OpenSpans = new Map();
      runs.set(event.runId, spans);
      open(spans, RUN, context.active(), `run ${event.graph}`, {
        "ngraph.graph": event.graph,
        "ngraph.run.id": event.runId,
        "ngraph.resumed": event.resumed,
        ...(event.thread === undefined ? {} : { "ngraph.thread": event.thread }),
      });
      return;
    }
    const spans = runs.get(event.runId);
    const run = spans?.get(RUN);
    if (spans === undefined || run === undefined) return;
    if (event.type === "run" && event.phase === "end") {
      // What a failure or a pause has left open.
      for (const key of [...spans.keys()].reverse()) if (key !== RUN) close(spans, key);
      trace.getSpan(run)?.setAttribute("ngraph.status", event.status);
      close(spans, RUN, event.error);
      runs.delete(event.runId);
    } else if (event.type === "step") {
      const key = stepKey(event.namespace);
      close(spans, key);
      if (event.phase === "end") return;
      const parent = spans.get(nodeKey(event.namespace)) ?? run;
      open(spans, key, parent, `step ${event.step}`, { "ngraph.step": event.step, "ngraph.nodes": [...event.nodes] });
    } else if (event.type === "node") {
      const key = nodeKey([...event.namespace, event.taskId]);
      if (event.phase === "start") {
        const model = table === undefined ? undefined : modelAttributes(event, table);
        const name =
          model === undefined ? `node ${event.node}` : ["chat", model["gen_ai.request.model"]].join(" ").trim();
        open(spans, key, spans.get(stepKey(event.namespace)) ?? run, name, { ...nodeAttributes(event), ...model });
      } else if (event.phase === "end") {
        const span = trace.getSpan(spans.get(key) ?? run);
        if (event.cached === true) span?.setAttribute("ngraph.cached", true);
        if (event.paused === true) span?.setAttribute("ngraph.paused", true);
        close(spans, key);
      } else close(spans, key, event.error);
    }
  };
}

/** A namespace lists the tasks of the calls, the outermost first. */
function stepKey(namespace: readonly string[]): string {
  return `step ${namespace.join("/")}`;
}

function nodeKey(path: readonly string[]): string {
  return `node ${path.join("/")}`;
}

function close(spans: OpenSpans, key: string, error?: EventError): void {
  const found = spans.get(key);
  const span = found === undefined ? undefined : trace.getSpan(found);
  spans.delete(key);
  if (error !== undefined) {
    span?.setAttribute("error.type", error.code);
    span?.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
  }
  span?.end();
}

function nodeAttributes({ node, taskId, attempt, item }: NodeEvent): Attributes {
  return {
    "ngraph.node": node,
    "ngraph.task": taskId,
    "ngraph.attempt": attempt,
    ...(item === undefined ? {} : { "ngraph.item": item }),
  };
}

/** The GenAI attributes of a node that calls a model; `undefined` for other nodes. */
function modelAttributes({ namespace, node }: NodeEvent, table: Table): Attributes | undefined {
  let graph: Table | undefined = table;
  for (const task of namespace) {
    const called = calledBy(nodeOf(graph, /^\w+/.exec(task)?.[0] ?? "")?.call, task);
    graph = called === undefined ? undefined : graph?.graphs[called];
  }
  const call = nodeOf(graph, node)?.call;
  if (call?.kind !== "builtin" || call.name !== "llm") return undefined;
  const named = call.args.find(({ name }) => name === "model")?.expression;
  const expression = named === undefined ? undefined : graph?.expressions[named];
  const model = expression?.op === "const" ? expression.value : undefined;
  return { "gen_ai.operation.name": "chat", ...(typeof model === "string" ? { "gen_ai.request.model": model } : {}) };
}

/** The index of the graph that runs under a segment of a namespace: `each[3]`, or `agent.lookup.0` for a tool of a model. */
function calledBy(call: NodeSpec["call"] | undefined, segment: string): number | undefined {
  if (call?.kind === "graph") return call.graph;
  if (call?.kind !== "builtin") return undefined;
  const name = /\.([A-Za-z_]\w*)\.\d+$/.exec(segment)?.[1];
  return call.tools?.find((tool) => tool.name === name)?.graph;
}

function nodeOf(table: Table | undefined, name: string): NodeSpec | undefined {
  return table?.nodes.find((each) => each.name === name);
}
