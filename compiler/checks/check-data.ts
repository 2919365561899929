import { concurrentWrite, readsEarlierValue, reducerOrder, writeNeverRead } from "../../diagnostics/catalog/data.ts";
import type { Fix, Place } from "../../diagnostics/diagnostic.ts";
import { setBy, setChannels, type BoundChannel } from "../bind/bound-graph.ts";
import { conditionsOf } from "../bind/edge-parts.ts";
import type { Run, RunFinder } from "../explore/runs.ts";
import type { State, StateGraph } from "../explore/state-graph.ts";
import type { CheckContext } from "./check-context.ts";
import { addReducer } from "./route-fixes.ts";
import { shownRun } from "./check-soundness.ts";

/** NG404 is informational, so it is not searched for in steps with more nodes. */
const MAX_READERS = 50;

/** Reports NG401, NG402 and NG404: nodes of one step that write, or write and read, the same channel. */
export function checkSharedSteps(context: CheckContext, graph: StateGraph, finder: RunFinder): void {
  const { channels } = context.graph;
  const byName = new Map(channels.map((channel) => [channel.name, channel]));
  const replaced = setChannels(context.graph);
  const clashes = new Map<string, Map<string, readonly [number, number]>>();
  const earlier = new Map<string, { reader: number; channel: string; writers: Set<number> }>();
  const seen = new Set<string>();
  for (const state of graph.states) {
    // One place can represent several tasks that were sent.
    if (state.ready === 0 || (state.ready === 1 && !context.model.nodes[state.places[0]!]!.isSent)) continue;
    const key = state.places.slice(0, state.ready).map((node) => `${node}${graph.success(state.id, node)}`);
    if (seen.has(key.join())) continue;
    seen.add(key.join());
    const writers = writersOf(context, graph, state);
    for (const [name, found] of writers) {
      const channel = byName.get(name);
      if (channel === undefined) continue;
      if (channel.reducer === undefined || channel.reducer.kind === "function" || replaced.has(name)) {
        notePairs(clashes, name, found);
      }
      if (state.ready > MAX_READERS || earlier.size >= MAX_READERS) continue;
      for (let index = 0; index < state.ready; index++) {
        const reader = state.places[index]!;
        if (!context.node(reader).reads.includes(name) || found.every((writer) => writer === reader)) continue;
        const id = `${reader}/${name}`;
        const known = earlier.get(id) ?? { reader, channel: name, writers: new Set<number>() };
        for (const writer of found) if (writer !== reader) known.writers.add(writer);
        earlier.set(id, known);
      }
    }
  }
  for (const [name, found] of clashes) {
    const channel = byName.get(name)!;
    const pairs = [...found.values()];
    // `set` conflicts with every other write of its channel.
    const isReplaced = (nodes: readonly [number, number]): boolean =>
      nodes.some((node) => setBy(context.node(node)).includes(name));
    // Mutation point: set-conflicts
    const conflicts = channel.reducer === undefined ? pairs : pairs.filter(isReplaced);
    if (conflicts.length > 0) reportClash(context, graph, finder, channel, conflicts);
    const others = channel.reducer?.kind === "function" ? pairs.filter((pair) => !isReplaced(pair)) : [];
    if (others.length > 0) reportClash(context, graph, finder, channel, others);
  }
  for (const { reader, channel, writers } of earlier.values()) {
    const [writer = 0] = writers;
    const run = finder.toState((state) => runsBoth(state, reader, writer));
    if (run === undefined) continue;
    context.report(
      readsEarlierValue(context.nodePlace(reader), {
        reader: context.nodeName(reader),
        channel,
        writers: [...writers].map(context.nodeName),
        run: shownRun(graph, run, ""),
      }),
    );
  }
}

/** Channel -> its writers in a step. Sent tasks count as two writers, because a `send` can create several tasks. */
function writersOf({ model, node: nodeAt }: CheckContext, graph: StateGraph, state: State): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (let index = 0; index < state.ready; index++) {
    const node = state.places[index]!;
    const { isSent } = model.nodes[node]!;
    if (graph.success(state.id, node) === "never") continue;
    for (const channel of new Set(nodeAt(node).writes)) {
      const writers = isSent ? [node, node] : [node];
      const known = found.get(channel);
      if (known === undefined) found.set(channel, writers);
      else known.push(...writers);
    }
  }
  return found;
}

/** Adds each pair of neighbouring writers. The pairs name all writers and are linear in their number. */
function notePairs(
  clashes: Map<string, Map<string, readonly [number, number]>>,
  channel: string,
  writers: readonly number[],
): void {
  for (let index = 1; index < writers.length; index++) {
    const pair = [writers[index - 1]!, writers[index]!] as const;
    const known = clashes.get(channel) ?? new Map<string, readonly [number, number]>();
    known.set(pair.join(), pair);
    clashes.set(channel, known);
  }
}

function runsBoth(state: State, a: number, b: number): boolean {
  return isReady(state, a) && isReady(state, b);
}

function isReady(state: State, node: number): boolean {
  const position = state.places.indexOf(node);
  return position !== -1 && position < state.ready;
}

/** One finding for each channel: the pair of a shortest run, and the other writers. */
function reportClash(
  context: CheckContext,
  graph: StateGraph,
  finder: RunFinder,
  channel: BoundChannel,
  pairs: readonly (readonly [number, number])[],
): void {
  const writesBoth = (state: State, [a, b]: readonly [number, number], isSure: boolean): boolean =>
    runsBoth(state, a, b) &&
    [a, b].every((node) => {
      const success = graph.success(state.id, node);
      return isSure ? success === "sure" : success !== "never";
    });
  const sure = finder.toState((state) => pairs.some((pair) => writesBoth(state, pair, true)));
  const found = sure ?? finder.toState((state) => pairs.some((pair) => writesBoth(state, pair, false)));
  if (found === undefined) return;
  const run: Run = sure === undefined ? { ...found, feasible: false } : sure;
  const last = graph.states[run.states.at(-1) ?? 0]!;
  const pair = pairs.find((each) => writesBoth(last, each, sure !== undefined));
  if (pair === undefined) return;
  const names = pair.map(context.nodeName) as [string, string];
  const labels = [{ ...outputPlace(context, pair[0], channel.name), message: `\`${names[0]}\` writes it here` }];
  const place = outputPlace(context, pair[1], channel.name);
  const shown = shownRun(graph, run, "");
  const isReplaced = pairs.some((each) => each.some((node) => setBy(context.node(node)).includes(channel.name)));
  if (channel.reducer?.kind === "function" && !isReplaced) {
    const reducer = channel.reducer.function.name;
    context.reportFinding(
      reducerOrder(place, { channel: channel.name, reducer, nodes: names, labels, run: shown }),
      run,
    );
    return;
  }
  const others = new Set(pairs.flat().filter((node) => !pair.includes(node)));
  context.reportFinding(
    concurrentWrite(place, {
      channel: channel.name,
      nodes: names,
      others: [...others].map(context.nodeName),
      labels,
      severity: run.feasible ? "error" : "warning",
      isReplaced,
      fixes: isReplaced ? [] : reducerFix(context, channel),
      run: shown,
    }),
    run,
  );
}

/** The fix for a list: most lists that several nodes write are meant to be appended to. */
function reducerFix(context: CheckContext, channel: BoundChannel): Fix[] {
  if (channel.type.kind !== "list") return [];
  return addReducer(context.graph.file, channel.declaration, "append what each writes", "append");
}

/** The place in the text where a node writes a channel. */
export function outputPlace(context: CheckContext, node: number, channel: string): Place {
  const { output } = context.node(node).declaration;
  if (output === undefined) return context.nodePlace(node);
  if (output.kind === "ChannelOutput") return context.place(output.channel.span);
  const field = output.fields.find((candidate) => candidate.channel.name === channel);
  return field === undefined ? context.nodePlace(node) : context.place(field.channel.span);
}

/** Reports NG405: state that is written, and that no node and no condition reads. */
export function checkUnreadWrites(context: CheckContext): void {
  const { graph } = context;
  const read = new Set<string>();
  for (const { reads, undo } of graph.nodes) {
    for (const channel of reads) read.add(channel);
    if (undo !== undefined) for (const channel of undo.reads) read.add(channel);
  }
  for (const edge of graph.edges)
    for (const { reads } of conditionsOf(edge)) for (const channel of reads) read.add(channel);
  for (const { condition } of graph.assertions) for (const channel of condition?.reads ?? []) read.add(channel);
  const unread = graph.channels.filter(({ role, name }) => (role === "state" || role === "memory") && !read.has(name));
  const writersOf = new Map(unread.map(({ name }) => [name, new Array<number>()]));
  if (unread.length > 0) {
    graph.nodes.forEach((node, index) => {
      for (const channel of node.writes) writersOf.get(channel)?.push(index);
    });
  }
  for (const channel of unread) {
    const writers = writersOf.get(channel.name) ?? [];
    const [first] = writers;
    if (first === undefined) continue;
    context.report(
      writeNeverRead(outputPlace(context, first, channel.name), {
        channel: channel.name,
        writers: writers.map(context.nodeName),
        declaration: { ...context.place(channel.declaration.name.span), message: "declared here" },
      }),
    );
  }
}
