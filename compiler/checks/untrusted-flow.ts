/**
 * A forward taint analysis along the edges of a graph: which channels can hold untrusted text when a node starts. Inputs and
 * the results of built-in nodes are untrusted. The result of an imported function and the overwriting of a channel clear its
 * taint. A pause for a person clears the taint of all channels, because the person can check their values. Text passes
 * through called graphs: their outputs hold what their inputs hold, and their effects are effects of their callers.
 */
import {
  FINALLY,
  graphsCalledBy,
  START,
  type BoundGraph,
  type BoundNode,
  type TypedExpression,
} from "../bind/bound-graph.ts";
import { sourcesOf, targetsOf } from "../bind/edge-parts.ts";
import type { BoundPlan } from "../bind/plan/bound-plan.ts";
import { planAsGraph } from "../bind/plan/plan-as-graph.ts";
import { END_TARGET } from "../control/net.ts";
import { canEnd, routedTo, startTargets, successorsOf } from "../control/signals.ts";
import { createCheckContext, type CheckContext } from "./check-context.ts";
import { sinksOf, type Sink } from "./untrusted-sinks.ts";
import {
  holdsText,
  joined,
  NOTHING,
  REPORTED,
  textIn,
  type Held,
  type Source,
  type SourceKind,
  type Taint,
  type Wanted,
} from "./untrusted-text.ts";

const CLEAN: Taint = new Map();

export interface UntrustedFlow {
  /** By model node: the taint when the node starts. */
  readonly before: readonly Taint[];
  /** The taint that an `undo` of a model node reads: what the node has written, and what it has read. */
  readonly inUndo: (index: number) => Taint;
  /** The taint that any node can leave behind. */
  readonly left: Taint;
}

export function untrustedFlow(context: CheckContext): UntrustedFlow {
  const { model, graph } = context;
  const inputs: Taint = new Map(
    inputsOf(graph).map((channel, rank) => [
      channel,
      { sources: { input: { what: "an input", kind: "input", channel } }, inputs: 1n << BigInt(rank) },
    ]),
  );
  const next = model.nodes.map(({ routing, jumps = [] }) => [
    ...routedTo(routing),
    ...jumps.filter((jump) => jump !== END_TARGET),
  ]);
  const before = model.nodes.map((): Map<number, Held> => new Map());
  const left = new Map(inputs);
  const endings = enteredFrom(context, FINALLY);
  let start = inputs;
  for (;;) {
    const starts = startTargets(model);
    const seen = new Set<number>([...starts, ...endings]);
    const pending = new Set<number>(seen);
    for (const index of starts) merge(before[index]!, start);
    // It begins at any point of a run.
    for (const index of endings) merge(before[index]!, left);
    const pass = (targets: readonly number[], taint: Taint): void => {
      for (const target of targets) {
        const isNew = !seen.has(target);
        seen.add(target);
        if (merge(before[target]!, taint) || isNew) pending.add(target);
      }
    };
    let isLeftGrown = false;
    for (const index of pending) {
      pending.delete(index);
      const after = passThrough(context, index, before[index]!);
      if (merge(left, after)) isLeftGrown = true;
      pass(next[index]!, after);
      pass(routedTo(model.nodes[index]!.errorRouting), afterFailure(context, index, before[index]!));
    }
    // A memory channel starts with what an earlier run has left in it.
    const kept = new Map([...left].filter(([channel]) => graph.channels[channel]?.role === "memory"));
    const again = new Map(start);
    const isChanged = merge(again, kept);
    if (!isChanged && !(isLeftGrown && endings.size > 0)) {
      // A rollback can begin before a person has seen the result at `pause after`.
      const inUndo = (index: number): Taint => passThrough(context, index, before[index]!, false);
      return { before, inUndo, left };
    }
    start = again;
  }
}

/** A node that fails writes nothing, and a question can fail before a person has seen it. */
function afterFailure(context: CheckContext, index: number, before: Taint): Taint {
  return context.node(index).pauseBefore ? CLEAN : before;
}

/** The taint that a run leaves behind that completes: that of the last nodes of its branches, and what the nodes behind `finally` write. */
function taintAtEnd(context: CheckContext, { before }: UntrustedFlow): Taint {
  const found = new Map<number, Held>();
  const main = reachedFrom(context, START);
  const ending = reachedFrom(context, FINALLY);
  for (const { index, routing, errorRouting, jumps = [] } of context.model.nodes) {
    const isLast = main.has(index) && (canEnd(routing) || jumps.includes(END_TARGET));
    if (main.has(index) && canEnd(errorRouting)) merge(found, afterFailure(context, index, before[index]!));
    if (!isLast && !ending.has(index)) continue;
    const after = passThrough(context, index, before[index]!);
    const written = new Set(context.model.data.writes[index]!.map(({ channel }) => channel));
    merge(found, isLast ? after : new Map([...after].filter(([channel]) => written.has(channel))));
  }
  return found;
}

/** The model nodes to which the edges of `start` or `finally` lead. */
function enteredFrom({ graph, model, nodeName }: CheckContext, entry: string): ReadonlySet<number> {
  const edges = graph.edges.filter((edge) => sourcesOf(edge).some(({ name }) => name === entry));
  const names = new Set(edges.flatMap((edge) => targetsOf(edge).map(({ name }) => name)));
  return new Set(model.nodes.flatMap(({ index, isSent }) => (!isSent && names.has(nodeName(index)) ? [index] : [])));
}

function reachedFrom(context: CheckContext, entry: string): ReadonlySet<number> {
  const successors = successorsOf(context.model);
  const reached = new Set(enteredFrom(context, entry));
  for (const index of reached) for (const next of successors[index]!) reached.add(next);
  return reached;
}

/** The inputs that can hold text. The operator of the graph supplies its configuration, so it is trusted as the graph is. */
function inputsOf(graph: BoundGraph): readonly number[] {
  return graph.channels.flatMap(({ role, type }, index) => (role === "input" && holdsText(type, graph) ? [index] : []));
}

function merge(into: Map<number, Held>, from: Taint): boolean {
  let isChanged = false;
  for (const [channel, held] of from) {
    const known = into.get(channel);
    const both = known === undefined ? held : joined(known, held);
    if (both === known) continue;
    into.set(channel, both);
    isChanged = true;
  }
  return isChanged;
}

function passThrough(context: CheckContext, index: number, before: Taint, mayPause = true): Taint {
  const { graph } = context;
  const node = context.node(index);
  if (node.pauseAfter && mayPause) return CLEAN;
  // The person who answers can check all values that were written before.
  const waits = node.pauseBefore || (node.call.kind === "builtin" && node.call.signature.effects.includes("person"));
  const known = waits ? CLEAN : before;
  const after = new Map(known);
  for (const { channel, optional } of context.model.data.writes[index]!) {
    const declared = graph.channels[channel];
    if (declared === undefined || !holdsText(declared.type, graph)) continue;
    const { sources, inputs } = heldIn(node, declared.name, known, graph);
    const isAdded = declared.reducer !== undefined;
    if (!isAdded && !optional) after.delete(channel);
    const carried: Partial<Record<SourceKind, Source>> = {};
    for (const kind of REPORTED.any) {
      const source = sources[kind];
      if (source === undefined) continue;
      // Reports the place where the text came from, and not the last node that copied it.
      const isFirst = source.channel === undefined;
      carried[kind] = { ...source, channel, ...(isFirst ? { node: index } : {}) };
    }
    if (Object.keys(carried).length > 0) merge(after, new Map([[channel, { sources: carried, inputs }]]));
  }
  return after;
}

/** The untrusted text that a node writes to a channel. */
function heldIn(node: BoundNode, channel: string, known: Taint, graph: BoundGraph): Held {
  const { call } = node;
  switch (call.kind) {
    case "builtin": {
      const { name, effects, pauses } = call.signature;
      if (PARSERS.has(name)) {
        const text = call.args.find((argument) => argument.name === "text")?.value.expression;
        return text === undefined ? NOTHING : textIn(text, known, node, graph);
      }
      if (effects.length === 0 && pauses !== true && name !== "memory") return NOTHING;
      const what = RESULTS.get(name) ?? `the result of \`${name}\``;
      const kind = effects.includes("model") ? "model" : LOCAL.has(name) ? "local" : "foreign";
      return { sources: { [kind]: { what, kind } }, inputs: 0n };
    }
    case "expression":
      return textIn(call.expression.expression, known, node, graph);
    case "graph":
    case "plan": {
      const { outputs, inputs } = summaryOf(call.kind === "graph" ? call.graph : call.plan);
      const { output } = node;
      const field =
        output?.kind === "fields" ? output.fields.find((candidate) => candidate.channel === channel)?.field : undefined;
      let held = NOTHING;
      for (const [name, each] of outputs) if (field === undefined || field === name) held = joined(held, each);
      let result: Held = { sources: held.sources, inputs: 0n };
      inputs.forEach((input, rank) => {
        const given = call.args.find(({ name }) => name === input)?.value.expression;
        if (given !== undefined && ((held.inputs >> BigInt(rank)) & 1n) === 1n)
          result = joined(result, textIn(given, known, node, graph));
      });
      return result;
    }
    default:
      return NOTHING;
  }
}

/** The built-in nodes whose result is parts of their `text`. */
const PARSERS: ReadonlySet<string> = new Set(["csv", "json", "yaml"]);

/** The built-in nodes whose results are texts of the own system. */
const LOCAL: ReadonlySet<string> = new Set(["file", "memory", "shell"]);

const RESULTS: ReadonlyMap<string, string> = new Map([
  ["llm", "the answer of a model"],
  ["http", "the response of a server"],
  ["shell", "the output of a command"],
  ["file", "the content of a file"],
  ["memory", "an item of the long-term memory"],
  ["tool", "the result of a tool"],
  ["ask", "the answer of a person"],
  ["receive", "a signal"],
]);

/** What the callers of a graph or plan need to know. */
interface Summary {
  /** The inputs that can hold text, in the order of their bits. */
  readonly inputs: readonly string[];
  /** The untrusted text in each output. */
  readonly outputs: ReadonlyMap<string, Held>;
  /** The effects that its inputs reach. */
  readonly sinks: readonly InnerSink[];
}

export interface InnerSink {
  readonly input: string;
  /** "the host of a request in `fetch`". */
  readonly effect: string;
  readonly interpreter?: string;
  readonly wanted: Wanted;
}

const summaries = new WeakMap<BoundGraph | BoundPlan, Summary>();

export function summaryOf(called: BoundGraph | BoundPlan): Summary {
  const known = summaries.get(called);
  if (known !== undefined) return known;
  // Binding reports graphs that call each other in a cycle.
  summaries.set(called, { inputs: [], outputs: new Map(), sinks: [] });
  const graph = "tasks" in called ? planAsGraph(called) : called;
  const quiet = (): void => undefined;
  const context = createCheckContext(graph, quiet, quiet);
  const flow = untrustedFlow(context);
  // Conditions skip tasks of a plan, so any task can be the last one that writes.
  const atEnd = "tasks" in called ? flow.left : taintAtEnd(context, flow);
  const outputs = new Map<string, Held>();
  for (const [channel, { sources, inputs }] of atEnd) {
    const { role, name = "" } = graph.channels[channel] ?? {};
    if (role !== "output") continue;
    const own: Partial<Record<SourceKind, Source>> = {};
    for (const kind of REPORTED.any) {
      const what = sources[kind]?.what;
      if (kind !== "input" && what !== undefined) own[kind] = { what: `${what} in \`${called.name}\``, kind };
    }
    outputs.set(name, { sources: own, inputs });
  }
  const inputs = inputsOf(graph).map((channel) => graph.channels[channel]?.name ?? "");
  const sinks = new Map<string, InnerSink>();
  for (const { sink, held } of reachedSinks(context, flow)) {
    const { effect, wanted, interpreter } = sink;
    inputs.forEach((input, rank) => {
      const key = `${input} ${wanted} ${effect}`;
      if (((held.inputs >> BigInt(rank)) & 1n) === 0n || sinks.has(key)) return;
      const inside = sink.isInner === true ? effect : `${effect} in \`${called.name}\``;
      sinks.set(key, { input, effect: inside, wanted, ...(interpreter === undefined ? {} : { interpreter }) });
    });
  }
  const summary = { inputs, outputs, sinks: [...sinks.values()] };
  summaries.set(called, summary);
  return summary;
}

export interface ReachedSink {
  readonly index: number;
  readonly sink: AnySink;
  readonly held: Held;
}

/** A sink of a built-in node, or an argument that reaches one in a called graph (`isInner`). */
export type AnySink = Sink & { readonly isInner?: true };

/** The sinks of a graph and the untrusted text in each; not those that a person approves. */
export function* reachedSinks(context: CheckContext, { before, inUndo }: UntrustedFlow): Generator<ReachedSink> {
  const { graph } = context;
  for (const { index } of context.model.nodes) {
    const node = context.node(index);
    if (!node.pauseBefore)
      for (const sink of allSinksOf(node.call))
        yield { index, sink, held: textIn(sink.expression, before[index]!, node, graph) };
    const undone = sinksOf(node.undo?.call);
    if (undone.length === 0) continue;
    const taint = inUndo(index);
    for (const sink of undone) yield { index, sink, held: textIn(sink.expression, taint, node, graph) };
  }
}

function allSinksOf(call: BoundNode["call"]): readonly AnySink[] {
  if (call.kind !== "graph" && call.kind !== "plan") return sinksOf(call);
  const called = call.kind === "graph" ? call.graph : call.plan;
  if (!hasSinks(called)) return [];
  return summaryOf(called).sinks.flatMap(({ input, effect, wanted, interpreter }) => {
    const value: TypedExpression | undefined = call.args.find(({ name }) => name === input)?.value;
    if (value === undefined) return [];
    return [
      {
        expression: value.expression,
        value,
        effect,
        isInner: true,
        // A finding in the called graph names its inputs as untrusted.
        wanted: wanted === "any" ? "foreign" : wanted,
        ...(interpreter === undefined ? {} : { interpreter }),
      },
    ];
  });
}

const withSinks = new WeakMap<BoundGraph | BoundPlan, boolean>();

/** Whether a graph or plan, or one that it calls, has sinks. */
export function hasSinks(called: BoundGraph | BoundPlan): boolean {
  const known = withSinks.get(called);
  if (known !== undefined) return known;
  withSinks.set(called, false);
  const parts: readonly Partial<Pick<BoundNode, "call" | "undo">>[] =
    "tasks" in called
      ? [...called.tasks, ...called.tasks.flatMap(({ checks }) => checks.map((call) => ({ call })))]
      : called.nodes;
  const found = parts.some(({ call, undo }) => {
    if (sinksOf(call).length > 0 || sinksOf(undo?.call).length > 0) return true;
    if (call === undefined) return false;
    return call.kind === "plan" ? hasSinks(call.plan) : graphsCalledBy(call).some(hasSinks);
  });
  withSinks.set(called, found);
  return found;
}
