/** Expressions are total: what has no value is a typed error, with the place of the expression in its graph. */
import { expect, test } from "vitest";
import { compile } from "../../compiler/index.ts";
import { NodeError } from "../../runtime/index.ts";
import { createEngine } from "../../api/create-engine.ts";
import { ExpressionError } from "../../runtime/expression/expression-error.ts";

async function failure(lines: string, input: Record<string, number | number[]> = {}): Promise<ExpressionError> {
  const text = `graph g {\n  input n: int = 0\n  input xs: int[] = []\n  output o: float = 0\n${lines}\n}`;
  const { table, diagnostics } = compile(text, { path: "g.ngraph" });
  if (table === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  const { error } = await createEngine(table).run(input);
  expect(error).toBeInstanceOf(NodeError);
  const { cause } = error as NodeError;
  expect(cause).toBeInstanceOf(ExpressionError);
  return cause as ExpressionError;
}

test.each([
  ["a division by zero", "  node a = 10 / n into o\n  start -> a", "division_by_zero", "g.ngraph:5:12"],
  ["a remainder by zero", "  node a = 10 % n into o\n  start -> a", "division_by_zero", "g.ngraph:5:12"],
  ["no finite number", "  node a = 1e308 * 10 into o\n  start -> a", "not_finite", "g.ngraph:5:12"],
  [
    "inside a comprehension",
    "  node a = sum([1 / x for x in [1, n]]) into o\n  start -> a",
    "division_by_zero",
    "g.ngraph:5:12",
  ],
  ["an argument of a node", "  node a = sleep(round(5 / n))\n  start -> a", "division_by_zero", "g.ngraph:5:18"],
  [
    "a condition",
    "  node a = 1 into o\n  start -> a\n  a -> end when 1 / n > 2\n  a -> end otherwise",
    "division_by_zero",
    "g.ngraph:7:17",
  ],
  ["a list that is too long", "  node a = len(range(1000000000)) into o\n  start -> a", "too_large", "g.ngraph:5:12"],
])("%s", async (_, lines, problem, place) => {
  expect(await failure(lines)).toMatchObject({ problem, place });
});

test("no place where the same expression stands in several: the node says which", async () => {
  const lines = "  node a = 10 / n into o\n  node b = 10 / n into o\n  start -> a -> b";
  expect(await failure(lines)).toMatchObject({ problem: "division_by_zero", place: undefined });
});
