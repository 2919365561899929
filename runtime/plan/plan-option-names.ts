/** The options of the calls of a plan runner. */
import type { OptionNames } from "../run/option-names.ts";
import type { PlanExecuteOptions, PlanResumeOptions, PlanRunOptions, PlanStreamOptions } from "./plan-options.ts";

const PLAN_EXECUTE: OptionNames<PlanExecuteOptions> = {
  signal: "listener",
  drain: "listener",
  maxParallel: "count",
  only: "texts",
  fromTask: "text",
  expected: "function",
  onEvent: "function",
  maxSteps: true,
  maxTokens: true,
  maxCost: true,
  metadata: "record",
  taskCache: "record",
  worktrees: "record",
  beforeStart: "function",
  afterTask: "function",
};

export const PLAN_RUN_OPTIONS: OptionNames<PlanRunOptions> = {
  ...PLAN_EXECUTE,
  thread: true,
  abandon: "flag",
  config: true,
};
export const PLAN_RESUME_OPTIONS: OptionNames<PlanResumeOptions> = {
  ...PLAN_EXECUTE,
  answers: true,
  answer: true,
  retry: "texts",
  config: true,
};
const PLAN_STREAM: OptionNames<PlanStreamOptions> = { buffer: "number" };
export const PLAN_STREAM_OPTIONS = { ...PLAN_RUN_OPTIONS, ...PLAN_STREAM };
export const PLAN_STREAM_RESUME_OPTIONS = { ...PLAN_RESUME_OPTIONS, ...PLAN_STREAM };
