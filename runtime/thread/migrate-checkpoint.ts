import type { ChannelChange, Checkpoint, PendingWrite } from "../interface/checkpoint.ts";
import { RunError } from "../interface/errors.ts";
import { setField } from "../expression/operations.ts";
import { channelShapes, reducerOf, type ChannelShapes } from "../checkpoint/channel-shapes.ts";
import { underPresentNames, without, withoutChannels } from "../checkpoint/former-names.ts";
import { driftProblems, presentShapes } from "../checkpoint/drift.ts";
import { problemsOf, type DriftProblem } from "../checkpoint/drift-problem.ts";
import { renameChannels, renameCheckpoint } from "../checkpoint/rename-checkpoint.ts";
import { dueOfWrite, isDue, isInStep, isPart, isResult, withAnswers } from "../checkpoint/restore-run.ts";
import { describeError } from "../event/run-events.ts";
import type { Program } from "../program/program.ts";
import type { EngineCore } from "../run/run-settings.ts";
import type { StoredOutcome, StoredUpdate } from "../run/shared.ts";
import type { Json } from "../value/json.ts";
import { dropPromise } from "../value/promise.ts";
import { admitJson, Mismatch } from "../value/validate.ts";
import { changesGraph, migratedPath, type Changes, type GraphChanges } from "./migrate-options.ts";

/** A checkpoint of the edited graph, and what does not fit it. */
export interface MigratedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly problems: readonly DriftProblem[];
}

/**
 * Applies a migration to a checkpoint of one graph, and to the results and due times that were stored after it, which become part
 * of the checkpoint.
 *
 * @param shapes the channels of the graph that wrote the checkpoint; `undefined` if they are not known
 */
export function migrateContent(
  core: EngineCore,
  program: Program,
  changes: Changes,
  { head: stored, writes, shapes }: StoredContent,
): MigratedCheckpoint {
  const own = changes.of(program);
  const present = underPresentNames(program, { ...stored, ...stateInStep(stored, writes) }, writes);
  const answered = withAnswers(present.head, present.writes);
  const dueTimes = present.writes.filter(isDue).map(dueOfWrite);
  const depth = stored.namespace === "" ? 0 : stored.namespace.split("/").length;
  const renaming = {
    ...own.renaming,
    path: (id: string) => migratedPath(core.program, changes, id, depth),
    nodePath: (path: string) => migratedPath(program, changes, path, 0),
  };
  const known = shapes === undefined ? undefined : presentShapes(program, shapes);

  const problems: DriftProblem[] = [...problemsOf([...present.problems, ...duplicates(answered, own)])];
  const dues = dueTimes.length === 0 ? answered.dues : { ...answered.dues, ...Object.fromEntries(dueTimes) };
  const kept = withoutChannels({ ...answered, ...(dues && { dues }) }, own.dropped);
  const head = renameCheckpoint(kept, changesGraph(changes, core.program) ? renaming : own.renaming);
  const values = { ...head.values };
  for (const [name, value] of newValues(core, program, head, own)) {
    const admitted = program.channels[program.channelIndex.get(name)!]!.admit(value);
    if (admitted instanceof Mismatch) {
      problems.push({ text: `the new value of channel \`${name}\` does not fit: ${admitted.describe()}` });
      // The former value is not a problem of its own.
      delete values[name];
    } else setField(values, name, admitted);
  }
  const expected = known === undefined ? undefined : renameChannels(without(known, own.dropped), own.renaming);
  const checkpoint: Checkpoint = { ...head, values, ...convertedResults(core, head, own, expected) };
  const accepted = new Set([...Object.keys(own.map), ...Object.keys(own.set)]);
  const after = expected === undefined ? undefined : { ...expected };
  // A new value also accepts the new reducer of its channel.
  for (const name of accepted) if (after !== undefined) setField(after, name, channelShapes(program)[name]!);
  problems.push(...driftProblems(program, checkpoint, [], after));
  return { checkpoint: { ...checkpoint, ...(after && { channels: after }) }, problems };
}

/** A stored checkpoint with the writes behind it. */
export interface StoredContent {
  readonly head: Checkpoint;
  readonly writes: readonly PendingWrite[];
  readonly shapes: ChannelShapes | undefined;
}

/** The results, those of parts of bodies, and the released gates of the unfinished step, where a checkpoint of phase `updated` keeps them. */
export function stateInStep(head: Checkpoint, writes: readonly PendingWrite[]): Partial<Checkpoint> {
  const results = new Map<string, PendingWrite>();
  for (const write of [...(head.finished ?? []), ...writes]) {
    if (isResult(write) || isPart(write)) results.set(write.taskId, write);
  }
  // Records of older versions do not list the gates that an interrupted step has passed: it has passed all.
  const isOld = head.graph === undefined && head.phase === "interrupted";
  const nodes = [...head.nextNodes, ...head.pendingSends.map(({ node }) => node)];
  return {
    ...(results.size === 0 && !isInStep(head) ? {} : { finished: [...results.values()] }),
    ...(isOld ? { passedGates: [...new Set(nodes)] } : {}),
  };
}

/** Two channels of the thread that would become one. */
function duplicates(head: Checkpoint, { dropped, renaming: { channels } }: GraphChanges): string[] {
  const kept = new Set(Object.keys(head.values).filter((name) => !dropped.has(name)));
  return [...channels].flatMap(([old, name]) =>
    old !== name && kept.has(old) && kept.has(name) && !channels.has(name)
      ? [`channel \`${old}\` cannot become \`${name}\`, which has a value: drop one of them`]
      : [],
  );
}

/**
 * Stored results that write a converted channel. A value that a reducer combines with the channel has another type: it stays,
 * unless it replaces the channel's value (`into set`).
 */
function convertedResults(
  core: EngineCore,
  { finished }: Checkpoint,
  { map }: GraphChanges,
  shapes: ChannelShapes | undefined,
): Pick<Checkpoint, "finished"> {
  const isConverted = ([name, , mode]: StoredUpdate): boolean =>
    Object.hasOwn(map, name) &&
    shapes !== undefined &&
    Object.hasOwn(shapes, name) &&
    (mode === "set" || reducerOf(shapes[name]!) === undefined);
  if (finished === undefined) return {};
  return {
    finished: finished.map((write) => {
      const result = write.result as unknown as StoredOutcome;
      // The result of an item is an item of the value.
      if (!isResult(write) || write.taskId.endsWith("]") || !result.updates.some(isConverted)) return write;
      // Mutation point: converted-updates
      const updates = result.updates.map((update): StoredUpdate => {
        if (!isConverted(update)) return update;
        const [name, value, ...mode] = update;
        return [name, convert(core, name, map[name]!, value), ...mode];
      });
      return { ...write, result: { ...result, updates } as unknown as Json };
    }),
  };
}

/** The values that `map` and `set` determine. @throws RunError NG_BAD_INPUT if a function throws */
function newValues(
  core: EngineCore,
  program: Program,
  { values }: Checkpoint,
  { map, set }: GraphChanges,
): (readonly [string, Json])[] {
  const given: (readonly [string, Json])[] = [];
  for (const [name, change] of Object.entries(map)) {
    const index = program.channelIndex.get(name)!;
    const isStored = Object.hasOwn(values, name);
    // The start value is that of the new graph.
    if (!isStored && !(program.channels[index]!.admit(program.initial[index]!) instanceof Mismatch)) continue;
    given.push([name, convert(core, name, change, isStored ? values[name]! : null)]);
  }
  for (const [name, value] of Object.entries(set)) given.push([name, plain(name, value)]);
  return given;
}

function convert({ redact }: EngineCore, name: string, change: (value: Json) => Json, value: Json): Json {
  let converted: Json;
  try {
    converted = change(value);
  } catch (cause) {
    const reason = describeError(cause, redact);
    const message = `the function that converts channel \`${name}\` failed: ${reason}`;
    throw new RunError("NG_BAD_INPUT", message, { cause, causeMessage: reason });
  }
  dropPromise(converted);
  return plain(name, converted);
}

function plain(name: string, value: unknown): Json {
  const json = admitJson(value);
  if (!(json instanceof Mismatch)) return json;
  throw new RunError("NG_BAD_INPUT", `the new value of channel \`${name}\` is not plain JSON: ${json.describe()}`);
}

/** How the channels of the migrated checkpoint differ from those of its parent. */
export function changesBetween(
  former: Pick<Checkpoint, "values" | "versions">,
  migrated: Checkpoint,
): { readonly changes: readonly ChannelChange[]; readonly versions: Readonly<Record<string, number>> } {
  const changes: ChannelChange[] = [];
  const versions: Record<string, number> = { ...former.versions };
  const next = (name: string): number => {
    const of = (record: Readonly<Record<string, number>>): number => (Object.hasOwn(record, name) ? record[name]! : 0);
    const version = Math.max(of(former.versions), of(migrated.versions)) + 1;
    setField(versions as Record<string, Json>, name, version);
    return version;
  };
  for (const channel of Object.keys(former.values)) {
    if (!Object.hasOwn(migrated.values, channel)) changes.push({ channel, version: next(channel), kind: "reset" });
  }
  for (const [channel, value] of Object.entries(migrated.values)) {
    if (Object.hasOwn(former.values, channel) && former.values[channel] === value) continue;
    changes.push({ channel, version: next(channel), kind: "set", value });
  }
  return { changes, versions };
}
