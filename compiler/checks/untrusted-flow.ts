/**
 * A forward taint analysis along the edges of a graph: which channels can hold untrusted text when a node starts. Inputs and
 * the results of built-in nodes are untrusted. The result of an imported function and the overwriting of a channel clear its
 * taint. A pause for a person clears the taint of all channels, because the person can check their values.
 */
import type { BoundGraph, BoundNode } from "../bind/bound-graph.ts";
import type { BoundPlan } from "../bind/plan/bound-plan.ts";
import { planAsGraph } from "../bind/plan/plan-as-graph.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { startTargets, successorsOf } from "../control/signals.ts";
import { createCheckContext, type CheckContext } from "./check-context.ts";

/** Where untrusted text comes from. */
export interface Source {
  /** For messages: "an input", "the answer of a model". */
  readonly what: string;
  readonly isModel: boolean;
  /** The channel that carries it; absent for an error. */
  readonly channel?: number;
  /** The model node that writes it; absent for an input. */
  readonly node?: number;
}

/** Channel -> source. Output of a model has entries of its own, because it also counts where other text is accepted. */
export interface Taint {
  readonly models: ReadonlyMap<number, Source>;
  readonly others: ReadonlyMap<number, Source>;
}

const CLEAN: Taint = { models: new Map(), others: new Map() };

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
  const inputs = new Map<number, Source>();
  graph.channels.forEach((channel, index) => {
    // The operator of the graph supplies its configuration, so it is trusted as the graph is.
    if (channel.role === "input" && holdsText(channel.type, graph))
      inputs.set(index, { what: "an input", isModel: false, channel: index });
  });
  const successors = successorsOf(model);
  const before = model.nodes.map((): MutableTaint => ({ models: new Map(), others: new Map() }));
  const left: MutableTaint = { models: new Map(), others: new Map(inputs) };
  let start: Taint = { models: new Map(), others: inputs };
  for (;;) {
    const seen = new Set<number>(startTargets(model));
    const pending = new Set<number>(seen);
    for (const index of seen) merge(before[index]!, start);
    for (const index of pending) {
      pending.delete(index);
      const after = passThrough(context, index, before[index]!);
      merge(left, after);
      for (const next of successors[index]!) {
        const isNew = !seen.has(next);
        seen.add(next);
        if (merge(before[next]!, after) || isNew) pending.add(next);
      }
    }
    // A memory channel starts with what an earlier run has left in it.
    const kept = { models: memories(graph, left.models), others: memories(graph, left.others) };
    const next: MutableTaint = { models: new Map(start.models), others: new Map(start.others) };
    if (!merge(next, kept)) {
      // A rollback can begin before a person has seen the result at `pause after`.
      const inUndo = (index: number): Taint => passThrough(context, index, before[index]!, false);
      return { before, inUndo, left };
    }
    start = next;
  }
}

interface MutableTaint extends Taint {
  readonly models: Map<number, Source>;
  readonly others: Map<number, Source>;
}

function merge(into: MutableTaint, from: Taint): boolean {
  const size = into.models.size + into.others.size;
  for (const [channel, source] of from.models) if (!into.models.has(channel)) into.models.set(channel, source);
  for (const [channel, source] of from.others) if (!into.others.has(channel)) into.others.set(channel, source);
  return into.models.size + into.others.size > size;
}

function memories(graph: BoundGraph, taint: ReadonlyMap<number, Source>): ReadonlyMap<number, Source> {
  return new Map([...taint].filter(([channel]) => graph.channels[channel]?.role === "memory"));
}

function passThrough(context: CheckContext, index: number, before: Taint, mayPause = true): Taint {
  const { graph } = context;
  const node = context.node(index);
  if (node.pauseAfter && mayPause) return CLEAN;
  // The person who answers can check all values that were written before.
  const waits = node.pauseBefore || (node.call.kind === "builtin" && node.call.signature.effects.includes("person"));
  const known = waits ? CLEAN : before;
  const after: MutableTaint = { models: new Map(known.models), others: new Map(known.others) };
  for (const { channel, optional } of context.model.data.writes[index]!) {
    const declared = graph.channels[channel];
    if (declared === undefined || !holdsText(declared.type, graph)) continue;
    const source = sourceOf(node, declared.name, known);
    const isAdded = declared.reducer !== undefined;
    if (!isAdded && !optional) {
      after.models.delete(channel);
      after.others.delete(channel);
    }
    if (source === undefined) continue;
    // Reports the place where the text came from, and not the last node that copied it.
    const isFirst = source.channel === undefined;
    const carried = { ...source, channel, ...(isFirst ? { node: index } : {}) };
    (source.isModel ? after.models : after.others).set(channel, carried);
  }
  return after;
}

/** The untrusted text that a node writes to a channel. */
function sourceOf(node: BoundNode, channel: string, known: Taint): Source | undefined {
  const { call } = node;
  switch (call.kind) {
    case "builtin": {
      const { name, effects, pauses } = call.signature;
      if (PARSERS.has(name)) {
        const text = call.args.find((argument) => argument.name === "text")?.value.expression;
        return text === undefined ? undefined : taintOf(text, known, node);
      }
      if (effects.length === 0 && pauses !== true && name !== "memory") return undefined;
      return { what: RESULTS.get(name) ?? `the result of \`${name}\``, isModel: effects.includes("model") };
    }
    case "expression":
      return taintOf(call.expression.expression, known, node);
    case "graph":
    case "plan": {
      const called = call.kind === "graph" ? call.graph : call.plan;
      const { output } = node;
      const field =
        output?.kind === "fields" ? output.fields.find((candidate) => candidate.channel === channel)?.field : undefined;
      return taintOfResult(called, field);
    }
    default:
      return undefined;
  }
}

/** The built-in nodes whose result is parts of their `text`. */
const PARSERS: ReadonlySet<string> = new Set(["csv", "json", "yaml"]);

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

/** The untrusted text in an output of a called graph or plan; in any output without a `field`. */
function taintOfResult(called: BoundGraph | BoundPlan, field: string | undefined): Source | undefined {
  let outputs = knownOutputs.get(called);
  if (outputs === undefined) {
    // Binding reports graphs that call each other in a cycle.
    knownOutputs.set(called, new Map());
    const graph = "tasks" in called ? planAsGraph(called) : called;
    const quiet = (): void => undefined;
    const { left } = untrustedFlow(createCheckContext(graph, quiet, quiet));
    outputs = new Map();
    for (const [channel, { what, isModel }] of [...left.others, ...left.models]) {
      const { role, name = "" } = graph.channels[channel] ?? {};
      if (role === "output") outputs.set(name, { what: `${what} in \`${called.name}\``, isModel });
    }
    knownOutputs.set(called, outputs);
  }
  return field === undefined ? outputs.values().next().value : outputs.get(field);
}
const knownOutputs = new WeakMap<BoundGraph | BoundPlan, Map<string, Source>>();

/** The untrusted text that the value of an expression contains. Output of a model is found first. */
export function taintOf(
  expression: Expression,
  taint: Taint,
  node: Pick<BoundNode, "each">,
  wanted: "model" | "any" = "any",
): Source | undefined {
  let other: Source | undefined;
  const pending: Expression[] = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    switch (part.op) {
      case "channel": {
        const source = taint.models.get(part.channel);
        if (source !== undefined) return source;
        other ??= taint.others.get(part.channel);
        break;
      }
      case "local":
        if (part.name === node.each?.item) pending.push(node.each.list.expression);
        break;
      case "error":
      case "outcome":
        other ??= { what: "the message of an error", isModel: false };
        break;
      case "if":
        pending.push(part.then, part.else);
        break;
      case "binary":
        if (part.operator === "+" || part.operator === "??") pending.push(part.left, part.right);
        break;
      case "library":
        if (!WITHOUT_TEXT.has(part.name)) for (const argument of part.args) pending.push(argument);
        break;
      // An imported function is trusted: it is where text is checked.
      case "call":
      case "not":
      case "negate":
        break;
      default:
        for (const each of expressionParts(part)) pending.push(each);
    }
  }
  return wanted === "any" ? other : undefined;
}

/** Library functions whose result holds no text of their arguments, or quoted text only. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set([
  "quote",
  "len",
  "contains",
  "startsWith",
  "endsWith",
  "matches",
  "sum",
  "min",
  "max",
  "abs",
  "round",
  "range",
  "parseInt",
  "parseFloat",
]);

/** Whether values of a type can contain text that is not written in the graph. */
function holdsText(type: ValueType, graph: BoundGraph): boolean {
  const seen = new Set<string>();
  const pending: ValueType[] = [type];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    switch (part.kind) {
      case "string":
      case "json":
      case "opaque":
      case "map":
        return true;
      case "list":
        pending.push(part.item);
        break;
      case "record":
        for (const field of part.fields) pending.push(field.type);
        break;
      case "union":
        for (const member of part.members) pending.push(member);
        break;
      case "ref": {
        const { name } = part;
        if (seen.has(name)) break;
        seen.add(name);
        const named = graph.types.find((candidate) => candidate.name === name);
        if (named === undefined) return true;
        pending.push(named.type);
      }
    }
  }
  return false;
}
