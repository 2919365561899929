/** One thread under random pairs of operations, with processes that die, are cancelled and are drained. */
import type { ThreadState } from "../../runtime/index.ts";
import type { OpenBackend } from "./pairs-backends.ts";
import { ITEMS, renamesBetween, VERSIONS } from "./pairs-graph.ts";
import { checkEnd, inProcess, inTwoProcesses, namesOf, openEngine, setOf, type World } from "./pairs-world.ts";
import { below, chance, pick, randomOf } from "./random.ts";
import type { Subject } from "./simulate.ts";

const ACTS = 30;
/** The last acts only resume, so that most threads end. */
const FREE_ACTS = 22;

/** Lives through one seed. Returns what is wrong. */
export async function simulatePairs(
  open: OpenBackend,
  subject: Subject,
  seed: number,
  covered: Set<string>,
  log: string[] = [],
): Promise<readonly string[]> {
  const random = randomOf(seed);
  const world: World = {
    subject,
    random,
    hasCodec: chance(random, 0.5),
    backend: open(() => world.now),
    covered,
    problems: [],
    log,
    now: 1000,
    thread: "t",
    version: 0,
    serial: 0,
    made: new Map(),
    storedKeys: new Map(),
    done: new Map(),
    toUndo: new Map(),
    undone: [],
  };
  try {
    for (let act = 0; act < ACTS && world.problems.length === 0; act++) {
      const state = await openEngine(world).state(world.thread);
      const name = act >= FREE_ACTS ? "resume" : pick(world.random, NAMES);
      if (state === undefined) await begin(world);
      else {
        covered.add(name);
        log.push(`${act} ${name} of ${world.thread} (${state.status}, next ${state.next.join()})`);
        await OPERATIONS[name](world, state, act < FREE_ACTS);
      }
      if (act % 7 === 0) await reload(world);
    }
  } catch (error) {
    world.problems.push(`thrown: ${(error as Error).stack}`);
  } finally {
    await world.backend.dispose();
  }
  return world.problems;
}

type Operation = (world: World, state: ThreadState, mayStop: boolean) => Promise<unknown>;

const OPERATIONS = {
  resume: resumeOrRun,
  async fork(world) {
    const as = `t${++world.serial}`;
    await openEngine(world).fork(world.thread, { as });
    // 5.4: the results of the open step are those of the fork, too. Another thread undoes nothing of it.
    world.done.set(as, new Set(setOf(world.done, world.thread)));
    world.thread = as;
  },
  async branch(world, state) {
    if (state.status === "rolled_back") return;
    const { id, values } = pick(
      world.random,
      await openEngine(world).history(world.thread, { all: chance(world.random, 0.5) }),
    );
    try {
      await openEngine(world).fork(world.thread, { from: id });
    } catch (error) {
      // A checkpoint of another version of the graph.
      if ((error as { code?: string }).code !== "NG_DRIFT") throw error;
      return;
    }
    if (id === state.checkpointId) return;
    const log = new Set((values["log"] ?? []) as readonly string[]);
    const inner = [...log].flatMap((value) => /\((.+)\)$/.exec(value)?.[1] ?? []);
    const applied = [...log, ...inner].filter((value) => world.made.has(value));
    world.done.set(world.thread, new Set(applied));
  },
  update: (world) => openEngine(world).update(world.thread, {}),
  async migrate(world) {
    const from = namesOf(world);
    world.version = below(world.random, VERSIONS.length);
    await openEngine(world).migrate(world.thread, { rename: renamesBetween(from, namesOf(world)) });
  },
  signal: (world) =>
    openEngine(world).signal(world.thread, "sig", `v${++world.serial}`, { id: pick(world.random, ["i1", "i2"]) }),
  async secondRun(world, state) {
    if (state.status === "completed" || state.status === "rolled_back") return begin(world);
    const before = JSON.stringify(state);
    const error = await openEngine(world)
      .run({ xs: [] }, { thread: world.thread })
      .then(
        () => undefined,
        (thrown: { code?: string }) => thrown,
      );
    if (error?.code !== "NG_THREAD_BUSY") world.problems.push(`5.13: a second run: ${String(error?.code)}`);
    const after = JSON.stringify(await openEngine(world).state(world.thread));
    if (after !== before) world.problems.push("5.13: a refused run has changed the thread");
  },
  async recover(world) {
    for (const { failures } of await inTwoProcesses(world, (engine) => engine.recover())) {
      for (const { thread, error } of failures) {
        if (thread === world.thread) world.problems.push(`recover: ${error.message}`);
      }
    }
  },
  async due(world) {
    await inProcess(
      world,
      async (engine) => (await engine.due(world.now)).results[0] ?? { status: "nothing due" },
      true,
    );
  },
  async clock(world) {
    world.now += pick(world.random, [1000, 130_000, -50_000]);
  },
  async expire(world) {
    const { thread } = world;
    if (chance(world.random, 0.5)) world.now += 200_000;
    const known = (await openEngine(world).threads({})).find((one) => one.thread === thread);
    const { deleted } = await openEngine(world).prune({ expiredAt: world.now });
    const isOver = known?.expires !== undefined && known.expires <= world.now;
    const isKept = (await openEngine(world).state(thread)) !== undefined;
    if (isKept === isOver || deleted.includes(thread) !== isOver)
      world.problems.push(`5.13: expired at ${known?.expires}, kept at ${world.now}: ${isKept}`);
    if (isKept) return;
    world.covered.add("an expired thread");
    if ((await world.backend.store.loadLatest(thread, "every[0]")) !== undefined)
      world.problems.push("5.13: an expired thread has left a called graph");
  },
  prune: (world) => openEngine(world).prune({ keepLast: 1 + below(world.random, 3), threads: [world.thread] }),
  async wrongAnswer(world) {
    const answers = { "nope#1@0": "x" };
    const answered = await openEngine(world)
      .resume(world.thread, { answers })
      .then(
        ({ status }) => status,
        () => undefined,
      );
    if (answered !== undefined) world.problems.push(`6.2: an answer to nothing was taken: ${answered}`);
  },
  async rollback(world, state) {
    if (!chance(world.random, 0.4) || state.status === "completed" || state.status === "rolled_back") return;
    const { error } = await inProcess(world, (engine) => engine.rollback(world.thread), false);
    if (error !== undefined) return void world.problems.push(`rollback: ${error.code} ${error.message}`);
    for (const value of setOf(world.toUndo, world.thread)) {
      if (!/^(a|first)#/.test(value)) continue;
      const times = world.undone.filter((one) => one === `${world.thread}:${value}`).length;
      if (times !== 1) world.problems.push(`R4: ${value} was undone ${times} times`);
    }
  },
} satisfies Record<string, Operation>;

type Name = keyof typeof OPERATIONS;
/** Resumes are more frequent: they make the progress. */
const NAMES = [...(Object.keys(OPERATIONS) as Name[]), "resume", "resume", "resume"] as const;
export const FEATURES: readonly string[] = [
  ...Object.keys(OPERATIONS),
  ...["none", "crash", "cancel", "drain", "deadline", "leave"].map((how) => `process: ${how}`),
  "update of a run",
  "an expired thread",
  "a run that completes",
];

/** A new run on the thread. */
async function begin(world: World): Promise<void> {
  const { thread } = world;
  world.log.push(`a run on ${thread}`);
  world.done.delete(thread);
  world.toUndo.delete(thread);
  const options = { thread, ...ttlOf(world) };
  const { error } = await inProcess(
    world,
    (engine) => engine.run({ xs: ITEMS }, options),
    true,
    (engine) => engine.stream({ xs: ITEMS }, options),
  );
  if (error !== undefined) world.problems.push(`run: ${error.code} ${error.message}`);
}

/** Some threads expire. */
function ttlOf({ random }: World): { readonly ttl?: number | null } {
  return chance(random, 0.2) ? { ttl: pick(random, [null, 100_000, 400_000]) } : {};
}

async function resumeOrRun(world: World, state: ThreadState, mayStop: boolean): Promise<void> {
  const { random, thread } = world;
  if (state.status === "completed") checkEnd(world, state.state);
  if (state.status === "completed" || state.status === "rolled_back") return begin(world);
  const answers: Record<string, string | boolean> = {};
  for (const { id, kind } of state.pauses) {
    if (mayStop && chance(random, 0.3)) continue;
    if (kind === "interrupt") answers[id] = "yes";
    if (kind === "before" || kind === "after") answers[id] = true;
  }
  if (chance(random, 0.5)) world.now += 130_000;
  if (chance(random, 0.5)) await openEngine(world).signal(thread, "sig", `v${++world.serial}`);
  const pauseBefore = [pick(random, ["d", "turn", "every/first", "s", namesOf(world).outer])];
  const pauseAfter = [pick(random, ["d", "every/first", "t"])];
  const options = {
    answers,
    ...ttlOf(world),
    ...(mayStop && chance(random, 0.3) ? { pauseBefore, pauseAfter } : {}),
    ...(chance(random, 0.3) ? { onFailure: "abort" as const } : {}),
  };
  const { result, error } = await inProcess(
    world,
    (engine) => engine.resume(thread, options),
    mayStop,
    (engine) => engine.streamResume(thread, options),
  );
  if (error !== undefined) world.problems.push(`resume: ${error.code} ${error.message}`);
  if (result?.status !== "completed") return;
  world.covered.add("a run that completes");
  checkEnd(world, (await openEngine(world).state(thread))!.state);
}

/** 5.9: a fork of a checkpoint has its values. */
async function reload(world: World): Promise<void> {
  const all = await openEngine(world).history(world.thread, { all: true });
  if (all.length === 0) return;
  if (new Set(all.map(({ id }) => id)).size < all.length) world.problems.push("5.1: two checkpoints have one id");
  const { id, values } = pick(world.random, all);
  const as = `copy${++world.serial}`;
  try {
    await openEngine(world).fork(world.thread, { from: id, as });
  } catch (error) {
    if ((error as { code?: string }).code === "NG_DRIFT") return;
    throw error;
  }
  const { state } = (await openEngine(world).state(as))!;
  for (const [name, value] of Object.entries(values)) {
    const copy = state[name];
    if (name.startsWith("$") || copy === undefined || JSON.stringify(copy) === JSON.stringify(value)) continue;
    world.problems.push(`5.9: \`${name}\` of a fork is ${JSON.stringify(copy)}, was ${JSON.stringify(value)}`);
  }
  await world.backend.store.deleteThread(as);
}
