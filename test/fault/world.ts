/**
 * What the runs of a simulation share: one thread of execution whose every choice is made by a seed, one clock, one store
 * underneath, and what has been seen of it. Nothing in it waits for real time.
 */
import type { CheckpointHeader, CheckpointId, PendingWrite } from "../../runtime/interface/checkpoint.ts";
import type { Clock } from "../../runtime/interface/clock.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Act } from "./acts.ts";
import type { TaskName } from "./task-names.ts";
import { below, chance, type Random } from "./random.ts";

/** What may go wrong with a call of the store. */
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

/** How long claims hold, in milliseconds: renewing them is a timer that nothing else sets. */
export const LEASE = 30_003;

/** A process: what it has under way is gone when it dies. */
export interface Life {
  readonly name: string;
  /** What it was asked to do. */
  readonly act: Act;
  dead: boolean;
  claimed: boolean;
  /** Some call of it failed, was lost, or came late. */
  disturbed: boolean;
  /** A call of it was never answered. */
  hung: boolean;
  cancelled: boolean;
  /** When it began, on the world's own count. */
  readonly born: number;
  readonly isExit: boolean;
  readonly maxSteps: number;
  readonly aborts: boolean;
  /** Tasks whose body has returned in it. */
  readonly returned: Set<string>;
  /** Tasks whose body ended the run. */
  readonly broke: Set<string>;
  /** Task keys -> the attempt that failed last: when, and how the engine was to give it up. */
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
  readonly store: MemoryStore;
  /** Calls of the store so far. */
  calls = 0;
  /** Grows with everything that becomes durable. */
  moment = 0;
  now = 1_000_000;
  /** Turns that the last drive took. */
  turns = 0;
  readonly problems: string[] = [];
  /** What occurred, for the count of what a number of seeds covers. */
  readonly covered = new Set<string>();
  /** What happened, line by line, where somebody reads it. */
  trace: string[] | undefined;
  /** Some call may still arrive, from a life that is long over: a claim, say, that keeps the next one waiting. */
  isOutOfTime = false;
  /** Somebody was told something old: what is done again from then on is nobody's fault. */
  misled = false;
  /** Time passes only while nothing else can happen: calls of the store that answer at all do so in time. */
  isPatient = false;
  /** Two run at once: which of them opened which gate is not followed. */
  hadRival = false;
  /** Task keys -> when their results became durable. */
  readonly durable = new Map<string, number>();
  /** Run -> the steps that are done, and since when. */
  readonly committed = new Map<string, { readonly step: number; readonly since: number }[]>();
  /** Idempotency keys -> what they stand for. */
  readonly keys = new Map<string, string>();
  /** The same, as names of their tasks: by these everything else is kept. */
  readonly tasks = new Map<string, TaskName>();
  /** Thread -> its run, and the step that its newest checkpoint goes on with. */
  readonly runs = new Map<string, { readonly root: string; readonly from: number }>();
  /** `run@step` -> keys of tasks whose body has returned. */
  readonly returned = new Map<string, Set<string>>();
  /** Task keys -> how often a body was to end its run already. */
  readonly breaks = new Map<string, number>();
  /** Keys of gates that somebody has opened, and ids of pauses whose answers are durable. */
  readonly opened = new Set<string>();
  readonly answered = new Set<string>();
  /** Heads by thread and namespace, and of each checkpoint whose step its pending writes belong to. */
  readonly heads = new Map<string, string>();
  readonly places = new Map<string, { readonly runId: string; readonly step: number }>();
  /** Told of each checkpoint of the graph itself that has been stored, and of an edit or a fork what pending writes the head had. */
  onSaved: (header: CheckpointHeader, life: Life, before: Before | undefined) => void = () => undefined;
  #events: Event[] = [];
  #timers: Timer[] = [];

  constructor(random: Random, faults: FaultPlan, makeStore: (now: () => number) => MemoryStore) {
    this.random = random;
    this.faults = faults;
    this.store = makeStore(() => this.now);
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

  /** Happens when the seed says so. Quiet events alone mean that nothing goes on. */
  later(life: Life | undefined, happen: () => void, quiet = false): void {
    this.#events.push({ life, happen, quiet });
  }

  /** Happens at its time. */
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

  /** Lets things happen until `isDone`; false when nothing happens any more but time going by. */
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

/** All that follows at once from what has happened: promises settle before the next turn of the loop. */
function allReactions(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function memoryStore(now: () => number): MemoryStore {
  return new MemoryStore({ now });
}
