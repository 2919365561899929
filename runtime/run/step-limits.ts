import type { GivenStepLimits } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import { checkCount } from "./check-options.ts";
import type { Program } from "../program/program.ts";

/** Step limits that the caller gives; `null` is no limit. */
export interface StepLimits {
  /** Limits by graph name, including the run's own graph. */
  readonly byGraph: ReadonlyMap<string, number | null>;
  /** A number given to a resume. It also raises the limit of called graphs that have stopped at a lower limit. */
  readonly raised: number | null | undefined;
}

const NOTHING_GIVEN: StepLimits = Object.freeze({ byGraph: new Map<string, number | null>(), raised: undefined });

/**
 * Combines the limits of the engine and of the call; those of the call win.
 *
 * @throws RunError NG_BAD_INPUT
 */
export function readStepLimits(
  program: Program,
  ofEngine: GivenStepLimits | undefined,
  ofCall: GivenStepLimits | undefined,
  isResume: boolean,
): StepLimits {
  if (ofEngine === undefined && ofCall === undefined) return NOTHING_GIVEN;
  if (program.what === "plan" && !isResume && (typeof ofCall === "number" || ofCall === null)) {
    const message = `plan \`${program.table.name}\` has no steps: \`maxSteps\` names the graphs that it limits, as in \`{ graph: 50 }\``;
    throw new RunError("NG_BAD_INPUT", message);
  }
  const byGraph = new Map<string, number | null>();
  for (const given of [ofEngine, ofCall]) {
    if (given === undefined) continue;
    if (typeof given !== "object" || given === null || Array.isArray(given)) {
      byGraph.set(program.table.name, checkCount("maxSteps", given as number | null, 0));
      continue;
    }
    const known = namesOf(program);
    for (const [name, count] of Object.entries(given)) byGraph.set(name, limitOf(known, name, count));
  }
  const raises = isResume && ofCall !== undefined && (typeof ofCall !== "object" || ofCall === null);
  return { byGraph, raised: raises ? checkCount("maxSteps", ofCall, 0) : undefined };
}

/** The limit of a new run of a graph: the given limit, else that of the graph. */
export function stepLimitOf({ byGraph }: StepLimits, { table }: Program): number | null {
  const given = byGraph.get(table.name);
  return given === undefined ? table.limits.steps : given;
}

/** The limit of a called graph that continues after it has stopped at its limit. */
export function raisedLimitOf(limits: StepLimits, program: Program): number | null {
  const own = stepLimitOf(limits, program);
  const { raised } = limits;
  if (raised === undefined || own === null) return own;
  return raised === null ? null : Math.max(own, raised);
}

function limitOf(known: ReadonlySet<string>, name: string, count: number | null): number | null {
  if (known.has(name)) return checkCount(`maxSteps.${name}`, count, 0);
  const names = [...known].slice(0, 20).map((one) => `\`${one}\``);
  throw new RunError(
    "NG_BAD_INPUT",
    `\`maxSteps\` names \`${name}\`, which is not a graph of this run; its graphs are ${names.join(", ")}`,
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
