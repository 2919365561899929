import { fail } from "../expression-error.ts";
import { spend } from "../work-meter.ts";
import type { Expression } from "../expression.ts";
import { compilePattern, runPattern, type PatternProgram } from "./pattern-program.ts";
import type { PatternProblem } from "./pattern-node.ts";

/**
 * Limit of instructions times characters in one call. The worst case takes a few seconds, a usual call microseconds.
 */
const MAX_WORK = 2 ** 28;
/** Maximum number of compiled patterns in the cache. */
const MAX_KEPT = 200;
const kept = new Map<string, PatternProgram | PatternProblem>();

/** `matches(text, pattern)`: whether the pattern occurs in the text. Linear in the text. */
export function matchesPattern(text: string, pattern: string, at?: Expression): boolean {
  const program = prepare(pattern);
  if ("message" in program) return fail("bad_pattern", `bad pattern: ${program.message}`, at);
  if (text.length * program.instructions.length > MAX_WORK) {
    return fail("too_large", `a text of ${text.length} characters is too long for this pattern`, at);
  }
  spend(text.length * program.instructions.length, at);
  return runPattern(program, text);
}

/** The problem of a pattern; `undefined` if the pattern is accepted. Every accepted pattern runs in linear time. */
export function checkPattern(pattern: string): PatternProblem | undefined {
  const program = prepare(pattern);
  return "message" in program ? program : undefined;
}

function prepare(pattern: string): PatternProgram | PatternProblem {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  const program = compilePattern(pattern);
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(pattern, program);
  return program;
}
