/**
 * The reference interpreter: the meaning of a model, with no store, promises or indexes. A run is a value, and a step
 * maps it to another one. It is written from the numbered promises about execution, and imports nothing of the engine.
 */
import { canLead, CHANNELS, follow, gateOf, holds, pickyReducer, play, STOP } from "./model.ts";
import type { HowToFail, Model, Values, Written } from "./model.ts";
import type { Leaf, Outcome, Position, Step, Task } from "./position.ts";

/**
 * 5.13: state starts again, except `memory` channels. 3.2: signals of `start` do not count at a gate. 3.3: no barrier
 * is filled.
 */
export function begin(model: Model, input: number, before?: Values): Position {
  const values: Record<string, unknown> = { input };
  for (const [name, { role, initial }] of Object.entries(CHANNELS))
    values[name] = role === "memory" && before !== undefined ? before[name as Written] : initial;
  const ready = model.start.filter((node) => gateOf(model, node) === -1).sort(ascending);
  const rest = { sends: [], came: model.barriers.map(() => []), errors: {}, error: null, kept: {}, given: {} };
  return { values: values as Values, step: 0, ready, ...rest };
}

/** 2.7: no node is ready. */
export function ending({ ready, sends, came }: Position): "completed" | "incomplete" | undefined {
  if (ready.length + sends.length > 0) return undefined;
  return came.some((nodes) => nodes.length > 0) ? "incomplete" : "completed";
}

/** A super-step. */
export function step(model: Model, at: Position): Step {
  // 2.2: nodes in declaration order, then sent items.
  const sent = at.sends.map((leaf) => ({ node: leaf.node, leaves: [leaf] }));
  const tasks: Task[] = [...at.ready.map((node) => ({ node, leaves: leavesOf(model, node, at.kept) })), ...sent];
  // 2.1: all tasks read the state before the first write.
  const leaves: Record<string, Outcome> = {};
  for (const leaf of tasks.flatMap((task) => task.leaves)) leaves[leaf.id] = at.kept[leaf.id] ?? run(model, at, leaf);
  const outcomes = tasks.map((task) =>
    together(
      task.leaves.map(({ id }) => leaves[id]!),
      allows(model, task),
    ),
  );
  const ran = { tasks, outcomes, leaves };
  const idsOf = (some: readonly Task[]): string[] => some.flatMap((task) => task.leaves.map(({ id }) => id));
  const failing = (leads: (task: Task) => boolean): Step | undefined => {
    const lost = tasks.filter((task, index) => outcomes[index]!.failed !== undefined && !leads(task));
    const again = idsOf(lost).filter((id) => leaves[id]!.failed !== undefined);
    return lost.length === 0 ? undefined : { ...ran, fault: { code: leaves[again[0]!]!.failed!.code, again } };
  };
  // 4.3: a failure without an error edge ends the run.
  // E3: items that fail by permission do not.
  const failed = failing((task) => model.nodes[task.node]!.onError.length > 0 || allows(model, task));
  if (failed !== undefined) return failed;
  // 2.3: one writer in each step; a reducer may refuse.
  const writers = tasks.filter((_, index) => outcomes[index]!.updates.some((update) => "solo" in update));
  if (writers.length > 1) return { ...ran, fault: { code: "NG_CONCURRENT_WRITE", again: idsOf(writers) } };
  let { values } = at;
  for (const [index, task] of tasks.entries()) {
    try {
      for (const update of outcomes[index]!.updates) values = reduce(values, update);
    } catch {
      return { ...ran, fault: { code: "NG_REDUCER_FAILED", again: idsOf([task]) } };
    }
  }
  // 2.4: edges, including error edges, are evaluated on the state after the step.
  const missed = failing((task) => leads(model, task.node, values) || allows(model, task));
  const nodes = tasks.map(({ node }) => node);
  return missed ?? { ...ran, next: route(model, { ...at, values }, nodes, outcomes) };
}

/** The position of a run after these nodes ended. It has their values already. */
function route(model: Model, at: Position, nodes: readonly number[], outcomes: readonly Outcome[]): Position {
  const came = at.came.map((sources) => new Set(sources));
  const next = new Set<number>();
  const errors = new Map(Object.entries(at.errors).filter(([node]) => !nodes.includes(Number(node))));
  const led = new Set<number>();
  const sends: Leaf[] = [];
  // 3.2: a gate takes every signal into its node, and counts those of its members. 2.6: by whichever way they arrive.
  const signal = (from: number, to: number): void => {
    const gate = to === STOP ? -1 : gateOf(model, to);
    if (gate === -1) next.add(to);
    else if (model.barriers[gate]!.members.flat().includes(from)) came[gate]!.add(from);
  };
  const winner = outcomes.findLastIndex(({ exclusive }) => exclusive);
  for (const [index, { failed, goto, stopped, sends: sent }] of outcomes.entries()) {
    const node = nodes[index]!;
    const { edges, joins, onError } = model.nodes[node]!;
    // E3: where no error edge holds, items that failed by permission leave the plain edges.
    const isLed = leads(model, node, at.values);
    // 2.6: error routes are never discarded. 4.3: a target of several failures reads the first.
    for (const to of failed !== undefined && isLed ? onError : []) {
      signal(node, to);
      if (!led.has(to)) errors.set(String(to), failed!);
      led.add(to);
    }
    // 2.6: an exclusive goto discards the other routing and sends, and passes gates.
    if ((failed !== undefined && isLed) || (winner !== -1 && winner !== index)) continue;
    // 2.9: sent items run in the next step.
    for (const { node: to, item } of sent)
      sends.push({ id: `${model.nodes[to]!.name}~${at.step}.${sends.length}`, node: to, item });
    if (winner === index) for (const to of goto!) next.add(to);
    else if (stopped !== true) {
      for (const to of goto ?? follow(edges, at.values)) signal(node, to);
      for (const barrier of goto === undefined ? joins : []) came[barrier]!.add(node);
    }
  }
  // 3.1: a complete barrier fires, and is empty again.
  for (const [index, { members, target, settles }] of model.barriers.entries()) {
    if (settles || !members.every((any) => any.some((node) => came[index]!.has(node)))) continue;
    came[index]!.clear();
    next.add(target);
  }
  settle(model, came, next, sends);
  for (const all of [next, led]) all.delete(STOP);
  errors.delete(String(STOP));
  const barriers = came.map((sources) => [...sources].sort(ascending));
  // E1: of several failures, the first in task order.
  const error = outcomes.find(({ failed }) => failed !== undefined)?.failed ?? at.error;
  const rest = { errors: Object.fromEntries(errors), error, kept: {}, given: {} };
  return { values: at.values, step: at.step + 1, ready: [...next].sort(ascending), sends, came: barriers, ...rest };
}

/** 3.4: each `settled` barrier with a signal to which no work can bring another one; the first if nothing is ready. */
function settle(
  model: Model,
  came: readonly Set<number>[],
  next: Set<number>,
  sends: readonly { readonly node: number }[],
): void {
  const isHeld = (barrier: number): boolean => {
    const others = model.barriers.flatMap(({ target }, other) =>
      other !== barrier && came[other]!.size > 0 ? [target] : [],
    );
    const work = [...next, ...sends.map(({ node }) => node), ...others].filter((node) => node !== STOP);
    return model.barriers[barrier]!.members.some(
      (any, member) =>
        !any.some((node) => came[barrier]!.has(node)) && work.some((node) => canLead(model, barrier, node, member)),
    );
  };
  for (;;) {
    const left = [...model.barriers.keys()].filter(
      (barrier) => model.barriers[barrier]!.settles && came[barrier]!.size > 0,
    );
    const isIdle = sends.length === 0 && [...next].every((node) => node === STOP);
    const fires = left.find((barrier) => !isHeld(barrier)) ?? (isIdle ? left[0] : undefined);
    if (fires === undefined) return;
    came[fires]!.clear();
    next.add(model.barriers[fires]!.target);
  }
}

function reduce(values: Values, update: Partial<Record<Written, unknown>>): Values {
  const changed: Record<string, unknown> = { ...values };
  for (const [name, value] of Object.entries(update)) {
    const { reducer } = CHANNELS[name as Written];
    const current = changed[name];
    if (reducer === "append") changed[name] = [...(current as unknown[]), ...(value as unknown[])];
    else if (reducer === "sum") changed[name] = (current as number) + (value as number);
    else changed[name] = reducer === "picky" ? pickyReducer(current as number, value as number) : value;
  }
  return changed as unknown as Values;
}

/** 7.1: the items of a `for`, each a task; one task if an edit has written the result of the node. */
function leavesOf(model: Model, node: number, kept: Position["kept"]): Leaf[] {
  const { name, items } = model.nodes[node]!;
  if (items === undefined || kept[name] !== undefined) return [{ id: name, node }];
  return Array.from({ length: items }, (_, item) => ({ id: `${name}[${item}]`, node, item }));
}

/** E3: items that fail do not fail the node. A task that was sent is no item. */
export function allows(model: Model, { node, leaves }: Task): boolean {
  return model.nodes[node]!.allows === true && leaves.every(({ id }) => id.endsWith("]"));
}

/** Whether the error edges of a node apply. */
export function leads(model: Model, node: number, values: Values): boolean {
  const { onError, onErrorWhen } = model.nodes[node]!;
  return onError.length > 0 && (onErrorWhen === undefined || holds(onErrorWhen, values));
}

/** 7.1: one outcome of all items, in their order. Failed items fail the node, unless it allows that (E3). */
function together(parts: readonly Outcome[], isAllowed = false): Outcome {
  const questions = parts.flatMap((part) => part.questions);
  const failures = parts.flatMap(({ failed }) => failed ?? []);
  if (failures.length > 0) {
    const attempts = Math.max(...failures.map((failure) => failure.attempts));
    const items = failures.flatMap((failure) => failure.items);
    const updates = isAllowed ? parts.flatMap((part) => part.updates) : [];
    return { updates, sends: [], questions, failed: { ...failures[0]!, attempts, items } };
  }
  const goto = parts.flatMap((part) => part.goto ?? []);
  return {
    updates: parts.flatMap(({ updates }) => updates),
    sends: parts.flatMap(({ sends }) => sends),
    questions,
    exclusive: parts.some(({ exclusive }) => exclusive === true),
    stopped: goto.length === 0 && parts.length > 0 && parts.every(({ stopped }) => stopped === true),
    ...(goto.length === 0 ? {} : { goto }),
  };
}

/** One task from its first attempt to its last (4.1). */
function run(model: Model, at: Position, { id, node: index, item }: Leaf): Outcome {
  const { name, graph, tries, writes, does } = model.nodes[index]!;
  const { input, counter: own, ...read } = at.values;
  const counter = input + (own as number);
  const done = (all: Readonly<Record<Written, unknown>>) => [Object.fromEntries(writes.map((one) => [one, all[one]]))];
  const fail = (code: string, attempts: number, questions: readonly string[]): Outcome => {
    const items = /\[(\d+)\]$/.exec(id)?.slice(1).map(Number) ?? [];
    return { updates: [], sends: [], questions, failed: { node: name, code, attempts, items } };
  };
  if (graph !== undefined) {
    // 7.2: with its own state; arguments in, outputs out. Any end but completion fails the node.
    const called = model.graphs[graph]!;
    let inner: Position | undefined = begin(called, counter);
    while (inner !== undefined && ending(inner) === undefined) inner = step(called, inner).next;
    if (inner === undefined || ending(inner) !== "completed") return fail("NG_NODE_FAILED", tries, []);
    return { updates: done(inner.values), sends: [], questions: [] };
  }
  // 4.3: in the target of an error edge, `error` is the failure that took it; elsewhere, it is the last one.
  const error = id.includes("~") ? at.error : (at.errors[index] ?? at.error);
  const attempt = does.stumbles + 1;
  const played = play({ ...read, model, node: index, counter, item, error }, attempt, at.given[id] ?? []);
  const { result, mishap, ...asked } = played;
  if (result !== undefined) return { updates: done(result), ...asked };
  const isTriedAgain = mishap === "throws" || mishap === "hangs";
  return fail(CODES[mishap!], isTriedAgain ? tries : attempt, played.questions);
}

/** 5.9: through the reducers, or replacing the values. The next nodes, results and answers stay. */
export function edit(
  at: Position,
  update: Partial<Record<Written, unknown>>,
  replace: boolean,
  stays: Pick<Position, "kept" | "given">,
): Position {
  return { ...at, ...stays, values: replace ? { ...at.values, ...update } : reduce(at.values, update) };
}

/** 5.9: in an unfinished step with other tasks, the values are the result of the first task; the others have an empty one. */
export function writeByHand(
  at: Position,
  tasks: readonly string[],
  update: Partial<Record<Written, unknown>>,
  replace: boolean,
  stays: Pick<Position, "kept" | "given">,
): Position {
  const others = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).filter(([id]) => !tasks.includes(id) && !isItemOf(id, tasks)));
  const results = tasks.map((id, index): readonly [string, Outcome] => [
    id,
    { updates: replace || index > 0 ? [] : [update], sends: [], questions: [] },
  ]);
  const values = replace ? { ...at.values, ...update } : at.values;
  return {
    ...at,
    values,
    kept: { ...others(stays.kept), ...Object.fromEntries(results) },
    given: others(stays.given),
  };
}

export function isItemOf(id: string, tasks: readonly string[]): boolean {
  return tasks.some((task) => id.startsWith(`${task}[`));
}

/** 5.9: the targets of a node's edges replace the next nodes. */
export function routeAs(model: Model, at: Position, node: number): Position {
  return { ...route(model, { ...at, errors: {} }, [node], [together([])]), step: at.step };
}

/** 5.9: the run continues at a node. */
export function moveTo(at: Position, node: number): Position {
  return { ...at, ready: [node], sends: [], errors: {}, kept: {}, given: {} };
}

const ascending = (a: number, b: number): number => a - b;
const CODES: Record<HowToFail, string> = {
  throws: "NG_NODE_FAILED",
  permanent: "NG_NODE_FAILED",
  hangs: "NG_NODE_TIMEOUT",
  misfit: "NG_BAD_RESULT",
};
