/** Forms whose values are fragments of the text spelling. */
import type { Fragments } from "../fragments.ts";
import { parseFragment } from "../parse.ts";
import type { Expr, Identifier, StringLiteral } from "../ast.ts";
import { kebabName } from "../../diagnostics/catalog/syntax.ts";
import { RESERVED_WORDS } from "../words.ts";
import { literalFromScalar } from "./data-form.ts";
import { lookAlikeName } from "../lexer/read-tokens.ts";
import {
  complain,
  identifierAt,
  oneOrMore,
  placeIn,
  scalarForm,
  wrongKind,
  type Form,
  type FormReader,
} from "./form.ts";
import { isName, isPlainName, plainFragment } from "./plain-fragments.ts";
import { scalarOffsets } from "./scalar-offsets.ts";
import type { YamlScalar } from "./yaml-tree.ts";

export interface FragmentOptions {
  /** The help for diagnostics that have none. */
  readonly help?: string | undefined;
  /** The part of the string to read. */
  readonly from?: number;
  readonly to?: number;
  /** The word that the YAML key replaces. It is inserted before the string. */
  readonly prefix?: string;
}

/**
 * Reads a string scalar as a fragment of the text spelling; its errors are reported at their place in the YAML text.
 */
export function readFragment<Kind extends keyof Fragments>(
  kind: Kind,
  node: YamlScalar,
  reader: FormReader,
  { help, from = 0, to, prefix = "" }: FragmentOptions = {},
): Fragments[Kind] | undefined {
  const offsets = scalarOffsets(reader.reading.text, node);
  const { node: fragment, diagnostics } = parseFragment(kind, {
    text: prefix + String(node.value).slice(from, to),
    source: reader.reading.source,
    toSource: (offset) => offsets(from + Math.max(0, offset - prefix.length)),
  });
  for (const diagnostic of diagnostics) {
    const better =
      kind === "expression" ? (clauseHelp(diagnostic.message) ?? templateHelp(String(node.value)) ?? help) : help;
    complain(
      reader,
      better === undefined || diagnostic.help !== undefined ? diagnostic : { ...diagnostic, help: better },
    );
  }
  return diagnostics.some(({ severity }) => severity === "error") ? undefined : fragment;
}

/** The help for a node that is written with its clauses, as in the text spelling. */
function clauseHelp(message: string): string | undefined {
  const found = /^expected the end .* found `(into|for|\{)`$/.exec(message)?.[1];
  if (found === undefined) return undefined;
  if (found === "{") return "policies are keys of the node: `{ expr: …, tries: 3 }`";
  return `\`${found}\` is a key of the node: \`{ expr: …, ${found}: ${found === "into" ? "reply" : "x in xs"} }\``;
}

/** The help for the templates of other systems, and for text without backticks. */
function templateHelp(value: string): string | undefined {
  const name = /\{\{\s*([A-Za-z_][\w.]*)/.exec(value)?.[1];
  if (name !== undefined) {
    return `a value is read by its name alone, \`${name}\`; text that contains it has backticks: '\`… \${${name}} …\`'`;
  }
  return value.includes("${") && !value.includes("`")
    ? "text that contains values has backticks inside of the quotes: '`Hello ${name}`'"
    : undefined;
}

/** A string scalar that is one fragment of the text spelling. */
export function fragmentForm<Kind extends keyof Fragments>(
  kind: Kind,
  expected: string,
  options: { readonly help?: string; readonly schema?: { readonly [keyword: string]: unknown } } = {},
): Form<NonNullable<Fragments[Kind]>> {
  return scalarForm(expected, options.schema ?? { type: "string" }, (node, reader) =>
    typeof node.value === "string"
      ? (plainFragment(kind, node) ?? readFragment(kind, node, reader, options) ?? undefined)
      : wrongKind(node, reader, expected, options.help),
  );
}

const RESERVED: ReadonlySet<string> = new Set(RESERVED_WORDS);

/** A name. The plain scalars `true`, `false` and `null`, which YAML does not read as strings, are reserved words. */
export function nameForm(expected = "a name"): Form<Identifier> {
  return scalarForm(expected, { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }, (node, reader) => {
    const { value } = node;
    if (typeof value !== "string") return wrongKind(node, reader, expected, "names begin with a letter or `_`");
    if (isName(value)) return identifierAt(value, node.span);
    if (RESERVED.has(value)) return readFragment("name", node, reader);
    const lookAlike = lookAlikeName(placeIn(reader, node.span), value);
    if (lookAlike !== undefined) return complain(reader, lookAlike);
    const kebab = /^[A-Za-z_]\w*(-\w+)+$/.test(value);
    if (kebab) return complain(reader, kebabName(placeIn(reader, node.span), value));
    const help = /[(]/.test(value)
      ? "arguments are written under `args` or `with`, a whole expression under `expr`"
      : "names consist of the letters A to Z, digits and `_`";
    return wrongKind(node, reader, expected, help);
  });
}

/** `a` or `[a, b]` */
export function namesForm(expected = "a name or a list of names"): Form<Identifier[]> {
  return oneOrMore(nameForm(), expected);
}

const EXPRESSION_HELP = "this is an expression; text needs its own quotes: '\"text\"'";

/** An expression: a string in the language, or a literal number, boolean or null. */
export function expressionForm(help: string = EXPRESSION_HELP): Form<Expr> {
  const expected = "an expression";
  return scalarForm(expected, { type: ["string", "number", "boolean", "null"] }, (node, reader) => {
    if (node.value === null && node.span.start === node.span.end) return wrongKind(node, reader, expected);
    if (typeof node.value !== "string") return literalFromScalar(node, reader);
    // Most expressions are one name. The parser takes ten times as long for it.
    if (isPlainName(node)) return { kind: "Name", span: node.span, name: node.value };
    return readFragment("expression", node, reader, { help });
  });
}

/** A string that is not parsed as an expression: a title, a path. */
export function textForm(expected: string): Form<StringLiteral> {
  return scalarForm(expected, { type: "string" }, (node, reader) =>
    typeof node.value === "string"
      ? { kind: "String", span: node.span, value: node.value }
      : wrongKind(node, reader, expected, `put it in quotes: "${node.written}"`),
  );
}
