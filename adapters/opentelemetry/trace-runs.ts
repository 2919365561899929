/**
 * Spans of OpenTelemetry from the events of runs: a span for each run, each step, and each attempt of a node or an undo. Steps of a
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
   * The table of the graph (`engine.table`), or the tables of all graphs whose runs the listener receives. With it, calls of models
   * have the attributes of the GenAI conventions: `gen_ai.operation.name`, and `gen_ai.request.model` where the graph names the model.
   */
  readonly table?: Table | readonly Table[];
}

type NodeEvent = Extract<RunEvent, { readonly type: "node" }>;
type UndoEvent = Exclude<Extract<RunEvent, { readonly type: "undo" }>, { readonly phase: "dropped" }>;

/** A run that has not ended. */
interface TracedRun {
  readonly context: Context;
  /** The table of its graph, if it is known. */
  readonly table: Table | undefined;
  /** The open spans below that of the run, by their keys, the outermost first. */
  readonly open: Map<string, Context>;
}

/**
 * A listener for `onEvent`. The span of a run is below the span that is active when the run starts. A resume is a run of
 * its own. Spans contain names, counts and messages of errors. A message can quote a value that does not have the expected type, and
 * never the value of a secret; spans contain no other values of channels.
 *
 * @example
 * const engine = createEngine(table, { functions, onEvent: traceRuns({ table }) });
 */
export function traceRuns({ tracer = trace.getTracer("ngraph"), table = [] }: TraceOptions = {}): EventListener {
  const runs = new Map<string, TracedRun>();
  const tables = [table].flat();
  const start = (parent: Context, name: string, attributes: Attributes): Context => {
    const kind = "gen_ai.operation.name" in attributes ? SpanKind.CLIENT : SpanKind.INTERNAL;
    return trace.setSpan(parent, tracer.startSpan(name, { kind, attributes }, parent));
  };
  return (event) => {
    if (event.type === "run" && event.phase === "start") {
      const { graph, runId, resumed, thread } = event;
      const run = start(context.active(), `run ${graph}`, {
        "ngraph.graph": graph,
        "ngraph.run.id": runId,
        "ngraph.resumed": resumed,
        ...(thread === undefined ? {} : { "ngraph.thread": thread }),
      });
      runs.set(runId, { context: run, table: tables.find(({ name }) => name === graph), open: new Map() });
      return;
    }
    const run = runs.get(event.runId);
    if (run === undefined) return;
    const { open } = run;
    const parentOf = (path: readonly string[], ...keys: readonly string[]): Context =>
      [...keys, nodeKey(callerOf(path))].map((key) => open.get(key)).find((found) => found !== undefined) ??
      run.context;
    switch (event.type) {
      case "run":
        // What a failure or a pause has left open.
        for (const left of [...open.values()].reverse()) end(left);
        end(run.context, event.error, event.phase === "end" ? { "ngraph.status": event.status } : {});
        runs.delete(event.runId);
        break;
      case "finally": {
        const key = finallyKey(event.namespace);
        if (event.phase === "start") {
          const parent = parentOf(event.namespace.slice(0, -1));
          open.set(key, start(parent, "finally", { "ngraph.outcome": event.outcome.status }));
        } else close(open, key, event.error, { "ngraph.status": event.status });
        break;
      }
      case "step": {
        const key = stepKey(event.namespace);
        close(open, key);
        if (event.phase === "end") break;
        const parent = parentOf(event.namespace, finallyKey(event.namespace));
        const attributes = { "ngraph.step": event.step, "ngraph.nodes": [...event.nodes] };
        open.set(key, start(parent, `step ${event.step}`, attributes));
        break;
      }
      case "node": {
        const key = nodeKey([...event.namespace, event.taskId]);
        if (event.phase === "start") {
          const model = run.table === undefined ? undefined : modelAttributes(event, run.table);
          const name =
            model === undefined ? `node ${event.node}` : ["chat", model["gen_ai.request.model"]].join(" ").trim();
          const parent = parentOf(event.namespace, stepKey(event.namespace));
          open.set(key, start(parent, name, { ...nodeAttributes(event), ...model }));
        } else if (event.phase === "end") {
          const { cached, paused } = event;
          close(open, key, undefined, {
            ...(cached === true ? { "ngraph.cached": true } : {}),
            ...(paused === true ? { "ngraph.paused": true } : {}),
          });
        } else close(open, key, event.error);
        break;
      }
      case "undo": {
        if (event.phase === "dropped") break;
        const key = `undo ${event.key}`;
        if (event.phase === "start") open.set(key, start(run.context, `undo ${event.node}`, undoAttributes(event)));
        else close(open, key, "error" in event ? event.error : undefined);
        break;
      }
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

function finallyKey(namespace: readonly string[]): string {
  return `finally ${namespace.join("/")}`;
}

/** The path of the task that calls the graph of a namespace: a tool of a model runs in `agent.lookup.0` for the task `agent`. */
function callerOf(namespace: readonly string[]): readonly string[] {
  return [...namespace.slice(0, -1), ...namespace.slice(-1).map((segment) => segment.replace(TOOL, ""))];
}

/** The name and the number of a tool's call in a segment of a namespace. */
const TOOL = /\.([A-Za-z_]\w*)\.\d+$/;

function close(open: TracedRun["open"], key: string, error?: EventError, attributes?: Attributes): void {
  const found = open.get(key);
  open.delete(key);
  if (found !== undefined) end(found, error, attributes);
}

function end(ended: Context, error?: EventError, attributes: Attributes = {}): void {
  const span = trace.getSpan(ended);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) span?.setAttribute(name, value);
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

function undoAttributes({ node, taskId, attempt, call }: UndoEvent): Attributes {
  return { "ngraph.node": node, "ngraph.task": taskId, "ngraph.attempt": attempt, "ngraph.call": call };
}

/** The GenAI attributes of a node that calls a model; `undefined` for other nodes. */
function modelAttributes({ namespace, node }: NodeEvent, table: Table): Attributes | undefined {
  let graph: Table | undefined = table;
  for (const task of namespace) {
    // The nodes of a `finally` part are those of the graph itself.
    if (task === "finally") continue;
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
  const name = TOOL.exec(segment)?.[1];
  return call.tools?.find((tool) => tool.name === name)?.graph;
}

function nodeOf(table: Table | undefined, name: string): NodeSpec | undefined {
  return table?.nodes.find((each) => each.name === name);
}
