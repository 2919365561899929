/** The code of a model's nodes, as the engine calls it, and what the promises say about when it may be called. */
import type { NodeContext } from "../../runtime/context.ts";
import type { Json } from "../../runtime/json.ts";
import { body, type BodyResult, type Model } from "./model.ts";
import type { Life, World } from "./world.ts";

export interface Bodies {
  readonly world: World;
  /** By name, called graphs included. */
  readonly models: ReadonlyMap<string, Model>;
  /** Graphs that a node calls which has several tries: each begins them anew (7.2). */
  readonly triedAgain: ReadonlySet<string>;
}

/** A body, watched. */
export function work(setting: Bodies, life: Life, args: readonly unknown[]): unknown {
  const { world, models } = setting;
  const [id, counter, last, error, context] = args as [
    readonly [string, number],
    number,
    unknown,
    FailureSeen | null,
    NodeContext,
  ];
  const model = models.get(id[0])!;
  const key = context.idempotencyKey;
  // What dies stops at once; here it can only be kept from doing more.
  if (life.dead) return new Promise(() => undefined);
  watchStart(
    world,
    life,
    key,
    `${id.join(".")}[${JSON.stringify(context.item ?? null)}]`,
    setting.triedAgain.has(model.name),
  );
  const seen = error === null ? null : { node: error.node, attempts: error.attempts, items: error.items };
  let result: BodyResult;
  try {
    result = body(
      { model, node: id[1], counter, last, item: context.item, error: seen },
      {
        attempt: context.attempt,
        goto: ([target], exclusive) => void (exclusive ? context.goto(target!, { exclusive }) : context.goto(target!)),
        stop: () => void context.stop(),
        send: (target, item) => void context.send(target, item as Json),
        ask: (question) => context.interrupt(question),
      },
    );
  } catch (thrown) {
    if (!model.nodes[id[1]]!.does.waits) throw thrown;
    return new Promise((_, reject) => world.later(life, () => reject(thrown as Error)));
  }
  const done = (): BodyResult => {
    noteReturned(world, key);
    return result;
  };
  if (!model.nodes[id[1]]!.does.waits) return done();
  return new Promise((resolve) => world.later(life, () => resolve(done())));
}

interface FailureSeen {
  readonly node: string;
  readonly attempts: number;
  readonly items: readonly number[];
}

function watchStart(world: World, life: Life, key: string, names: string, isTriedAgain: boolean): void {
  if (!world.heads.has("")) world.report(`5.2: a body runs before the input is durable`);
  if (!life.claimed) world.report(`5.6: a body runs before the thread is claimed`);
  const known = world.keys.get(key);
  if (known === undefined) world.keys.set(key, names);
  else if (known !== names) world.report(`5.5: ${known} and ${names} have the same key`);
  if (world.misled || isTriedAgain) return;
  const [runId, step] = parseKey(key);
  const stored = world.durable.get(key);
  const done = world.committed.get(runId)?.some((commit) => commit.step >= step && commit.since <= life.born) === true;
  if (done || (stored !== undefined && stored <= life.born))
    world.report(`5.4: ${names} runs again although its result was stored (${key})`);
}

function noteReturned(world: World, key: string): void {
  const [runId, step] = parseKey(key);
  const place = `${runId}@${step}`;
  const keys = world.returned.get(place) ?? new Set<string>();
  world.returned.set(place, keys);
  keys.add(key);
}

function parseKey(key: string): readonly [runId: string, step: number] {
  return [key.slice(0, key.lastIndexOf(":")), Number(key.slice(key.lastIndexOf("@") + 1))];
}
