/** The language of the recorded grammar: random sentences of it, and whether a list of tokens belongs to it. */
import {
  Alternation,
  NonTerminal,
  Option,
  Repetition,
  Terminal,
  tokenMatcher,
  type IProduction,
  type IToken,
  type Rule,
  type TokenType,
} from "chevrotain";
import * as t from "../../grammar/lexer/tokens.ts";

type Rules = Readonly<Record<string, Rule>>;

/** Whether the tokens are a sentence of a rule: sets of end positions, memoized by production and start. */
export function accepts(rules: Rules, start: string, tokens: readonly IToken[]): boolean {
  const memo = new Map<IProduction, Map<number, ReadonlySet<number>>>();
  const ends = (production: IProduction, at: number): ReadonlySet<number> => {
    const byStart = memo.get(production) ?? new Map<number, ReadonlySet<number>>();
    memo.set(production, byStart);
    const known = byStart.get(at);
    if (known !== undefined) return known;
    const found = compute(production, at);
    byStart.set(at, found);
    return found;
  };
  const sequenceEnds = (parts: readonly IProduction[], at: number): Set<number> => {
    let positions = new Set([at]);
    for (const part of parts) {
      const next = new Set<number>();
      for (const position of positions) for (const end of ends(part, position)) next.add(end);
      positions = next;
    }
    return positions;
  };
  const compute = (production: IProduction, at: number): ReadonlySet<number> => {
    if (production instanceof Terminal) {
      const token = tokens[at];
      return new Set(token !== undefined && tokenMatcher(token, production.terminalType) ? [at + 1] : []);
    }
    if (production instanceof NonTerminal) return ends(production.referencedRule, at);
    if (production instanceof Alternation) {
      return new Set(production.definition.flatMap((alternative) => [...ends(alternative, at)]));
    }
    const definition = partsOf(production);
    if (production instanceof Option) return sequenceEnds(definition, at).add(at);
    if (production instanceof Repetition) {
      const all = new Set([at]);
      for (const position of all) for (const end of sequenceEnds(definition, position)) all.add(end);
      return all;
    }
    return sequenceEnds(definition, at);
  };
  const rule = rules[start];
  return rule !== undefined && ends(rule, 0).has(tokens.length);
}

const TEXTS: ReadonlyMap<TokenType, readonly string[]> = new Map([
  [t.Identifier, ["a", "b", "draft"]],
  [t.Numeral, ["0", "1", "40"]],
  [t.Duration, ["200ms", "5m"]],
  [t.Quoted, ['"a"', '""']],
  [t.TemplateText, ["text"]],
  [t.ReservedWord, ["true", "when", "else"]],
  [t.BinaryOperatorToken, ["+", "==", "&&", "in", "??", "<"]],
]);

/** A random sentence of a rule. */
export function sentence(rules: Rules, start: string, random: () => number, budget: number): string {
  const texts: string[] = [];
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const visit = (production: IProduction, depth: number): void => {
    const isOpen = depth < 40 && texts.length < budget;
    if (production instanceof Terminal) {
      const type = production.terminalType;
      texts.push(pick(TEXTS.get(type) ?? [type.LABEL ?? ""]));
      return;
    }
    if (production instanceof NonTerminal) return visit(production.referencedRule, depth + 1);
    if (production instanceof Alternation) {
      // `>=` ends a map only in front of a default (L1).
      const usable = production.definition.map(partsOf).filter(([first]) => !isTerminal(first, t.GreaterEqual));
      const plain = usable.filter(([first]) => first instanceof Terminal);
      for (const part of pick(isOpen || plain.length === 0 ? usable : plain)) visit(part, depth + 1);
      return;
    }
    const definition = partsOf(production);
    const isRepeated = production instanceof Repetition;
    if ((isRepeated || production instanceof Option) && !(isOpen && random() < 0.5)) return;
    for (const part of definition) visit(part, depth + 1);
    if (isRepeated) visit(production, depth + 1);
  };
  const rule = rules[start];
  if (rule !== undefined) visit(rule, 0);
  return texts.join(" ");
}

function partsOf(production: IProduction): readonly IProduction[] {
  return (production as unknown as { definition: IProduction[] }).definition;
}

function isTerminal(production: IProduction | undefined, type: TokenType): boolean {
  return production instanceof Terminal && production.terminalType === type;
}
