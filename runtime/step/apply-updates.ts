import { RunError } from "../interface/errors.ts";
import type { Json } from "../value/json.ts";
import { redactAppended, redactJson } from "../event/redact-json.ts";
import { describeError, emitEvent } from "../event/run-events.ts";
import type { ChannelCode } from "../program/channel-code.ts";
import type { Run } from "../run/run.ts";
import { endTurnAfter, inTurns } from "../run/cut-work.ts";
import { isOwnLong } from "../value/own-values.ts";
import type { Work } from "../value/work.ts";
import type { Outcome, Task } from "./task.ts";

/** An applied update. Writes are in order, so that they can be undone and reported. */
export interface Write {
  readonly channel: number;
  readonly before: Json;
  /** Index of its task. */
  readonly task: number;
  readonly update: Json;
  readonly after: Json;
  readonly set?: true;
}

/** The step applies no update: the tasks at fault have to run again. */
export interface Fault {
  readonly error: RunError;
  readonly atFault: readonly Task[];
  /** The items of `for` nodes at fault keep their results: only what the nodes make of them has to be made again. */
  readonly keepsItems: boolean;
}

type Applied = readonly Write[] | Fault;

/**
 * Applies updates in task order, all or nothing (2.2, 2.3). Costs what is written.
 *
 * @returns a promise if a reducer reads so many items that others have a turn meanwhile
 */
export function applyUpdates(
  run: Run,
  tasks: readonly Task[],
  outcomes: readonly Outcome[],
): Applied | Promise<Applied> {
  const only = tasks.length === 1 ? applyOne(run, outcomes[0]!) : undefined;
  return only ?? inTurns(run.shared, applyAll(run, tasks, outcomes));
}

function* applyAll(run: Run, tasks: readonly Task[], outcomes: readonly Outcome[]): Work<Applied> {
  const { channels } = run.program;
  const { state } = run;
  const writes: Write[] = [];
  // Mutation point: concurrent-write
  const clash = tasks.length > 1 ? concurrentWrite(run, tasks, outcomes) : undefined;
  if (clash !== undefined) return clash;
  // Events report the value after each update. Otherwise the updates of a list or record are applied together.
  const together = tasks.length >= MANY && !run.listening ? new Map<number, Together>() : undefined;
  // Mutation point: update-order
  for (let index = 0; index < tasks.length; index++) {
    for (const { channel, value, set, refused } of outcomes[index]!.updates) {
      const code = channels[channel]!;
      const current = state[channel]!;
      if (set === true) {
        state[channel] = value;
        writes.push({ channel, before: current, task: index, update: value, after: value, set });
        continue;
      }
      if (together !== undefined && code.reducing !== undefined && refused === undefined) {
        const known = together.get(channel);
        if (known === undefined) together.set(channel, { task: index, updates: [value] });
        else known.updates.push(value);
        continue;
      }
      try {
        if (refused !== undefined) throw refused.cause;
        if (code.reduce === undefined) state[channel] = value;
        else if (reducesInParts(code, current, value)) state[channel] = yield* reduceInParts(run, code, current, value);
        else state[channel] = code.reduce(current, value);
      } catch (cause) {
        // Mutation point: undone-updates
        undoUpdates(run, writes);
        const task = tasks[index]!;
        const { name } = task.node.spec;
        const reason = describeError(cause, run.shared.redact);
        const message = `the reducer of channel \`${code.name}\` failed on what node \`${name}\` wrote: ${reason}`;
        return {
          error: new RunError("NG_REDUCER_FAILED", message, { nodeIds: [name], cause, causeMessage: reason }),
          atFault: [task],
          keepsItems: true,
        };
      }
      writes.push({ channel, before: current, task: index, update: value, after: state[channel]! });
    }
  }
  for (const [channel, { task, updates }] of together ?? []) {
    const before = state[channel]!;
    const after = yield* channels[channel]!.reducing!(before, updates);
    state[channel] = after;
    writes.push({ channel, before, task, update: updates[0]!, after });
  }
  return writes;
}

/**
 * Applies the only update of a step without the parts of `applyAll`, which would be a good part of the cost of a small step. Returns `undefined`,
 * and changes nothing, if the update needs a reducer.
 */
function applyOne({ writer, listening, state, program }: Run, { updates, failure }: Outcome): Applied | undefined {
  if (updates.length !== 1) return updates.length === 0 ? NO_WRITES : undefined;
  const { channel, value, set } = updates[0]!;
  if (set !== true && program.channels[channel]!.reduce !== undefined) return undefined;
  const before = state[channel]!;
  state[channel] = value;
  // No checkpoint, no listener, and no failure that could undo it: nothing has to know the update.
  if (writer === undefined && !listening && failure === undefined) return NO_WRITES;
  const write = { channel, before, task: 0, update: value, after: value };
  return [set === true ? { ...write, set } : write];
}

/** Whether an update may take longer than the rest of a step. One `append` copies a list, which takes little time for its length. */
export function reducesInParts({ spec, reducing }: ChannelCode, current: Json, update: Json): boolean {
  const kind = spec.reducer?.kind;
  return kind === "function" || (reducing !== undefined && kind !== "append" && isLong(current, update));
}

/** Applies an update of which `reducesInParts` is true. */
export function* reduceInParts({ shared }: Run, code: ChannelCode, current: Json, update: Json): Work<Json> {
  if (code.reducing !== undefined) return yield* code.reducing(current, [update]);
  // An imported reducer is one part, which begins in a turn of its own if the update is long.
  if (endTurnAfter(shared, update)) yield;
  return code.reduce!(current, update);
}

/** Whether a reducer that reads each item may take longer than the rest of a step. */
function isLong(current: Json, update: Json): boolean {
  return lengthOf(current) + lengthOf(update) >= LONG;
}

function lengthOf(value: Json): number {
  if (Array.isArray(value)) return value.length;
  // Not the names of a record with many fields: a list of them costs as much as the reducer.
  return typeof value === "object" && value !== null && isOwnLong(value) ? LONG : 0;
}

const LONG = 256;

/** From this number of tasks on, the updates of a channel are applied together. */
const MANY = 4;

/** The updates of a channel in one step. */
interface Together {
  /** Index of the first task. */
  readonly task: number;
  readonly updates: Json[];
}

/** Undoes the writes: restores the previous values. */
export function undoUpdates(run: Run, writes: readonly Write[]): void {
  for (let at = writes.length - 1; at >= 0; at--) run.state[writes[at]!.channel] = writes[at]!.before;
}

/** Makes the writes final: records them for the next checkpoint, and emits events. */
export function settleUpdates(run: Run, tasks: readonly Task[], writes: readonly Write[]): void {
  const { writer, listening } = run;
  if (writer === undefined && !listening) return;
  for (const { channel, before, task, update, after, set } of writes) {
    const { name, spec } = run.program.channels[channel]!;
    const reducer = set === true ? undefined : spec.reducer?.kind;
    const isAppended = reducer === "append";
    // A union only appends items, too. For all other updates the writer compares the lists.
    writer?.touch(channel, before, isAppended || reducer === "union");
    if (listening) {
      const { redact } = run.shared;
      const node = tasks[task]!.node.spec.name;
      const value = isAppended ? redactAppended(redact, before, after) : redactJson(redact, after);
      emitEvent(run, { type: "write", node, channel: name, update: redactJson(redact, update), value });
    }
  }
}

/** Finds tasks that write the same channel without a reducer, or one of them with `set`. */
function concurrentWrite(run: Run, tasks: readonly Task[], outcomes: readonly Outcome[]): Fault | undefined {
  const { channels } = run.program;
  let writers: Map<number, number[]> | undefined;
  const replaced = new Set<number>();
  for (const { updates } of outcomes) for (const { channel, set } of updates) if (set === true) replaced.add(channel);
  for (let index = 0; index < tasks.length; index++) {
    for (const { channel } of outcomes[index]!.updates) {
      if (channels[channel]!.reduce !== undefined && !replaced.has(channel)) continue;
      writers ??= new Map();
      const known = writers.get(channel);
      if (known === undefined) writers.set(channel, [index]);
      else if (known.at(-1) !== index) known.push(index);
    }
  }
  if (writers === undefined) return undefined;
  const clashes = [...writers].filter(([, indexes]) => indexes.length > 1);
  const first = clashes[0];
  if (first === undefined) return undefined;
  const names = first[1].map((index) => tasks[index]!.node.spec.name);
  const shown = [
    ...names.slice(0, 5).map((name) => `\`${name}\``),
    ...(names.length > 5 ? [`${names.length - 5} more`] : []),
  ];
  const message =
    `nodes ${shown.join(" and ")} ${names.length === 2 ? "both" : "all"} write channel \`${channels[first[0]]!.name}\` in ` +
    `step ${run.step}: ` +
    (replaced.has(first[0])
      ? "`into set` is the only write of its channel in a step: let one run after the other"
      : "give it a reducer (`reduce last`, say), or let one run after the other");
  const atFault = [...new Set(clashes.flatMap(([, indexes]) => indexes))].map((index) => tasks[index]!);
  const error = new RunError("NG_CONCURRENT_WRITE", message, { nodeIds: [...new Set(names)] });
  return { error, atFault, keepsItems: false };
}

const NO_WRITES: readonly Write[] = Object.freeze([]);
