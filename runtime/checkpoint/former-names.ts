/** Checkpoints of earlier versions of a graph under the present names: `was` and `drop` of the graph. */
import type { Checkpoint, PendingWrite } from "../interface/checkpoint.ts";
import type { Json } from "../value/json.ts";
import type { Program } from "../program/program.ts";
import { programUnder } from "../program/tool-segment.ts";
import type { StoredOutcome } from "../run/shared.ts";
import { renameChannels, renameCheckpoint, renameTask, renameWrite, type Renaming } from "./rename-checkpoint.ts";
import { isResult, renameStoredTask, withAnswers } from "./restore-run.ts";

/** A checkpoint under the present names of its graph. */
export interface PresentCheckpoint {
  readonly head: Checkpoint;
  readonly writes: readonly PendingWrite[];
  /** Channels whose values have moved or are dropped: their former names, with the number of their writes. */
  readonly moved: ReadonlyMap<string, number>;
  /** Channels that would receive two values. */
  readonly problems: readonly string[];
}

interface FormerNames extends Renaming {
  readonly graphs: ReadonlySet<string>;
  readonly dropped: ReadonlySet<string>;
}

const namesOf = new WeakMap<Program, FormerNames | null>();

/** The earlier names that a graph declares; `undefined` if it declares none. */
export function formerNames(program: Program): FormerNames | undefined {
  let found = namesOf.get(program);
  if (found === undefined) namesOf.set(program, (found = readFormerNames(program)));
  return found ?? undefined;
}

function readFormerNames(program: Program): FormerNames | null {
  const { table } = program;
  const pairs = (parts: readonly { readonly name: string; readonly was?: readonly string[] }[]) =>
    new Map(parts.flatMap(({ name, was = [] }) => was.map((former) => [former, name] as const)));
  const nodes = pairs(table.nodes);
  const channels = pairs(table.channels);
  const graphs = new Set(table.was);
  const dropped = new Set(table.dropped);
  const isEmpty = nodes.size + channels.size + graphs.size + dropped.size === 0;
  const isPlain = isEmpty && program.graphs.every((called) => formerNames(called) === undefined);
  return isPlain ? null : { nodes, channels, graphs, dropped, path: (id) => presentPath(program, id, 0) };
}

/**
 * `call@0/ask@1.…`: each part names a node of the graph that the part before it calls.
 *
 * @param depth the parts that name nodes of the callers
 */
function presentPath(program: Program, id: string, depth: number): string {
  let called: Program | undefined = program;
  const parts = id.split("/").map((part, index) => {
    if (index < depth || called === undefined) return part;
    const nodes: ReadonlyMap<string, string> = formerNames(called)?.nodes ?? NO_NODES;
    const renamed = part.replace(
      /^(before:|after:)?(\w+)/,
      (_, gate: string | undefined, name: string) => `${gate ?? ""}${nodes.get(name) ?? name}`,
    );
    const name = /^\w+/.exec(renamed)?.[0] ?? "";
    // The `finally` part of a graph is the same graph.
    if (name === "finally") return part;
    called = programUnder(called, renamed);
    return renamed;
  });
  return parts.join("/");
}

/**
 * A checkpoint, and the results stored after it, under the present names of its graph. A former name is never in use (NG102), so
 * applying the names again changes nothing.
 */
export function underPresentNames(
  program: Program,
  head: Checkpoint,
  writes: readonly PendingWrite[] = [],
): PresentCheckpoint {
  const known = formerNames(program);
  if (known === undefined) return { head, writes, moved: NOTHING, problems: [] };
  // A process with another version may have stored results behind a checkpoint of this version.
  if (head.digest === program.table.digest) {
    return { head, writes: writes.map((write) => presentWrite(write, known)), moved: NOTHING, problems: [] };
  }
  const depth = head.namespace === "" ? 0 : head.namespace.split("/").length;
  const names = { ...known, path: (id: string) => presentPath(program, id, depth) };
  const moved = new Map<string, number>();
  for (const name of Object.keys(head.values)) {
    if (!names.channels.has(name) && !names.dropped.has(name)) continue;
    moved.set(name, Object.hasOwn(head.versions, name) ? head.versions[name]! : 0);
  }
  const taken = new Map<string, string>();
  const problems = Object.keys(head.values).flatMap((name) => {
    if (names.dropped.has(name)) return [];
    const present = names.channels.get(name) ?? name;
    const other = taken.get(present);
    taken.set(present, name);
    return other === undefined
      ? []
      : [`channel \`${present}\` would take the values of \`${other}\` and of \`${name}\`: drop one of them`];
  });
  const kept = withoutChannels(head, names.dropped);
  const renamed = renameCheckpoint(kept, names);
  const graph = head.graph !== undefined && names.graphs.has(head.graph) ? program.table.name : head.graph;
  return {
    head: graph === undefined ? renamed : { ...renamed, graph },
    writes: writes.map((write) => presentWrite(write, names)),
    moved,
    problems,
  };
}

/** A checkpoint under the present names, without the pauses that have ended since it was stored (`withAnswers`). */
export function answeredHead(program: Program, stored: Checkpoint, found: readonly PendingWrite[]): Checkpoint {
  const { head, writes } = underPresentNames(program, stored, found);
  return withAnswers(head, writes);
}

/** A record by channel under the present names. */
export function presentChannels<T>(program: Program, record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const names = formerNames(program);
  return names === undefined ? record : renameChannels(without(record, names.dropped), names);
}

/** The id of a pause under the present names. */
export function presentPauseId(program: Program, id: string): string {
  const names = formerNames(program);
  return names === undefined ? id : renameTask(id, names);
}

function presentWrite(write: PendingWrite, names: FormerNames): PendingWrite {
  if (isResult(write)) return renameWrite(withoutUpdates(write, names.dropped), names);
  const renamed = renameStoredTask(write, (id) => renameTask(id, names));
  return { ...renamed, node: names.nodes.get(write.node) ?? write.node };
}

export function withoutChannels(head: Checkpoint, dropped: ReadonlySet<string>): Checkpoint {
  if (dropped.size === 0) return head;
  const { finished, channels, finally: ended } = head;
  return {
    ...head,
    values: without(head.values, dropped),
    versions: without(head.versions, dropped),
    ...(finished && { finished: finished.map((write) => withoutUpdates(write, dropped)) }),
    ...(channels && { channels: without(channels, dropped) }),
    ...(ended && { finally: { ...ended, values: without(ended.values, dropped) } }),
  };
}

function withoutUpdates(write: PendingWrite, dropped: ReadonlySet<string>): PendingWrite {
  // The parts of a body write no channel.
  if (!isResult(write)) return write;
  const result = write.result as unknown as StoredOutcome;
  const updates = result.updates.filter(([channel]) => !dropped.has(channel));
  return { ...write, result: { ...result, updates } as unknown as Json };
}

export function without<T>(record: Readonly<Record<string, T>>, names: ReadonlySet<string>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));
}

const NO_NODES: ReadonlyMap<string, string> = new Map();
const NOTHING: ReadonlyMap<string, number> = new Map();
