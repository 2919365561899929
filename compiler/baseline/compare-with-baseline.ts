/**
 * Reports edits that break stored threads (NG610). Applies the rules by which the engine refuses to resume (5.7,
 * `refuseDrift`) to every checkpoint that the old table may have stored: any node may be the next to run, any member of
 * a barrier may have signalled, and channels have values. All other changes are compatible.
 */
import {
  barrierGone,
  barrierMemberGone,
  channelGone,
  channelTypeChanged,
  graphGone,
  nodeGone,
} from "../../diagnostics/catalog/baseline.ts";
import type { Diagnostic, Place } from "../../diagnostics/diagnostic.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { BarrierSpec, Table } from "../../runtime/table/table.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";
import { typeToText } from "../types/type-text.ts";
import { misfit } from "./old-values.ts";

/** Older versions of graphs, as compiled tables, by name. Plans have no threads and are ignored. */
export type Baseline = ReadonlyMap<string, Table | PlanTable>;

interface Compared {
  readonly before: Table;
  readonly now: Table;
  readonly graph: BoundGraph;
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
    const graph = byName.get(name);
    if (graph?.table !== undefined) {
      open.push({ before, now: graph.table, graph: graph.bound });
      continue;
    }
    const unrelated = [...byName.keys()].filter((other) => !baseline.has(other));
    const first = graphs[0]?.bound.declaration.name.span ?? { start: 0, end: 0 };
    const similar = findSimilar(name, unrelated) ?? (unrelated.length === 1 ? unrelated[0] : undefined);
    found.push(graphGone({ file, span: first }, { graph: name, similar }));
  }
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
  const old = new Set(before.nodes.map((node) => node.name));
  const added = [...names].filter((name) => !old.has(name));
  return before.nodes.flatMap(({ name }, index) => {
    if (names.has(name)) return [];
    const at = before.debug?.nodes[index];
    const declaredAt = at === undefined ? undefined : `${before.debug?.file}:${at.line}:${at.column}`;
    return [nodeGone(headOf(graph), { node: name, declaredAt, similar: findSimilar(name, added) })];
  });
}

function compareChannels({ before, now, graph }: Compared): Diagnostic[] {
  const channels = new Map(now.channels.map((channel) => [channel.name, channel]));
  const old = new Set(before.channels.map((channel) => channel.name));
  const added = [...channels.keys()].filter((name) => !old.has(name));
  return before.channels.flatMap(({ name, type }) => {
    const channel = channels.get(name);
    if (channel === undefined)
      return [channelGone(headOf(graph), { channel: name, similar: findSimilar(name, added) })];
    const at = misfit({ type, types: before.types }, { type: channel.type, types: now.types });
    if (at === undefined) return [];
    const declared = graph.channels.find((item) => item.name === name)?.declaration;
    const place = declared === undefined ? headOf(graph) : { file: graph.file, span: declared.type.span };
    return [channelTypeChanged(place, { channel: name, before: typeToText(type), now: typeToText(channel.type), at })];
  });
}

function compareBarriers({ before, now, graph }: Compared): Diagnostic[] {
  const nodes = new Set(now.nodes.map((node) => node.name));
  const barriers = new Map(now.barriers.map((barrier) => [barrier.id, barrier]));
  return before.barriers.flatMap((spec) => {
    const target = before.nodes[spec.target]?.name ?? "";
    // A barrier of one member is never partly filled. A missing node has its own finding.
    if (spec.members.length < 2 || !nodes.has(target)) return [];
    const members = memberNames(spec, before).filter((name) => nodes.has(name));
    const barrier = barriers.get(spec.id);
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
function calledGraphs({ before, now, graph }: Compared): Compared[] {
  const nodes = new Map(now.nodes.map((node) => [node.name, node]));
  return before.nodes.flatMap(({ name, call }) => {
    const later = nodes.get(name)?.call;
    if (call.kind !== "graph" || later?.kind !== "graph") return [];
    const [was, is] = [before.graphs[call.graph], now.graphs[later.graph]];
    const bound = graph.nodes.find((node) => node.name === name)?.call;
    if (was === undefined || is === undefined || bound?.kind !== "graph") return [];
    return [{ before: was, now: is, graph: bound.graph }];
  });
}

function headOf({ file, declaration }: BoundGraph): Place {
  return { file, span: declaration.name.span };
}

function nodePlace(graph: BoundGraph, name: string): Place {
  const span = graph.nodes.find((node) => node.name === name)?.declaration.name.span;
  return span === undefined ? headOf(graph) : { file: graph.file, span };
}
