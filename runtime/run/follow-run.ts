import type { Checkpoint } from "../interface/checkpoint.ts";
import type { Program } from "../program/program.ts";
import { Mismatch } from "../value/validate.ts";
import { channelShapes, isMemory, reducerOf } from "../checkpoint/channel-shapes.ts";
import { ofChannel, ofValue, otherGraph, partNames } from "../checkpoint/drift.ts";
import { drift, problemsOf, type DriftProblem } from "../checkpoint/drift-problem.ts";
import { hiddenChannel } from "../table/hidden-channels.ts";
import { underPresentNames } from "../checkpoint/former-names.ts";
import type { Run } from "./run.ts";

/**
 * A new run on a thread follows the last one: `memory` channels keep their values, all others are reset (5.13).
 *
 * @param options `isElsewhere`: the last run is stored in another namespace, so only its memory matters. `isAdmitted`: this program
 * has admitted the values
 * @throws ThreadError NG_DRIFT if the thread belongs to another graph, or the graph can no longer hold its memory
 */
export function followRun(
  run: Run,
  stored: Checkpoint | undefined,
  { isElsewhere = false, isAdmitted = false }: { readonly isElsewhere?: boolean; readonly isAdmitted?: boolean } = {},
): void {
  const { writer } = run;
  if (writer === undefined || stored === undefined) return;
  const { head, moved, problems } = underPresentNames(run.program, stored);
  const { channels, channelIndex, table } = run.program;
  const isOther = head.graph !== undefined && head.graph !== table.name;
  if (isOther && run.path.length === 0) throw otherGraph(head, table.name);
  // An edit changed the graph that the node calls. The new graph starts without memory.
  const lost = isOther || isAdmitted ? [] : [...problemsOf(problems), ...lostMemory(run.program, head)];
  // Mutation point: lost-memory
  if (lost.length > 0) {
    const what = `a new run on thread \`${head.threadId}\` would lose its memory under this version of graph \`${table.name}\``;
    throw drift(head, what, lost, "start another thread");
  }
  if (!isElsewhere) writer.headId = writer.storedId = head.id;
  for (const [name, count] of Object.entries(head.versions)) {
    const index = hiddenChannel(run.program, name) ?? channelIndex.get(name);
    if (index !== undefined) writer.versions.set(index, count);
  }
  const { values: ofFinally = {} } = head.finally ?? {};
  for (const [name, value] of Object.entries({ ...head.values, ...ofFinally })) {
    const index = channelIndex.get(name);
    const channel = index === undefined ? undefined : channels[index];
    // Mutation point: memory-channel
    if (index !== undefined && channel?.spec.role === "memory" && !isOther) {
      const admitted = value === null || isAdmitted ? value : channel.admit(value);
      if (!(admitted instanceof Mismatch)) {
        run.state[index] = admitted;
        const isMoved = channel.spec.was?.some((former) => moved.has(former)) === true;
        if (isElsewhere || isMoved || Object.hasOwn(ofFinally, name)) {
          writer.touch(index, null, false);
        }
        writer.written.add(index);
        continue;
      }
    }
    // A value that the input has set is a new value, not a reset.
    if (index !== undefined && writer.written.has(index)) continue;
    const version = (Object.hasOwn(head.versions, name) ? head.versions[name]! : 0) + 1;
    if (index !== undefined) writer.versions.set(index, version);
    else {
      const hidden = hiddenChannel(run.program, name);
      if (hidden !== undefined) writer.versions.set(hidden, version);
    }
    if (!isElsewhere) writer.reset(name, version);
  }
  if (!isElsewhere) for (const [former, version] of moved) writer.reset(former, version + 1);
}

/** The parts of its memory that a new run on the thread would lose, one line for each part. */
export function memoryProblems(program: Program, stored: Checkpoint): readonly DriftProblem[] {
  const { head, problems } = underPresentNames(program, stored);
  return [...problemsOf(problems), ...lostMemory(program, head)];
}

/**
 * Memory of the last run that a new run cannot keep: the channel is gone, its type does not take the value, or another
 * reducer would combine the value with the next update.
 */
function lostMemory(program: Program, head: Checkpoint): DriftProblem[] {
  const { channels, channelIndex } = program;
  const now = channelShapes(program);
  const part = partNames(program, head);
  return Object.entries({ ...head.values, ...head.finally?.values }).flatMap(([name, value]) => {
    const index = channelIndex.get(name);
    const channel = index === undefined ? undefined : channels[index];
    const was = head.channels !== undefined && Object.hasOwn(head.channels, name) ? head.channels[name] : undefined;
    if (channel?.spec.role !== "memory") {
      const isGone = was !== undefined && isMemory(was) && value !== null;
      return isGone ? [{ text: `memory channel \`${name}\` is gone`, ...ofChannel(name, part) }] : [];
    }
    if (value === null || (was !== undefined && !isMemory(was))) return [];
    const admitted = channel.admit(value);
    if (admitted instanceof Mismatch) {
      const text = `memory channel \`${name}\` has another type: ${admitted.describe()}`;
      return [{ text, migrate: ofValue(name, part) }];
    }
    const [before, after] = [was === undefined ? undefined : reducerOf(was), reducerOf(now[name]!)];
    if (was === undefined || before === after) return [];
    const text = `the reducer of memory channel \`${name}\` was ${before ?? "none"} and is ${after ?? "none"}`;
    return [{ text, migrate: [`--keep ${part(name)}`] }];
  });
}
