/** Railroad diagrams of the recorded grammar: `docs/grammar.md` and its pictures. */
import {
  Alternation,
  Alternative,
  NonTerminal,
  Option,
  Repetition,
  Rule,
  Terminal,
  type IProduction,
  type TokenType,
} from "chevrotain";
import * as railroad from "railroad-diagrams";
import * as t from "../../grammar/lexer/tokens.ts";
import { recordedRules } from "./recorded-grammar.ts";

type Item = Parameters<typeof railroad.Optional>[0];

/**
 * The pages of the diagrams with their rules, in reading order. A rule that is on no page is drawn where it is used.
 */
const SECTIONS: readonly (readonly [file: string, title: string, rules: readonly string[]])[] = [
  [
    "files",
    "Files",
    ["file", "importDecl", "importName", "typeDecl", "secretDecl", "constDecl", "graph", "plan", "test"],
  ],
  ["types", "Types", ["type", "listType", "mapType", "recordType", "recordTypeField", "literalType"]],
  [
    "statements",
    "Statements of a graph",
    [
      "statement",
      "channel",
      "derive",
      "node",
      "outputTarget",
      "outputField",
      "limit",
      "defaults",
      "assertion",
      "drop",
      "assertionBody",
    ],
  ],
  ["edges", "Edges", ["edge", "edgeSource", "barrierMember", "match", "valueArm", "patterns", "conditionArm"]],
  ["policies", "Policies", ["policies", "backoff", "undoPolicies"]],
  ["plans", "Statements of a plan", ["planStatement", "task", "planSetting"]],
  ["tests", "Lines of a test", ["testItem", "mock", "signal", "expectation"]],
  [
    "expressions",
    "Expressions",
    [
      "expression",
      "binary",
      "operand",
      "callArguments",
      "argument",
      "list",
      "forClause",
      "record",
      "spread",
      "recordPart",
      "recordField",
      "template",
    ],
  ],
];

/** Rules for fragments of YAML: they have no place in a file. */
const FRAGMENTS: ReadonlySet<string> = new Set(["names", "singleName", "singleStep", "duration"]);

/** Token types whose text varies, by the names that `grammar.ebnf` uses. */
const CLASSES: ReadonlyMap<TokenType, string> = new Map([
  [t.Identifier, "ID"],
  [t.ReservedWord, "RESERVED"],
  [t.Numeral, "NUMBER"],
  [t.Duration, "DURATION"],
  [t.Quoted, "STRING"],
  [t.TemplateText, "TEXT"],
  [t.BinaryOperatorToken, "OPERATOR"],
]);

/** The files of the diagrams by path. */
export function diagramFiles(): ReadonlyMap<string, string> {
  const rules = recordedRules();
  const shown = new Set(SECTIONS.flatMap(([, , names]) => names));
  const missing = Object.keys(rules).filter((name) => !shown.has(name) && !FRAGMENTS.has(name));
  if (missing.length > 0) throw new Error(`no section of the diagrams has the rules ${missing.join(", ")}`);
  const files = new Map<string, string>();
  const page = [
    "# Grammar diagrams",
    "",
    "Follow a line from left to right. Rounded boxes are tokens, square boxes are other diagrams or, in capitals, kinds of tokens.",
    "The tests draw these diagrams from the grammar that the parser records. [grammar.ebnf](grammar.ebnf) holds the same grammar",
    "with the conditions that the diagrams omit (gates `G1` to `G10`), the precedence of operators, and the tokens.",
    "",
  ];
  for (const [file, title, names] of SECTIONS) {
    files.set(`docs/grammar/${file}.svg`, picture(names, rules));
    page.push(`## ${title}`, "", `![${title}: ${names.join(", ")}](grammar/${file}.svg)`, "");
  }
  files.set("docs/grammar.md", page.join("\n"));
  return files;
}

const STYLE =
  "svg{background:#fff}path{stroke-width:2;stroke:#444;fill:none}text{font:14px monospace;text-anchor:middle;fill:#111}" +
  "text.title{font:bold 16px sans-serif;text-anchor:start}rect{stroke-width:2;stroke:#444;fill:#e8f4ea}";

/** The diagrams of some rules, one below the other. */
function picture(names: readonly string[], rules: Readonly<Record<string, Rule>>): string {
  let height = 0;
  let width = 0;
  const parts: string[] = [];
  for (const name of names) {
    const rule = rules[name];
    if (rule === undefined) throw new Error(`the parser has no rule ${name}`);
    const diagram = railroad.Diagram(sequence(rule.definition)).format();
    parts.push(`<text class="title" x="10" y="${height + 24}">${name}</text>`);
    parts.push(diagram.toString().replace("<svg ", `<svg y="${height + 28}" `));
    height += 28 + Number(diagram.attrs["height"]);
    width = Math.max(width, Number(diagram.attrs["width"]));
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<style>${STYLE}</style>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

function sequence(parts: readonly IProduction[]): Item {
  const items = parts.map(item);
  return items.length === 1 && items[0] !== undefined ? items[0] : railroad.Sequence(...items);
}

function item(production: IProduction): Item {
  if (production instanceof Terminal) {
    const name = CLASSES.get(production.terminalType);
    return name === undefined ? railroad.Terminal(production.terminalType.LABEL ?? "") : railroad.NonTerminal(name);
  }
  if (production instanceof NonTerminal) return railroad.NonTerminal(production.nonTerminalName);
  if (production instanceof Option) return railroad.Optional(sequence(production.definition));
  if (production instanceof Repetition) return railroad.ZeroOrMore(sequence(production.definition));
  if (production instanceof Alternation) return railroad.Choice(0, ...production.definition.map(item));
  if (production instanceof Alternative) return sequence(production.definition);
  throw new Error(`no diagram for ${production.constructor.name}`);
}
