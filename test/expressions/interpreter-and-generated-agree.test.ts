/** language.md, "Expressions": interpreted and generated code give the same value for every expression. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { expressionToTypeScript } from "../../compiler/emit/expression-to-typescript.ts";
import { compileExpression, type Evaluate, type Scope } from "../../runtime/expression/compile-expression.ts";
import { ExpressionError } from "../../runtime/expression/expression-error.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { BinaryOperator, Expression } from "../../runtime/expression/expression.ts";
import { library } from "../../runtime/expression/library.ts";
import { printExpression } from "../../runtime/expression/print-expression.ts";
import { wrapGenerated } from "../../runtime/expression/wrap-generated.ts";
import type { Json } from "../../runtime/value/json.ts";
import { arbitraryExpression, arbitraryState, CHANNELS } from "./arbitrary-expression.ts";
import { loadGenerated } from "./load-generated.ts";
import { scale } from "../support/depth.ts";

const FUNCTIONS = [
  (value: Json) => value,
  (value: Json) => [value, value],
  () => Number.NaN,
  () => {
    throw new RangeError("no");
  },
];
const NAMES = { channels: CHANNELS, functions: ["same", "twice", "broken", "failing"] };
const SEED = 20_260_401;
const EXPRESSIONS = scale(2500, 500);
const STATES = 12;

test(`the same value or the same problem, in ${EXPRESSIONS * STATES} cases`, async () => {
  const expressions = fc.sample(arbitraryExpression, { numRuns: EXPRESSIONS, seed: SEED });
  const states = fc.sample(arbitraryState, { numRuns: EXPRESSIONS * STATES, seed: SEED });
  // One module contains all expressions, because loading code takes most of the time.
  const generated = await loadGenerated(expressions, NAMES.functions);
  const differences: unknown[] = [];
  let values = 0;
  let problems = 0;
  expressions.forEach((expression, at) => {
    const environment = { functions: FUNCTIONS, names: NAMES, place: `g.ngraph:${at + 1}:1` };
    const interpret = compileExpression(expression, environment);
    const run = wrapGenerated(generated[at]!, expression, environment);
    for (const state of states.slice(at * STATES, (at + 1) * STATES)) {
      const scope: Scope = { state, error: { message: "m" }, secrets: new Map([["KEY", "k"]]) };
      const expected = outcome(interpret, scope);
      const found = outcome(run, scope);
      if ("problem" in expected) expect(expected.place).toBe(`g.ngraph:${at + 1}:1`);
      if (JSON.stringify(found) !== JSON.stringify(expected)) {
        differences.push({ expression: printExpression(expression, NAMES), state, expected, found });
      }
      if ("value" in expected) values++;
      else problems++;
    }
  });
  expect(differences.slice(0, 3)).toEqual([]);
  // The comparison is meaningful only if the generator creates enough values and enough problems.
  expect(values).toBeGreaterThan(4 * EXPRESSIONS);
  expect(problems).toBeGreaterThan(0.8 * EXPRESSIONS);
  expect(values + problems).toBeGreaterThanOrEqual(8 * EXPRESSIONS);
});

test("every form, every operator and the whole library are among them", () => {
  const seen = new Set<string>();
  const open = [...fc.sample(arbitraryExpression, { numRuns: 2500, seed: SEED })];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    seen.add(part.op);
    if (part.op === "binary") seen.add(part.operator);
    if (part.op === "library") seen.add(`${part.name}()`);
    if (part.op === "comprehension") seen.add(part.condition === undefined ? "for" : "for if");
    open.push(...expressionParts(part));
  }
  const forms: readonly Expression["op"][] = [
    ...(["const", "channel", "local", "error", "secret", "member", "index", "not", "negate", "binary"] as const),
    ...(["notNull", "fail"] as const),
    ...(["if", "list", "record", "template", "comprehension", "library", "call"] as const),
  ];
  const operators: readonly BinaryOperator[] = [
    ...(["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!="] as const),
    ...(["&&", "||", "??", "in"] as const),
  ];
  const wanted = [...forms, ...operators, ...Object.keys(library).map((name) => `${name}()`), "for", "for if"];
  expect(wanted.filter((name) => !seen.has(name))).toEqual([]);
});

const [NUMBER, TEXT, NOTHING] = [2, 3, 1].map((channel): Expression => ({ op: "channel", channel }));

/** A chain of operators as the parser reads it: the left operand has all others. */
function chain(length: number, operators: readonly BinaryOperator[], operands: readonly Expression[]): Expression {
  let left = operands[0]!;
  for (let at = 1; at < length; at++) {
    const [operator, right] = [operators[at % operators.length]!, operands[at % operands.length]!];
    left = { op: "binary", operator, left, right };
  }
  return left;
}

test("chains of 900 operators nest little, and are evaluated in their order", async () => {
  const less: Expression = { op: "binary", operator: "<", left: NUMBER!, right: { op: "const", value: 9 } };
  const item: Expression = { op: "local", name: "i" };
  const failing: Expression = { op: "call", function: 3, args: [] };
  const over = { op: "const", value: [1, 2, 3] } as const;
  const expressions: readonly Expression[] = [
    chain(900, ["+"], [NUMBER!]),
    chain(900, ["+"], [TEXT!]),
    chain(900, ["+", "-", "*"], [NUMBER!, { op: "const", value: 0.1 }]),
    chain(900, ["&&", "||"], [less]),
    chain(900, ["??"], [NOTHING!, NOTHING!, NOTHING!]),
    { op: "binary", operator: "??", left: chain(900, ["??"], [NUMBER!]), right: failing },
    { op: "binary", operator: "+", left: chain(900, ["+"], [NUMBER!]), right: failing },
    { op: "binary", operator: "+", left: failing, right: chain(900, ["+"], [TEXT!]) },
    {
      op: "comprehension",
      item: "i",
      list: over,
      condition: { op: "binary", operator: ">", left: chain(500, ["+"], [item]), right: { op: "const", value: 500 } },
      value: chain(900, ["+"], [item, NUMBER!]),
    },
  ];
  const names = { functions: NAMES.functions, nonNull: "!", constant: (value: Json) => JSON.stringify(value) } as const;
  for (const expression of expressions) expect(nesting(expressionToTypeScript(expression, names))).toBeLessThan(300);
  const generated = await loadGenerated(expressions, NAMES.functions);
  const scope: Scope = { state: [true, null, 3, "a"], secrets: new Map() };
  expressions.forEach((expression, at) => {
    const environment = { functions: FUNCTIONS, names: NAMES, place: "g.ngraph:1:1" };
    const expected = outcome(compileExpression(expression, environment), scope);
    expect(outcome(wrapGenerated(generated[at]!, expression, environment), scope)).toEqual(expected);
  });
});

/** The largest number of brackets that are open at a place of a text without quoted brackets. */
function nesting(text: string): number {
  let most = 0;
  let open = 0;
  for (const character of text) {
    if ("([{".includes(character)) most = Math.max(most, ++open);
    else if (")]}".includes(character)) open--;
  }
  return most;
}

function outcome(
  evaluate: Evaluate,
  scope: Scope,
): { value: Json } | { problem: string; reason: string; place: string | undefined } {
  try {
    return { value: evaluate(scope) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { problem: error.problem, reason: error.reason, place: error.place };
  }
}
