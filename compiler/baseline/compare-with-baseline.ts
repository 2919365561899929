/**
 * Reports edits that break stored threads (NG610). Applies the rules by which the engine refuses to resume (5.7,
 * `refuseDrift`) to every checkpoint that the old table may have stored: any node may be the next to run, any member of
 * a barrier may have signalled, and channels have values. All other changes are compatible. What the graph declares with `was`
 * and `drop` is known: a resume renames or drops it.
 */
import {
  barrierGone,
  barrierMemberGone,
  channelGone,
  channelNew,
  channelTypeChanged,
  graphGone,
  nodeGone,
  reducerChanged,
  type MigrationOf,
} from "../../diagnostics/catalog/baseline.ts";
import type { Diagnostic, Place } from "../../diagnostics/diagnostic.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { BarrierSpec, ChannelSpec, Table } from "../../runtime/table/table.ts";
import { graphsCalledBy, type BoundGraph } from "../bind/bound-graph.ts";
import { typeToText } from "../types/type-text.ts";
import { dropOf, wasOfChannel, wasOfGraph, wasOfNode } from "./former-name-fixes.ts";
import { misfit } from "./old-values.ts";

/** Older versions of graphs, as compiled tables, by name. Plans have no threads and are ignored. */
export type Baseline = ReadonlyMap<string, Table | PlanTable>;

interface Compared {
  readonly before: Table;
  readonly now: Table;
  readonly graph: BoundGraph;
  /** The graph of the threads: `graph` itself, or one that calls it. */
  readonly root: BoundGraph;
  /** Whether a command has to name the graph: its file has several. */
  readonly isOneOfMany: boolean;
}

/** The breaking changes of a file's graphs, and of the graphs that they call. */
export function compareWithBaseline(
  baseline: Baseline,
  graphs: readonly { readonly bound: BoundGraph; readonly table: Table | undefined }[],
  file: SourceFile,
): Diagnostic[] {
  const found: Diagnostic[] = [];
  const open: Compared[] = [];
  const byName = new Map(graphs.map((graph) => [graph.bound.name, graph]));
  for (const [name, before] of baseline) {
    if (before.kind === "plan") continue;
    const graph = byName.get(name) ?? graphs.find(({ table }) => table?.was?.includes(name) === true);
    if (graph?.table !== undefined) {
      open.push({ before, now: graph.table, graph: graph.bound, root: graph.bound, isOneOfMany: graphs.length > 1 });
      continue;
    }
    const unrelated = [...byName.keys()].filter((other) => !baseline.has(other));
    const first = graphs[0]?.bound.declaration.name.span ?? { start: 0, end: 0 };
    const similar = findSimilar(name, unrelated) ?? (unrelated.length === 1 ? unrelated[0] : undefined);
    const renamed = similar === undefined ? undefined : byName.get(similar)?.bound;
    const place = renamed === undefined ? { file, span: first } : headOf(renamed);
    const fix = renamed === undefined ? undefined : wasOfGraph(renamed, name);
    found.push(graphGone(place, { graph: name, similar, fix }));
  }
  // Threads belong to graphs that no other graph calls, mostly.
  const called = new Set(graphs.flatMap(({ bound }) => bound.graphs));
  open.sort((a, b) => Number(called.has(b.graph)) - Number(called.has(a.graph)));
  const seen = new Set<string>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const key = `${next.before.digest} ${next.now.digest}`;
    if (next.before.digest === next.now.digest || seen.has(key)) continue;
    seen.add(key);
    for (const each of compareGraph(next)) found.push(each);
    for (const each of calledGraphs(next)) open.push(each);
  }
  return found;
}

function compareGraph(compared: Compared): Diagnostic[] {
  return [...compareNodes(compared), ...compareChannels(compared), ...compareBarriers(compared)];
}

function compareNodes({ before, now, graph }: Compared): Diagnostic[] {
  const names = new Set(now.nodes.map((node) => node.name));
  const renamed = new Set(now.nodes.flatMap(({ was = [] }) => was));
  const old = new Set(before.nodes.map((node) => node.name));
  const added = now.nodes.filter(({ name, was = [] }) => !old.has(name) && !was.some((former) => old.has(former)));
  const gone = [...old].filter((name) => !names.has(name) && !renamed.has(name));
  return before.nodes.flatMap(({ name }, index) => {
    if (!gone.includes(name)) return [];
    const at = before.debug?.nodes[index];
    const declaredAt = at === undefined ? undefined : `${before.debug?.file}:${at.line}:${at.column}`;
    const similar = successor(name, gone, added);
    const fix = similar === undefined ? undefined : wasOfNode(graph, similar, name);
    return [nodeGone(headOf(graph), { node: name, declaredAt, similar, fix })];
  });
}

function compareChannels({ before, now, graph, root, isOneOfMany }: Compared): Diagnostic[] {
  const channels = new Map(now.channels.map((channel) => [channel.name, channel]));
  const renamed = new Map(now.channels.flatMap((channel) => (channel.was ?? []).map((former) => [former, channel])));
  const dropped = new Set(now.dropped);
  const old = new Map(before.channels.map((channel) => [channel.name, channel]));
  const isNew = ({ name, was = [] }: ChannelSpec): boolean => !old.has(name) && !was.some((former) => old.has(former));
  const added = now.channels.filter(isNew);
  const gone = [...old.keys()].filter((name) => !channels.has(name) && !renamed.has(name) && !dropped.has(name));
  const placeOf = (name: string): Place => {
    const declared = graph.channels.find((item) => item.name === name)?.declaration;
    return declared === undefined ? headOf(graph) : { file: graph.file, span: declared.type.span };
  };
  const changed = before.channels.flatMap((former) => {
    const { name, type } = former;
    if (dropped.has(name)) return [];
    const channel = channels.get(name) ?? renamed.get(name);
    if (channel === undefined) {
      const similar = successor(name, gone, added);
      // With a new channel, the former one may also have been renamed: a fix that drops its values would lose them.
      const dropped = added.length === 0 ? dropOf(graph, name) : undefined;
      const fix = similar === undefined ? dropped : wasOfChannel(graph, similar, name);
      return [channelGone(headOf(graph), { channel: name, similar, fix })];
    }
    const at = misfit({ type, types: before.types }, { type: channel.type, types: now.types });
    const migrate = migrationOf(root, graph, isOneOfMany, channel.name);
    const facts = { channel: channel.name, migrate, before: typeToText(type), now: typeToText(channel.type) };
    if (at !== undefined) return [channelTypeChanged(placeOf(channel.name), { ...facts, at })];
    const [was, is] = [reducerText(former, before), reducerText(channel, now)];
    return was === is
      ? []
      : [reducerChanged(placeOf(channel.name), { channel: channel.name, migrate, before: was, now: is })];
  });
  const without = added.flatMap((channel) =>
    startsWithout(channel, now)
      ? [
          channelNew(placeOf(channel.name), {
            channel: channel.name,
            role: channel.role,
            migrate: migrationOf(root, graph, isOneOfMany, channel.name),
          }),
        ]
      : [],
  );
  return [...changed, ...without];
}

/** The command that migrates a channel of all threads. */
function migrationOf(root: BoundGraph, graph: BoundGraph, isOneOfMany: boolean, channel: string): MigrationOf {
  const file = /^[\w./-]+$/.test(root.file.path) ? root.file.path : JSON.stringify(root.file.path);
  return {
    command: `ngc migrate --all --file ${file}${isOneOfMany ? ` --graph ${root.name}` : ""}`,
    part: root === graph ? channel : `${graph.name}.${channel}`,
  };
}

function reducerText({ reducer }: ChannelSpec, { functions }: Table): string | undefined {
  return reducer?.kind === "function" ? functions[reducer.function]?.name : reducer?.kind;
}

/** Whether a thread that does not have the channel has no value for it. */
function startsWithout({ role, type, initial }: ChannelSpec, { types }: Table): boolean {
  if (initial === undefined) return role === "input" || role === "config";
  return initial === null && misfit({ type: { kind: "null" }, types: [] }, { type, types }) !== undefined;
}

/** The new declaration that probably replaces a missing one: one with a similar name, else the only one. */
function successor(
  name: string,
  gone: readonly string[],
  added: readonly { readonly name: string }[],
): string | undefined {
  const names = added.map((each) => each.name);
  return findSimilar(name, names) ?? (names.length === 1 && gone.length === 1 ? names[0] : undefined);
}

function compareBarriers({ before, now, graph }: Compared): Diagnostic[] {
  const nodes = new Set(now.nodes.map((node) => node.name));
  const names = new Map(now.nodes.flatMap(({ name, was = [] }) => was.map((former) => [former, name] as const)));
  const present = (name: string): string => names.get(name) ?? name;
  const barriers = new Map(now.barriers.map((barrier) => [barrier.id, barrier]));
  return before.barriers.flatMap((spec) => {
    const target = present(before.nodes[spec.target]?.name ?? "");
    const id = spec.id.replace(/^\w+/, present);
    // A barrier of one member is never partly filled. A missing node has its own finding.
    if (spec.members.length < 2 || !nodes.has(target)) return [];
    const members = memberNames(spec, before)
      .map(present)
      .filter((name) => nodes.has(name));
    const barrier = barriers.get(id);
    if (barrier === undefined) {
      return members.length === 0 ? [] : [barrierGone(nodePlace(graph, target), { barrier: spec.id, target, members })];
    }
    const left = new Set(memberNames(barrier, now));
    return members
      .filter((member) => !left.has(member))
      .map((member) => barrierMemberGone(nodePlace(graph, target), { barrier: spec.id, target, member }));
  });
}

function memberNames(barrier: BarrierSpec, table: Table): string[] {
  return barrier.members.flat().flatMap((node) => table.nodes[node]?.name ?? []);
}

/** Pairs of graphs that a node calls before and after the edit; an unfinished call has its own checkpoints. */
function calledGraphs({ before, now, graph, ...place }: Compared): Compared[] {
  const nodes = new Map(now.nodes.flatMap((node) => [node.name, ...(node.was ?? [])].map((name) => [name, node])));
  return before.nodes.flatMap(({ name, call }) => {
    const later = nodes.get(name)?.call;
    const bound = graph.nodes.find((node) => node.name === name || node.was?.includes(name) === true)?.call;
    if (later === undefined || bound === undefined) return [];
    return pairsOfGraphs(call, later).flatMap(([first, second]) => {
      const [was, is] = [before.graphs[first], now.graphs[second]];
      const called = graphsCalledBy(bound).find((each) => each.name === is?.name);
      return was === undefined || is === undefined || called === undefined
        ? []
        : [{ ...place, before: was, now: is, graph: called }];
    });
  });
}

type Call = Table["nodes"][number]["call"];

/** The called graph before and after, or the graphs that are tools of both under one name. */
function pairsOfGraphs(before: Call, now: Call): readonly (readonly [number, number])[] {
  if (before.kind === "graph" && now.kind === "graph") return [[before.graph, now.graph]];
  if (before.kind !== "builtin" || now.kind !== "builtin") return [];
  return (before.tools ?? []).flatMap(({ name, graph }) => {
    const later = now.tools?.find((tool) => tool.name === name)?.graph;
    return graph === undefined || later === undefined ? [] : [[graph, later] as const];
  });
}

function headOf({ file, declaration }: BoundGraph): Place {
  return { file, span: declaration.name.span };
}

function nodePlace(graph: BoundGraph, name: string): Place {
  const span = graph.nodes.find((node) => node.name === name)?.declaration.name.span;
  return span === undefined ? headOf(graph) : { file: graph.file, span };
}
