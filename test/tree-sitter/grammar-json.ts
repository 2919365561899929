/** Evaluates a grammar.js: the functions that tree-sitter gives to it, as its documentation describes them. */
import { createRequire } from "node:module";
import { runInNewContext } from "node:vm";
import { readFileSync } from "node:fs";

type Json = { readonly type: string } & Readonly<Record<string, unknown>>;
type Rule = Json | string | RegExp;
type Rules = Readonly<Record<string, ($: object) => Rule>>;

interface Definition {
  readonly name: string;
  readonly word?: ($: object) => Json;
  readonly rules: Rules;
  readonly extras?: ($: object) => Rule[];
  readonly supertypes?: ($: object) => Json[];
  readonly conflicts?: ($: object) => Json[][];
}

const symbols = new Proxy({}, { get: (_, name) => ({ type: "SYMBOL", name: String(name) }) });

function toRule(rule: Rule): Json {
  if (typeof rule === "string") return { type: "STRING", value: rule };
  return "source" in rule && typeof rule.source === "string" ? { type: "PATTERN", value: rule.source } : (rule as Json);
}

function precedence(type: string) {
  return (first: number | Rule, second?: Rule): Json =>
    second === undefined
      ? { type, value: 0, content: toRule(first as Rule) }
      : { type, value: first, content: toRule(second) };
}

function members(type: "SEQ" | "CHOICE") {
  return (...rules: Rule[]): Json => ({ type, members: rules.map(toRule) });
}

const choice = members("CHOICE");
const wrap = (type: string) => (rule: Rule) => ({ type, content: toRule(rule) });

const FUNCTIONS = {
  seq: members("SEQ"),
  choice,
  optional: (rule: Rule) => choice(rule, { type: "BLANK" }),
  repeat: wrap("REPEAT"),
  repeat1: wrap("REPEAT1"),
  token: Object.assign(wrap("TOKEN"), { immediate: wrap("IMMEDIATE_TOKEN") }),
  field: (name: string, rule: Rule) => ({ type: "FIELD", name, content: toRule(rule) }),
  alias: (rule: Rule, name: Json | string) =>
    typeof name === "string"
      ? { type: "ALIAS", content: toRule(rule), named: false, value: name }
      : { type: "ALIAS", content: toRule(rule), named: true, value: name["name"] },
  prec: Object.assign(precedence("PREC"), {
    left: precedence("PREC_LEFT"),
    right: precedence("PREC_RIGHT"),
    dynamic: precedence("PREC_DYNAMIC"),
  }),
  grammar: (definition: Definition) => definition,
};

/** What `tree-sitter generate` writes to src/grammar.json. */
export function grammarJson(path: string): unknown {
  const module = { exports: {} as Definition };
  runInNewContext(readFileSync(path, "utf8"), { ...FUNCTIONS, module, require: createRequire(import.meta.url) });
  const { name, word, rules, extras, supertypes, conflicts } = module.exports;
  const namesOf = (list: readonly Json[] | undefined) => (list ?? []).map((symbol) => symbol["name"]);
  return {
    name,
    word: word?.(symbols)["name"],
    rules: Object.fromEntries(Object.entries(rules).map(([rule, body]) => [rule, toRule(body(symbols))])),
    extras: (extras?.(symbols) ?? []).map(toRule),
    conflicts: (conflicts?.(symbols) ?? []).map((rules) => namesOf(rules)),
    precedences: [],
    externals: [],
    inline: [],
    supertypes: namesOf(supertypes?.(symbols)),
  };
}
