import type { PendingWrite } from "../interface/checkpoint.ts";
import { NodeError, type NodeErrorCode } from "../interface/errors.ts";
import type { Json } from "../value/json.ts";
import { END, ROLLBACK } from "../table/table.ts";
import type { Run } from "../run/run.ts";
import type { StoredOutcome, StoredUpdate } from "../run/shared.ts";
import { itemIdentity } from "../run/item-identity.ts";
import { doneOutcome, handlesFailure, type Outcome, type SendRequest, type Task, type Update } from "./task.ts";

/**
 * The pending write of a finished task. `undefined` if the task has to run again: it waits, was cancelled, or failed
 * and nothing handles the failure.
 */
export function storeOutcome(run: Run, task: Task, outcome: Outcome): PendingWrite | undefined {
  const { failure } = outcome;
  if (outcome.pauses !== undefined || outcome.cancelled) return undefined;
  if (failure !== undefined && !handlesFailure(task, failure)) return undefined;
  const { channels } = run.program;
  const item = itemIdentity(task);
  const { was, name: node } = task.node.spec;
  const updates = outcome.updates.map(({ channel, value, set }): StoredUpdate => {
    const { name } = channels[channel]!;
    return set === true ? [name, value, "set"] : [name, value];
  });
  // Without the spreads below: a list may have many items.
  if (item !== undefined && was === undefined && isPlain(outcome))
    return { taskId: task.id, node, result: { item, updates } as unknown as Json };
  const result: StoredOutcome = {
    // The head of the thread still has the former names, by which a reader without the graph knows its pauses.
    ...(was === undefined || run.writer?.hasRecordedChannels !== false ? {} : { was }),
    ...(item === undefined ? {} : { item }),
    updates,
    ...(outcome.goto === undefined ? {} : { goto: outcome.goto.map((node) => run.nodeName(node)) }),
    ...(outcome.exclusive ? { exclusive: true as const } : {}),
    ...(outcome.stopped ? { stopped: true as const } : {}),
    ...(outcome.sends.length === 0
      ? {}
      : { sends: outcome.sends.map(({ node, item }) => ({ node: run.nodeName(node), item })) }),
    ...(outcome.taken === undefined ? {} : { taken: outcome.taken }),
    // R1: the write that stores the result stores how it is undone.
    // Mutation point: stored-undo
    ...(outcome.undo === undefined ? {} : { undo: outcome.undo }),
    ...(failure === undefined
      ? {}
      : {
          failure: {
            code: failure.error.code,
            message: failure.error.message,
            reason: failure.reason,
            name: failure.thrown.name,
            status: failure.thrown.status,
            attempts: failure.attempts,
            items: failure.items,
          },
        }),
  };
  return { taskId: task.id, node, result: result as unknown as Json };
}

/** Whether a finished task has nothing but updates. */
function isPlain({ failure, goto, exclusive, stopped, sends, taken, undo }: Outcome): boolean {
  return (failure ?? goto ?? taken ?? undo) === undefined && !exclusive && !stopped && sends.length === 0;
}

/** The outcome of a task whose result is stored; `undefined` if the task has to run. */
export function storedOutcome(run: Run, task: Task): Outcome | undefined {
  const stored = storedResultOf(run, task);
  return stored === undefined ? undefined : restoreOutcome(run, task, stored);
}

/**
 * The stored result of a task; `undefined` if it has none, or if the result belongs to another item than the present one. A `for`
 * node has a result only by hand: one that its node stored before it became a `for` node is not the result of its items.
 */
export function storedResultOf(run: Run, task: Task): StoredOutcome | undefined {
  const stored = run.stored?.get(task.id);
  const isWhole = task.items === undefined || stored?.edited === true;
  // Mutation point: item-result
  if (stored === undefined || (isWhole && stored.item === itemIdentity(task))) return stored;
  // It must not be stored again with the results of this step.
  run.writer?.results.delete(task.id);
  return undefined;
}

export function restoreOutcome(run: Run, task: Task, stored: StoredOutcome): Outcome {
  const { channelIndex, nodeIndex } = run.program;
  const node = (name: string): number => (name === "rollback" ? ROLLBACK : (nodeIndex.get(name) ?? END));
  const { failure } = stored;
  // The index of an item is that in the present list.
  const items = task.itemIndex === -1 ? (failure?.items ?? []) : [task.itemIndex];
  return {
    ...doneOutcome(
      stored.updates.flatMap(([name, value, mode]): Update[] => {
        const channel = channelIndex.get(name);
        if (channel === undefined) return [];
        return mode === "set" ? [{ channel, value, set: true }] : [{ channel, value }];
      }),
    ),
    goto: stored.goto?.map(node),
    exclusive: stored.exclusive === true,
    stopped: stored.stopped === true,
    taken: stored.taken,
    undo: stored.undo,
    sends: (stored.sends ?? []).map((send): SendRequest => ({ node: node(send.node), item: send.item })),
    failure:
      failure === undefined
        ? undefined
        : {
            error: new NodeError(failure.code as NodeErrorCode, task.node.spec.name, failure.message, {
              attempts: failure.attempts,
              items,
              threadId: run.shared.threadId,
            }),
            reason: failure.reason,
            // Results of older versions lack both.
            thrown: { name: failure.name ?? "Error", status: failure.status ?? null },
            attempts: failure.attempts,
            items,
            retryable: false,
          },
  };
}
