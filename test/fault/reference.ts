/**
 * What a model means, in the plainest words: no store, no promises, no indexes. A run is a value that says where it stands, and a
 * step makes another of it. Written from the numbered promises about execution, not from the engine, of which it imports nothing.
 */
import { answerTo, body, CHANNELS, gateOf, holds, Mishap, pickyReducer, STOP } from "./model.ts";
import type { HowToFail, Model, ModelEdge, ModelNode, Values, Written } from "./model.ts";

/** Between two steps. */
export interface Position {
  readonly values: Values;
  readonly step: number;
  readonly ready: readonly number[];
  readonly sends: readonly Leaf[];
  /** By barrier: who has signalled since it last fired (3.1). */
  readonly came: readonly (readonly number[])[];
  /** By node: the failure that an error edge led there from (4.3). */
  readonly errors: Readonly<Record<number, Failure>>;
  /** What an edit of the state left as it was (5.9), by task: results, and answers. */
  readonly kept: Readonly<Record<string, Outcome>>;
  readonly given: Readonly<Record<string, readonly unknown[]>>;
}
/** What a body is called for once. */
export interface Leaf {
  readonly id: string;
  readonly node: number;
  readonly item?: unknown;
}
export interface Failure {
  readonly node: string;
  readonly code: string;
  readonly attempts: number;
  readonly items: readonly number[];
}
export interface Outcome {
  readonly updates: readonly Partial<Record<Written, unknown>>[];
  readonly goto?: readonly number[];
  readonly exclusive?: boolean;
  readonly stopped?: boolean;
  readonly sends: readonly { readonly node: number; readonly item: unknown }[];
  readonly failed?: Failure;
  readonly questions: readonly string[];
}
export interface Step {
  readonly tasks: readonly { readonly node: number; readonly leaves: readonly Leaf[] }[];
  readonly outcomes: readonly Outcome[];
  readonly leaves: Readonly<Record<string, Outcome>>;
  readonly next?: Position;
  /** In place of `next`: the run fails, nothing of the step is applied, and these tasks have to run again (2.3, 4.3). */
  readonly fault?: { readonly code: string; readonly again: readonly string[] };
}

/** 5.13: state starts afresh, but for what `memory` channels hold. 3.2: no signal of `start` counts at a gate. 3.3: no barrier is filled. */
export function begin(model: Model, input: number, before?: Values): Position {
  const start = ([name, { role, initial }]: [string, (typeof CHANNELS)[Written]]): readonly [string, unknown] => [
    name,
    role === "memory" && before !== undefined ? before[name as Written] : initial,
  ];
  const values = { ...Object.fromEntries(Object.entries(CHANNELS).map(start)), input } as Values;
  const ready = model.start.filter((node) => gateOf(model, node) === -1).sort((a, b) => a - b);
  const came = model.barriers.map(() => []);
  return { values, step: 0, ready, sends: [], came, errors: {}, kept: {}, given: {} };
}

/** 2.7 */
export function ending({ ready, sends, came }: Position): "completed" | "incomplete" | undefined {
  if (ready.length + sends.length > 0) return undefined;
  return came.some((nodes) => nodes.length > 0) ? "incomplete" : "completed";
}

/** A super-step. */
export function step(model: Model, at: Position): Step {
  // 2.2: nodes in declaration order, then what was sent. 7.1: a `for` node is one task, its items run on their own.
  const tasks = [
    ...at.ready.map((node) => ({ node, leaves: leavesOf(model, node) })),
    ...at.sends.map((leaf) => ({ node: leaf.node, leaves: [leaf] })),
  ];
  // 2.1: all of them read the state as it is before any of them has written.
  const leaves = Object.fromEntries(
    tasks.flatMap((task) => task.leaves.map((leaf) => [leaf.id, at.kept[leaf.id] ?? run(model, at, leaf)])),
  );
  const outcomes = tasks.map((task) => together(task.leaves.map(({ id }) => leaves[id]!)));
  const ran = { tasks, outcomes, leaves };
  const spec = (index: number): ModelNode => model.nodes[tasks[index]!.node]!;
  const ids = (isOne: (outcome: Outcome, index: number) => unknown): string[] =>
    tasks.flatMap((task, index) => (isOne(outcomes[index]!, index) ? task.leaves.map(({ id }) => id) : []));
  const failing = (ids: readonly string[]): NonNullable<Step["fault"]> => {
    const again = ids.filter((id) => leaves[id]!.failed !== undefined);
    return { code: leaves[again[0]!]!.failed!.code, again };
  };
  // 4.3: a failure that leads nowhere ends the run.
  const lost = ids(({ failed }, index) => failed !== undefined && spec(index).onError.length === 0);
  if (lost.length > 0) return { ...ran, fault: failing(lost) };
  // 2.3: one writer a step; a reducer may refuse.
  const writers = tasks.filter((_, index) => outcomes[index]!.updates.some((update) => "solo" in update));
  if (writers.length > 1)
    return {
      ...ran,
      fault: { code: "NG_CONCURRENT_WRITE", again: ids((_, index) => writers.includes(tasks[index]!)) },
    };
  let { values } = at;
  for (const [index, { updates }] of outcomes.entries()) {
    try {
      for (const update of updates) values = reduce(values, update);
    } catch {
      return { ...ran, fault: { code: "NG_REDUCER_FAILED", again: ids((_, other) => other === index) } };
    }
  }
  // 4.3, 2.4: error edges too are evaluated on the state after the step.
  const missed = ids(({ failed }, index) => failed !== undefined && !holds(spec(index).onErrorWhen ?? ALWAYS, values));
  if (missed.length > 0) return { ...ran, fault: failing(missed) };
  return {
    ...ran,
    next: route(
      model,
      { ...at, values },
      tasks.map(({ node }) => node),
      outcomes,
    ),
  };
}

/** Where a run stands after these nodes ended so. `at` has their values already. */
function route(model: Model, at: Position, nodes: readonly number[], outcomes: readonly Outcome[]): Position {
  const came = at.came.map((sources) => new Set(sources));
  const next = new Set<number>();
  const errors = new Map(Object.entries(at.errors).filter(([node]) => !nodes.includes(Number(node))));
  const fresh = new Set<number>();
  const sends: Leaf[] = [];
  // 3.2: a gate takes every signal into its node, and counts those of its members. 2.6: however they were sent.
  const signal = (from: number, to: number): void => {
    const gate = to === STOP ? -1 : gateOf(model, to);
    if (gate === -1) next.add(to);
    else if (model.barriers[gate]!.members.flat().includes(from)) came[gate]!.add(from);
  };
  const winner = outcomes.findLastIndex(({ exclusive }) => exclusive);
  outcomes.forEach(({ failed, goto, stopped, sends: sent }, index) => {
    const node = nodes[index]!;
    const { edges, joins, onError } = model.nodes[node]!;
    // 2.6: error routes are never discarded. Of several failures a node reads the first.
    for (const to of failed === undefined ? [] : onError) {
      signal(node, to);
      if (to !== STOP && !fresh.has(to)) errors.set(String(to), failed!);
      fresh.add(to);
    }
    // 2.6: an exclusive goto leaves nothing of the others' routing and sends, and passes gates by.
    if (failed !== undefined || (winner !== -1 && winner !== index)) return;
    // 2.9
    for (const { node: to, item } of sent)
      sends.push({ id: `${model.nodes[to]!.name}~${at.step}.${sends.length}`, node: to, item });
    if (winner === index) for (const to of goto!) next.add(to);
    else if (goto !== undefined) for (const to of goto) signal(node, to);
    else if (stopped !== true) {
      for (const to of follow(edges, at.values)) signal(node, to);
      for (const barrier of joins) came[barrier]!.add(node);
    }
  });
  // 3.1: firing clears.
  model.barriers.forEach(({ members, target }, index) => {
    if (!members.every((any) => any.some((node) => came[index]!.has(node)))) return;
    came[index]!.clear();
    next.add(target);
  });
  next.delete(STOP);
  const ready = [...next].sort((a, b) => a - b);
  const barriers = came.map((sources) => [...sources].sort((a, b) => a - b));
  return {
    values: at.values,
    step: at.step + 1,
    ready,
    sends,
    came: barriers,
    errors: Object.fromEntries(errors),
    kept: {},
    given: {},
  };
}

/** 2.4: plain edges; every `when` that holds; `otherwise` if none did; one arm of a `match`. */
function follow(edges: readonly ModelEdge[], values: Values): readonly number[] {
  return edges.flatMap((edge): readonly number[] => {
    if (edge.kind === "plain") return edge.to;
    if (edge.kind === "when") return holds(edge, values) ? edge.to : [];
    if (edge.kind === "match")
      return edge.arms[(values.input + (values.counter as number)) % edge.by] ?? edge.otherwise;
    return edges.some((other) => other.kind === "when" && holds(other, values)) ? [] : edge.to;
  });
}

function reduce(values: Values, update: Partial<Record<Written, unknown>>): Values {
  const changed = Object.entries(update).map(([name, value]) => {
    const current = values[name as Written] as never;
    const { reducer } = CHANNELS[name as Written];
    if (reducer === "append") return [name, [...(current as unknown[]), ...(value as unknown[])]] as const;
    if (reducer === "sum") return [name, current + (value as number)] as const;
    return [name, reducer === "picky" ? pickyReducer(current, value as number) : value] as const;
  });
  return { ...values, ...Object.fromEntries(changed) };
}

/** 7.1: items in the place of the node; one that was sent is alone. */
function leavesOf(model: Model, node: number): Leaf[] {
  const { name, items } = model.nodes[node]!;
  return items === undefined
    ? [{ id: name, node }]
    : Array.from({ length: items }, (_, item) => ({ id: `${name}[${item}]`, node, item }));
}

/** 7.1: one outcome of all items, in their order. Those that failed fail the node. */
function together(parts: readonly Outcome[]): Outcome {
  const failures = parts.flatMap(({ failed }) => failed ?? []);
  const questions = parts.flatMap((part) => part.questions);
  if (failures.length > 0) {
    const items = failures.flatMap((failure) => failure.items);
    return {
      updates: [],
      sends: [],
      questions,
      failed: { ...failures[0]!, attempts: Math.max(...failures.map(({ attempts }) => attempts)), items },
    };
  }
  const gotos = parts.flatMap((part) => part.goto ?? []);
  const isStopped = gotos.length === 0 && parts.length > 0 && parts.every((part) => part.stopped === true);
  const ways = {
    exclusive: parts.some((part) => part.exclusive === true),
    stopped: isStopped,
    ...(gotos.length === 0 ? {} : { goto: gotos }),
  };
  return {
    updates: parts.flatMap((part) => part.updates),
    sends: parts.flatMap((part) => part.sends),
    questions,
    ...ways,
  };
}

/** One task from its first attempt to its last (4.1). */
function run(model: Model, at: Position, { id, node: index, item }: Leaf): Outcome {
  const node = model.nodes[index]!;
  const { input, counter, ...others } = at.values;
  const seen = input + (counter as number);
  const questions: string[] = [];
  const fail = (code: string, attempts: number): Outcome => {
    const at = /\[(\d+)\]$/.exec(id)?.[1];
    return {
      updates: [],
      sends: [],
      questions,
      failed: { node: node.name, code, attempts, items: at === undefined ? [] : [Number(at)] },
    };
  };
  const chosen = (all: Readonly<Record<Written, unknown>>) =>
    Object.fromEntries(node.writes.map((name) => [name, all[name]]));
  if (node.graph !== undefined) {
    // 7.2: with its own state; arguments in, outputs out. All but a completed run of it is a failure of the node.
    const child = toTheEnd(model.graphs[node.graph]!, begin(model.graphs[node.graph]!, seen));
    return child === undefined
      ? fail("NG_NODE_FAILED", node.tries)
      : { updates: [chosen(child)], sends: [], questions };
  }
  const numbers = (names: readonly string[]): number[] =>
    names.map((name) => model.nodes.findIndex((other) => other.name === name));
  let asked: Pick<Outcome, "goto" | "exclusive" | "stopped"> = {};
  const sends: { node: number; item: unknown }[] = [];
  const tools = {
    attempt: node.does.stumbles + 1,
    goto: (names: readonly string[], exclusive: boolean): void => void (asked = { goto: numbers(names), exclusive }),
    stop: (): void => void (asked = { stopped: true }),
    send: (name: string, value: unknown): void => void sends.push({ node: numbers([name])[0]!, item: value }),
    ask: (question: string): unknown => {
      questions.push(question);
      return at.given[id]?.[questions.length - 1] ?? answerTo(question);
    },
  };
  const isLed = at.ready.includes(index) && !id.includes("~");
  try {
    const result = body(
      { ...others, model, node: index, counter: seen, item, error: isLed ? (at.errors[index] ?? null) : null },
      tools,
    );
    return { updates: [chosen(result)], sends, questions, ...asked };
  } catch (mishap) {
    const { how } = mishap as Mishap;
    return fail(CODES[how], how === "throws" || how === "hangs" ? node.tries : tools.attempt);
  }
}

/** The values of a completed run. */
function toTheEnd(model: Model, at: Position): Values | undefined {
  if (ending(at) !== undefined) return ending(at) === "completed" ? at.values : undefined;
  const { next } = step(model, at);
  return next === undefined ? undefined : toTheEnd(model, next);
}

/** 5.9: through the reducers, or in their place. What is next stays, and so do the results that are there and the answers that were given. */
export function edit(
  at: Position,
  update: Partial<Record<Written, unknown>>,
  replace: boolean,
  stays: Pick<Position, "kept" | "given">,
): Position {
  return { ...at, ...stays, values: replace ? { ...at.values, ...update } : reduce(at.values, update) };
}

/** 5.9: what is next is replaced by what the edges of a node lead to. */
export function routeAs(model: Model, at: Position, node: number): Position {
  const plain = { updates: [], sends: [], questions: [] };
  return { ...route(model, { ...at, errors: {} }, [node], [plain]), step: at.step };
}

/** 5.9: the run goes on at a node. */
export function goAt(at: Position, node: number): Position {
  return { ...at, ready: [node], sends: [], errors: {}, kept: {}, given: {} };
}

const ALWAYS = { by: 1, rest: 0 };
const CODES: Record<HowToFail, string> = {
  throws: "NG_NODE_FAILED",
  permanent: "NG_NODE_FAILED",
  hangs: "NG_NODE_TIMEOUT",
  misfit: "NG_BAD_RESULT",
};
