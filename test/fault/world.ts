/**
 * The environment that the runs of a simulation share: a scheduler that makes every choice from the seed, a clock, a
 * store, and a record of what happened. Nothing in it waits for real time.
 */
import type { CheckpointHeader, CheckpointId, PendingWrite } from "../../runtime/interface/checkpoint.ts";
import type { Clock } from "../../runtime/interface/clock.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Act } from "./acts.ts";
import type { TaskName } from "./task-names.ts";
import { inPlainNames, type Version } from "./versions.ts";
import { below, chance, type Random } from "./random.ts";

/** Faults of a store call. */
export const FAULT_KINDS = [
  "error before",
  "error after",
  "crash before",
  "crash after",
  "hang",
  "stale read",
  "delivered twice",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];
/** By number of the call, counted over the whole simulation. */
export type FaultPlan = ReadonlyMap<number, FaultKind>;

/** Lease of claims in milliseconds. Only renewals use a timer of this length. */
export const LEASE = 30_003;

/** A simulated process. When it dies, its pending work is lost. */
export interface Life {
  readonly name: string;
  /** The act that it performs. */
  readonly act: Act;
  /** The names that its graph uses. */
  readonly version: Version;
  dead: boolean;
  claimed: boolean;
  /** When the lease of its claim ends, by the renewals that the store has answered. */
  heldUntil: number;
  /** No renewal was answered before the lease ended. */
  lapsed: boolean;
  /** A store call of it failed, was lost, or was late. */
  disturbed: boolean;
  /** A store call of it was never answered. */
  hung: boolean;
  cancelled: boolean;
  /** Its engine was drained. */
  drained: boolean;
  /** When it started, in the order of the world. */
  readonly born: number;
  readonly isExit: boolean;
  readonly maxSteps: number;
  readonly aborts: boolean;
  /** Tasks whose body has returned in it. */
  readonly returned: Set<string>;
  /** Tasks whose body ended the run. */
  readonly broke: Set<string>;
  /** Task key -> the attempt that failed last: its time, and how the engine had to abort it. */
  readonly failed: Map<string, { readonly attempt: number; readonly at: number; readonly signal?: AbortSignal }>;
}

export interface Before {
  readonly head: CheckpointId;
  readonly writes: readonly PendingWrite[];
}

interface Event {
  readonly life: Life | undefined;
  readonly quiet: boolean;
  readonly happen: () => void;
}
interface Timer extends Event {
  readonly at: number;
}

export class World {
  readonly random: Random;
  readonly faults: FaultPlan;
  /** The store as the processes use it. */
  readonly base: MemoryStore;
  /** The store as the simulation reads it, with the names of the model for every version of the graph. */
  readonly store: Pick<MemoryStore, "loadLatest" | "loadById" | "loadByLabel" | "list" | "getWrites">;
  /** Number of store calls so far. */
  calls = 0;
  /** Increases with everything that becomes durable. */
  moment = 0;
  now = 1_000_000;
  /** Turns of the last drive. */
  turns = 0;
  readonly problems: string[] = [];
  /** Features and faults that occurred, for the coverage of a set of seeds. */
  readonly covered = new Set<string>();
  /** The events, line by line, if a report is wanted. */
  trace: string[] | undefined;
  /** A call of a dead process may still arrive: a claim, for example, that keeps the next process waiting. */
  isOutOfTime = false;
  /** A process received an old result. Work that is repeated from then on is not a mistake of the engine. */
  misled = false;
  /** Time advances only when no other event is possible: calls of the store that return do so before any timeout. */
  isPatient = false;
  /** Two processes run at once: which of them opened which gate is not recorded. */
  hadRival = false;
  /** Task key -> when its result became durable. */
  readonly durable = new Map<string, number>();
  /** Run -> its finished steps, and since when they are durable. */
  readonly committed = new Map<string, { readonly step: number; readonly since: number }[]>();
  /** Idempotency key -> its task. */
  readonly keys = new Map<string, string>();
  /** As `keys`, by name of the task. All other records use these names. */
  readonly tasks = new Map<string, TaskName>();
  /** Ids of the runs of called graphs, as far as they are stored or a body of theirs has run. */
  readonly callRuns = new Set<string>();
  /** Thread -> its run, and the step that its newest checkpoint continues with. */
  readonly runs = new Map<string, { readonly root: string; readonly from: number }>();
  /** `run@step` -> keys of tasks whose body has returned. */
  readonly returned = new Map<string, Set<string>>();
  /** Place of a body -> how many runs the body has ended so far. */
  readonly breaks = new Map<string, number>();
  /** Keys of opened gates, and ids of pauses whose answers are durable. */
  readonly opened = new Set<string>();
  readonly answered = new Set<string>();
  /** Heads by thread and namespace; and, of each checkpoint, the step that its pending writes belong to. */
  readonly heads = new Map<string, string>();
  readonly places = new Map<string, { readonly runId: string; readonly step: number }>();
  /**
   * Called for each stored checkpoint of the outermost graph; for an edit or a fork, with the pending writes of the
   * head.
   */
  onSaved: (header: CheckpointHeader, life: Life, before: Before | undefined) => void = () => undefined;
  #events: Event[] = [];
  #timers: Timer[] = [];

  constructor(random: Random, faults: FaultPlan, makeStore: (now: () => number) => MemoryStore) {
    this.random = random;
    this.faults = faults;
    const base = makeStore(() => this.now);
    this.base = base;
    this.store = {
      loadLatest: (thread, namespace) => inPlainNames(base.loadLatest(thread, namespace)),
      loadById: (thread, id) => inPlainNames(base.loadById(thread, id)),
      loadByLabel: (thread, label) => inPlainNames(base.loadByLabel(thread, label)),
      list: (thread, options) => inPlainNames(base.list(thread, options)),
      getWrites: (thread, id) => inPlainNames(base.getWrites(thread, id)),
    };
  }

  report(problem: string): void {
    this.note(`  PROBLEM ${problem}`);
    if (this.problems.length < 5) this.problems.push(problem);
  }

  cover(feature: string): void {
    this.covered.add(feature);
  }

  note(line: string): void {
    this.trace?.push(line);
  }

  /** Adds an event whose time the seed determines. If only quiet events are left, the runs are idle. */
  later(life: Life | undefined, happen: () => void, quiet = false): void {
    this.#events.push({ life, happen, quiet });
  }

  /** Adds an event that happens at its time. */
  at(life: Life | undefined, ms: number, happen: () => void): unknown {
    const timer = { life, happen, quiet: ms === LEASE / 3, at: this.now + ms };
    this.#timers.push(timer);
    return timer;
  }

  clockOf(life: Life): Clock {
    return {
      now: () => this.now,
      setTimeout: (happen, ms) => this.at(life, ms, happen),
      clearTimeout: (timer) => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  /** Lets events happen until `isDone`. Returns false if only time can still pass. */
  async drive(isDone: () => boolean, onTurn: (turn: number) => void): Promise<boolean> {
    let idle = 0;
    this.turns = 0;
    for (let turn = 0; turn < 5000; turn++) {
      await allReactions();
      if (isDone()) return true;
      this.turns = turn;
      onTurn(turn);
      this.#events = this.#events.filter(({ life }) => life?.dead !== true);
      const { length } = this.#events;
      let event: Event | undefined;
      if (length > 0 && (!chance(this.random, 0.01) || this.isPatient))
        [event] = this.#events.splice(below(this.random, length), 1);
      else event = this.#nextTimer();
      if (event === undefined && length === 0) return isDone();
      event?.happen();
      if (event?.quiet === false) idle = 0;
      else if (++idle > 12) return false;
    }
    return false;
  }

  #nextTimer(): Timer | undefined {
    this.#timers = this.#timers.filter(({ life }) => life?.dead !== true);
    let first = this.#timers[0];
    if (first === undefined) return undefined;
    for (const timer of this.#timers) if (timer.at < first.at) first = timer;
    this.#timers = this.#timers.filter((timer) => timer !== first);
    this.now = Math.max(this.now, first.at);
    return first;
  }
}

/** Lets promises settle before the next event. */
function allReactions(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function memoryStore(now: () => number): MemoryStore {
  return new MemoryStore({ now });
}
