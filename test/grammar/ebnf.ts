/** A reader for the notation of `docs/grammar.ebnf`, and random derivations from it. */

export type Production =
  | { readonly kind: "sequence"; readonly parts: readonly Production[] }
  | { readonly kind: "choice"; readonly options: readonly Production[] }
  | { readonly kind: "optional" | "repeated"; readonly of: Production }
  | { readonly kind: "rule"; readonly name: string }
  | { readonly kind: "terminal"; readonly name: string }
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "gate"; readonly name: string; readonly holds: boolean };

export type Grammar = ReadonlyMap<string, Production>;

const SYMBOL = /\(\*[^]*?\*\)|\s+|"([^"]*)"|\?\s*([^?]*?)\s*\?|([A-Za-z]\w*)|([=|;,()[\]{}])/y;

interface Lexeme {
  readonly kind: "literal" | "gate" | "name" | "mark";
  readonly text: string;
}

export function readGrammar(text: string): Grammar {
  const lexemes: Lexeme[] = [];
  for (let at = 0; at < text.length;) {
    SYMBOL.lastIndex = at;
    const found = SYMBOL.exec(text);
    if (found === null) throw new Error(`the grammar cannot be read at: ${text.slice(at, at + 40)}`);
    at = SYMBOL.lastIndex;
    const [, literal, gate, name, mark] = found;
    if (literal !== undefined) lexemes.push({ kind: "literal", text: literal });
    else if (gate !== undefined) lexemes.push({ kind: "gate", text: gate });
    else if (name !== undefined) lexemes.push({ kind: "name", text: name });
    else if (mark !== undefined) lexemes.push({ kind: "mark", text: mark });
  }
  let at = 0;
  const isMark = (text: string) => lexemes[at]?.kind === "mark" && lexemes[at]?.text === text;
  const expect = (text: string) => {
    if (!isMark(text)) throw new Error(`expected ${text} at lexeme ${at}, found ${lexemes[at]?.text ?? "the end"}`);
    at += 1;
  };
  const choice = (): Production => {
    const options = [sequence()];
    while (isMark("|")) {
      at += 1;
      options.push(sequence());
    }
    return options.length === 1 ? (options[0] as Production) : { kind: "choice", options };
  };
  const sequence = (): Production => {
    const parts: Production[] = [];
    for (let next = primary(); next !== undefined; next = primary()) parts.push(next);
    return parts.length === 1 ? (parts[0] as Production) : { kind: "sequence", parts };
  };
  const bracketed = (close: string): Production => {
    at += 1;
    const inner = choice();
    expect(close);
    return inner;
  };
  const primary = (): Production | undefined => {
    const lexeme = lexemes[at];
    if (lexeme === undefined) return undefined;
    if (lexeme.kind === "mark") {
      if (lexeme.text === "(") return bracketed(")");
      if (lexeme.text === "[") return { kind: "optional", of: bracketed("]") };
      return lexeme.text === "{" ? { kind: "repeated", of: bracketed("}") } : undefined;
    }
    at += 1;
    if (lexeme.kind === "literal") return { kind: "literal", text: lexeme.text };
    if (lexeme.kind === "gate") {
      const holds = !lexeme.text.startsWith("not ");
      return { kind: "gate", name: holds ? lexeme.text : lexeme.text.slice(4), holds };
    }
    return { kind: /^[A-Z]+$/.test(lexeme.text) ? "terminal" : "rule", name: lexeme.text };
  };
  const rules = new Map<string, Production>();
  while (at < lexemes.length) {
    const name = lexemes[at]?.text ?? "";
    at += 1;
    expect("=");
    rules.set(name, choice());
    expect(";");
  }
  return rules;
}

/** The depth, in rules, of the shallowest derivation of each rule. */
export function shortestDepths(grammar: Grammar): Map<string, number> {
  const depths = new Map<string, number>();
  const depthOf = (production: Production): number => {
    switch (production.kind) {
      case "sequence":
        return Math.max(0, ...production.parts.map(depthOf));
      case "choice":
        return Math.min(...production.options.map(depthOf));
      case "rule":
        return 1 + (depths.get(production.name) ?? Infinity);
      default:
        return 0;
    }
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const [name, production] of grammar) {
      const depth = depthOf(production);
      if (depth < (depths.get(name) ?? Infinity)) {
        depths.set(name, depth);
        changed = true;
      }
    }
  }
  return depths;
}

export interface Derivation {
  readonly tokens: string[];
  /** Gates that were passed: each with the index of the token after it. */
  readonly gates: { readonly name: string; readonly holds: boolean; readonly at: number }[];
  /** How often each rule was used. */
  readonly uses: Map<string, number>;
}

export interface DeriveOptions {
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly terminal: (name: string) => string;
  /** Rules that may nest before only the shortest derivations are taken. */
  readonly depth: number;
  /** Tokens after which only the shortest derivations are taken. */
  readonly budget: number;
  /** The probability that a repetition continues. */
  readonly more: number;
}

export function derive(
  grammar: Grammar,
  depths: ReadonlyMap<string, number>,
  start: string,
  options: DeriveOptions,
): Derivation {
  const derivation: Derivation = { tokens: [], gates: [], uses: new Map() };
  const { random } = options;
  const costOf = (production: Production): number => {
    if (production.kind === "sequence") return Math.max(0, ...production.parts.map(costOf));
    if (production.kind === "choice") return Math.min(...production.options.map(costOf));
    return production.kind === "rule" ? 1 + (depths.get(production.name) ?? 0) : 0;
  };
  const visit = (production: Production, below: number): void => {
    const depth = derivation.tokens.length < options.budget ? below : 0;
    switch (production.kind) {
      case "literal":
        derivation.tokens.push(production.text);
        return;
      case "terminal":
        derivation.tokens.push(options.terminal(production.name));
        return;
      case "gate":
        derivation.gates.push({ name: production.name, holds: production.holds, at: derivation.tokens.length });
        return;
      case "sequence":
        for (const part of production.parts) visit(part, depth);
        return;
      case "optional":
        if (depth > 0 && random() < 0.4) visit(production.of, depth);
        return;
      case "repeated":
        while (depth > 0 && derivation.tokens.length < options.budget && random() < options.more)
          visit(production.of, depth);
        return;
      case "choice": {
        const cheapest = Math.min(...production.options.map(costOf));
        const open =
          depth > 0 ? production.options : production.options.filter((option) => costOf(option) === cheapest);
        visit(open[Math.floor(random() * open.length)] ?? (open[0] as Production), depth);
        return;
      }
      case "rule": {
        const rule = grammar.get(production.name);
        if (rule === undefined) throw new Error(`the grammar has no rule ${production.name}`);
        derivation.uses.set(production.name, (derivation.uses.get(production.name) ?? 0) + 1);
        visit(rule, depth - 1);
      }
    }
  };
  visit({ kind: "rule", name: start }, options.depth);
  return derivation;
}
