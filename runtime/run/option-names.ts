import type {
  EngineOptions,
  ExecuteOptions,
  ResumeOptions,
  RunOptions,
  StreamOptions,
  ViewsOptions,
} from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { MemoryOptions } from "../interface/memory.ts";
import type { PlanRunnerOptions } from "../plan/plan-options.ts";
import { checkRecord } from "./check-options.ts";
import { wrongKind, type OptionKind } from "./option-kinds.ts";

/** The options of one call of the API, by name, and the kinds of their values. `tsc` reports a name that is missing here. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options> & string]: OptionKind };

const EXECUTE: OptionNames<ExecuteOptions> = {
  signal: true,
  maxSteps: true,
  maxTokens: true,
  maxCost: true,
  maxParallel: true,
  durability: true,
  metadata: true,
  ttl: true,
  onFailure: true,
  onEvent: true,
  context: true,
  pauseBefore: true,
  pauseAfter: true,
};
const STREAM: OptionNames<StreamOptions & ViewsOptions<"events">> = { view: true, views: true, buffer: "number" };
export const PLAN_RUNNER_OPTIONS: OptionNames<PlanRunnerOptions> = {
  functions: "record",
  expressions: "list",
  graphs: "record",
  builtins: "record",
  store: true,
  allow: "texts",
  secrets: "lookup",
  mocks: "record",
  clock: "clock",
  random: "function",
  cache: "cache",
  onEvent: true,
  leaseMs: true,
  storeTimeoutMs: true,
  ttl: true,
  memory: true,
  durability: true,
  maxParallel: true,
};
export const ENGINE_OPTIONS: OptionNames<EngineOptions> = {
  ...PLAN_RUNNER_OPTIONS,
  maxSteps: true,
  maxTokens: true,
  maxCost: true,
  onFailure: true,
  wake: "flag",
  onWake: true,
  execute: true,
  host: "host",
};
export const RUN_OPTIONS: OptionNames<RunOptions> = { ...EXECUTE, thread: true, abandon: "flag", config: true };
export const RESUME_OPTIONS: OptionNames<ResumeOptions> = {
  ...EXECUTE,
  answers: true,
  answer: true,
  from: true,
  at: "text",
  config: true,
};
export const STREAM_OPTIONS: OptionNames<RunOptions & StreamOptions> = { ...RUN_OPTIONS, ...STREAM };
export const STREAM_RESUME_OPTIONS: OptionNames<ResumeOptions & StreamOptions> = { ...RESUME_OPTIONS, ...STREAM };
export const MEMORY_OPTIONS: OptionNames<MemoryOptions> = { vectors: true, ttl: true };

/**
 * Refuses options that are not a record, names that the call does not know, and values of another kind. Symbol keys pass.
 *
 * @param whose what the options belong to, for the message: `an engine`
 * @throws RunError NG_BAD_INPUT
 */
export function checkOptions(whose: string, options: object, known: Readonly<Record<string, OptionKind>>): void {
  checkRecord(whose, options);
  for (const name of Object.keys(options)) {
    const kind = Object.hasOwn(known, name) ? known[name]! : undefined;
    if (kind === true) continue;
    if (kind !== undefined) {
      const wanted = wrongKind(kind, (options as Readonly<Record<string, unknown>>)[name]);
      if (wanted === undefined) continue;
      throw new RunError("NG_BAD_INPUT", `\`${name}\`, an option of ${whose}, is ${wanted}`);
    }
    const names = Object.keys(known);
    const similar = similarName(name, names);
    const hint =
      similar === undefined
        ? `; its options are ${names.map((one) => `\`${one}\``).join(", ")}`
        : `; did you mean \`${similar}\`?`;
    throw new RunError("NG_BAD_INPUT", `\`${name}\` is not an option of ${whose}${hint}`);
  }
}

/** The known name that a misspelled one probably means: the nearest by edits, or one that begins it (`asNode`: `as`). */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(name.length / 3));
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of known) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best ?? known.find((candidate) => name.startsWith(candidate) && /^[A-Z_]/.test(name.slice(candidate.length)));
}

/** Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isEqual = a[row - 1] === b[column - 1];
      let least = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + (isEqual ? 0 : 1));
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) least = Math.min(least, beforePrevious[column - 2]! + 1);
      current.push(least);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}
