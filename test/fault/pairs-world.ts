/** The processes of the pairs of operations: bodies that end when the test says so, and what they have stored. */
import type { Claim, Store } from "../../runtime/interface/store.ts";
import type { Engine, EngineOptions, FunctionRegistry, RunStream } from "../../runtime/index.ts";
import { withCodec } from "../../runtime/stores/codec.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { receive } from "../../stdlib/nodes/receive.ts";
import { sleep } from "../../stdlib/nodes/sleep.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { watchStore, type Backend } from "./pairs-backends.ts";
import { codecOf, KEYS } from "./pairs-codec.ts";
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
  /** Whether everything with content is encrypted. */
  readonly hasCodec: boolean;
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

/** The store as a process opens it. */
export function storeOf(world: World): Store {
  const { backend, hasCodec, random, problems } = world;
  if (!hasCodec) return backend.store;
  const seen = (text: string): void => {
    if (/#\d+\(/.test(text)) problems.push(`the store receives content that is not encrypted: ${text}`);
  };
  return withCodec(watchStore(backend.store, { written: seen }), codecOf(pick(random, KEYS)));
}

const IDLE: Process = { isDead: () => false, pending: [], ended: [] };

/** An engine of a process. */
export function openEngine(world: World, process: Process = IDLE, store: Store = storeOf(world)): Engine {
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
const ENDS = ["none", "none", "crash", "cancel", "drain", "deadline", "leave"] as const;

/** How a process ended: with a result, with an error, or without an answer. */
export interface Ended<T> {
  readonly result?: T;
  readonly error?: { readonly code?: string; readonly message: string };
}

/**
 * Does a call in a process of its own, which may die, be cancelled or be drained.
 *
 * @param stream the same call as a stream, whose reader may leave
 */
export async function inProcess<T>(
  world: World,
  call: (engine: Engine) => Promise<T>,
  mayStop: boolean,
  stream?: (engine: Engine) => Omit<RunStream<unknown>, "result"> & { readonly result: Promise<T> },
): Promise<Ended<T>> {
  const { random, backend } = world;
  const chosen = mayStop ? pick(random, ENDS) : "none";
  const how = chosen === "leave" && stream === undefined ? "none" : chosen;
  const at = below(random, 8);
  const claims: Claim[] = [];
  const store = storeOf(world);
  const watched = watchStore(store, {
    claimed: (claim) => void claims.push(claim),
    written: (text) =>
      keep(
        world,
        process.ended.filter((value) => text.includes(value)),
      ),
  });
  const crashing =
    how === "crash" ? new CrashingStore(watched, below(random, 14), pick(random, ["before", "after"])) : undefined;
  const process: Process = { isDead: () => crashing?.dead === true, pending: [], ended: [] };
  const listing = { threads: store.threads!.bind(store) };
  const engine = openEngine(world, process, crashing === undefined ? watched : Object.assign(crashing, listing));
  let ended: Ended<T> | undefined;
  let isLeaving = false;
  const read = (items: ReturnType<NonNullable<typeof stream>>): Promise<T> => {
    void readUntil(items, () => isLeaving);
    return items.result;
  };
  const promise = how === "leave" ? read(stream!(engine)) : call(engine);
  void promise.then(
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
    if (turn === at) isLeaving = true;
    // Other calls may run other threads.
    const runs = stream !== undefined && claims.length > 0 && process.pending.length > 0;
    if (turn < at && runs && chance(random, 0.1)) await editRunning(world);
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
    await backend.reopen(claims);
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

/** Reads a stream until the reader leaves it. */
async function readUntil(items: AsyncIterable<unknown>, leaves: () => boolean): Promise<void> {
  try {
    for await (const _ of items) if (leaves()) return;
  } catch {
    // The result has the error, too.
  }
}

/** 5.8: an edit of a thread that runs is refused. */
async function editRunning(world: World): Promise<void> {
  world.covered.add("update of a run");
  const error = await openEngine(world)
    .update(world.thread, { log: ["by hand"] })
    .then(
      () => undefined,
      (thrown: { code?: string }) => thrown,
    );
  if (error?.code !== "NG_THREAD_CONFLICT") world.problems.push(`5.8: an update of a run: ${String(error?.code)}`);
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
