import { expect, test } from "vitest";
import { refusalLines } from "../../cli/threads/refusal-lines.ts";

/** Refused threads with these problems, each in the message that a resume has. */
function refused(count: number, problemOf: (at: number) => string) {
  return Array.from({ length: count }, (_, at) => {
    const problems = [problemOf(at)];
    return { thread: `t${at}`, graph: "g", problems, message: `thread \`t${at}\` does not fit: ${problems[0]}` };
  });
}

test("a few threads have a line each, in the order of the store", () => {
  const few = refused(20, () => "channel `x` no longer exists");
  expect(refusalLines(few)).toEqual(few.map(({ message }) => message));
  expect(refusalLines([])).toEqual([]);
});

test("many threads have a line for each problem, whatever their values: the most frequent problem first", () => {
  const many = refused(10_000, (at) =>
    at % 4 === 0 ? "channel `x` no longer exists" : `channel \`n\` has another type: expected string, found ${at}`,
  );
  expect(refusalLines(many)).toEqual([
    many[1]!.message,
    "  = note: 7499 more threads have the same problem: `t2`, `t3`, `t5`, `t6`, `t7`, `t9`, `t10`, `t11`, `t13`, `t14` and 7489 more",
    many[0]!.message,
    "  = note: 2499 more threads have the same problem: `t4`, `t8`, `t12`, `t16`, `t20`, `t24`, `t28`, `t32`, `t36`, `t40` and 2489 more",
  ]);
});

test("many problems are counted beyond the first, and names of threads are printable", () => {
  const many = refused(50, (at) => `channel \`c${Math.floor(at / 2)}\` no longer exists`);
  const [first, second] = many;
  const named = [first!, { ...second!, thread: "a\u001b[31m" }, ...many.slice(2)];
  const lines = refusalLines(named);
  expect(lines).toHaveLength(41);
  expect(lines.slice(0, 2)).toEqual([first!.message, "  = note: 1 more thread has the same problem: `a\\u{001b}[31m`"]);
  expect(lines.at(-1)).toBe("5 more problems, of 10 threads: --json lists all");
  const ofOne = refused(21, (at) => `channel \`c${at}\` no longer exists`);
  expect(refusalLines(ofOne).at(-1)).toBe("1 more problem, of 1 thread: --json lists all");
});

test("the same problem in two graphs is two problems", () => {
  const many = refused(30, () => "channel `x` no longer exists");
  const both = many.map((one, at) => ({ ...one, graph: at < 10 ? "g" : "h" }));
  expect(refusalLines(both).filter((line) => !line.startsWith("  = "))).toEqual([many[10]!.message, many[0]!.message]);
});
