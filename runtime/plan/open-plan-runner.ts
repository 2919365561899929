import type { ThreadId } from "../interface/checkpoint.ts";
import { checkOptions, PLAN_RUNNER_OPTIONS } from "../run/option-names.ts";
import { PLAN_STREAM_OPTIONS, PLAN_STREAM_RESUME_OPTIONS } from "./plan-option-names.ts";
import { createCore, type EngineCore } from "../run/run-settings.ts";
import type { Clock } from "../interface/clock.ts";
import type { JsonObject, MaybePromise } from "../value/json.ts";
import { MemoryNodeCache } from "../run/node-cache.ts";
import { freezeTable } from "../table/check-table.ts";
import type {
  PlanResumeOptions,
  PlanRunner,
  PlanRunnerOptions,
  PlanRunOptions,
  PlanRunResult,
} from "./plan-options.ts";
import { compilePlan, type PlanProgram } from "./plan-program.ts";
import type { Linker } from "../program/linker.ts";
import type { OpenMemory } from "../run/run-settings.ts";
import { snapshotJson, snapshotOptions } from "../run/copy-arguments.ts";
import { isThenable } from "../value/promise.ts";
import type { PlanOperations } from "./plan-operations.ts";
import { createPlanStream } from "./plan-stream.ts";
import type { PlanTable } from "../table/plan-table.ts";

/** A plan linked with its code, and the shared parts of its runs. */
export interface PlanCore {
  readonly plan: PlanProgram;
  readonly core: EngineCore;
}

/** The code of runs, or its module while it loads, and the long-term memory. */
export interface PlanCode {
  readonly operations: () => MaybePromise<PlanOperations>;
  readonly openMemory: OpenMemory;
}

/**
 * Creates a runner for a plan: checks the plan, and links it with its code.
 *
 * @param linker the code that the plan and what it calls use
 */
export function openPlanRunner(
  table: PlanTable,
  options: PlanRunnerOptions,
  linker: Linker,
  code: PlanCode,
): PlanRunner {
  checkOptions("a plan runner", options, PLAN_RUNNER_OPTIONS);
  freezeTable(table, "plan");
  const plan = compilePlan(table, options, linker);
  const cache = (clock: Clock): MemoryNodeCache => new MemoryNodeCache({ now: () => clock.now() });
  const runner: PlanCore = { plan, core: createCore(plan.program, options, cache, code.openMemory) };
  const start = (input: JsonObject | undefined, settings: PlanRunOptions): Promise<PlanRunResult> => {
    const operations = code.operations();
    if (!isThenable(operations)) return operations.start(runner, input, settings);
    const [values, copy] = [snapshotJson(input), snapshotOptions(settings)];
    return Promise.resolve(operations).then((loaded) => loaded.start(runner, values, copy));
  };
  const resume = (thread: ThreadId, settings: PlanResumeOptions): Promise<PlanRunResult> => {
    const operations = code.operations();
    if (!isThenable(operations)) return operations.resume(runner, thread, settings);
    const copy = snapshotOptions(settings);
    return Promise.resolve(operations).then((loaded) => loaded.resume(runner, thread, copy));
  };
  return {
    table,
    run: (input, settings = {}) => start(input, settings),
    resume: (thread, settings = {}) => resume(thread, settings),
    stream: (input, settings = {}) => {
      checkOptions("a stream", settings, PLAN_STREAM_OPTIONS);
      const { buffer: _, ...options } = settings;
      return createPlanStream(settings, (watched) => start(input, { ...options, ...watched }));
    },
    streamResume: (thread, settings = {}) => {
      checkOptions("a stream", settings, PLAN_STREAM_RESUME_OPTIONS);
      const { buffer: _, ...options } = settings;
      return createPlanStream(settings, (watched) => resume(thread, { ...options, ...watched }));
    },
  };
}
