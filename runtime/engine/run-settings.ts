import { systemClock, type Clock } from "../clock.ts";
import type { ConsumedAnswer, ThreadId } from "../checkpoint.ts";
import type { EngineOptions, ExecuteOptions } from "../engine-options.ts";
import { RunError } from "../errors.ts";
import type { EventListener } from "../events.ts";
import type { JsonObject } from "../json.ts";
import type { NodeCache } from "../node-cache.ts";
import type { Program } from "./program.ts";
import { createRedactor } from "./redact.ts";
import { newId } from "./run.ts";
import type { Durable, Shared } from "./shared.ts";
import { Slots } from "./slots.ts";

/** An engine's parts that all its runs share. */
export interface EngineCore {
  readonly program: Program;
  readonly options: EngineOptions;
  readonly cache: NodeCache;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
}

export function createCore(program: Program, options: EngineOptions, cache: (clock: Clock) => NodeCache): EngineCore {
  const clock = options.clock ?? systemClock;
  const redact = createRedactor(program.secrets ?? new Map<string, string>());
  return { program, options, cache: options.cache ?? cache(clock), clock, redact };
}

/** The settings of one run; those of the call win over those of the engine, those of the engine over the graph's. */
export function createShared(
  core: EngineCore,
  options: ExecuteOptions,
  details: {
    readonly threadId: ThreadId | undefined;
    readonly runId?: string;
    readonly durable?: Durable;
    readonly answers?: Map<string, ConsumedAnswer>;
    readonly opensGates?: boolean;
    readonly metadata?: JsonObject;
  },
): Shared {
  const { options: engine } = core;
  const maxParallel = maxParallelOf(core, options);
  let id = details.runId;
  return {
    get runId() {
      return (id ??= newId());
    },
    threadId: details.threadId,
    durable: details.durable,
    answers: details.answers ?? new Map(),
    opensGates: details.opensGates ?? false,
    listeners: listenersOf(engine.onEvent, options.onEvent),
    sequence: 0,
    clock: core.clock,
    random: engine.random ?? Math.random,
    cache: core.cache,
    onFailure: options.onFailure ?? engine.onFailure ?? "finish",
    metadata: details.metadata ?? options.metadata ?? NO_METADATA,
    slots: maxParallel === null ? undefined : new Slots(maxParallel),
    redact: core.redact,
  };
}

function listenersOf(ofEngine: EventListener | undefined, ofCall: EventListener | undefined): readonly EventListener[] {
  if (ofEngine === undefined) return ofCall === undefined ? NO_LISTENERS : [ofCall];
  return ofCall === undefined ? [ofEngine] : [ofEngine, ofCall];
}

/** @throws RunError NG_BAD_INPUT */
export function maxStepsOf(core: EngineCore, options: ExecuteOptions): number | null {
  const given = options.maxSteps === undefined ? core.options.maxSteps : options.maxSteps;
  if (given === undefined) return core.program.table.limits.steps;
  return checkCount("maxSteps", given, 0);
}

function maxParallelOf(core: EngineCore, options: ExecuteOptions): number | null {
  const given = options.maxParallel === undefined ? core.options.maxParallel : options.maxParallel;
  if (given === undefined) return core.program.table.limits.parallel;
  return checkCount("maxParallel", given, 1);
}

function checkCount(name: string, value: number | null, least: number): number | null {
  if (value === null || value === Number.POSITIVE_INFINITY) return null;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new RunError(
    "NG_BAD_INPUT",
    `\`${name}\` is a whole number of at least ${least}, or null for no limit, not ${String(value)}`,
  );
}

const NO_METADATA: JsonObject = Object.freeze({});
const NO_LISTENERS: readonly EventListener[] = Object.freeze([]);
