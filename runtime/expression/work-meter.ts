/**
 * Bounds the work of one evaluation. Operations whose time grows with their operands spend units; an evaluation that spends more than
 * `MAX_WORK` fails with `too_large`. The meter is a variable of the module: an evaluation is synchronous, and the interpreter and
 * generated code call the same operations.
 */
import { fail } from "./expression-error.ts";
import type { Expression } from "./expression.ts";
import { MAX_WORK } from "./limits.ts";

/** Units left. Infinite while no evaluation runs: operations called outside of an evaluation are not limited. */
let left = Infinity;

/** Starts the meter of an evaluation; returns the state that `endWork` restores, for evaluations inside of imported functions. */
export function startWork(): number {
  const outer = left;
  left = MAX_WORK;
  return outer;
}

export function endWork(outer: number): void {
  left = outer;
}

/** Spends units of work; a unit is about a nanosecond. @throws ExpressionError `too_large` */
export function spend(units: number, at?: Expression): void {
  left -= units;
  if (left < 0) fail("too_large", `the expression needs more than ${MAX_WORK} units of work`, at);
}
