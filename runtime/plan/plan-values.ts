import { RunError } from "../interface/errors.ts";
import { reasonOf } from "../interface/thrown-reason.ts";
import type { Run } from "../run/run.ts";
import type { Update } from "../step/task.ts";
import type { Json } from "../value/json.ts";
import type { ChannelCode } from "../program/channel-code.ts";
import type { PlanProgram, TaskCode } from "./plan-program.ts";
import type { TaskIndex } from "../table/plan-table.ts";

/**
 * The updates of finished tasks, and the values that other tasks see. A task reads, of each channel, the start value
 * with the updates of its ancestors in topological order: so the value does not depend on timing. The plan's outputs
 * apply all updates.
 */
export interface PlanValues {
  /**
   * Puts the values that a task reads into the run's state. The cost grows with the channels that it reads and its
   * ancestors, nothing
   * for a task that reads no output of another.
   *
   * @throws RunError NG_REDUCER_FAILED
   */
  show(task: TaskCode): void;
  /** As `show`, with the task's own updates applied: the values for its checks. */
  showWith(task: TaskCode, updates: readonly Update[]): void;
  /** @throws RunError NG_REDUCER_FAILED when a reducer refuses an update */
  add(task: TaskIndex, updates: readonly Update[]): void;
  updatesOf(task: TaskIndex): readonly Update[] | undefined;
  /** Puts the value of every channel, all updates applied, into the run's state. */
  showAll(): void;
}

export function createPlanValues(program: PlanProgram, run: Run): PlanValues {
  const { channels } = program.program;
  const updates = new Map<TaskIndex, readonly Update[]>();
  /** Inputs included. */
  const start = run.state.slice();
  const seen = new Int32Array(program.tasks.length);
  let generation = 0;
  /** By channel: the updates so far in order of arrival, to check that they combine. */
  const tried: Json[] = [];

  /** Marks all ancestors of a task. */
  const markAncestors = (task: TaskCode): number => {
    generation++;
    const open = [...task.spec.after];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen[next] === generation) continue;
      seen[next] = generation;
      for (const each of program.tasks[next]?.spec.after ?? []) open.push(each);
    }
    return generation;
  };

  const valueOf = (channel: number, isSeen: (task: TaskIndex) => boolean): Json => {
    const code = channels[channel] as ChannelCode;
    const lists: Json[][] = [];
    let value = start[channel] ?? null;
    for (const task of program.writers[channel] ?? []) {
      const given = updates.get(task);
      if (given === undefined || !isSeen(task)) continue;
      for (const update of given) {
        if (update.channel !== channel) continue;
        // Concatenates once: repeated concatenation would copy the first list once for each task.
        if (code.spec.reducer?.kind === "append") lists.push(update.value as Json[]);
        else value = apply(code, program.tasks[task]?.spec.name ?? "", value, update.value);
      }
    }
    if (lists.length === 0) return value;
    return Object.freeze([...((value ?? []) as readonly Json[]), ...lists.flat(1)]);
  };

  const show = (task: TaskCode): void => {
    if (task.reads.length === 0) return;
    const mark = markAncestors(task);
    for (const channel of task.reads) run.state[channel] = valueOf(channel, (other) => seen[other] === mark);
  };

  return {
    show,
    showWith(task, own) {
      show(task);
      for (const { channel, value } of own) {
        if (!task.reads.includes(channel)) continue;
        const code = channels[channel] as ChannelCode;
        run.state[channel] = apply(code, task.spec.name, run.state[channel] ?? null, value);
      }
    },
    add(task, given) {
      if (given.length === 0) return;
      updates.set(task, given);
      try {
        for (const { channel, value } of given) {
          const code = channels[channel] as ChannelCode;
          const kind = code.spec.reducer?.kind;
          // The result of a user's reducer depends on the order. Other reducers refuse an update by itself, or a sum
          // because of its size.
          if (kind === "function") valueOf(channel, () => true);
          else if (kind !== "append" && kind !== "last" && kind !== undefined) {
            const name = program.tasks[task]?.spec.name ?? "";
            tried[channel] = apply(code, name, tried[channel] ?? start[channel] ?? null, value);
          }
        }
      } catch (error) {
        updates.delete(task);
        throw error;
      }
    },
    updatesOf: (task) => updates.get(task),
    showAll() {
      for (let channel = 0; channel < channels.length; channel++) {
        if ((program.writers[channel]?.length ?? 0) === 0) continue;
        const before = start[channel] ?? null;
        run.state[channel] = valueOf(channel, () => true);
        if (run.state[channel] !== before) run.writer?.touch(channel, before, false);
      }
    },
  };
}

function apply(code: ChannelCode, task: string, current: Json, update: Json): Json {
  if (code.reduce === undefined) return update;
  try {
    return code.reduce(current, update);
  } catch (cause) {
    const reason = reasonOf(cause);
    const message = `the reducer of channel \`${code.name}\` failed on what task \`${task}\` wrote: ${reason}`;
    throw new RunError("NG_REDUCER_FAILED", message, { nodeIds: [task], cause });
  }
}
