/** Reads the text spelling: from `.ngraph` text, or a fragment of it inside YAML, to the syntax tree. */
import { fileTooLarge, tooManyDeclarations } from "../diagnostics/catalog/syntax.ts";
import { sortDiagnostics, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { SourceFile, type Span } from "../diagnostics/source.ts";
import type { BrokenExpr, BrokenType, Comment, File, Item } from "./ast.ts";
import type { Fragments } from "./fragments.ts";
import { endOf, readTokens, reportSemicolons, type Tokens } from "./lexer/read-tokens.ts";
import { fileSize, LARGEST_FILE, MOST_DECLARATIONS } from "./limits.ts";
import { NgraphParser } from "./parser/file-rules.ts";
import { newReading, report, spanAt, type Reading } from "./reading.ts";

/** Created on first use. */
let parser: NgraphParser | undefined;

/**
 * Reads a file. Never throws: errors are in `diagnostics`, and unreadable parts are `Broken` nodes in the tree.
 *
 * @example
 * const { file, diagnostics } = parse(`graph hello { node greet = print("hi")  start -> greet }`, { path: "hello.ngraph" });
 */
export function parse(
  text: string,
  options: { readonly path?: string } = {},
): { file: File; diagnostics: Diagnostic[] } {
  const source = new SourceFile(options.path ?? "input.ngraph", text);
  const reading = newReading(source, text);
  const span = { start: 0, end: text.length };
  const file: File = { kind: "File", span, source, spelling: "ngraph", items: [], comments: [] };
  const size = fileSize(text);
  if (size > LARGEST_FILE) {
    report(reading, fileTooLarge({ file: source, span: { start: 0, end: 0 } }, size, LARGEST_FILE));
    return { file, diagnostics: reading.diagnostics };
  }
  const tokens = readTokens(reading);
  const { value: items, docs } = run(reading, tokens, (p): Item[] => p.file());
  const excess = items[MOST_DECLARATIONS];
  if (excess !== undefined) {
    report(reading, tooManyDeclarations({ file: source, span: excess.span }, MOST_DECLARATIONS));
    return { file, diagnostics: sortDiagnostics(reading.diagnostics) };
  }
  return {
    file: { ...file, items, comments: allComments(reading, tokens, docs) },
    diagnostics: sortDiagnostics(reading.diagnostics),
  };
}

export interface Fragment {
  readonly text: string;
  readonly source: SourceFile;
  /** Maps an offset of `text` (its end included) to an offset of `source`. Must never decrease. */
  readonly toSource: (offset: number) => number;
}

/**
 * Reads one thing from a text that lies inside another file: every span and diagnostic points into `source`. Never
 * throws. `node` is `undefined` where the fragment cannot be read, except that expressions and types become a broken
 * node.
 *
 * @example
 * const at = scalar.start;
 * const { node, diagnostics } = parseFragment("expression", { text: "rounds + 1", source, toSource: (offset) => at + offset });
 */
export function parseFragment<Kind extends keyof Fragments>(
  kind: Kind,
  fragment: Fragment,
): { node: Fragments[Kind] | undefined; diagnostics: Diagnostic[] } {
  const reading = newReading(fragment.source, fragment.text, fragment.toSource);
  const span = spanAt(reading, 0, fragment.text.length);
  const broken = brokenFragment(kind, span) as Fragments[Kind] | undefined;
  if (fragment.text.length > LARGEST_FILE) {
    report(reading, fileTooLarge({ file: fragment.source, span }, fragment.text.length, LARGEST_FILE));
    return { node: broken, diagnostics: reading.diagnostics };
  }
  const tokens = readTokens(reading);
  const { value } = run(reading, tokens, (p) => p.fragment(kind));
  return { node: (value as Fragments[Kind] | undefined) ?? broken, diagnostics: sortDiagnostics(reading.diagnostics) };
}

function brokenFragment(kind: keyof Fragments, span: Span): BrokenExpr | BrokenType | undefined {
  if (kind === "expression") return { kind: "BrokenExpr", span };
  return kind === "type" ? { kind: "BrokenType", span } : undefined;
}

function run<T>(
  reading: Reading,
  tokens: Tokens,
  read: (parser: NgraphParser) => T,
): { value: T; docs: Set<Tokens["docs"][number]> } {
  parser ??= new NgraphParser();
  parser.start(reading, tokens);
  try {
    const value = read(parser);
    reportSemicolons(reading, tokens.semicolons, parser.semicolonsAsCommas);
    return { value, docs: new Set(parser.attachedDocs) };
  } finally {
    parser.finish();
  }
}

/** All comments in source order, including the `///` lines that document no declaration. */
function allComments(reading: Reading, tokens: Tokens, attached: ReadonlySet<Tokens["docs"][number]>): Comment[] {
  const loose = tokens.docs.filter((doc) => !attached.has(doc));
  if (loose.length === 0) return tokens.comments;
  const more = loose.map((doc): Comment => ({
    kind: "LineComment",
    span: spanAt(reading, doc.startOffset, endOf(doc)),
    text: doc.image,
  }));
  return [...tokens.comments, ...more].sort((a, b) => a.span.start - b.span.start);
}
