import { systemClock, type Clock } from "../interface/clock.ts";
import type { ConsumedAnswer, ThreadId } from "../interface/checkpoint.ts";
import type { EngineOptions, ExecuteOptions, OnFailure } from "../interface/engine-options.ts";
import type { EventListener } from "../interface/events.ts";
import type { ExecuteBody } from "../interface/host.ts";
import type { JsonObject } from "../value/json.ts";
import type { NodeCache } from "./node-cache.ts";
import { checkExecuteOptions } from "./check-execute-options.ts";
import { checkCount } from "./check-numbers.ts";
import { checkMocks } from "./breakpoints.ts";
import { checkEngineOptions } from "./check-options.ts";
import type { Program } from "../program/program.ts";
import { NO_OPTIONS } from "./no-options.ts";
import { createRedactor } from "../event/redact.ts";
import { hostsOf } from "../table/effect-hosts.ts";
import { missingSecrets, type MissingSecrets } from "../table/missing-secrets.ts";
import type { RunContext } from "../interface/context.ts";
import { readBreakpoints, type Breakpoints } from "./breakpoints.ts";
import { Drain } from "./drain.ts";
import type { LongTermMemory } from "../interface/memory.ts";
import type { MemorySettings } from "../memory/long-term-memory.ts";
import { checkOptions, MEMORY_OPTIONS } from "./option-names.ts";
import { newId } from "../checkpoint/ids.ts";
import { Inbox } from "../checkpoint/inbox.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Durable, Shared } from "./shared.ts";
import { Slots } from "./slots.ts";
import { limitsOf, readLimits, type Limits, type RunLimits } from "./limits.ts";
import { atNextTurn } from "./next-turn.ts";
import { turnOf, type Turn } from "./take-turns.ts";
import { ON_RESULT, ON_STATE, type WatchedOptions } from "./watched-options.ts";

/** The parts of an engine that all its runs share. */
export interface EngineCore {
  readonly program: Program;
  /** What its runs lack: each run is refused before its first node. */
  readonly missingSecrets: MissingSecrets;
  readonly options: EngineOptions;
  readonly cache: NodeCache;
  readonly memory: LongTermMemory;
  readonly clock: Clock;
  /** Does work in the next turn of the event loop. */
  readonly later: (work: () => void) => void;
  readonly redact: (text: string) => string;
  readonly allowedHosts: readonly string[] | undefined;
  readonly drain: Drain;
  /** Signals of the runs without a store, by thread. */
  readonly mailboxes: Map<ThreadId, Mailbox>;
}

export type OpenMemory = (settings: MemorySettings) => LongTermMemory;

/** Creates the shared parts of an engine. @throws RunError NG_BAD_INPUT */
export function createCore(
  program: Program,
  options: EngineOptions,
  cache: (clock: Clock) => NodeCache,
  openMemory: OpenMemory,
): EngineCore {
  checkEngineOptions(options);
  checkMocks(program, options.mocks);
  if (options.memory !== undefined) checkOptions("the memory of an engine", options.memory, MEMORY_OPTIONS);
  const clock = options.clock ?? systemClock;
  const programs = allPrograms(program);
  // The values of all secrets are redacted everywhere.
  const secrets = new Map(programs.flatMap((each) => [...(each.secrets ?? [])]));
  const redact = createRedactor(secrets);
  return {
    program,
    // What a mocked node reads is not evaluated.
    missingSecrets: missingSecrets(
      programs.map(({ table }) => table),
      (name) => options.mocks !== undefined || secrets.has(name),
    ),
    options,
    cache: options.cache ?? cache(clock),
    memory: openMemory({ store: options.store, now: () => clock.now(), options: options.memory ?? {} }),
    clock,
    later: (work) => atNextTurn(turnOf(clock), clock, work),
    redact,
    allowedHosts: hostsOf(options.allow),
    drain: new Drain(),
    mailboxes: new Map(),
  };
}

/** A program and all that it calls. */
function allPrograms(program: Program): readonly Program[] {
  const found = new Set([program]);
  for (const next of found) for (const each of [...next.graphs, ...next.plans]) found.add(each);
  return [...found];
}

interface RunDetails {
  readonly threadId: ThreadId | undefined;
  readonly runId?: string;
  readonly durable?: Durable;
  readonly answers?: Map<string, ConsumedAnswer>;
  readonly openedGates?: ReadonlySet<string>;
  readonly metadata?: JsonObject;
  /** Of the last run on the thread. */
  readonly ttl?: number | undefined;
  readonly isResume?: boolean;
  /** The time that the caller of `due` has given. */
  readonly now?: number;
  readonly mailbox?: Mailbox;
}

/** The settings of one run. Options of the call override those of the engine, which override the graph's. */
export function createShared(core: EngineCore, options: WatchedOptions, details: RunDetails): Shared {
  return new RunSettings(core, options, details);
}

class RunSettings implements Shared {
  readonly threadId: ThreadId | undefined;
  readonly durable: Durable | undefined;
  readonly openedGates: ReadonlySet<string>;
  readonly now: () => number;
  readonly mailbox: Mailbox | undefined;
  readonly listeners: readonly EventListener[];
  sequence = 0;
  readonly turn: Turn;
  readonly onFailure: OnFailure;
  readonly metadata: JsonObject;
  readonly ttl: number | undefined;
  readonly slots: Slots | undefined;
  readonly onState: Shared["onState"];
  readonly onResult: Shared["onResult"];
  readonly breakpoints: Breakpoints | undefined;
  readonly context: RunContext;
  readonly limits: Limits;
  readonly core: EngineCore;
  private id: string | undefined;
  private signals: Inbox | undefined;
  private given: Map<string, ConsumedAnswer> | undefined;

  constructor(core: EngineCore, options: WatchedOptions, details: RunDetails) {
    const { options: engine } = core;
    const maxParallel = maxParallelOf(core, options);
    this.core = core;
    this.turn = turnOf(core.clock);
    this.id = details.runId;
    this.given = details.answers;
    this.threadId = details.threadId;
    this.durable = details.durable;
    this.openedGates = details.openedGates ?? NO_GATES;
    this.mailbox = details.mailbox;
    const { now = Number.NEGATIVE_INFINITY } = details;
    this.now = () => Math.max(now, core.clock.now());
    this.listeners = listenersOf(engine.onEvent, options.onEvent);
    this.onFailure = options.onFailure ?? engine.onFailure ?? "finish";
    this.onState = options[ON_STATE];
    this.onResult = options[ON_RESULT];
    this.breakpoints = readBreakpoints(core.program, options);
    this.context = options.context ?? NO_CONTEXT;
    const isResume = details.isResume === true;
    this.limits = readLimits(core.program, engine, options, isResume);
    this.metadata = details.metadata ?? options.metadata ?? NO_METADATA;
    const ttl = options.ttl === undefined ? engine.ttl : options.ttl;
    this.ttl = ttl === undefined ? details.ttl : (ttl ?? undefined);
    this.slots = maxParallel === null ? undefined : new Slots(maxParallel);
  }

  get runId(): string {
    return (this.id ??= newId());
  }
  get answers(): Map<string, ConsumedAnswer> {
    return (this.given ??= new Map());
  }
  get hasAnswers(): boolean {
    return this.given !== undefined && this.given.size > 0;
  }
  get inbox(): Inbox {
    return (this.signals ??= new Inbox());
  }
  get clock(): Clock {
    return this.core.clock;
  }
  get random(): () => number {
    return this.core.options.random ?? Math.random;
  }
  get isDraining(): boolean {
    return this.core.drain.requested;
  }
  get memory(): LongTermMemory {
    return this.core.memory;
  }
  get cache(): NodeCache {
    return this.core.cache;
  }
  get execute(): ExecuteBody | undefined {
    return this.core.options.execute;
  }
  get allowedHosts(): readonly string[] | undefined {
    return this.core.allowedHosts;
  }
  get redact(): (text: string) => string {
    return this.core.redact;
  }
}

function listenersOf(ofEngine: EventListener | undefined, ofCall: EventListener | undefined): readonly EventListener[] {
  if (ofEngine === undefined) return ofCall === undefined ? NO_LISTENERS : [ofCall];
  return ofCall === undefined ? [ofEngine] : [ofEngine, ofCall];
}

/** The limits of the outermost graph. @throws RunError NG_BAD_INPUT for invalid options */
export function limitsOfCall(core: EngineCore, options: ExecuteOptions): RunLimits {
  if (options !== NO_OPTIONS) checkExecuteOptions(options);
  return limitsOf(readLimits(core.program, core.options, options, false), core.program);
}

function maxParallelOf(core: EngineCore, options: ExecuteOptions): number | null {
  const given = options.maxParallel === undefined ? core.options.maxParallel : options.maxParallel;
  if (given === undefined) return core.program.table.limits.parallel;
  return checkCount("maxParallel", given, 1);
}

const NO_CONTEXT: RunContext = Object.freeze({});
const NO_METADATA: JsonObject = Object.freeze({});
const NO_GATES: ReadonlySet<string> = new Set();
const NO_LISTENERS: readonly EventListener[] = Object.freeze([]);
