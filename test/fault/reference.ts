/**
 * What a model means, in the plainest words: no store, no promises, no indexes, everything over again in each step. Written
 * from the promises of execution (2, 3, 4.3, 6, 7), not from the engine, of which it imports nothing.
 */
import { answerTo, body, STOP, type Model, type ModelEdge, type ModelNode } from "./model.ts";

export interface Expected {
  readonly status: "completed" | "incomplete" | "step_limit" | "failed";
  readonly log: readonly unknown[];
  readonly counter: number;
  readonly last: unknown;
  /** Names of what ran, step by step. */
  readonly steps: readonly (readonly string[])[];
  /** Names of the targets that still wait, with the names of who came. */
  readonly waiting: Readonly<Record<string, readonly string[]>>;
  /** Tasks in all, those of called graphs included. */
  readonly tasks: number;
}

interface Task {
  readonly node: number;
  readonly item?: unknown;
}

interface Ending {
  readonly logs: unknown[];
  readonly counter: number;
  readonly last: unknown;
  readonly goto: readonly number[] | undefined;
  readonly exclusive: boolean;
  readonly stopped: boolean;
  readonly sends: readonly Task[];
  readonly tasks: number;
}

interface Failing {
  readonly tasks: number;
  readonly failed: { readonly node: string; readonly attempts: number; readonly items: readonly number[] };
}

/** @param limit steps of the run; called graphs have none */
export function interpret(model: Model, input: number, limit = Number.POSITIVE_INFINITY): Expected {
  const log: unknown[] = [];
  let counter = 0;
  let last: unknown = null;
  let count = 0;
  const steps: (readonly string[])[] = [];
  const came = model.barriers.map(() => new Set<number>());
  const errors = new Map<number, unknown>();
  const gate = (node: number): number =>
    model.barriers.findIndex((barrier) => barrier.gates && barrier.target === node);
  let ready = model.start.filter((node) => gate(node) === -1).sort((a, b) => a - b);
  let sent: readonly Task[] = [];

  for (;;) {
    const waiting: Record<string, string[]> = {};
    model.barriers.forEach(({ target }, index) => {
      const names = [...came[index]!].map((node) => model.nodes[node]!.name).sort();
      if (names.length > 0) waiting[model.nodes[target]!.name] = names;
    });
    const end = (status: Expected["status"]): Expected => ({
      status,
      log,
      counter,
      last,
      steps,
      waiting,
      tasks: count,
    });
    if (ready.length === 0 && sent.length === 0)
      return end(came.some((nodes) => nodes.size > 0) ? "incomplete" : "completed");
    if (steps.length >= limit) return end("step_limit");

    // 2.1: all of them read the state as it is before any of them has written.
    const tasks: Task[] = [...ready.map((node) => ({ node })), ...sent];
    const endings = tasks.map((task, at) => {
      const error = at < ready.length ? (errors.get(task.node) ?? null) : null;
      const ending = runTask(model, task, input + counter, last, error, at >= ready.length);
      count += ending.tasks;
      return ending;
    });
    // 4.3: nothing of the step is applied when a failure leads nowhere.
    if (endings.some((ending, at) => "failed" in ending && model.nodes[tasks[at]!.node]!.onError.length === 0)) {
      return end("failed");
    }
    for (const ending of endings) {
      if ("failed" in ending) continue;
      log.push(...ending.logs);
      counter += ending.counter;
      if (ending.last !== undefined) last = ending.last;
    }
    steps.push(tasks.map(({ node }) => model.nodes[node]!.name));

    for (const { node } of tasks) errors.delete(node);
    const winner = endings.findLastIndex((ending) => !("failed" in ending) && ending.exclusive);
    const next = new Set<number>();
    const fresh = new Set<number>();
    const signal = (from: number, target: number): void => {
      const barrier = target === STOP ? -1 : gate(target);
      if (barrier === -1) next.add(target);
      else if (model.barriers[barrier]!.members.flat().includes(from)) came[barrier]!.add(from);
    };
    const following: Task[] = [];
    endings.forEach((ending, at) => {
      const { node } = tasks[at]!;
      const spec = model.nodes[node]!;
      if ("failed" in ending) {
        for (const target of spec.onError) {
          signal(node, target);
          if (target !== STOP && !fresh.has(target)) errors.set(target, ending.failed);
          fresh.add(target);
        }
        return;
      }
      if (winner === -1 || winner === at) following.push(...ending.sends);
      if (winner === at) for (const target of ending.goto!) next.add(target);
      if (winner !== -1 || ending.stopped) return;
      if (ending.goto !== undefined) for (const target of ending.goto) signal(node, target);
      else {
        for (const target of follow(spec.edges, input + counter)) signal(node, target);
        for (const barrier of spec.joins) came[barrier]!.add(node);
      }
    });
    model.barriers.forEach(({ members, target }, index) => {
      if (!members.every((nodes) => nodes.some((node) => came[index]!.has(node)))) return;
      came[index]!.clear();
      next.add(target);
    });
    next.delete(STOP);
    ready = [...next].sort((a, b) => a - b);
    sent = following;
  }
}

/** @param single an item that was sent, in place of a list's */
function runTask(
  model: Model,
  task: Task,
  counter: number,
  last: unknown,
  error: unknown,
  single: boolean,
): Ending | Failing {
  const node = model.nodes[task.node]!;
  const items = single || node.items === undefined ? [task.item] : Array.from({ length: node.items }, (_, i) => i);
  const endings = items.map((item) => runItem(model, node, task.node, item, counter, last, error));
  const broken = endings.flatMap((ending, at) => (ending === undefined ? [at] : []));
  if (broken.length > 0) {
    const list = single || node.items === undefined ? [] : broken;
    return { failed: { node: node.name, attempts: node.tries, items: list }, tasks: items.length };
  }
  const all = endings.map((ending) => ending!);
  const gotos = all.flatMap((ending) => ending.goto ?? []);
  return {
    logs: all.flatMap((ending) => ending.logs),
    counter: all.reduce((sum, ending) => sum + ending.counter, 0),
    last: node.items === undefined && node.graph === undefined ? all[0]!.last : undefined,
    goto: gotos.length === 0 ? undefined : gotos,
    exclusive: all.some((ending) => ending.exclusive),
    stopped: gotos.length === 0 && all.length > 0 && all.every((ending) => ending.stopped),
    sends: all.flatMap((ending) => ending.sends),
    tasks: all.reduce((sum, ending) => sum + ending.tasks, 0),
  };
}

/** `undefined`: it failed for good. */
function runItem(
  model: Model,
  node: ModelNode,
  index: number,
  item: unknown,
  counter: number,
  last: unknown,
  error: unknown,
): Ending | undefined {
  const nothing = { goto: undefined, exclusive: false, stopped: false, sends: [], tasks: 1 };
  if (node.graph !== undefined) {
    const inner = interpret(model.graphs[node.graph]!, counter);
    if (inner.status !== "completed") return undefined;
    return { logs: [...inner.log], counter: inner.counter, last: undefined, ...nothing, tasks: inner.tasks };
  }
  let goto: readonly number[] | undefined;
  let exclusive = false;
  let stopped = false;
  const sends: Task[] = [];
  const number = (name: string): number =>
    name === "end" ? STOP : model.nodes.findIndex((other) => other.name === name);
  try {
    const result = body(
      { model, node: index, counter, last, item, error },
      {
        attempt: node.tries,
        goto: (names, takesOver) => void ([goto, exclusive] = [names.map(number), takesOver]),
        stop: () => void (stopped = true),
        send: (name, value) => void sends.push({ node: number(name), item: value }),
        ask: answerTo,
      },
    );
    return {
      logs: [...result.log],
      counter: result.counter,
      last: result.last,
      goto,
      exclusive,
      stopped,
      sends,
      tasks: 1,
    };
  } catch {
    return undefined;
  }
}

/** 2.4: plain edges; every `when` that holds; `otherwise` if none did; one arm of a `match`. */
function follow(edges: readonly ModelEdge[], counter: number): readonly number[] {
  const holds = (edge: ModelEdge): boolean => edge.kind === "when" && counter % edge.by === edge.rest;
  return edges.flatMap((edge): readonly number[] => {
    if (edge.kind === "plain") return edge.to;
    if (edge.kind === "when") return holds(edge) ? edge.to : [];
    if (edge.kind === "match") return edge.arms[counter % edge.by] ?? edge.otherwise;
    return edges.some(holds) ? [] : edge.to;
  });
}
