/** The processes of the pairs of operations: bodies that end when the test says so, and what they have stored. */
import type { Claim, Store } from "../../runtime/interface/store.ts";
import type { Engine, EngineOptions, FunctionRegistry } from "../../runtime/index.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { receive } from "../../stdlib/nodes/receive.ts";
import { sleep } from "../../stdlib/nodes/sleep.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { watchStore, type Backend } from "./pairs-backends.ts";
import { ITEMS, resultsInRun, VERSIONS } from "./pairs-graph.ts";
import { below, chance, pick, type Random } from "./random.ts";
import type { Subject } from "./simulate.ts";

/** A result of a body. Its text is unique: `first#3(x)`. */
interface Made {
  readonly node: string;
  readonly item: string;
  readonly thread: string;
  readonly key: string;
}

export interface World {
  readonly subject: Subject;
  readonly random: Random;
  readonly backend: Backend;
  readonly covered: Set<string>;
  readonly problems: string[];
  /** What happened, for a person. */
  readonly log: string[];
  now: number;
  thread: string;
  /** Index in `VERSIONS`. */
  version: number;
  serial: number;
  readonly made: Map<string, Made>;
  /** The results that the store has, by the key of their task. */
  readonly storedKeys: Map<string, string>;
  /** The results of the current run of each thread that the store has. */
  readonly done: Map<string, Set<string>>;
  /** The results of the runs since the last new one on each thread. */
  readonly toUndo: Map<string, Set<string>>;
  readonly undone: string[];
}

/** A process. When it dies, its pending work is lost. */
interface Process {
  isDead(): boolean;
  /** Ends bodies that run. */
  pending: (() => void)[];
  /** Results of bodies that have ended. */
  readonly ended: string[];
}

export function namesOf(world: World) {
  return VERSIONS[world.version]!;
}

export function setOf(sets: Map<string, Set<string>>, thread: string): Set<string> {
  let found = sets.get(thread);
  if (found === undefined) sets.set(thread, (found = new Set()));
  return found;
}

/** 5.5: notes that results are stored. */
function keep(world: World, values: Iterable<string>): void {
  for (const value of values) {
    const { thread, key } = world.made.get(value)!;
    if (world.storedKeys.get(key) === value) continue;
    world.storedKeys.set(key, value);
    setOf(world.done, thread).add(value);
    setOf(world.toUndo, thread).add(value);
  }
}

function functionsOf(world: World, process: Process): FunctionRegistry {
  const { random, problems, made, log } = world;
  interface Context {
    readonly idempotencyKey: string;
    readonly thread: string;
  }
  return {
    body: (node: string, given: string, { idempotencyKey: key, thread }: Context) => {
      if (process.isDead()) return new Promise(() => undefined);
      const item = /\((\w)\)$/.exec(given)?.[1] ?? given;
      log.push(`    ${node} ${given}`);
      const known = world.storedKeys.get(key);
      if (known !== undefined) problems.push(`5.4: ${node} ${given} runs again, its result is ${known}`);
      const same = [...setOf(world.done, thread)].filter((value) => {
        const one = made.get(value)!;
        return one.node === node && one.item === item;
      });
      if (same.length >= resultsInRun(node, item)) {
        problems.push(`5.5: ${node} ${given} of ${thread} runs again, the thread has ${same.join(", ")}`);
      }
      const fails = chance(random, 0.15);
      return new Promise((resolve, reject) => {
        process.pending.push(() => {
          if (fails) return reject(new Error("down"));
          const value = `${node}#${++world.serial}(${given})`;
          made.set(value, { node, item, thread, key });
          process.ended.push(value);
          resolve(value);
        });
      });
    },
    un: (value: string | readonly string[], { thread }: Context) => {
      if (process.isDead()) return new Promise(() => undefined);
      log.push(`    undo ${String(value)}`);
      world.undone.push(`${thread}:${String(value)}`);
      return null;
    },
  } as FunctionRegistry;
}

const IDLE: Process = { isDead: () => false, pending: [], ended: [] };

/** An engine of a process. */
export function openEngine(world: World, process: Process = IDLE, store: Store = world.backend.store): Engine {
  const options: EngineOptions = {
    functions: functionsOf(world, process),
    builtins: { ask, receive, sleep } as NonNullable<EngineOptions["builtins"]>,
    store,
    durability: pick(world.random, ["sync", "async", "exit"]),
    wake: false,
    leaseMs: LEASE,
    clock: {
      now: () => world.now,
      // Only the waits before retries end: leases are renewed later than any body ends.
      setTimeout: (work, ms) => (ms < 50 ? setImmediate(work) : undefined),
      clearTimeout: () => undefined,
    },
  };
  return world.subject.createEngine(namesOf(world).table, options);
}

const LEASE = 60_000;
const ENDS = ["none", "none", "crash", "cancel", "drain", "deadline"] as const;

/** How a process ended: with a result, with an error, or without an answer. */
export interface Ended<T> {
  readonly result?: T;
  readonly error?: { readonly code?: string; readonly message: string };
}

/** Does a call in a process of its own, which may die, be cancelled or be drained. */
export async function inProcess<T>(
  world: World,
  call: (engine: Engine) => Promise<T>,
  mayStop: boolean,
): Promise<Ended<T>> {
  const { random, backend } = world;
  const how = mayStop ? pick(random, ENDS) : "none";
  const at = below(random, 8);
  let lost: Claim | undefined;
  const watched = watchStore(backend.store, {
    claimed: (claim) => (lost = claim),
    written: (text) =>
      keep(
        world,
        process.ended.filter((value) => text.includes(value)),
      ),
  });
  const crashing =
    how === "crash" ? new CrashingStore(watched, below(random, 14), pick(random, ["before", "after"])) : undefined;
  const process: Process = { isDead: () => crashing?.dead === true, pending: [], ended: [] };
  const listing = { threads: backend.store.threads!.bind(backend.store) };
  const engine = openEngine(world, process, crashing === undefined ? watched : Object.assign(crashing, listing));
  let ended: Ended<T> | undefined;
  void call(engine).then(
    (result) => (ended = { result }),
    (error: Error) => (ended = { error }),
  );
  for (let turn = 0; ; turn++) {
    await backend.settle();
    if (ended !== undefined || process.isDead()) break;
    if (turn > 400) {
      world.problems.push("the call hangs");
      break;
    }
    if (turn === at && (how === "cancel" || how === "drain" || how === "deadline")) {
      if (how === "cancel") void engine.cancel(world.thread);
      else void engine.drain(how === "drain" ? {} : { deadline: 0 });
      // A drain waits for bodies that run; the others leave them behind.
      if (how !== "drain") process.pending = [];
      continue;
    }
    if (turn > 12 && crashing !== undefined) {
      crashing.dead = true;
      break;
    }
    for (let count = 1 + below(random, 3); count > 0 && process.pending.length > 0; count--) {
      process.pending.splice(below(random, process.pending.length), 1)[0]!();
    }
  }
  await backend.settle();
  world.covered.add(`process: ${process.isDead() ? "crash" : how}`);
  const outcome = ended as Ended<T> | undefined;
  if (process.isDead()) {
    world.now += 2 * LEASE;
    await backend.reopen(lost);
    world.log.push("  the process has died");
    return {};
  }
  const { result, error } = outcome ?? {};
  const { status } = (result ?? {}) as { readonly status?: string };
  // A run that a failure, a cancellation or a deadline ends does not take results of bodies that end after it (4.2).
  if (status === "completed" || status === "paused") keep(world, process.ended);
  world.log.push(`  ${how}: ${status ?? `${error?.code} ${error?.message}`}`);
  return outcome ?? {};
}

/** Two processes do a call at the same time. */
export async function inTwoProcesses<T>(world: World, call: (engine: Engine) => Promise<T>): Promise<readonly T[]> {
  const process: Process = { isDead: () => false, pending: [], ended: [] };
  const engines = [openEngine(world, process), openEngine(world, process)];
  let isDone = false;
  const both = Promise.all(engines.map(call)).finally(() => (isDone = true));
  both.catch(() => undefined);
  for (let turn = 0; turn < 400 && !isDone; turn++) {
    await world.backend.settle();
    for (const end of process.pending.splice(0)) end();
  }
  const results = await both;
  keep(world, process.ended);
  return results;
}

/** The state at the end of a run: each result once, in the order of tasks and items. */
export function checkEnd(world: World, state: Readonly<Record<string, unknown>>): void {
  const log = state["log"] as readonly string[];
  const nodes = log.map((value) => value.replace(/#.*/, "")).join();
  if (nodes !== "a,second,second,second,second,d") world.problems.push(`2.2: the results are ${log.join()}`);
  const items = log.slice(1, 5).map((value) => /first#\d+\((\w)\)/.exec(value)?.[1]);
  if (items.join() !== ITEMS.join()) world.problems.push(`7.1: the items are ${items.join()}`);
  if (new Set(log).size !== log.length) world.problems.push(`5.5: a result is applied twice: ${log.join()}`);
  if (state["ans"] !== "yes") world.problems.push(`6.2: the answer is ${String(state["ans"])}`);
  if (!/^v\d+$/.test(String(state["got"]))) world.problems.push(`W4: the signal is ${String(state["got"])}`);
}
