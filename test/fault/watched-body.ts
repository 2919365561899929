/** The bodies of a model's nodes, which check the promises about when they may be called. */
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import { body, Mishap, pickyReducer, type Model, type ModelNode } from "./model.ts";
import { nameOf, taskOfKey, withoutDigests, type TaskName } from "./task-names.ts";
import { inPlainNames, nameIn } from "./versions.ts";
import type { Life, World } from "./world.ts";

export interface Bodies {
  readonly world: World;
  readonly model: Model;
  /** By name, including called graphs. */
  readonly models: ReadonlyMap<string, Model>;
  /** Graphs that a node with several tries calls: each try starts them again (7.2). */
  readonly triedAgain: ReadonlySet<string>;
}

/** The options of an engine for a model's table. */
export function functionsOf(setting: Bodies, life: Life) {
  return {
    work: (...args: unknown[]) => work(setting, life, args),
    picky: (current: number, update: number) => pickyReducer(current, update),
  };
}

export interface FailureSeen {
  readonly node: string;
  readonly code: string;
  readonly attempts: number;
  readonly items?: readonly { readonly index: number }[];
}

function work(setting: Bodies, life: Life, args: readonly unknown[]): unknown {
  const { world, models } = setting;
  const [id, counter, last, solo, picky, total, error, context] = args as [
    readonly [string, number],
    number,
    unknown,
    unknown,
    unknown,
    unknown,
    FailureSeen | null,
    NodeContext,
  ];
  const model = models.get(id[0])!;
  const node = model.nodes[id[1]]!;
  const key = context.idempotencyKey;
  // A dead process stops at once. The simulation can only keep it from acting.
  if (life.dead) return new Promise(() => undefined);
  const task = taskOf(setting, life, model, node, context);
  world.note(
    `    body ${id[0]}.${node.name} as ${task === undefined ? key : `${task.task}@${task.step}`} attempt ${context.attempt}`,
  );
  const names = `${id.join(".")}[${JSON.stringify(context.item ?? null)}]`;
  const known = world.keys.get(key);
  if (known === undefined) world.keys.set(key, names);
  else if (known !== names) world.report(`5.5: ${known} and ${names} have the same key`);
  if (!life.claimed) world.report(`5.6: a body runs before the thread is claimed`);
  if (!world.heads.has(`${context.thread}|`)) world.report(`5.2: a body runs before the input is durable`);
  else if (task !== undefined) {
    if (!setting.triedAgain.has(model.name)) watchStart(world, life, task, names);
    watchGates(world, task, node);
  }
  watchAttempts(world, life, context, node);
  const seen =
    error === null
      ? null
      : {
          node: inPlainNames(error.node),
          code: error.code,
          attempts: error.attempts,
          items: (error.items ?? []).map(({ index }) => index),
        };
  const settle = (happen: () => void): void => {
    // Bodies with a timeout end in time.
    if (node.timeout === undefined) world.later(life, happen);
    else world.at(life, 1 + (world.now % (node.timeout - 2)), happen);
  };
  const fail = (problem: Error): unknown => {
    const note = (): void => void life.failed.set(key, { attempt: context.attempt, at: world.now });
    if (!node.does.waits) {
      note();
      throw problem;
    }
    return new Promise((_, reject) =>
      settle(() => {
        note();
        reject(problem);
      }),
    );
  };
  const place = task === undefined ? key : nameOf(task);
  const broken = world.breaks.get(place) ?? 0;
  if (broken < node.does.breaks) {
    world.breaks.set(place, broken + 1);
    world.cover("a failure that a resume gets over");
    if (task !== undefined) life.broke.add(nameOf(task));
    return fail(Object.assign(new Error("not today"), { retryable: false }));
  }
  /** Nodes that call graphs have the same name in each version; `end` is no node. */
  const targetName = (name: string): string =>
    model.nodes.some((other) => other.name === name && other.graph === undefined) ? nameIn(life.version, name) : name;
  try {
    const result = body(
      {
        model,
        node: id[1],
        counter,
        last,
        solo,
        picky,
        total,
        item: context.item,
        error: seen,
      },
      {
        attempt: context.attempt,
        goto: ([target], exclusive) => {
          world.cover(exclusive ? "an exclusive goto" : "a goto");
          const name = targetName(target!);
          return void (exclusive ? context.goto(name, { exclusive }) : context.goto(name));
        },
        stop: () => void context.stop(),
        send: (target, item) => {
          world.cover("a sent item");
          context.send(targetName(target), item as Json);
        },
        ask: (question) => context.interrupt(question),
      },
    );
    const done = (): unknown => {
      if (task !== undefined) noteReturned(world, life, task);
      return result;
    };
    return node.does.waits ? new Promise((resolve) => settle(() => resolve(done()))) : done();
  } catch (thrown) {
    if (!(thrown instanceof Mishap)) {
      if (!node.does.waits) throw thrown;
      return new Promise((_, reject) => settle(() => reject(thrown as Error)));
    }
    world.cover(`a body that ${thrown.how}`);
    if (thrown.how === "hangs") {
      life.failed.set(key, { attempt: context.attempt, at: world.now + node.timeout!, signal: context.signal });
      return new Promise(() => undefined);
    }
    if (thrown.how === "permanent") return fail(Object.assign(thrown, { retryable: false }));
    if (thrown.how === "throws") return fail(thrown);
    const misfit = { log: [], counter: "many", last: null, solo: null, picky: 0, diary: [], total: 0 };
    return node.does.waits ? new Promise((resolve) => settle(() => resolve(misfit))) : misfit;
  }
}

/** `undefined` without a store, which means that there is nothing to check. */
function taskOf(
  { world, model: main }: Bodies,
  { version }: Life,
  model: Model,
  node: ModelNode,
  context: NodeContext,
) {
  const known = world.tasks.get(context.idempotencyKey);
  const head = world.runs.get(context.thread);
  if (known !== undefined || head === undefined) return known;
  const task = taskOfKey(main, head, { model, node: nameIn(version, node.name) }, context, world.callRuns);
  if (task !== undefined) {
    world.tasks.set(context.idempotencyKey, inPlainNames(task));
    if (model !== main) world.callRuns.add(task.runId);
  } else if (!world.misled)
    world.report(`5.5: the key of ${model.name}.${node.name} in step ${context.step} is no task's`);
  return task === undefined ? undefined : inPlainNames(task);
}

function watchStart(world: World, life: Life, task: TaskName, names: string): void {
  if (world.misled) return;
  const stored = world.durable.get(nameOf(task));
  const steps = world.committed.get(task.runId);
  const done = steps?.some((commit) => commit.step >= task.step && commit.since <= life.born) === true;
  if (done || (stored !== undefined && stored <= life.born))
    world.report(`5.4: ${names} runs again although its result was stored (${nameOf(task)})`);
}

/** 6.2, 6.3: no node behind a gate runs before the gate is opened. */
function watchGates(world: World, { runId, step }: TaskName, { name, pauseBefore }: ModelNode): void {
  if (!pauseBefore || world.hadRival || world.misled) return;
  const gate = gateKey(gateId(runId, name, step));
  if (!world.opened.has(gate)) world.report(`6.2: ${name} runs in step ${step} before its gate ${gate} is open`);
}

/** 4.1, 4.4: checks the waits between attempts, and that aborted attempts received the signal. */
function watchAttempts(world: World, life: Life, context: NodeContext, { timeout }: ModelNode): void {
  const { idempotencyKey: key, attempt } = context;
  const before = life.failed.get(key);
  if (attempt === 1) return;
  if (before?.attempt !== attempt - 1) {
    world.report(`4.1: attempt ${attempt} of ${key} follows attempt ${before?.attempt}`);
    return;
  }
  world.cover("a further attempt");
  const waited = world.now - before.at;
  const least = 200 * 2 ** (attempt - 2);
  const most = least + 200;
  if (waited < least || waited > most)
    world.report(`4.1: ${key} was tried again after ${waited} ms, not ${least} to ${most}`);
  if (timeout !== undefined && before.signal?.aborted === false)
    world.report(`4.4: ${key} timed out, and its signal says nothing`);
}

function noteReturned(world: World, life: Life, task: TaskName): void {
  life.returned.add(nameOf(task));
  const place = `${task.runId}@${task.step}`;
  const keys = world.returned.get(place) ?? new Set<string>();
  world.returned.set(place, keys);
  keys.add(nameOf(task));
}

/** Each try of a called graph has gates of its own; here the gates of all tries count as one. */
export function gateKey(id: string): string {
  return withoutDigests(id).replaceAll(/@(\d+)\.\d+\//g, "@$1/");
}

/** The name of a gate before a node. */
function gateId(runId: string, node: string, step: number): string {
  const [root] = runId.split("/") as [string];
  const place = runId.slice(root.length + 1);
  return `${place === "" ? "" : `${place}/`}before:${node}@${step}.${root.slice(-12)}`;
}
