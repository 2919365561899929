/**
 * Simulates one seed: a graph runs under faults, and is resumed, forked, edited and run again by a random user. Every
 * checkpoint must match the reference interpreter, and every promise about crashes is checked on the way.
 */
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import type { Durability, Engine, EngineOptions, RunResult } from "../../runtime/interface/engine-options.ts";
import type { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Table } from "../../runtime/table/table.ts";
import { describeAct, perform, type Plan } from "./acts.ts";
import { ANSWER, faultyStore } from "./faulty-store.ts";
import { Ledger } from "./ledger.ts";
import { answerTo, type Model } from "./model.ts";
import { below, chance, pick, randomOf, type Random } from "./random.ts";
import { randomModel } from "./random-model.ts";
import type { Position } from "./position.ts";
import { ending } from "./reference.ts";
import { planNext, randomScript, type Script } from "./script.ts";
import { inPlainNames, inVersion, nameIn } from "./versions.ts";
import { modelsByName, tableOfModel } from "./table-of-model.ts";
import { functionsOf, gateKey, type Bodies } from "./watched-body.ts";
import { FAULT_KINDS, LEASE, World, type FaultPlan, type Life } from "./world.ts";

/** The subject: the engine, or one with a planted mistake. */
export interface Subject {
  readonly createEngine: (table: Table, options: EngineOptions) => Engine;
  readonly makeStore: (now: () => number) => MemoryStore;
}

export interface Simulation {
  readonly problems: readonly string[];
  /** Number of calls of the store. */
  readonly calls: number;
  /** Features and faults that occurred. */
  readonly covered: ReadonlySet<string>;
}

/** Changes to a seed, to reduce a failure or to sweep the faults. */
export interface Changes {
  readonly faults?: FaultPlan;
  readonly model?: Model;
  /** Number of acts besides resumes. */
  readonly acts?: number;
  /** Receives the events, line by line. */
  readonly trace?: string[];
}

const MAX_LIVES = 300;

/** The faults of a seed: none, or some at random calls. */
export function randomFaults(seed: number): FaultPlan {
  const random = randomOf(seed ^ 0x5eed);
  const most = chance(random, 0.3) ? 100 : 45;
  return new Map(Array.from({ length: below(random, 4) }, () => [below(random, most), pick(random, FAULT_KINDS)]));
}

/** Random numbers of a seed. Each aspect has its own sequence, so that one can change without the others. */
export function modelOfSeed(seed: number): Model {
  return randomModel(randomOf(seed));
}

export async function simulate(subject: Subject, seed: number, changes: Changes = {}): Promise<Simulation> {
  const model = changes.model ?? modelOfSeed(seed);
  const random = randomOf(seed ^ 0x0dd5);
  const world = new World(random, changes.faults ?? randomFaults(seed), subject.makeStore);
  world.trace = changes.trace;
  const ledger = new Ledger(model, world);
  ledger.answerTo = answerTo;
  const script = randomScript(randomOf(seed ^ 0xac75));
  const ofVersions = randomOf(seed ^ 0xe417);
  // The search for the task of an idempotency key takes too long in deep calls whose names have changed.
  if (model.graphs.length === 0 && chance(ofVersions, 0.4)) script.versions = ofVersions;
  if (changes.acts !== undefined) script.left = Math.min(script.left, changes.acts);
  const setting: Setting = {
    subject,
    world,
    ledger,
    script,
    model,
    models: modelsByName(model),
    triedAgain: calledWithTries(model),
    isSlow: chance(random, 0.5),
    keepsWrites: !chance(random, 0.1),
    mayExit: chance(random, 0.2),
    mayRival: chance(random, 0.08),
    mayCancel: chance(random, 0.25),
    // As above: a run that stops in the middle of deep calls has many candidates.
    mayDrain: isShallow(model) && chance(ofVersions, 0.2) ? ofVersions : undefined,
    mayAbort: chance(random, 0.3),
    storeTimeoutMs: chance(random, 0.3) ? 7000 : undefined,
    maxParallel: chance(random, 0.25) ? 1 + below(random, 3) : null,
    lowLimits: chance(random, 0.3) ? 1 + below(random, 3) : 0,
    tables: new Map(),
  };
  // Stack traces cost time, and only a report needs them.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = changes.trace === undefined ? 0 : 20;
  try {
    await live(setting);
    if (world.problems.length === 0) ledger.recheck();
  } catch (error) {
    world.report(`it broke: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return { problems: world.problems, calls: world.calls, covered: world.covered };
}

/** Called graphs call no further ones. */
function isShallow({ graphs }: Model): boolean {
  return graphs.every((called) => called.graphs.length === 0);
}

interface Setting extends Bodies {
  readonly subject: Subject;
  readonly ledger: Ledger;
  readonly script: Script;
  readonly model: Model;
  readonly isSlow: boolean;
  readonly keepsWrites: boolean;
  readonly mayExit: boolean;
  readonly mayRival: boolean;
  readonly mayCancel: boolean;
  readonly mayDrain: Random | undefined;
  readonly mayAbort: boolean;
  readonly storeTimeoutMs: number | undefined;
  readonly maxParallel: number | null;
  lowLimits: number;
  /** By version. */
  readonly tables: Map<string | undefined, Table>;
}

type Settled = { readonly result: unknown } | { readonly error: unknown };

/** One process after the other, until no act is left. */
async function live(setting: Setting): Promise<void> {
  const { world, script, model, ledger } = setting;
  for (let count = 0; count < MAX_LIVES; count++) {
    const plan = planNext(script, model, world, ledger, count > 40);
    if (plan === undefined) return;
    await lifeOf(setting, plan, count);
    // The lease runs out, unless the claim was released.
    world.now += LEASE + 1;
    if (world.problems.length > 0) return;
  }
  world.report(`the run has not ended after ${MAX_LIVES} lives`);
}

async function lifeOf(setting: Setting, plan: Plan, count: number): Promise<void> {
  const { world, model } = setting;
  const { random, store } = world;
  const head = store.loadLatest(plan.thread);
  const durability = pick(random, setting.mayExit ? EVERY_DURABILITY : SAFE_DURABILITY);
  const maxSteps = stepsOf(setting, plan, head);
  const aborts = setting.mayAbort && chance(random, 0.5);
  const life = newLife(world, `life ${count}`, plan, { isExit: durability === "exit", maxSteps, aborts });
  world.note(
    `life ${count}: ${describeAct(plan)}; ${durability}, at most ${maxSteps} steps${aborts ? ", aborts" : ""}`,
  );
  world.cover(`asked: ${plan.act.kind}${plan.refusal === undefined ? "" : ` refused, ${plan.refusal}`}`);
  world.cover(`durability: ${durability}`);
  if (plan.drift?.adds === true) world.cover("another version of the table");
  openGates(world, plan, head);
  const bodies = world.keys.size;
  const abort = new AbortController();
  const { maxParallel } = setting;
  const run = {
    maxSteps,
    maxParallel,
    onFailure: aborts ? ("abort" as const) : ("finish" as const),
    signal: abort.signal,
  };
  const isOfEngine = chance(random, 0.3);
  const engine = engineOf(setting, life, plan, isOfEngine ? { durability } : {});
  let settled: Settled | undefined;
  const version = plan.version ?? "plain";
  const names = model.nodes.map(({ name, graph }) => (graph === undefined ? nameIn(version, name) : name));
  if (plan.version !== undefined) world.cover(`a version with ${plan.version} names`);
  void perform(engine, plan, names, isOfEngine ? run : { ...run, durability }).then(
    (result) => (settled = { result }),
    (error: unknown) => (settled = { error }),
  );
  const rivalAt = setting.mayRival && head !== undefined ? below(random, 25) : -1;
  const cancelAt = setting.mayCancel && chance(random, 0.4) && count < 30 ? below(random, 25) : -1;
  const { mayDrain } = setting;
  const drainAt = mayDrain !== undefined && chance(mayDrain, 0.4) && count < 30 ? below(mayDrain, 25) : -1;
  let rival: Life | undefined;
  let rivalSettled = true;
  const cancel = (): void => {
    life.cancelled = world.isPatient = true;
    if (rival !== undefined) rival.cancelled = true;
    world.note("    cancelled");
    abort.abort(new Error("enough"));
  };
  world.isPatient = setting.storeTimeoutMs !== undefined;
  const went = await world.drive(
    () => life.dead || (settled !== undefined && rivalSettled),
    (turn) => {
      if (turn === cancelAt) {
        cancel();
      }
      if (turn === drainAt && settled === undefined) {
        life.drained = true;
        world.note("    drained");
        world.cover("a drained engine");
        void engine.drain();
      }
      if (turn !== rivalAt) return;
      const { version: same } = plan;
      const resume: Plan = {
        act: { kind: "resume" },
        thread: plan.thread,
        ...(same === undefined ? {} : { version: same }),
      };
      rival = newLife(world, `rival ${count}`, resume, { isExit: life.isExit, maxSteps, aborts });
      rival.cancelled = life.cancelled;
      world.hadRival = true;
      rivalSettled = false;
      world.note("    a rival resumes");
      world.cover("two runners");
      void engineOf(setting, rival, resume, { durability })
        .resume(plan.thread, { ...run, durability })
        .catch(() => undefined)
        .finally(() => (rivalSettled = true));
    },
  );
  const isRun = plan.act.kind === "run" || plan.act.kind === "resume" || plan.act.kind === "resume from";
  if (!went && life.hung && settled === undefined && isRun && !life.dead && rival === undefined) {
    // The store does not answer any more: waiting calls can still be abandoned (4.4).
    cancel();
    world.cover("a call that hangs, and a cancellation");
    await world.drive(
      () => settled !== undefined,
      () => undefined,
    );
    if (settled === undefined && !life.dead)
      world.report(`4.4: a store that never answers keeps ${life.name} alive after its cancellation`);
  } else if (life.hung && settled !== undefined) world.cover("a call that hangs, and an end");
  const isDisturbed = life.disturbed || rival !== undefined;
  if (!went && !isDisturbed && !life.dead) world.report(`${life.name} hangs after ${world.turns} turns`);
  if (settled !== undefined) judge(setting, life, plan, settled, head, isDisturbed);
  if (plan.refusal !== undefined && !isDisturbed && world.keys.size > bodies)
    world.report(`${plan.refusal}: it was refused, and bodies ran`);
  life.dead = true;
  if (rival !== undefined) rival.dead = true;
}

const SAFE_DURABILITY: readonly Durability[] = ["sync", "async"];
const EVERY_DURABILITY: readonly Durability[] = ["sync", "async", "exit"];

/** Step limit of a run: sufficient, or smaller. */
function stepsOf(setting: Setting, { act, thread }: Plan, head: Checkpoint | undefined): number {
  const { ledger, world } = setting;
  let at: Position | undefined;
  if (act.kind === "run") at = ledger.begin(act.input, head?.id);
  else if (act.kind === "resume from") at = ledger.forked(act.source, act.at);
  else if (head !== undefined) at = ledger.at(head.id);
  if (at === undefined) return 0;
  void thread;
  const end = ledger.end(at);
  const most = end.status === "limit" ? end.at.step : end.at.step + 2;
  if (setting.lowLimits === 0) return most;
  setting.lowLimits--;
  world.cover("a low limit of steps");
  return Math.min(most, at.step + below(world.random, 3));
}

export function newLife(
  world: World,
  name: string,
  { act, version = "plain" }: Pick<Plan, "act" | "version">,
  details: { readonly isExit: boolean; readonly maxSteps: number; readonly aborts: boolean },
): Life {
  return {
    name,
    act,
    version,
    dead: false,
    claimed: false,
    heldUntil: Number.POSITIVE_INFINITY,
    lapsed: false,
    disturbed: false,
    hung: false,
    cancelled: false,
    drained: false,
    born: world.moment,
    broke: new Set(),
    returned: new Set(),
    failed: new Map(),
    ...details,
  };
}

/** A resume opens the gates that it names. A bare resume opens a gate only if nothing else waits. */
function openGates(world: World, { act, refusal }: Plan, head: Checkpoint | undefined): void {
  if (act.kind !== "resume" || refusal !== undefined) return;
  const isBare = act.answers === undefined && act.answer === undefined;
  if (head === undefined) return;
  const { answers, pauses: all, threadId } = head;
  // An answer may be durable before the checkpoint that records it.
  const answered = new Set(answers.map(({ id }) => id));
  for (const { taskId } of world.store.getWrites(threadId, head.id))
    if (taskId.startsWith(ANSWER)) answered.add(taskId.slice(ANSWER.length));
  const pauses = all.filter(({ id }) => !answered.has(id));
  for (const { id, kind } of pauses) {
    if (
      kind !== "interrupt" &&
      ((isBare && pauses.length === 1) || act.answers?.[id] !== undefined || act.answer !== undefined)
    )
      world.opened.add(gateKey(id));
  }
}

function judge(
  setting: Setting,
  life: Life,
  { act, thread, refusal }: Plan,
  settled: Settled,
  before: Checkpoint | undefined,
  isDisturbed: boolean,
): void {
  const { world, ledger } = setting;
  if ("error" in settled) {
    const { error } = settled;
    const code = (error as { code?: unknown } | null)?.code;
    world.note(`  rejected: ${String(error)}`);
    if (!(error instanceof Error && "code" in error))
      world.report(`${life.name} was rejected with no error of ours: ${String(error)}`);
    if (isDisturbed || (world.isOutOfTime && code === "NG_THREAD_CONFLICT")) return;
    if (life.drained && code === "NG_DRAINED") return;
    if (code === "NG_STORE_FAILED" && (life.lapsed || world.now >= life.heldUntil)) {
      // The store was slower than a lease. The release of the claim may be as slow.
      world.isOutOfTime = true;
      return;
    }
    if (code !== refusal) world.report(`${life.name} was rejected: ${String(error)}`);
    else if (world.store.loadLatest(thread)?.id !== before?.id) world.report(`${refusal}: refused, and written`);
    return;
  }
  if (refusal !== undefined) {
    if (!world.misled && !isDisturbed) world.report(`${life.name} was not refused with ${refusal}`);
    return;
  }
  if (act.kind === "fork" || act.kind === "update" || act.kind === "label") return;
  const result = settled.result as RunResult;
  world.note(`  ${result.status} after ${result.steps.map((names) => names.join("+")).join(" ")}`);
  const head = world.store.loadLatest(thread);
  if (isDisturbed || head === undefined) return;
  if (result.status === "cancelled") {
    if (life.drained && !life.cancelled) {
      world.cover("a drained run");
      if (head.id !== result.checkpointId) world.report("5.8: a drained run was reported before it was durable");
      // A continued checkpoint of the history becomes the head as it was: its pauses wait for answers again.
      const isContinued = act.kind === "resume from" && head.phase !== "completed" && head.status === "paused";
      if (head.status !== "running" && head.id !== before?.id && !isContinued)
        world.report(`a drained run is stored as ${head.status}, and nothing recovers it`);
    } else if (!life.cancelled) world.report(`${life.name} says that it was cancelled`);
    return;
  }
  if (head.id !== result.checkpointId)
    world.report(`5.8: the result ${result.status} was returned before it was durable`);
  if (head.status !== result.status) world.report(`5.8: ${result.status}, but the thread says ${head.status}`);
  const at = ledger.at(head.id);
  if (at === undefined) return;
  const { log, counter, last } = at.values;
  const [given, wanted] = [JSON.stringify(inPlainNames(result.output)), JSON.stringify({ log, counter, last })];
  if (given !== wanted) world.report(`the output is ${given}, expected ${wanted}`);
  const over = ending(at);
  const isRight =
    result.status === "paused" ||
    (result.status === "failed"
      ? over === undefined && (ledger.isFault(head.id) || mayBreak(setting.model))
      : result.status === (over ?? "limit"));
  if (!isRight) world.report(`it ended ${result.status} before step ${at.step}, where the reference says ${over}`);
}

/** Some body may end the run, which the reference interpreter does not model. */
function mayBreak({ nodes, graphs }: Model): boolean {
  return nodes.some(({ does }) => does.breaks > 0) || graphs.some(mayBreak);
}

function engineOf(setting: Setting, life: Life, { drift, version }: Plan, options: EngineOptions): Engine {
  const { subject, world, model, tables, isSlow, keepsWrites, storeTimeoutMs } = setting;
  const jitter: Random = randomOf(world.calls + 1);
  const key = JSON.stringify([drift, version]);
  const made = (): Table => {
    const table = tableOfModel(model, drift);
    return version === undefined ? table : inVersion(table, version);
  };
  const table = tables.get(key) ?? made();
  tables.set(key, table);
  return subject.createEngine(table, {
    ...options,
    store: faultyStore(world, life, isSlow, keepsWrites),
    clock: world.clockOf(life),
    random: jitter,
    leaseMs: LEASE,
    ...(storeTimeoutMs === undefined ? {} : { storeTimeoutMs }),
    functions: functionsOf(setting, life),
  });
}

/** Names of graphs that nodes with several tries call, and of the graphs that these call. */
function calledWithTries(model: Model, isTried = false): Set<string> {
  const found = new Set<string>();
  model.graphs.forEach((graph, index) => {
    const again = isTried || model.nodes.some((node) => node.graph === index && node.tries > 1);
    if (again) found.add(graph.name);
    for (const name of calledWithTries(graph, again)) found.add(name);
  });
  return found;
}
