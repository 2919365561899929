import {
  CHECKPOINT_SCHEMA_VERSION,
  type ChannelChange,
  type Checkpoint,
  type PendingWrite,
} from "../interface/checkpoint.ts";
import type { MigrateOptions } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import { setField } from "../expression/operations.ts";
import type { Json } from "../value/json.ts";
import { admitJson, Mismatch } from "../value/validate.ts";
import {
  channelShapes,
  isMemory,
  recordedShapes,
  reducerOf,
  type ChannelShapes,
} from "../checkpoint/channel-shapes.ts";
import { formerNames, underPresentNames, without, withoutChannels } from "../checkpoint/former-names.ts";
import { drift, driftProblems, otherGraph, presentShapes, renamedCallProblems } from "../checkpoint/drift.ts";
import { newId } from "../checkpoint/ids.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { loadHead, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { renameChannels, renameCheckpoint, type Renaming } from "../checkpoint/rename-checkpoint.ts";
import { isInStep, isResult, migrateCheckpoint, resumeStep, withAnswers } from "../checkpoint/restore-run.ts";
import { presentPauses } from "../checkpoint/present-pauses.ts";
import { describeError } from "../event/run-events.ts";
import type { Program } from "../program/program.ts";
import type { EngineCore } from "../run/run-settings.ts";
import type { Durable, StoredOutcome, StoredUpdate } from "../run/shared.ts";
import { programAt } from "./fork-thread.ts";

/** Without a claim, a migration only checks. */
type ThreadToMigrate = Pick<Durable, "store" | "threadId"> & Partial<Pick<Durable, "claim">>;

/**
 * Moves a thread to the table of the engine: renames, drops and converts what an edit of the graph has changed, in a checkpoint
 * of phase `updated`. All of it is checked before the one write. Returns the id of the thread's head.
 *
 * @throws RunError NG_BAD_INPUT for options that contradict the graph; ThreadError NG_DRIFT with what still does not fit
 */
export async function migrateThread(
  core: EngineCore,
  thread: ThreadToMigrate,
  options: MigrateOptions,
): Promise<string> {
  const { store, threadId, claim } = thread;
  const { program } = core;
  const { table } = program;
  const renaming = readRenaming(program, options);
  checkChannels(program, options);
  const latest = await loadHead(store, threadId);
  if (latest.digest === table.digest && (latest.graph ?? table.name) === table.name) return latest.id;
  refuseOtherGraph(latest, program, options);
  const writes = await loadWrites(store, threadId, latest.id);
  const present = underPresentNames(program, { ...latest, ...stateInStep(latest, writes) }, writes);
  const answered = withAnswers(present.head, present.writes);
  const shapes = presentShapes(program, await recordedShapes(store, latest));

  const dropped = new Set(options.drop ?? []);
  const problems = [...present.problems, ...duplicates(answered, dropped, renaming)];
  const head = renameCheckpoint(withoutChannels(answered, dropped), renaming);
  const values = { ...head.values };
  const given = newValues(core, head, options);
  for (const [name, value] of given) {
    const admitted = program.channels[program.channelIndex.get(name)!]!.admit(value);
    if (admitted instanceof Mismatch)
      problems.push(`the new value of channel \`${name}\` does not fit: ${admitted.describe()}`);
    else setField(values, name, admitted);
  }
  const known = shapes === undefined ? undefined : renameChannels(without(shapes, dropped), renaming);
  const migrated: Checkpoint = { ...head, values, ...convertedResults(core, head, options, known) };
  const accepted = new Set([...Object.keys(options.map ?? {}), ...Object.keys(options.set ?? {})]);
  const expected = known === undefined ? undefined : { ...known };
  // A new value also accepts the new reducer of its channel.
  for (const name of accepted) if (expected !== undefined) setField(expected, name, channelShapes(program)[name]!);
  problems.push(...driftProblems(program, migrated, [], expected));
  problems.push(...(await calledGraphProblems(core, thread, withAnswers(latest, writes), renaming)));
  if (problems.length > 0) {
    const remedy =
      "say what became of each with `rename`, `drop` or `map` (`ngc migrate --rename old=new --drop name`)";
    throw drift(
      latest,
      `thread \`${threadId}\` does not fit this version of graph \`${table.name}\``,
      problems,
      remedy,
    );
  }
  if (options.dryRun === true || claim === undefined) return latest.id;

  const { changes, versions } = changesBetween(latest, migrated);
  const { values: _, versions: __, ...header } = { ...migrated, pauses: presentPauses(program, migrated) };
  const id = newId();
  await asStoreError(() =>
    store.save(claim, {
      header: {
        ...header,
        schemaVersion: CHECKPOINT_SCHEMA_VERSION,
        id,
        parentId: latest.id,
        step: resumeStep(latest) - 1,
        phase: "updated",
        label: null,
        metadata: { ...latest.metadata, ...options.metadata },
        timestamp: core.clock.now(),
        digest: table.digest,
        graph: table.name,
        channels: channelShapes(program),
      },
      changes,
      snapshot: () => ({ values, versions }),
      expectedHead: latest.id,
      clearWritesOf: latest.id,
    }),
  );
  return id;
}

/**
 * Reads `rename`. Each name applies to nodes, to channels or to both, if the graph has the new name and no longer has
 * the old one.
 */
function readRenaming({ table, nodeIndex, channelIndex }: Program, { rename = {} }: MigrateOptions): Renaming {
  checkRecordOf("rename", rename, "old names to new names", (value) => typeof value === "string");
  const targets = new Set(Object.values(rename));
  const nodes = new Map<string, string>();
  const channels = new Map<string, string>();
  for (const [old, name] of Object.entries(rename)) {
    // An old name that is in use again belongs to a swap: `{ a: "b", b: "a" }`.
    const isFree = (index: ReadonlyMap<string, number>): boolean => !index.has(old) || targets.has(old);
    const isNode = nodeIndex.has(name) && isFree(nodeIndex);
    const isChannel = channelIndex.has(name) && isFree(channelIndex);
    if (isNode) nodes.set(old, name);
    if (isChannel) channels.set(old, name);
    if (isNode || isChannel || name === table.name) continue;
    const reason =
      nodeIndex.has(name) || channelIndex.has(name)
        ? `graph \`${table.name}\` still has \`${old}\``
        : `graph \`${table.name}\` has neither a node nor a channel \`${name}\``;
    throw new RunError("NG_BAD_INPUT", `\`${old}\` cannot be renamed to \`${name}\`: ${reason}`);
  }
  if (targets.size < Object.keys(rename).length) {
    throw new RunError("NG_BAD_INPUT", "`rename` gives two names the same new name: drop the value of one of them");
  }
  return { nodes, channels };
}

function checkChannels({ channelIndex, table }: Program, { drop = [], map = {}, set = {} }: MigrateOptions): void {
  if (!Array.isArray(drop) || !drop.every((name) => typeof name === "string")) {
    throw new RunError("NG_BAD_INPUT", "`drop` is a list of channel names");
  }
  checkRecordOf("map", map, "channels to functions", (value) => typeof value === "function");
  checkRecordOf("set", set, "channels to values", () => true);
  for (const name of [...Object.keys(map), ...Object.keys(set)]) {
    if (channelIndex.has(name)) continue;
    const message = `\`${name}\` is not a channel of graph \`${table.name}\`: \`map\` and \`set\` use the new names of channels`;
    throw new RunError("NG_BAD_INPUT", message);
  }
}

function checkRecordOf(name: string, given: unknown, what: string, fits: (value: unknown) => boolean): void {
  if (typeof given === "object" && given !== null && !Array.isArray(given) && Object.values(given).every(fits)) return;
  throw new RunError("NG_BAD_INPUT", `\`${name}\` is a record of ${what}`);
}

function refuseOtherGraph(head: Checkpoint, { table }: Program, { graph, rename = {} }: MigrateOptions): void {
  const was = head.graph;
  if (was === undefined || was === table.name || graph === was || table.was?.includes(was) === true) return;
  if (Object.hasOwn(rename, was) && rename[was] === table.name) return;
  throw otherGraph(head, table.name);
}

/** The results and released gates of the unfinished step, where a checkpoint of phase `updated` keeps them. */
function stateInStep(head: Checkpoint, writes: readonly PendingWrite[]): Partial<Checkpoint> {
  const results = new Map<string, PendingWrite>();
  for (const write of [...(head.finished ?? []), ...writes]) if (isResult(write)) results.set(write.taskId, write);
  // Records of older versions do not list the gates that an interrupted step has passed: it has passed all.
  const isOld = head.graph === undefined && head.phase === "interrupted";
  const nodes = [...head.nextNodes, ...head.pendingSends.map(({ node }) => node)];
  return {
    ...(results.size === 0 && !isInStep(head) ? {} : { finished: [...results.values()] }),
    ...(isOld ? { passedGates: [...new Set(nodes)] } : {}),
  };
}

/** Two channels of the thread that would become one. */
function duplicates(head: Checkpoint, dropped: ReadonlySet<string>, { channels }: Renaming): string[] {
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
  { map = {} }: MigrateOptions,
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
      if (write.taskId.endsWith("]") || !result.updates.some(isConverted)) return write;
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
  { values }: Checkpoint,
  { map = {}, set = {} }: MigrateOptions,
): (readonly [string, Json])[] {
  const { program } = core;
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
  return plain(name, converted);
}

function plain(name: string, value: unknown): Json {
  const json = admitJson(value);
  if (!(json instanceof Mismatch)) return json;
  throw new RunError("NG_BAD_INPUT", `the new value of channel \`${name}\` is not plain JSON: ${json.describe()}`);
}

/**
 * The problems of graphs that the thread calls. Their unfinished runs and their memory are stored under the name of the calling
 * node. A node with such a run or memory can therefore not be renamed.
 */
async function calledGraphProblems(
  { program }: EngineCore,
  { store, threadId }: ThreadToMigrate,
  head: Checkpoint,
  { nodes }: Renaming,
): Promise<string[]> {
  const problems = renamedCallProblems(program, head);
  const unfinished = Object.entries(head.children ?? {});
  const next = new Set([...head.nextNodes, ...head.pendingSends.map(({ node }) => node)]);
  for (const [old, name] of nodes) {
    const { call, spec } = program.nodes[program.nodeIndex.get(name)!]!;
    if (old === name || (call.kind !== "graph" && call.kind !== "plan")) continue;
    const why = `node \`${old}\` cannot be renamed to \`${name}\``;
    const isCalled = unfinished.some(([namespace]) => /^\w+/.exec(namespace)?.[0] === old);
    const child = await asStoreError(() => store.loadLatest(threadId, old));
    const isNext = next.has(old) && (child !== undefined || (spec.each !== undefined && head.status === "running"));
    if (isCalled || isNext) {
      problems.push(`${why}: the graph that it calls has not finished; resume the thread under the old version first`);
    } else if (child?.channels !== undefined && remembers(child)) {
      problems.push(`${why}: the graph that it calls has memory, which is stored under the name of the node`);
    }
  }
  for (const [namespace, id] of unfinished) {
    const path = namespace.split("/");
    const caller = /^\w+/.exec(namespace)?.[0] ?? "";
    if (nodes.has(caller) || formerNames(program)?.nodes.has(caller) === true) continue;
    const called = programAt(program, path);
    if (called === undefined) {
      problems.push(`\`${namespace}\` has not finished, and no node calls a graph there any more`);
      continue;
    }
    const found = await asStoreError(() => store.loadById(threadId, id));
    if (found === undefined) continue;
    const child = migrateCheckpoint(found, { threadId, namespace, id });
    const { name } = called.table;
    if (child.graph !== undefined && child.graph !== name) {
      problems.push(`\`${namespace}\` has not finished graph \`${child.graph}\`, and now calls \`${name}\``);
      continue;
    }
    const shapes = child.digest === called.table.digest ? undefined : await recordedShapes(store, child);
    const writes = await loadWrites(store, threadId, id);
    for (const problem of driftProblems(called, child, writes, shapes))
      problems.push(`in \`${namespace}\`: ${problem}`);
  }
  return problems;
}

function remembers({ channels = {}, values }: Checkpoint): boolean {
  return Object.entries(channels).some(
    ([name, shape]) => isMemory(shape) && Object.hasOwn(values, name) && values[name] !== null,
  );
}

/** How the channels of the migrated checkpoint differ from those of its parent. */
function changesBetween(
  former: Checkpoint,
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
