/**
 * One graph, one seed: it runs under faults, is resumed until it ends, and has to end as the reference interpreter says, with
 * every promise about crashes kept on the way.
 */
import type { Checkpoint } from "../../runtime/checkpoint.ts";
import type { Engine, EngineOptions, RunResult } from "../../runtime/engine-options.ts";
import type { Json } from "../../runtime/json.ts";
import type { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Table } from "../../runtime/table.ts";
import { faultyStore } from "./faulty-store.ts";
import { answerTo, randomModel, type Model } from "./model.ts";
import { below, chance, pick, randomOf, type Random } from "./random.ts";
import { interpret, type Expected } from "./reference.ts";
import { modelsByName, tableOfModel } from "./table-of-model.ts";
import { work, type Bodies } from "./watched-body.ts";
import { FAULT_KINDS, World, type FaultPlan, type Life } from "./world.ts";

/** What is simulated: the engine as it is, or one with a planted mistake. */
export interface Subject {
  readonly createEngine: (table: Table, options: EngineOptions) => Engine;
  readonly makeStore: (now: () => number) => MemoryStore;
}

export interface Simulation {
  readonly problems: readonly string[];
  /** How often the store was called. */
  readonly calls: number;
}

const THREAD = "thread";
const LEASE = 30_000;
const MAX_LIVES = 300;
/** Steps of a run in the end, the most that keep it short; some are held by a lower limit first. */
const LIMITS = [12, 8, 5, 3, 2];
const MAX_TASKS = 60;

/** A seed's faults: none, or some at calls of its choice. */
export function randomFaults(seed: number): FaultPlan {
  const random = randomOf(seed ^ 0x5eed);
  return new Map(Array.from({ length: below(random, 4) }, () => [below(random, 45), pick(random, FAULT_KINDS)]));
}

export async function simulate(
  subject: Subject,
  seed: number,
  faults: FaultPlan = randomFaults(seed),
): Promise<Simulation> {
  const random = randomOf(seed);
  const model = randomModel(random);
  const input = below(random, 20);
  const firstLimit = chance(random, 0.3) ? 1 + below(random, 4) : undefined;
  const { limit, expected } = expectedOf(model, input);
  const world = new World(random, faults, subject.makeStore);
  const setting: Setting = {
    subject,
    world,
    model,
    table: tableOfModel(model),
    models: modelsByName(model),
    triedAgain: calledWithTries(model),
    isSlow: chance(random, 0.6),
    keepsWrites: !chance(random, 0.1),
    mayExit: chance(random, 0.15),
    mayRival: chance(random, 0.1),
    mayCancel: chance(random, 0.1),
  };
  try {
    const usedExit = await live(setting, input, Math.min(firstLimit ?? limit, limit), limit, expected);
    if (world.problems.length === 0) compare(world, expected, usedExit);
  } catch (error) {
    world.report(`it broke: ${error instanceof Error ? error.stack : String(error)}`);
  }
  return { problems: world.problems, calls: world.calls };
}

export function expectedOf(model: Model, input: number): { readonly limit: number; readonly expected: Expected } {
  let last: { readonly limit: number; readonly expected: Expected } | undefined;
  for (const limit of LIMITS) {
    last = { limit, expected: interpret(model, input, limit) };
    if (last.expected.tasks <= MAX_TASKS) break;
  }
  return last!;
}

interface Setting extends Bodies {
  readonly subject: Subject;
  readonly model: Model;
  readonly table: Table;
  readonly isSlow: boolean;
  readonly keepsWrites: boolean;
  readonly mayExit: boolean;
  readonly mayRival: boolean;
  readonly mayCancel: boolean;
}

type Settled = { readonly result: RunResult } | { readonly error: unknown };

/** Life after life, until the thread's run is over. Returns whether some of them stored only their end. */
async function live(
  setting: Setting,
  input: number,
  firstLimit: number,
  limit: number,
  expected: Expected,
): Promise<boolean> {
  const { world } = setting;
  const { random } = world;
  let maxSteps = firstLimit;
  let usedExit = false;
  for (let count = 0; count < MAX_LIVES; count++) {
    const head = world.store.loadLatest(THREAD);
    if (head !== undefined && isOver(head, expected, limit)) return usedExit;
    if (head?.status === "step_limit") maxSteps = limit;
    const durability = setting.mayExit
      ? pick(random, ["sync", "async", "exit"] as const)
      : pick(random, ["sync", "async"] as const);
    usedExit ||= durability === "exit";
    const life = newLife(world, `life ${count}`, durability === "exit");
    const engine = engineOf(setting, life);
    const abort = new AbortController();
    const options = { durability, maxSteps, ...(setting.mayCancel ? { signal: abort.signal } : {}) };
    let settled: Settled | undefined;
    const running =
      head === undefined
        ? engine.run({ input }, { ...options, thread: THREAD })
        : engine.resume(THREAD, { ...options, ...answers(random, head, count > 5) });
    void running.then(
      (result) => (settled = { result }),
      (error: unknown) => (settled = { error }),
    );
    const rivalAt = setting.mayRival ? below(random, 25) : -1;
    const cancelAt = setting.mayCancel && chance(random, 0.3) ? below(random, 25) : -1;
    let rival: Life | undefined;
    let rivalSettled = true;
    const went = await world.drive(
      () => life.dead || (settled !== undefined && rivalSettled),
      (turn) => {
        if (turn === cancelAt) abort.abort(new Error("enough"));
        if (turn !== rivalAt) return;
        rival = newLife(world, `rival ${count}`, durability === "exit");
        rivalSettled = false;
        void engineOf(setting, rival)
          .resume(THREAD, options)
          .catch(() => undefined)
          .finally(() => (rivalSettled = true));
      },
    );
    const isDisturbed = life.disturbed || rival !== undefined;
    if (!went && !isDisturbed) world.report(`life ${count} hangs after ${world.turns} turns`);
    judge(world, life, settled, isDisturbed);
    life.dead = true;
    if (rival !== undefined) rival.dead = true;
    // Its lease runs out, unless it was given back.
    world.now += LEASE + 1;
    if (world.problems.length > 0) return usedExit;
  }
  world.report(`the run has not ended after ${MAX_LIVES} lives`);
  return usedExit;
}

export function newLife(world: World, name: string, isExit: boolean): Life {
  return { name, dead: false, claimed: false, disturbed: false, born: world.moment, isExit };
}

function isOver({ status, step }: Checkpoint, expected: Expected, limit: number): boolean {
  if (status === "completed" || status === "incomplete") return true;
  if (status === "step_limit") return step === limit - 1;
  return status === "failed" && expected.status === "failed";
}

/** Some of what is asked, or all of it. */
function answers(random: Random, head: Checkpoint, all: boolean): { answers?: Record<string, Json> } {
  const asked = head.pauses.filter(({ kind }) => kind === "interrupt");
  if (asked.length === 0 && chance(random, 0.5)) return {};
  const chosen = head.pauses.filter(() => all || chance(random, 0.7));
  const some = chosen.length === 0 ? head.pauses : chosen;
  if (some.length === 0) return {};
  return {
    answers: Object.fromEntries(
      some.map(({ id, kind, payload }) => [id, kind === "interrupt" ? answerTo(payload) : true]),
    ),
  };
}

function judge(world: World, life: Life, settled: Settled | undefined, isDisturbed: boolean): void {
  if (settled === undefined) return;
  if ("error" in settled) {
    const { error } = settled;
    const isHeld = world.isOutOfTime && (error as { code?: unknown } | null)?.code === "NG_THREAD_CONFLICT";
    if (!isDisturbed && !isHeld) world.report(`${life.name} was rejected: ${String(error)}`);
    if (!(error instanceof Error && "code" in error))
      world.report(`${life.name} was rejected with no error of ours: ${String(error)}`);
    return;
  }
  const { result } = settled;
  const head = world.store.loadLatest(THREAD);
  if (!life.disturbed && !isDisturbed && result.status !== "cancelled" && head?.id !== result.checkpointId) {
    world.report(`5.8: the caller heard of ${result.status} before it was durable`);
  }
  if (head?.status !== result.status && result.status === "completed" && !isDisturbed) {
    world.report(`5.8: completed, but the thread says ${head?.status}`);
  }
  if (result.status === "completed" && head?.status === "running")
    world.report("5.8: completed, but the thread is running");
}

function engineOf(setting: Setting, life: Life): Engine {
  const { subject, world, table, isSlow, keepsWrites } = setting;
  return subject.createEngine(table, {
    store: faultyStore(world, life, isSlow, keepsWrites),
    clock: world.clockOf(life),
    random: () => 0.5,
    leaseMs: LEASE,
    functions: { work: (...args: unknown[]) => work(setting, life, args) },
  });
}

/** Names of graphs that are called by nodes with several tries, and of those they call. */
function calledWithTries(model: Model, isTried = false): Set<string> {
  const found = new Set<string>();
  model.graphs.forEach((graph, index) => {
    const again = isTried || model.nodes.some((node) => node.graph === index && node.tries > 1);
    if (again) found.add(graph.name);
    for (const name of calledWithTries(graph, again)) found.add(name);
  });
  return found;
}

/** The thread's end against the reference. */
function compare(world: World, expected: Expected, usedExit: boolean): void {
  const history = [...world.store.list(THREAD, { limit: 10_000 })].reverse();
  const head = history.at(-1)!;
  const same = (what: string, found: unknown, wanted: unknown): void => {
    const [a, b] = [`${JSON.stringify(found)}`, `${JSON.stringify(wanted)}`];
    if (a === b) return;
    let at = 0;
    while (a[at] === b[at]) at++;
    const part = (text: string): string => text.slice(Math.max(0, at - 60), at + 200);
    world.report(`${what} is …${part(a)}, expected …${part(b)} (from character ${at} on)`);
  };
  same("the status", head.status, expected.status);
  same("the log", head.values["log"] ?? [], expected.log);
  same("the counter", head.values["counter"] ?? 0, expected.counter);
  same("the last writer", head.values["last"] ?? null, expected.last);
  const arrived = Object.entries(head.barrierState).map(([id, names]) => [id.replace(/#.*/, ""), names] as const);
  same("who waits", sorted(arrived), sorted(Object.entries(expected.waiting)));
  if (!usedExit) {
    const steps: (readonly string[])[] = [];
    for (const { phase, step, currentNodes } of history) {
      if (step >= 0 && phase !== "interrupted" && phase !== "input") steps[step] = currentNodes;
    }
    same("the steps", steps, expected.steps);
  }
  const left = world.store.getWrites(THREAD, head.id);
  if (left.length > 0) same("what is left of pending writes", left, []);
}

function sorted(entries: readonly (readonly [string, unknown])[]): unknown {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}
