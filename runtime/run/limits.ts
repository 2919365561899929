import type { ExecuteOptions, GivenLimits, LimitKind } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import { checkAmount, checkCount } from "./check-numbers.ts";
import type { Program } from "../program/program.ts";
import { isPlainRecord } from "../value/plain-object.ts";

/** The limits of one run; `null` is no limit. */
export type RunLimits = Readonly<Record<LimitKind, number | null>>;

export const NO_LIMITS: RunLimits = Object.freeze({ steps: null, tokens: null, cost: null });

/** The option of each limit. */
export const LIMIT_OPTIONS = { steps: "maxSteps", tokens: "maxTokens", cost: "maxCost" } as const;

const CODES: ReadonlyMap<string, LimitKind> = new Map([
  ["NG_TOKEN_LIMIT", "tokens"],
  ["NG_COST_LIMIT", "cost"],
]);

/** The limit that an error with this code reports. */
export function limitOfCode(code: string | undefined): LimitKind {
  return CODES.get(code ?? "") ?? "steps";
}

const KINDS = ["steps", "tokens", "cost"] as const satisfies readonly LimitKind[];

/** The options that hold limits, of an engine or of a call. */
export type LimitOptions = Pick<ExecuteOptions, (typeof LIMIT_OPTIONS)[LimitKind]>;

/** Limits of one kind that the caller gives; `null` is no limit. */
interface OneLimit {
  /** Limits by graph name, including the run's own graph. */
  readonly byGraph: ReadonlyMap<string, number | null>;
  /** A number given to a resume. It also raises the limit of called graphs that have stopped at a lower limit. */
  readonly raised: number | null | undefined;
}

/** The limits that the caller gives, by kind. A kind without limits is absent. */
export type Limits = Readonly<Partial<Record<LimitKind, OneLimit>>>;

const NOTHING_GIVEN: Limits = Object.freeze({});

/**
 * Combines the limits of the engine and of the call; those of the call win.
 *
 * @throws RunError NG_BAD_INPUT
 */
export function readLimits(program: Program, engine: LimitOptions, call: LimitOptions, isResume: boolean): Limits {
  if (givesNone(engine) && givesNone(call)) return NOTHING_GIVEN;
  let limits: Partial<Record<LimitKind, OneLimit>> | undefined;
  for (const kind of KINDS) {
    const option = LIMIT_OPTIONS[kind];
    if (engine[option] === undefined && call[option] === undefined) continue;
    (limits ??= {})[kind] = readLimit(program, kind, [engine[option], call[option]], isResume);
  }
  return limits ?? NOTHING_GIVEN;
}

function givesNone({ maxSteps, maxTokens, maxCost }: LimitOptions): boolean {
  return maxSteps === undefined && maxTokens === undefined && maxCost === undefined;
}

function readLimit(
  program: Program,
  kind: LimitKind,
  [ofEngine, ofCall]: readonly [GivenLimits | undefined, GivenLimits | undefined],
  isResume: boolean,
): OneLimit {
  const option = LIMIT_OPTIONS[kind];
  const check = kind === "cost" ? checkAmount : checkCount;
  if (program.what === "plan" && !isResume && (typeof ofCall === "number" || ofCall === null)) {
    const message = `plan \`${program.table.name}\` has no ${kind === "steps" ? "steps" : "limits"}: \`${option}\` names the graphs that it limits, as in \`{ graph: 50 }\``;
    throw new RunError("NG_BAD_INPUT", message);
  }
  const byGraph = new Map<string, number | null>();
  for (const given of [ofEngine, ofCall]) {
    if (given === undefined) continue;
    if (!isPlainRecord(given)) {
      byGraph.set(program.table.name, check(option, given as number | null, 0));
      continue;
    }
    const known = namesOf(program);
    for (const [name, value] of Object.entries(given)) {
      if (!known.has(name)) throw unknownGraph(option, known, name);
      byGraph.set(name, check(`${option}.${name}`, value, 0));
    }
  }
  const raises = isResume && ofCall !== undefined && (typeof ofCall !== "object" || ofCall === null);
  return { byGraph, raised: raises ? check(option, ofCall, 0) : undefined };
}

/** The limits of a new run of a graph: the given limits, else those of the graph. */
export function limitsOf(limits: Limits, program: Program): RunLimits {
  if (limits === NOTHING_GIVEN) return program.limits;
  const own: Record<LimitKind, number | null> = { ...program.limits };
  for (const kind of KINDS) {
    const given = limits[kind]?.byGraph.get(program.table.name);
    if (given !== undefined) own[kind] = given;
  }
  return own;
}

/** The limits of a called graph that continues after it has stopped at one of its limits. */
export function raisedLimitsOf(limits: Limits, program: Program): RunLimits {
  const own: Record<LimitKind, number | null> = { ...limitsOf(limits, program) };
  for (const kind of KINDS) {
    const raised = limits[kind]?.raised;
    const before = own[kind];
    if (raised === undefined || before === null) continue;
    own[kind] = raised === null ? null : Math.max(before, raised);
  }
  return own;
}

function unknownGraph(option: string, known: ReadonlySet<string>, name: string): RunError {
  const names = [...known].slice(0, 20).map((one) => `\`${one}\``);
  return new RunError(
    "NG_BAD_INPUT",
    `\`${option}\` names \`${name}\`, which is not a graph of this run; its graphs are ${names.join(", ")}`,
  );
}

/** Names of the graph of a run, and of all graphs that it calls. */
function namesOf(program: Program): Set<string> {
  const names = new Set<string>();
  const seen = new Set<Program>();
  const open = [program];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (next.what === "graph") names.add(next.table.name);
    for (const each of [...next.graphs, ...next.plans]) open.push(each);
  }
  return names;
}
