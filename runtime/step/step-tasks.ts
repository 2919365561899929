import { truth } from "../expression/operations.ts";
import type { Json } from "../value/json.ts";
import { isThenable } from "../value/promise.ts";
import { endsPart, toEnd, type Work } from "../value/work.ts";
import { Attempt } from "./attempt.ts";
import { combineItems } from "./combine-items.ts";
import { openCallsOfTask } from "./open-calls.ts";
import { awaitBody, beginAttempt, runTask } from "./run-task.ts";
import { callsRuns, type NodeCode } from "../program/program.ts";
import type { Run } from "../run/run.ts";
import { mayContinue } from "../checkpoint/waits.ts";
import { CANCELLED_OUTCOME, itemLocals, pausedOutcome, type Outcome, type Task } from "./task.ts";
import { beginItems } from "../run/begin-items.ts";
import { inTurns } from "../run/cut-work.ts";

/** The tasks of the next step: nodes in declaration order, then sent items in the order of sending (2.2). */
export function tasksOf(run: Run): readonly Task[] {
  return onlyTask(run) ?? toEnd(allTasks(run));
}

/** `tasksOf` in turns: a `for` node may have many items. */
export function tasksInTurns(run: Run): readonly Task[] | Promise<readonly Task[]> {
  return onlyTask(run) ?? inTurns(run.shared, allTasks(run));
}

/** The tasks of a step with one node, which has no items and no error. */
function onlyTask({ ready, sends, errors, program }: Run): readonly Task[] | undefined {
  if (ready.length !== 1 || sends.length > 0 || errors !== undefined) return undefined;
  const node = program.nodes[ready[0]!]!;
  return node.list === undefined ? (node.plainTasks ??= [plainTaskOf(node)]) : undefined;
}

function* allTasks(run: Run): Work<readonly Task[]> {
  const tasks: Task[] = [];
  for (const index of run.ready) {
    const node = run.program.nodes[index]!;
    const error = run.errors?.get(index) ?? null;
    if (node.list !== undefined) tasks.push(yield* listTask(run, node, error));
    else if (error === null) tasks.push(plainTaskOf(node));
    else tasks.push(taskOf(node, error));
  }
  for (let at = 0; at < run.sends.length; at++) {
    const { taskId, node, item } = run.sends[at]!;
    const code = run.program.nodes[node]!;
    tasks.push({ node: code, id: taskId, item, itemIndex: -1, error: null, items: undefined, broken: undefined });
    if (endsPart(at)) yield;
  }
  return tasks;
}

function* listTask(run: Run, node: NodeCode, error: Json): Work<Task> {
  const task = taskOf(node, error);
  const { itemCondition } = node;
  try {
    const { state, secrets, outcome } = run.scope;
    const scope = { state, secrets, outcome, error: error ?? run.error };
    const list = run.lists?.has(node.index) === true ? run.lists.get(node.index) : node.list!(scope);
    run.lists?.delete(node.index);
    if (!Array.isArray(list)) throw new TypeError("the value of its `for` is not a list");
    // The number in an id is the position in the list, so it also counts the items that the condition leaves out.
    const items: Task[] = [];
    for (let at = 0; at < list.length; at++) {
      const one = itemTask(task, list[at] as Json, at);
      const isLeftOut = itemCondition !== undefined && !truth(itemCondition({ ...scope, locals: itemLocals(one) }));
      if (!isLeftOut) items.push(one);
      if (endsPart(at)) yield;
    }
    if (run.itemRecords !== undefined) yield* run.shared.durable!.code.numberItems(run, task.id, items, list.length);
    return { ...task, items };
  } catch (broken) {
    return { ...task, broken };
  }
}

/** How many bodies the tasks run: one for each item of a `for` node. */
export function leavesOf(tasks: readonly Task[]): number {
  let leaves = 0;
  for (const { items } of tasks) leaves += items?.length ?? 1;
  return leaves;
}

/** How many items each `for` node of a step has. */
export function itemCounts(tasks: readonly Task[]): { readonly items?: Readonly<Record<string, number>> } {
  let items: Record<string, number> | undefined;
  for (const task of tasks) if (task.items !== undefined) (items ??= {})[task.node.spec.name] = task.items.length;
  return items === undefined ? {} : { items };
}

/** The task of a node without an item or an error: the same in every run. */
export function plainTaskOf(node: NodeCode): Task {
  return (node.plainTask ??= taskOf(node, null));
}

function taskOf(node: NodeCode, error: Json): Task {
  const { name } = node.spec;
  return { node, id: name, item: undefined, itemIndex: -1, error, items: undefined, broken: undefined };
}

/**
 * Whether the engine can call the body directly: no store, no stored result, no timeout, no slots. A called graph or plan ends by itself when
 * the run is cancelled.
 */
export function isDirect(run: Run, task: Task): boolean {
  return run.writer === undefined && isPlain(run, task) && (!run.cancellation.possible || !callsRuns(task.node));
}

/**
 * Like `isDirect`, for the only task of a step: no result but the checkpoint of the step is stored. Not for a task that has a stored result,
 * or that waits, and not for one that may call graphs, which store where they stop.
 */
export function isDirectAlone(run: Run, task: Task): boolean {
  if (run.writer === undefined) return isDirect(run, task);
  return run.stored === undefined && run.waiting === undefined && isPlain(run, task) && !callsRuns(task.node);
}

function isPlain({ shared }: Run, { items, broken, node }: Task): boolean {
  return items === undefined && broken === undefined && node.timeout === undefined && shared.slots === undefined;
}

/** Runs the tasks in parallel. Returns their outcomes in task order, without a promise if every body is synchronous. */
export function runTasks(run: Run, tasks: readonly Task[]): readonly Outcome[] | Promise<readonly Outcome[]> {
  const first = tasks[0]!;
  if (tasks.length === 1 && first.items === undefined) {
    const outcome = runLeaf(run, first, false);
    return isThenable(outcome) ? outcome.then((done) => [done]) : [outcome];
  }
  const keeps = run.writer !== undefined && leavesOf(tasks) > 1;
  const outcomes: Outcome[] = tasks.map(() => CANCELLED_OUTCOME);
  let open = 0;
  let resolve: (outcomes: readonly Outcome[]) => void = ignore;
  let reject: (error: unknown) => void = ignore;
  const settle = (index: number, outcome: Outcome): void => {
    // Mutation point: task-outcome
    outcomes[index] = outcome;
    if (--open > 0) return;
    awaited?.close();
    resolve(outcomes);
  };
  let awaited: AwaitedAttempts | undefined;
  let fatal: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    fatal = { error };
    awaited?.close();
    reject(error);
  };
  for (let index = 0; index < tasks.length; index++) {
    const task = tasks[index]!;
    let outcome: Outcome | Promise<Outcome> | undefined;
    if (isDirect(run, task)) {
      // Uses a callback instead of a promise for each task. The rows "5 and a join" of `bench/engine.ts` measure it.
      const attempt = new Attempt(run, task, 1);
      outcome = run.aborting || run.cancellation.aborted ? CANCELLED_OUTCOME : beginAttempt(attempt);
      if (outcome === undefined) {
        open++;
        awaitBody(attempt, (done) => settle(index, done), fail);
        if (run.cancellation.possible) (awaited ??= new AwaitedAttempts(run, settle)).add(index, attempt);
        continue;
      }
    } else outcome = task.items === undefined ? runLeaf(run, task, keeps) : runList(run, task, task.items, keeps);
    if (!isThenable(outcome)) {
      outcomes[index] = outcome;
      continue;
    }
    open++;
    outcome.then((done) => settle(index, done), fail);
  }
  if (fatal !== undefined) throw fatal.error;
  if (open === 0) return outcomes;
  return new Promise((onDone, onError) => {
    resolve = onDone;
    reject = onError;
  });
}

/**
 * The attempts of a step that are called directly. One listener of the run aborts them all, so that no body can keep
 * the run alive (4.4).
 */
class AwaitedAttempts {
  readonly #attempts: Attempt[] = [];
  readonly #indexes: number[] = [];
  readonly #run: Run;
  readonly #settle: (index: number, outcome: Outcome) => void;

  constructor(run: Run, settle: (index: number, outcome: Outcome) => void) {
    this.#run = run;
    this.#settle = settle;
    run.cancellation.listen(this.#abort);
  }

  add(index: number, attempt: Attempt): void {
    this.#attempts.push(attempt);
    this.#indexes.push(index);
    // The body may have cancelled the run before it returned.
    const { aborted, reason } = this.#run.cancellation;
    if (aborted) this.#abort(reason);
  }

  close(): void {
    this.#run.cancellation.unlisten(this.#abort);
  }

  readonly #abort = (reason: unknown): void => {
    for (const [at, attempt] of this.#attempts.entries()) {
      // Its retry, if there is one, listens itself.
      if (attempt.closed) continue;
      attempt.abort(reason);
      this.#settle(this.#indexes[at]!, CANCELLED_OUTCOME);
    }
  };
}

/** Returns the stored result of a task, or runs the task. Not for `for` nodes. */
function runLeaf(run: Run, task: Task, keeps: boolean): Outcome | Promise<Outcome> {
  // Mutation point: stored-result
  const known = storedOutcome(run, task);
  if (known !== undefined) return known;
  const waiting = run.waiting?.get(task.id);
  // The pause has no answer yet, so the body would only raise the same pause again.
  const isOwn = waiting?.every(({ id }) => run.isPauseOf(id, task)) === true;
  if (waiting !== undefined && isOwn && !waiting.some((pause) => mayContinue(run, pause)))
    return pausedOutcome(waiting, openCallsOfTask(run, task));
  const { slots } = run.shared;
  // The tasks of a called graph take slots of their own. A call that holds a slot could wait for itself.
  if (slots === undefined || (task.node.call.kind !== "plan" && callsRuns(task.node)))
    return runAndKeep(run, task, keeps);
  const turn = slots.take();
  const outcome =
    turn === undefined
      ? runAndKeep(run, task, keeps)
      : turn.then(() => (run.aborting ? CANCELLED_OUTCOME : runAndKeep(run, task, keeps)));
  if (!isThenable(outcome)) {
    slots.give();
    return outcome;
  }
  return outcome.finally(() => slots.give());
}

function storedOutcome(run: Run, task: Task): Outcome | undefined {
  return run.stored === undefined ? undefined : run.shared.durable!.code.storedOutcome(run, task);
}

function runAndKeep(run: Run, task: Task, keeps: boolean): Outcome | Promise<Outcome> {
  const outcome = runTask(run, task);
  if (!keeps) return outcome;
  return isThenable(outcome) ? outcome.then((done) => keep(run, task, done)) : keep(run, task, outcome);
}

/** Stores the result. It is durable before the step ends (5.3). */
function keep(run: Run, task: Task, outcome: Outcome): Outcome | Promise<Outcome> {
  const write = run.shared.durable!.code.storeOutcome(run, task, outcome);
  if (write === undefined) return outcome.pauses === undefined ? outcome : keepDues(run, task, outcome);
  const kept = run.writer!.keep(write);
  return kept === undefined ? outcome : kept.then(() => outcome);
}

/** Stores the due times of a task that waits while others of its step run (W3). */
function keepDues(run: Run, task: Task, outcome: Outcome): Outcome | Promise<Outcome> {
  const stored = (outcome.pauses ?? []).flatMap(({ id, due, namespace }) => {
    // A called graph has stored the due times of its own pauses.
    const isOwn = due !== undefined && namespace.length === run.path.length;
    return isOwn ? [run.writer!.keepDue(task.node.spec.name, id, due)] : [];
  });
  const open = stored.filter((one) => one !== undefined);
  return open.length === 0 ? outcome : Promise.all(open).then(() => outcome);
}

/** A `for` node: from its stored result (of an edit of the state), or by running its items. */
function runList(run: Run, task: Task, items: readonly Task[], keeps: boolean): Outcome | Promise<Outcome> {
  return storedOutcome(run, task) ?? runItems(run, task, items, (index) => runLeaf(run, items[index]!, keeps));
}

/**
 * Runs the items of a `for` node, at most `parallel` at a time, and combines their outcomes.
 *
 * @param runItem of an item that may have begun before
 */
export function runItems(
  run: Run,
  task: Task,
  items: readonly Task[],
  runItem: (index: number) => Outcome | Promise<Outcome>,
): Outcome | Promise<Outcome> {
  const outcomes: Outcome[] = items.map(() => CANCELLED_OUTCOME);
  const ended = beginItems(run.shared, items.length, task.node.spec.each?.parallel, (index, goOn, fail) => {
    const outcome = run.aborting ? CANCELLED_OUTCOME : runItem(index);
    if (isThenable(outcome)) {
      const settled = outcome.then((done) => {
        // Mutation point: item-outcome
        outcomes[index] = done;
        goOn();
      });
      settled.catch(fail);
      return false;
    }
    outcomes[index] = outcome;
    return true;
  });
  const combine = (): Outcome | Promise<Outcome> => inTurns(run.shared, combineItems(run, task, items, outcomes));
  return ended === undefined ? combine() : ended.then(combine);
}

/** An item that begins when the engine has taken over its step. */
export function runLeafOf(run: Run, task: Task): Outcome | Promise<Outcome> {
  return runLeaf(run, task, false);
}

/** The task of a `for` node whose items are known. */
export function taskWithItems(node: NodeCode, items: readonly { readonly item: Json; readonly index: number }[]): Task {
  const task = taskOf(node, null);
  return { ...task, items: items.map(({ item, index }) => itemTask(task, item, index)) };
}

function itemTask({ node, id, error }: Task, item: Json, index: number): Task {
  return { node, id: `${id}[${index}]`, item, itemIndex: index, error, items: undefined, broken: undefined };
}

const ignore = (): void => undefined;
