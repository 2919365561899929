/** The results of a step: stores them in the channels, in task order, and follows the edges. Whatever does not fit is left to the engine. */
import type { Json } from "../value/json.ts";
import type { Target } from "../routing/routes.ts";
import { DirectContext } from "./direct-context.ts";
import { readyAfter, Signals, targetsOf } from "./direct-edges.ts";
import { FIELDS, type DirectGraph, type DirectNode } from "./direct-graph.ts";
import type { DirectRun, DirectTask } from "./direct-run.ts";

/** Applies the result of a node that ran alone, and follows its edges. Returns `false`, and changes nothing, if the engine has to do it. */
export function settleAlone(run: DirectRun, node: DirectNode, value: unknown, context: DirectContext): boolean {
  const { state, code } = run;
  const { channel } = node;
  if (channel === FIELDS || node.goals !== undefined) return settle(run, [{ value, context }]);
  let before: Json = null;
  if (channel >= 0) {
    const update = node.accept(value);
    if (update === undefined) return false;
    before = state[channel]!;
    const reducer = code.reducers[channel];
    if (reducer === undefined) state[channel] = update;
    else {
      try {
        state[channel] = reducer.one(before, update);
      } catch {
        return false;
      }
    }
  }
  if (node.next === undefined) {
    const targets = targetsOf(run, node);
    if (targets === undefined) {
      if (channel >= 0) state[channel] = before;
      return false;
    }
    run.ready = readyAfter(run, node.index, targets);
  } else run.ready = node.next;
  run.steps.push(node.stepNames);
  run.step++;
  return true;
}

export function settleTasks(run: DirectRun, tasks: readonly DirectTask[]): boolean {
  let hasRequests = false;
  for (const { context } of tasks) if (DirectContext.close(context) !== undefined) hasRequests = true;
  return !hasRequests && settle(run, tasks);
}

/** From this number of tasks on, the updates of a channel are applied together. */
const MANY = 4;

/** Applies the results of a step in task order (2.2), and follows the edges on the new state (2.4). */
function settle(run: DirectRun, tasks: readonly Pick<DirectTask, "value" | "context" | "items">[]): boolean {
  const { state, code, ready } = run;
  const { nodes } = code;
  const { length } = ready;
  const channels: number[] = [];
  const updates: Json[] = [];
  const jumps = code.module.jumps?.of(tasks);
  for (let at = 0; at < length; at++) {
    const { value, items } = tasks[at]!;
    if (jumps?.drops(at, value)) continue;
    const node = nodes[ready[at]!]!;
    if (items === undefined) {
      if (!readUpdates(code, node, value, channels, updates)) return false;
    } else if (node.channel >= 0) {
      try {
        updates.push(code.module.items!.update(node, items));
      } catch {
        return false;
      }
      channels.push(node.channel);
    }
  }
  if (length > 1 && writesTwice(code, ready)) return false;
  const undo: Json[] = [];
  const restore = (): false => {
    for (let at = undo.length - 1; at >= 0; at--) state[channels[at]!] = undo[at]!;
    return false;
  };
  try {
    applyAll(run, length >= MANY, channels, updates, undo);
  } catch {
    return restore();
  }
  const targets: (readonly Target[])[] = [];
  const names: string[] = [];
  for (let at = 0; at < length; at++) {
    const node = nodes[ready[at]!]!;
    const found = jumps?.targets(at) ?? targetsOf(run, node);
    if (found === undefined) return restore();
    targets.push(found);
    names.push(node.stepNames[0]!);
  }
  const signals = new Signals(run);
  for (let at = 0; at < length; at++) {
    for (const target of targets[at]!) {
      if (at === jumps?.winner) signals.run(target);
      else signals.signal(ready[at]!, target);
    }
  }
  run.ready = signals.finish();
  run.steps.push(names);
  run.step++;
  return true;
}

/** Applies updates. Adds the values before them to `undo`, by update. @throws what a reducer throws */
function applyAll(
  { state, code: { reducers } }: DirectRun,
  isMany: boolean,
  channels: readonly number[],
  updates: readonly Json[],
  undo: Json[],
): void {
  let together: Map<number, Json[]> | undefined;
  for (let at = 0; at < channels.length; at++) {
    const channel = channels[at]!;
    const reducer = reducers[channel];
    const before = state[channel]!;
    undo.push(before);
    if (reducer === undefined) state[channel] = updates[at]!;
    else if (!isMany || reducer.all === undefined) state[channel] = reducer.one(before, updates[at]!);
    else {
      together ??= new Map();
      const known = together.get(channel);
      if (known === undefined) together.set(channel, [updates[at]!]);
      else known.push(updates[at]!);
    }
  }
  if (together === undefined) return;
  for (const [channel, all] of together) state[channel] = reducers[channel]!.all!(state[channel]!, all);
}

/** Adds the updates of a result. Returns `false` if the result does not fit. */
function readUpdates(
  { module }: DirectGraph,
  { channel, fields, accept }: DirectNode,
  value: unknown,
  channels: number[],
  updates: Json[],
): boolean {
  if (channel === FIELDS) return module.fields!.read(fields, value, channels, updates);
  if (channel < 0) return true;
  const update = accept(value);
  if (update === undefined) return false;
  channels.push(channel);
  updates.push(update);
  return true;
}

/** Whether two nodes of the step may write one channel without a reducer. */
function writesTwice({ scratch, nodes }: DirectGraph, ready: readonly number[]): boolean {
  const written = ++scratch.generation;
  for (const index of ready) {
    for (const channel of nodes[index]!.exclusive) {
      if (scratch.channels[channel] === written) return true;
      scratch.channels[channel] = written;
    }
  }
  return false;
}
