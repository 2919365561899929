import { printable } from "../../diagnostics/render/index.ts";
import type { ThreadCheck } from "./check-threads.ts";

type Refused = ThreadCheck["refused"][number];

/** Up to this number of threads or problems, each has its own line. */
const MOST_LINES = 20;
/** Threads that are named for a problem. */
const MOST_NAMES = 10;
/** The value of one thread in a problem: `expected string, found 3`. */
const VALUE = /, found [^]*$/;

/**
 * Why a version of a graph does not take up threads, for people. An edit of a graph has the same problem for many threads: beyond a
 * few, the lines are one for each problem, the most frequent one first, with the message of its first thread and the names of others.
 */
export function refusalLines(refused: readonly Refused[]): readonly string[] {
  if (refused.length <= MOST_LINES) return refused.map(({ message }) => message);
  const byProblem = new Map<string, Refused[]>();
  for (const one of refused) {
    const problem = JSON.stringify([one.graph, one.problems.map((text) => text.replace(VALUE, ""))]);
    const known = byProblem.get(problem);
    if (known === undefined) byProblem.set(problem, [one]);
    else known.push(one);
  }
  const groups = [...byProblem.values()].sort((a, b) => b.length - a.length);
  const lines = groups.slice(0, MOST_LINES).flatMap(([first, ...others]) => {
    if (others.length === 0) return [first!.message];
    const names = others.slice(0, MOST_NAMES).map(({ thread }) => `\`${printable(thread)}\``);
    const rest = others.length - names.length;
    const listed = rest === 0 ? names.join(", ") : `${names.join(", ")} and ${rest} more`;
    const what = others.length === 1 ? "1 more thread has" : `${others.length} more threads have`;
    return [first!.message, `  = note: ${what} the same problem: ${listed}`];
  });
  const left = groups.slice(MOST_LINES);
  if (left.length === 0) return lines;
  const threads = left.reduce((sum, group) => sum + group.length, 0);
  const problems = left.length === 1 ? "1 more problem" : `${left.length} more problems`;
  return [...lines, `${problems}, of ${threads === 1 ? "1 thread" : `${threads} threads`}: --json lists all`];
}
