/**
 * Data flow of plans. A task reads what the tasks before it have written: a forward analysis along the dependencies,
 * for 32 channels at a time. Also reports two tasks that write one channel although neither comes after the other.
 */
import { unorderedWrites } from "../../../diagnostics/catalog/plans.ts";
import type * as Ast from "../../../grammar/ast.ts";
import type { Write } from "../resolve-writes.ts";
import { placeIn, type ChannelEntry, type GraphContext } from "../graph-context.ts";
import type { Unwritten } from "../../control/unwritten.ts";
import type { Dependencies } from "./dependencies.ts";
import { mayFail } from "./may-fail.ts";

export interface TaskData {
  /** By declared task, for channels (by index) that start as `null` although their type has none. */
  readonly unwritten: readonly ReadonlyMap<number, Unwritten>[];
  /** Outputs (by name) that a run without failures may leave unwritten. */
  readonly mayEndNull: ReadonlySet<string>;
}

export interface TaskDataInput {
  readonly tasks: readonly Ast.TaskDecl[];
  readonly writes: readonly (readonly Write[])[];
  readonly dependencies: Dependencies;
  readonly channels: readonly ChannelEntry[];
  readonly isPartial: boolean;
  /** By declared task: it is a matrix over a list that a run computes, which may be empty. */
  readonly mayBeEmpty: readonly boolean[];
}

export function analyseTaskData(input: TaskDataInput): TaskData {
  const { tasks, channels, isPartial } = input;
  const starts = channels.filter((channel) => channel.startsNull);
  const unwritten = tasks.map(() => new Map<number, Unwritten>());
  if (isPartial) return { unwritten, mayEndNull: new Set() };
  const local = new Map(starts.map((channel, at) => [channel.name, at]));
  for (let base = 0; base < starts.length; base += 32) {
    const block = starts.slice(base, base + 32);
    const bits = (task: number): number => {
      let found = 0;
      if (input.mayBeEmpty[task] === true) return found;
      for (const { channel } of input.writes[task] ?? []) {
        const at = (local.get(channel.name) ?? -1) - base;
        if (at >= 0 && at < 32) found |= 1 << at;
      }
      return found;
    };
    const { surely, maybe } = spread(input, bits);
    for (let task = 0; task < tasks.length; task++) {
      for (const [at, { index }] of block.entries()) {
        const bit = 1 << at;
        if (((surely[task] ?? 0) & bit) !== 0) continue;
        unwritten[task]?.set(index, ((maybe[task] ?? 0) & bit) === 0 ? "always" : "sometimes");
      }
    }
  }
  return { unwritten, mayEndNull: unwrittenAtEnd(input) };
}

/** By task, the channels (as bits) that are written when it starts: `surely` in every run, `maybe` in some run. */
function spread(
  { tasks, dependencies }: TaskDataInput,
  bits: (task: number) => number,
): { readonly surely: Int32Array; readonly maybe: Int32Array } {
  const surely = new Int32Array(tasks.length);
  const maybe = new Int32Array(tasks.length);
  for (const task of dependencies.order) {
    const after = dependencies.after[task] ?? [];
    const left = (before: number): number => (surely[before] ?? 0) | (mayFail(tasks[before]) ? 0 : bits(before));
    switch (dependencies.triggers[task]) {
      case "any":
        surely[task] = after.length === 0 ? 0 : after.reduce((all, before) => all & left(before), -1);
        break;
      case "done":
      case "failed":
        // The tasks before it may have failed.
        break;
      case "mixed":
        for (const before of certain(dependencies, task)) surely[task] = (surely[task] ?? 0) | left(before);
        break;
      default:
        for (const before of after) surely[task] = (surely[task] ?? 0) | left(before);
    }
    for (const before of after) maybe[task] = (maybe[task] ?? 0) | (maybe[before] ?? 0) | bits(before);
  }
  return { surely, maybe };
}

/**
 * Outputs that no task surely writes. A task that a condition may skip does not count, nor do tasks that are skipped
 * with it.
 */
function unwrittenAtEnd({ tasks, writes, dependencies, channels, mayBeEmpty }: TaskDataInput): ReadonlySet<string> {
  const skippable = new Uint8Array(tasks.length);
  for (const task of dependencies.order) {
    const { condition } = tasks[task] ?? {};
    const trigger = dependencies.triggers[task];
    const after = dependencies.after[task] ?? [];
    const isSkipped = (before: number): boolean => skippable[before] === 1;
    const follows =
      trigger === "done"
        ? false
        : trigger === "any"
          ? after.length > 0 && after.every(isSkipped)
          : // A task that waits for a failure is skipped in a run without one.
            dependencies.awaitsFailure[task] === true || certain(dependencies, task).some(isSkipped);
    if (condition !== undefined || follows) skippable[task] = 1;
  }
  const open = new Set(
    channels.filter((channel) => channel.role === "output" && channel.startsNull).map(({ name }) => name),
  );
  for (const [task, list] of writes.entries()) {
    const isSure = skippable[task] === 0 && mayBeEmpty[task] !== true && !mayFail(tasks[task]);
    if (isSure) for (const { channel } of list) open.delete(channel.name);
  }
  return open;
}

/** The tasks that are done when a task of an `all` or `mixed` trigger starts. */
function certain({ after, needs }: Dependencies, task: number): readonly number[] {
  const own = needs[task];
  const all = after[task] ?? [];
  return own === undefined ? all : all.filter((before) => own.get(before) === "all");
}

/**
 * NG401. The tasks that write a channel without a reducer must be ordered, because otherwise the result depends on
 * timing. Visits the plan once for each such channel.
 */
export function reportUnorderedWrites(input: TaskDataInput, context: GraphContext): void {
  const { tasks, writes, dependencies } = input;
  const writers = new Map<ChannelEntry, { task: number; write: Write }[]>();
  for (const task of dependencies.order) {
    for (const write of writes[task] ?? []) {
      const { channel } = write;
      if (channel.reducer !== undefined || channel.hasWrongReducer) continue;
      const list = writers.get(channel);
      if (list === undefined) writers.set(channel, [{ task, write }]);
      else list.push({ task, write });
    }
  }
  const nameOf = (task: number): string => tasks[task]?.name.name ?? "";
  for (const [channel, list] of writers) {
    const matrix = list.find(({ task }) => tasks[task]?.each !== undefined);
    if (matrix !== undefined) {
      const name = nameOf(matrix.task);
      const place = placeIn(context, matrix.write.span);
      context.report(unorderedWrites(place, { channel: channel.name, tasks: [name, name], first: place }));
      continue;
    }
    const gap =
      list.length < 2
        ? undefined
        : firstUnordered(
            list.map(({ task }) => task),
            dependencies,
          );
    if (gap === undefined) continue;
    const pair = [list[gap - 1], list[gap]].sort((a, b) => (a?.write.span.start ?? 0) - (b?.write.span.start ?? 0));
    const [first, second] = pair;
    if (first === undefined || second === undefined) continue;
    context.report(
      unorderedWrites(placeIn(context, second.write.span), {
        channel: channel.name,
        tasks: [nameOf(first.task), nameOf(second.task)],
        first: placeIn(context, first.write.span),
      }),
    );
  }
}

/**
 * The position of the first task in a topologically ordered list that does not come after its predecessor in the list.
 */
function firstUnordered(list: readonly number[], { order, after }: Dependencies): number | undefined {
  const position = new Map(list.map((task, at) => [task, at]));
  /** By task: the last position of the list that it comes after. */
  const last = new Int32Array(after.length).fill(-1);
  for (const task of order) {
    let latest = -1;
    for (const before of after[task] ?? []) latest = Math.max(latest, position.get(before) ?? -1, last[before] ?? -1);
    last[task] = latest;
    const own = position.get(task);
    // The list is in topological order: a task after its predecessor is after all earlier ones, too.
    if (own !== undefined && own > 0 && latest < own - 1) return own;
  }
  return undefined;
}
