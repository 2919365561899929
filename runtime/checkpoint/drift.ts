import type { Checkpoint, PendingWrite } from "../interface/checkpoint.ts";
import { ThreadError } from "../interface/thread-error.ts";
import { Mismatch } from "../value/validate.ts";
import type { Program } from "../program/program.ts";
import { nodeOfSegment } from "../program/tool-segment.ts";
import type { Store } from "../interface/store.ts";
import { channelShapes, recordedShapes, reducerOf, type ChannelShapes } from "./channel-shapes.ts";
import { presentChannels, underPresentNames, type PresentCheckpoint } from "./former-names.ts";
import { hiddenChannel, UNDO_NAME } from "../table/hidden-channels.ts";
import { findUndo, openUndos, readLog, withDone } from "./undo-log.ts";
import { drift, problemsOf, type DriftProblem } from "./drift-problem.ts";
import { presentPauses } from "./present-pauses.ts";
import { isResult, undoneKeys } from "./restore-run.ts";
import { lostUndos } from "./stored-calls.ts";
import { ROLLBACK, type BarrierSpec, type Table } from "../table/table.ts";
import type { StoredOutcome } from "../run/shared.ts";

/**
 * The checkpoint under the present names of its graph (`was`, `drop`). Refuses to resume under a table that no longer has what the checkpoint needs (5.7): its next nodes, the members of partly filled
 * barriers, the targets of its stored results, its channels with values that fit, the reducers of its channels, and a value for
 * each new channel.
 *
 * @param writes results that were stored since the checkpoint
 * @param options `known`: what is already known not to fit; `stored`: the checkpoint as the store has it (`moveCalled`)
 * @throws ThreadError NG_DRIFT that lists what does not fit
 */
export async function refuseDrift(
  program: Program,
  store: Store,
  head: Checkpoint,
  writes: readonly PendingWrite[] = [],
  { known = [], stored = head }: { readonly known?: readonly string[]; readonly stored?: Checkpoint | undefined } = {},
): Promise<PresentCheckpoint> {
  const { table } = program;
  const present = underPresentNames(program, head, writes);
  // Mutation point: other-graph
  if (present.head.graph !== undefined && present.head.graph !== table.name) throw otherGraph(head, table.name);
  const shapes = head.digest === table.digest ? undefined : presentShapes(program, await recordedShapes(store, stored));
  const problems = [
    ...problemsOf([...known, ...present.problems]),
    ...driftProblems(program, present.head, present.writes, shapes),
    ...(head.digest === table.digest ? [] : problemsOf(await lostUndos(program, store, stored, writes))),
  ];
  // Mutation point: drift
  if (problems.length === 0) return withPresentPauses(program, present);
  throw drift(
    head,
    `thread \`${head.threadId}\` cannot be resumed with this version of graph \`${table.name}\``,
    problems,
    "resume it under the version that wrote it",
  );
}

function withPresentPauses(program: Program, present: PresentCheckpoint): PresentCheckpoint {
  // Mutation point: present-pauses
  const pauses = presentPauses(program, present.head);
  return pauses === present.head.pauses ? present : { ...present, head: { ...present.head, pauses } };
}

export function presentShapes(program: Program, shapes: ChannelShapes | undefined): ChannelShapes | undefined {
  return shapes === undefined ? undefined : presentChannels(program, shapes);
}

/** A thread belongs to the graph of its first run: another graph has other channels, and could answer its pauses. */
export function otherGraph(head: Checkpoint, name: string): ThreadError {
  const message = `thread \`${head.threadId}\` belongs to graph \`${head.graph}\`: give graph \`${name}\` a thread of its own, or migrate the thread if the graph was renamed`;
  return new ThreadError("NG_DRIFT", head.threadId, message, { details: [`the graph was \`${head.graph}\``] });
}

/** Problems of channels: a changed reducer, or a new channel without a value that its type allows. */
function channelProblems(program: Program, head: Checkpoint, shapes: ChannelShapes | undefined): DriftProblem[] {
  if (shapes === undefined) return [];
  const { channels, initial } = program;
  const now = channelShapes(program);
  const part = partNames(program, head);
  return channels.flatMap((channel) => {
    const { name, index, spec } = channel;
    if (!Object.hasOwn(shapes, name)) {
      if (spec.role === "config" && head.namespace !== "") return [];
      if ((spec.role === "input" || spec.role === "config") && spec.initial === undefined) {
        return [{ text: `${spec.role} \`${name}\` is new and has no default`, migrate: [`--set ${part(name)}=JSON`] }];
      }
      const hasValue = !(channel.admit(initial[index]!) instanceof Mismatch);
      // Mutation point: new-channel
      if (hasValue) return [];
      const text = `channel \`${name}\` is new, has no default, and its type does not allow \`null\``;
      return [{ text, migrate: [`--set ${part(name)}=JSON`] }];
    }
    const [before, after] = [reducerOf(shapes[name]!), reducerOf(now[name]!)];
    // Mutation point: changed-reducer
    if (before === after) return [];
    // A value of another type is reported for itself: the reducer has changed with the type.
    const value = Object.hasOwn(head.values, name) ? head.values[name]! : null;
    if (value !== null && channel.admit(value) instanceof Mismatch) return [];
    const text = `the reducer of channel \`${name}\` was ${before ?? "none"} and is ${after ?? "none"}`;
    return [{ text, migrate: [`--keep ${part(name)}`] }];
  });
}

/**
 * The parts of a checkpoint that do not fit a table, one line for each.
 *
 * @param shapes the channels of the graph that wrote the checkpoint; `undefined` if they are not known
 */
export function driftProblems(
  program: Program,
  head: Checkpoint,
  writes: readonly PendingWrite[],
  shapes: ChannelShapes | undefined,
): DriftProblem[] {
  const { table, nodeIndex, channelIndex, channels } = program;
  const problems: DriftProblem[] = [];
  const part = partNames(program, head);
  const needNode = (name: string, why: string): void => {
    if (!nodeIndex.has(name))
      problems.push({ text: `node \`${name}\` no longer exists, but ${why}`, ...ofNode(name, part) });
  };
  for (const name of head.nextNodes) needNode(name, "it is a next node");
  for (const name of head.unrouted ?? []) if (name !== "start") needNode(name, "its edges have to be evaluated again");
  for (const write of [...(head.finished ?? []), ...writes]) {
    if (isResult(write)) for (const each of resultProblems(program, write, part)) problems.push(each);
  }
  for (const send of head.pendingSends) needNode(send.node, "an item was sent to it");
  for (const text of lostTools(program, head)) problems.push({ text });
  for (const name of Object.keys(head.errors)) needNode(name, "an error edge leads to it");
  for (const [id, names] of Object.entries(head.barrierState)) {
    const barrier = table.barriers.find((spec) => spec.id === id);
    if (barrier === undefined) {
      // The id of a barrier is the name of its target.
      const target = /^\w+/.exec(id)?.[0] ?? id;
      const renamed = nodeIndex.has(target) ? {} : ofNode(target, part);
      problems.push({
        text: `the barrier \`${id}\` no longer exists, but ${names.join(", ")} signalled it`,
        ...renamed,
      });
      continue;
    }
    const members = new Set(barrier.members.flat().map((node) => table.nodes[node]?.name));
    for (const name of names) {
      if (members.has(name)) continue;
      const renamed = nodeIndex.has(name) ? {} : ofNode(name, part);
      problems.push({ text: `\`${name}\` no longer belongs to the barrier \`${id}\``, ...renamed });
    }
    if (isFilled(table, barrier, names)) {
      const target = table.nodes[barrier.target]?.name ?? (barrier.target === ROLLBACK ? "rollback" : "end");
      problems.push({
        text: `the barrier \`${id}\` has lost the members that it waited for (resume with \`at: "${target}"\` to run \`${target}\`)`,
      });
    }
  }
  for (const [name, value] of Object.entries(head.values)) {
    if (hiddenChannel(program, name) !== undefined) continue;
    const index = channelIndex.get(name);
    if (index === undefined) {
      problems.push({ text: `channel \`${name}\` no longer exists`, ...ofChannel(name, part) });
      continue;
    }
    const admitted = value === null ? null : channels[index]!.admit(value);
    if (admitted instanceof Mismatch) {
      problems.push({
        text: `channel \`${name}\` has another type: ${admitted.describe()}`,
        migrate: ofValue(name, part),
      });
    }
  }
  // Mutation point: undo-drift
  return [...problems, ...problemsOf(undoProblems(program, head, writes)), ...channelProblems(program, head, shapes)];
}

/** Open calls of graphs that are no tools of their node any more. A node that is gone, or calls something else, is another problem. */
function lostTools({ nodes, nodeIndex }: Program, { children, namespace }: Checkpoint): string[] {
  const depth = namespace === "" ? 0 : namespace.split("/").length;
  return Object.keys(children ?? {}).flatMap((called) => {
    const path = called.split("/");
    const [name = "", tool] = nodeOfSegment(path[depth] ?? "").split(".");
    const call = nodes[nodeIndex.get(name) ?? -1]?.call;
    if (path.length !== depth + 1 || tool === undefined || call?.kind !== "builtin") return [];
    if (call.graphs?.has(tool) === true) return [];
    return [
      `\`${path[depth]}\` has not finished, and \`${tool}\` is no graph among the \`tools\` of node \`${name}\` any more`,
    ];
  });
}

/** Open undos whose node has no such `undo` any more. */
function undoProblems(program: Program, head: Checkpoint, writes: readonly PendingWrite[]): string[] {
  const results = [...(head.finished ?? []), ...writes].filter(isResult);
  const stored = results.flatMap(({ result }) => (result as unknown as StoredOutcome).undo ?? []);
  const open = openUndos(withDone([...readLog(head.values[UNDO_NAME]), ...stored], undoneKeys(writes)));
  const lost = open.filter((entry) => entry.args !== undefined && findUndo(program, entry) === undefined);
  const lines = lost.map(
    ({ nodes, call }) => `node \`${nodes.join("/")}\` has no \`undo ${call}(…)\`, but a result of it is to be undone`,
  );
  return [...new Set(lines)];
}

/** A barrier fires in the step that fills it. One that an edit has filled would never fire, except for `settled`. */
function isFilled({ nodes }: Table, { kind, members }: BarrierSpec, names: readonly string[]): boolean {
  return kind !== "settled" && members.every((each) => each.some((node) => names.includes(nodes[node]?.name ?? "")));
}

/**
 * Prepares a checkpoint for a run that continues at a chosen node. Removes its next nodes, tasks, pauses and results, and the
 * signals of barriers that the table does not have.
 */
export function withoutNext({ table }: Program, head: Checkpoint): Checkpoint {
  const { finished: _, passedGates: __, unrouted: ___, failedEdges: ____, ...kept } = head;
  const signals = Object.entries(head.barrierState).flatMap(([id, names]) => {
    const barrier = table.barriers.find((spec) => spec.id === id);
    const members = new Set(barrier?.members.flat().map((node) => table.nodes[node]?.name));
    const known = names.filter((name) => members.has(name));
    if (barrier !== undefined && isFilled(table, barrier, known)) return [];
    return known.length === 0 ? [] : [[id, known] as const];
  });
  const barrierState = Object.fromEntries(signals);
  // Mutation point: dropped-next
  return { ...kept, nextNodes: [], pendingSends: [], pauses: [], answers: [], errors: {}, barrierState };
}

/** The parts of a stored result that do not fit the table. */
function resultProblems(
  { nodeIndex, channelIndex, channels }: Program,
  { node, taskId, result }: PendingWrite,
  part: (name: string) => string,
): DriftProblem[] {
  const problems: DriftProblem[] = [];
  if (!nodeIndex.has(node)) {
    problems.push({ text: `node \`${node}\` no longer exists, but its result is stored`, ...ofNode(node, part) });
  }
  const { updates, goto = [], sends = [] } = result as unknown as StoredOutcome;
  for (const [name, value, mode] of updates) {
    const index = channelIndex.get(name);
    if (index === undefined) {
      const text = `channel \`${name}\` no longer exists, but the stored result of node \`${node}\` writes it`;
      problems.push({ text, ...ofChannel(name, part) });
      continue;
    }
    const isItem = taskId.endsWith("]");
    const admitted = isItem ? channels[index]!.admitItem(value) : channels[index]!.admitUpdate(value);
    if (admitted instanceof Mismatch) {
      const text = `channel \`${name}\` does not accept the stored result of node \`${node}\`: ${admitted.describe()}`;
      // A migration converts whole values. An item of a list, and an update that a reducer takes, are parts of them.
      const isWhole = !isItem && (mode === "set" || channels[index]!.spec.reducer === undefined);
      if (isWhole) problems.push({ text, migrate: [`--map ${part(name)}=EXPRESSION`] });
      else problems.push({ text, ...(part(name) === name ? { again: node } : { migrate: [`--drop ${part(name)}`] }) });
    }
  }
  for (const target of [...goto, ...sends.map((send) => send.node)]) {
    if (target !== "end" && target !== "rollback" && !nodeIndex.has(target)) {
      const text = `node \`${target}\` no longer exists, but the stored result of node \`${node}\` leads to it`;
      problems.push({ text, ...ofNode(target, part) });
    }
  }
  return problems;
}

type Remedies = Pick<DriftProblem, "declare" | "migrate">;

/** The name of a node or channel in the options of a migration: that of a called graph has the graph in front. */
export function partNames({ table }: Program, { namespace }: Checkpoint): (name: string) => string {
  return (name) => (namespace === "" ? name : `${table.name}.${name}`);
}

function ofNode(name: string, part: (name: string) => string): Remedies {
  return { declare: [`was ${name}`], migrate: [`--rename ${part(name)}=NEW`] };
}

export function ofChannel(name: string, part: (name: string) => string): Remedies {
  return {
    declare: [`was ${name}`, `drop ${name}`],
    migrate: [`--rename ${part(name)}=NEW`, `--drop ${part(name)}`],
  };
}

export function ofValue(name: string, part: (name: string) => string): readonly string[] {
  return [`--map ${part(name)}=EXPRESSION`, `--set ${part(name)}=JSON`];
}
