/** The outcome of a `for` node: the outcomes of its items, combined. */
import type { PauseItem } from "../interface/checkpoint.ts";
import { NgraphError, NodeError } from "../interface/errors.ts";
import type { ChannelCode } from "../program/channel-code.ts";
import type { Run } from "../run/run.ts";
import type { OutputField } from "../table/table.ts";
import type { Json } from "../value/json.ts";
import { endsPart, type Work } from "../value/work.ts";
import { openCallsOf } from "./open-calls.ts";
import {
  CANCELLED_OUTCOME,
  allowsFailure,
  handlesFailure,
  doneOutcome,
  failedOutcome,
  pausedOutcome,
  takenOfAll,
  undosOfAll,
  type Failure,
  type Outcome,
  type Task,
  type Update,
} from "./task.ts";

/** Combines the outcomes of all items, in parts: one update for each channel, in item order (7.1). */
export function* combineItems(
  run: Run,
  task: Task,
  items: readonly Task[],
  outcomes: readonly Outcome[],
): Work<Outcome> {
  const all = yield* summaryOf(run, items, outcomes);
  const { children, taken, undo, failures, pauses } = all;
  if (run.writer !== undefined && (failures.length > 0 || all.isCancelled || Object.keys(children).length > 0))
    yield* run.shared.durable!.code.recordBegunItems(run, items, outcomes);
  const broken = failures.find(({ failure }) => !handlesFailure(task, failure))?.failure;
  const first = broken ?? failures[0]?.failure;
  if (run.writer !== undefined && pauses.length > 0 && (broken !== undefined || all.isCancelled))
    run.shared.durable!.code.recordAskingItems(run, pauses);
  // Error edges are followed when all items have finished. A failure without an error edge ends the run even if items
  // wait.
  const isDecided = broken !== undefined || (!all.isCancelled && pauses.length === 0);
  if (first !== undefined && isDecided) {
    const indexes = failures.flatMap(({ failure }) => failure.items);
    const failedItems = Object.freeze(failures.map(({ failure, at }) => failedItem(items[at]!, failure)));
    const attempts = failures.reduce((most, { failure }) => Math.max(most, failure.attempts), 0);
    const { error, reason, thrown } = first;
    const combined =
      error instanceof NodeError
        ? new NodeError(error.code, error.nodeId, error.message, {
            attempts,
            items: indexes,
            threadId: error.threadId,
            ...NgraphError.causeOf(error),
          })
        : error;
    const failure = {
      error: combined,
      reason,
      thrown,
      attempts,
      items: indexes,
      failedItems,
      retryable: first.retryable,
    };
    // Mutation point: allowed-updates
    if (allowsFailure(task) && broken === undefined)
      return { ...(yield* joinItems(run, task, outcomes, all)), failure, children };
    return { ...failedOutcome(failure, children), taken, undo };
  }
  if (all.isCancelled) return { ...CANCELLED_OUTCOME, children, undo };
  if (pauses.length > 0) return { ...pausedOutcome(pauses, children), taken, undo };
  return yield* joinItems(run, task, outcomes, all);
}

/** What the items of a node have beside their updates. */
interface ItemsSummary {
  readonly children: Record<string, string>;
  readonly taken: Outcome["taken"];
  readonly undo: Outcome["undo"];
  readonly failures: readonly { readonly at: number; readonly failure: Failure }[];
  readonly pauses: readonly PauseItem[];
  readonly goto: readonly number[];
  readonly sends: Outcome["sends"];
  readonly isCancelled: boolean;
  readonly isExclusive: boolean;
  readonly hasStopped: boolean;
}

function* summaryOf(run: Run, items: readonly Task[], outcomes: readonly Outcome[]): Work<ItemsSummary> {
  const failures: { at: number; failure: Failure }[] = [];
  const pauses: PauseItem[] = [];
  const goto: number[] = [];
  const sends: Outcome["sends"][number][] = [];
  let isCancelled = false;
  let isExclusive = false;
  let hasStopped = outcomes.length > 0;
  let mayHaveMore = false;
  for (let at = 0; at < outcomes.length; at++) {
    const outcome = outcomes[at]!;
    if (outcome.failure !== undefined) failures.push({ at, failure: outcome.failure });
    if (outcome.pauses !== undefined) for (const pause of outcome.pauses) pauses.push(pause);
    if (outcome.goto !== undefined) for (const target of outcome.goto) goto.push(target);
    if (outcome.sends.length > 0) for (const send of outcome.sends) sends.push(send);
    isCancelled ||= outcome.cancelled;
    isExclusive ||= outcome.exclusive;
    hasStopped &&= outcome.stopped;
    mayHaveMore ||= outcome.taken !== undefined || outcome.undo !== undefined;
    if (endsPart(at)) yield;
  }
  return {
    children: openCallsOf(run, items, outcomes),
    taken: mayHaveMore ? takenOfAll(outcomes) : undefined,
    undo: mayHaveMore ? undosOfAll(outcomes) : undefined,
    failures,
    pauses,
    goto,
    sends,
    isCancelled,
    isExclusive,
    hasStopped,
  };
}

/** The results of the items that have one. */
function* joinItems(run: Run, task: Task, outcomes: readonly Outcome[], all: ItemsSummary): Work<Outcome> {
  const { taken, undo, goto, sends } = all;
  return {
    ...doneOutcome(yield* updatesOfItems(run, task, outcomes)),
    taken,
    undo,
    goto: goto.length === 0 ? undefined : goto,
    exclusive: all.isExclusive,
    stopped: goto.length === 0 && all.hasStopped,
    sends,
    onlyItem: outcomes.length === 1 ? outcomes[0] : undefined,
  };
}

/** A failed item in `error.items`. */
function failedItem({ id, itemIndex }: Task, { error, reason, thrown, attempts }: Failure): Json {
  const { name, status } = thrown;
  return Object.freeze({ index: itemIndex, key: id, code: error.code, name, status, message: reason, attempts });
}

function* updatesOfItems(run: Run, task: Task, outcomes: readonly Outcome[]): Work<Update[]> {
  const { output } = task.node.spec;
  if (output === undefined) return [];
  const targets: readonly Pick<OutputField, "channel" | "set" | "optional">[] =
    output.kind === "channel" ? [output] : output.fields;
  const all: Update[] = [];
  for (let position = 0; position < targets.length; position++) {
    const { channel, set, optional } = targets[position]!;
    // Items without a result, or without an optional field, have no updates. A stored result may have them in another
    // order.
    const isOnly = targets.every((other, at) => at === position || other.channel !== channel);
    const values: Json[] = [];
    for (let at = 0; at < outcomes.length; at++) {
      const { updates } = outcomes[at]!;
      const atPosition = updates[isOnly && updates.length === 1 ? 0 : position];
      const update = atPosition?.channel === channel ? atPosition : updates.find((each) => each.channel === channel);
      if (update !== undefined) values.push(update.value);
      if (endsPart(at)) yield;
    }
    if (optional === true && values.length === 0 && outcomes.length > 0) continue;
    all.push(yield* updateOfItems(run.program.channels[channel]!, values, set));
  }
  return all;
}

/** The step fails where it would apply what the reducer refuses (2.3). */
function* updateOfItems(code: ChannelCode, values: readonly Json[], set: true | undefined): Work<Update> {
  const channel = code.index;
  if (set === true) return { channel, value: yield* code.plain.combiningItems(values), set };
  try {
    return { channel, value: yield* code.combiningItems(values) };
  } catch (cause) {
    return { channel, value: null, refused: { cause } };
  }
}
