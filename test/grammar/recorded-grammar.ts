/** What is computed from the grammar that Chevrotain records: the lookahead table and the diagrams. */
import {
  Alternation,
  getLookaheadPaths,
  Option,
  Repetition,
  type IProduction,
  type LookaheadProductionType,
  type Rule,
} from "chevrotain";
import { format, resolveConfig } from "prettier";
import { decisionName } from "../../grammar/parser/decisions.ts";
import { NgraphParser } from "../../grammar/parser/file-rules.ts";

export const TABLE_FILE = "grammar/parser/lookahead-table.ts";

export function recordedRules(): Readonly<Record<string, Rule>> {
  return new NgraphParser(true).getGAstProductions();
}

/** The production and everything in it, without the rules that it refers to. */
export function* productionsIn(production: IProduction): Iterable<IProduction> {
  yield production;
  if ("definition" in production && Array.isArray(production.definition) && !("nonTerminalName" in production)) {
    for (const part of production.definition) yield* productionsIn(part);
  }
}

const TYPES: readonly (readonly [new (...args: never[]) => IProduction, LookaheadProductionType])[] = [
  [Option, "Option"],
  [Repetition, "Repetition"],
  [Alternation, "Alternation"],
];

/**
 * For each decision the token sequences of each alternative, as long as needed to tell the alternatives apart, at most
 * two.
 */
export function lookaheadPaths(): ReadonlyMap<string, readonly (readonly string[])[]> {
  const table = new Map<string, readonly (readonly string[])[]>();
  for (const rule of Object.values(recordedRules())) {
    for (const production of productionsIn(rule)) {
      const prodType = TYPES.find(([type]) => production instanceof type)?.[1];
      const name = prodType === undefined ? undefined : decisionName((production as Option).idx);
      if (prodType === undefined || name === undefined) continue;
      const alternatives = getLookaheadPaths({
        occurrence: (production as Option).idx,
        rule,
        prodType,
        maxLookahead: 2,
      }).map((paths) => paths.map((path) => path.map((token) => token.name).join(" ")).sort());
      // An optional part is alternative 0; what follows it in its rule is not needed.
      const kept = prodType === "Alternation" ? alternatives : alternatives.slice(0, 1);
      const before = table.get(name);
      if (before !== undefined && JSON.stringify(before) !== JSON.stringify(kept)) {
        throw new Error(`the decision ${name} is used in two rules with different tokens`);
      }
      table.set(name, kept);
    }
  }
  return table;
}

export async function tableText(): Promise<string> {
  const table = Object.fromEntries(lookaheadPaths());
  const text = [
    "// Generated from the recorded grammar: UPDATE=1 npx vitest run test/grammar/recorded-grammar.test.ts",
    'import type { DecisionName } from "./decisions.ts";',
    "",
    "/** The token sequences that select each alternative of a decision; words are in quotes. */",
    "export const LOOKAHEAD_TABLE: Readonly<Record<DecisionName, readonly (readonly string[])[]>> = ",
    `${JSON.stringify(table)};`,
  ].join("\n");
  return format(text, { ...(await resolveConfig(TABLE_FILE)), filepath: TABLE_FILE });
}
