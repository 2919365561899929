/**
 * The types of a generated graph beyond its channels: its nodes, pauses, answers, edits and events. `ngraph/generated`
 * has the engine's interface over them.
 */
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundGraph, BoundNode } from "../bind/bound-graph.ts";
import type { BoundPlan } from "../bind/plan/bound-plan.ts";
import { planAsGraph } from "../bind/plan/plan-as-graph.ts";
import { receivedSignal } from "../bind/received-signal.ts";
import { storedType, type Mark } from "./emit-channel-types.ts";
import { updateType } from "./emit-checks.ts";
import { docComment, propertyName, quote } from "./quote.ts";

export interface GraphTypeNames {
  readonly input: string;
  readonly output: string;
  /** Equals `output` if a completed run has written the same outputs. */
  readonly completed: string;
  readonly state: string;
  /** Empty without a configuration. */
  readonly config: string;
  readonly node: string;
  readonly pause: string;
  readonly update: string;
  /** Declared if a node receives a signal whose name is not computed. */
  readonly signals: string;
  readonly types: string;
}

/** The text of a type; `json` is the text for `json`. */
type WriteType = (type: ValueType, of: BoundGraph, json?: string) => string;

/** The built-in nodes that neither wait nor call code of the program. */
const NEVER_PAUSING: ReadonlySet<string> = new Set([
  "csv",
  "fail",
  "file",
  "http",
  "json",
  "memory",
  "print",
  "shell",
  "yaml",
]);

export function emitGraphTypes(
  bound: BoundGraph,
  names: GraphTypeNames,
  write: WriteType,
  mark: Mark,
): readonly string[] {
  const place = (name: string): string => mark(bound.declaration.name.span, name);
  const all = withCalled(bound);
  const pauses = new Set(all.flatMap((graph) => graph.nodes.flatMap((node) => pausesOf(node, graph, write))));
  const nodes = union(bound.nodes.map(({ name }) => quote(name)));
  const signals = signalsOf(all, bound.file, write);
  // The map of the module leads into one file: the names of signals that are received in other files have no place in it.
  const signalName = (name: string): string => {
    const span = signals.spans.get(name);
    return span === undefined ? propertyName(name) : mark(span, propertyName(name));
  };
  const signalNames = signals.isComplete ? union([...signals.types.keys()].map(quote)) : "string";
  const tasks = union(all.flatMap((graph) => graph.nodes.map(({ name }) => quote(name))));
  const fields = [
    `input: ${names.input}`,
    `output: ${names.output}`,
    `completed: ${names.completed}`,
    `state: ${names.state}`,
    `config: ${names.config === "" ? "$.JsonObject" : names.config}`,
    `node: ${names.node}`,
    `task: ${tasks === nodes ? names.node : tasks}`,
    `pause: ${names.pause}`,
    `signal: ${signalNames}`,
    `signals: ${signals.types.size === 0 ? "object" : names.signals}`,
    `update: ${names.update}`,
    `writes: ${writesOf(all, write)}`,
  ];
  return [
    `${docComment(`The nodes of \`${bound.name}\`, in the order of the file.`)}export type ${place(names.node)} = ${nodes};`,
    `${docComment(`What a run of \`${bound.name}\` may wait for.`)}export type ${place(names.pause)} =\n${[
      ...pauses,
      `$.Gate<${tasks === nodes ? names.node : tasks}>`,
    ]
      .map((pause) => `  | ${pause}`)
      .join("\n")};`,
    `${docComment(`Values for \`update\`: each is applied as a result of a node would be.`)}export interface ${place(names.update)} {\n${updatesOf(bound, write, mark).join("\n")}\n}`,
    ...(signals.types.size === 0
      ? []
      : [
          `${docComment(`The values of the signals that \`${bound.name}\` receives.`)}export interface ${place(names.signals)} {\n  ${fieldsOf(signals.types, signalName).join("\n  ")}\n}`,
        ]),
    `${docComment(`The types of \`${bound.name}\`, for its engine.`)}export interface ${place(names.types)} {\n${fields
      .map((field) => `  readonly ${field};`)
      .join("\n")}\n}`,
  ];
}

/** A graph with all graphs and plans that it calls, each once; plans as graphs. */
function withCalled(bound: BoundGraph): readonly BoundGraph[] {
  const found = new Map<BoundGraph | BoundPlan, BoundGraph>();
  const open: (BoundGraph | BoundPlan)[] = [bound];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.set(next, "tasks" in next ? planAsGraph(next) : next);
    open.push(...[...next.graphs, ...(next.plans ?? [])].reverse());
  }
  return [...found.values()];
}

function union(texts: readonly string[]): string {
  return texts.length === 0 ? "never" : [...new Set(texts)].join(" | ");
}

/** The pauses of a node's body. Gates are not among them: a run may add one before or after each node. */
function pausesOf({ name, call, result }: BoundNode, graph: BoundGraph, write: WriteType): readonly string[] {
  const node = quote(name);
  switch (call.kind) {
    case "function":
      return call.withoutContext === true || graph.mayInterrupt?.(call.function.name) === false
        ? []
        : [`$.Interrupt<${node}>`];
    case "builtin": {
      const builtin = call.signature.name;
      if (builtin === "ask") return [`$.Question<${node}, ${result === undefined ? "$.Json" : write(result, graph)}>`];
      if (builtin === "receive") return [`$.Waiting<${node}, "signal", string>`];
      if (builtin === "sleep") return [`$.Waiting<${node}, "timer", null>`];
      return NEVER_PAUSING.has(builtin) ? [] : [`$.Interrupt<${node}>`];
    }
    default:
      return [];
  }
}

/** The properties of the values that `update` accepts. An imported reducer's updates are checked when they are applied. */
function updatesOf(bound: BoundGraph, write: WriteType, mark: Mark): readonly string[] {
  const names = { expected: (type: ValueType): string => write(type, bound, "unknown"), function: () => "never" };
  return bound.channels
    .filter(({ role }) => role !== "config")
    .map((channel) => {
      const type = channel.reducer?.kind === "function" ? "unknown" : updateType(channel, false, names);
      return `  readonly ${mark(channel.declaration.name.span, propertyName(channel.name))}?: ${type};`;
    });
}

/**
 * The values of signals, by the names that are not computed: of this graph and of those that it calls. One of the nodes that
 * receive a signal takes it, so that its value has the type of one of them.
 */
function signalsOf(
  all: readonly BoundGraph[],
  file: SourceFile,
  write: WriteType,
): {
  readonly types: ReadonlyMap<string, ReadonlySet<string>>;
  /** The names in the calls of `receive` in `file`, the first of each signal. */
  readonly spans: ReadonlyMap<string, Span>;
  readonly isComplete: boolean;
} {
  const types = new Map<string, Set<string>>();
  const spans = new Map<string, Span>();
  let isComplete = true;
  for (const graph of all) {
    for (const { call, result } of graph.nodes) {
      const signal = receivedSignal(call);
      if (signal === undefined) continue;
      if (signal.name === undefined) {
        isComplete = false;
        continue;
      }
      addTo(types, signal.name, result === undefined ? "$.Json" : write(result, graph));
      if (graph.file === file && signal.span !== undefined && !spans.has(signal.name))
        spans.set(signal.name, signal.span);
    }
  }
  return { types, spans, isComplete };
}

/** The values of `write` events, by channel: of this graph and of those that it calls. */
function writesOf(all: readonly BoundGraph[], write: WriteType): string {
  const types = new Map<string, Set<string>>();
  for (const graph of all) {
    for (const channel of graph.channels) {
      if (channel.role === "config") continue;
      const text = storedType(channel, (type) => write(type, graph));
      addTo(types, channel.name, text);
    }
  }
  return `{ ${fieldsOf(types).join(" ")} }`;
}

/** Fields with the union of their types. */
function fieldsOf(types: ReadonlyMap<string, ReadonlySet<string>>, nameOf = propertyName): readonly string[] {
  return [...types].map(([name, texts]) => `readonly ${nameOf(name)}: ${[...texts].join(" | ")};`);
}

function addTo(types: Map<string, Set<string>>, name: string, text: string): void {
  types.set(name, (types.get(name) ?? new Set()).add(text));
}
