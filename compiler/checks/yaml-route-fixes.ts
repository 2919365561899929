/**
 * Edits of edges and channels in YAML: of maps, and of strings in the language. A place whose style is not clear, such as one with an
 * anchor, has no edits.
 */
import { afterComment } from "../../diagnostics/fixes/after-comment.ts";
import { applyEdits } from "../../diagnostics/fixes/apply-edits.ts";
import { itemSpan } from "../../diagnostics/fixes/delete-declaration.ts";
import type { Fix } from "../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { flowText, plainText, yamlList, yamlMap, type YamlValue } from "../../grammar/yaml/emit-yaml.ts";
import type { NewSource } from "./route-fixes.ts";

type Edits = Fix["edits"];

/** Whether an edge is a map. In the language no colon follows the first word of an edge. */
export function isMap({ text }: SourceFile, { source }: Ast.EdgeDecl): boolean {
  return /^(["']?)(?:from|any|all|settled)\1[ \t]*:/.test(text.slice(source.span.start, source.span.end));
}

/** The characters before a place that are read. */
const REACH = 200;

/** `all: [a, { any: [b, c] }]`, in block and flow style. */
export function sourceEntry(source: NewSource): string {
  return `${source.word}: ${flowText(sourceValue(source))}`;
}

function sourceValue({ word, members }: NewSource): YamlValue {
  if (word === "from") return members.flat().join();
  return yamlList(
    members.map((member) => (member.length === 1 ? member.join() : yamlMap([["any", yamlList(member)]]))),
  );
}

/** An edge without arms. */
export function plainEdge({ doc, source, chain }: Ast.EdgeDecl, targets: readonly string[]): string {
  const names = (nodes: readonly Ast.Identifier[]): string[] => nodes.map(({ name }) => name);
  const from: NewSource =
    source.kind === "NodeList"
      ? { word: source.nodes.length === 1 ? "from" : "any", members: source.nodes.map(({ name }) => [name]) }
      : {
          word: source.kind === "AllOf" ? "all" : "settled",
          members: source.members.map((member) => names(member.kind === "AnyOf" ? member.nodes : [member])),
        };
  return flowText(
    yamlMap([
      ...(doc === undefined ? [] : [["doc", doc.text] as const]),
      [from.word, sourceValue(from)],
      ...(chain.length === 0 ? [] : [["via", yamlList(names(chain))] as const]),
      ["to", targets.length === 1 ? targets.join() : yamlList(targets)],
    ]),
  );
}

/** Adds an arm after the last one of an edge that is a map. Values are literals of the language, which are JSON. */
export function addArm(
  file: SourceFile,
  last: Span,
  values: readonly string[] | "else",
  to: string,
): Edits | undefined {
  if (values === "else") return addItem(file, last, flowText(yamlMap([["else", to]])));
  const patterns = values.map((text): YamlValue => (text.startsWith('"') ? stringOf(text) : { kind: "raw", text }));
  const [only] = patterns;
  const is = patterns.length === 1 && only !== undefined ? only : yamlList(patterns);
  return addItem(
    file,
    last,
    flowText(
      yamlMap([
        ["is", is],
        ["to", to],
      ]),
    ),
  );
}

function stringOf(literal: string): string {
  return JSON.parse(literal) as string;
}

/** Adds an item to a list, after another one. */
export function addItem({ text }: SourceFile, other: Span, item: string): Edits | undefined {
  const after = withoutLineEnd(text, other);
  const dash = /(?<=^|\n)([ \t]*)-[ \t]+$/.exec(text.slice(Math.max(0, after.start - REACH), after.start));
  if (dash !== null) {
    const at = afterComment(text, after.end, "#");
    return [{ span: { start: at, end: at }, text: `\n${dash[1] ?? ""}- ${item}` }];
  }
  if (!isInFlowList(text, after.start)) return undefined;
  return [{ span: { start: after.end, end: after.end }, text: `, ${item}` }];
}

/** The span of a map whose last value is a block scalar goes to the start of the next line. */
export function withoutLineEnd(text: string, { start, end }: Span): Span {
  return { start, end: start + text.slice(start, end).trimEnd().length };
}

function isInFlowList(text: string, at: number): boolean {
  return ["[", ","].includes(textBefore(text, at).at(-1) ?? "");
}

/** The characters before a place, without the blanks next to it. */
function textBefore(text: string, at: number): string {
  return text.slice(Math.max(0, at - REACH), at).trimEnd();
}

/** Edits of an edge that is a string: what they insert is escaped, and a string without quotes gets some where it needs them. */
export function editScalar({ text }: SourceFile, span: Span, edits: Edits): Edits | undefined {
  const written = text.slice(span.start, span.end);
  switch (textBefore(text, span.start).at(-1)) {
    case '"':
      return edits.map((edit) => ({ ...edit, text: edit.text.replaceAll(/["\\]/g, "\\$&") }));
    case "'":
      return edits.map((edit) => ({ ...edit, text: edit.text.replaceAll("'", "''") }));
    case "-":
    case "|":
    case ">":
      // A block scalar, which has no escapes, or a string without quotes in a block list.
      if (written.includes("\n") || !/-[ \t]+$/.test(text.slice(Math.max(0, span.start - REACH), span.start)))
        return edits;
      return withQuotes(written, span, edits, plainText);
    case "[":
    case ",":
      return withQuotes(written, span, edits, flowText);
    default:
      return undefined;
  }
}

function withQuotes(written: string, span: Span, edits: Edits, emit: (value: string) => string): Edits {
  const changed = applyEdits(
    written,
    edits.map((edit) => ({
      ...edit,
      span: { start: edit.span.start - span.start, end: edit.span.end - span.start },
    })),
  );
  const emitted = emit(changed);
  return emitted === changed ? edits : [{ span, text: emitted }];
}

/** Gives a channel a reducer: its type becomes a map, or its map gets one more key. */
export function addReducer(file: SourceFile, channel: Ast.ChannelDecl, reducer: string): Edits | undefined {
  const { text } = file;
  const { name, type } = channel;
  const quoted = itemSpan(file, type.span);
  const between = text.slice(name.span.end, quoted.start);
  const entry = `reduce: ${reducer}`;
  if (/^\s*:\s*$/.test(between)) {
    const written = text.slice(quoted.start, quoted.end);
    const isQuoted = quoted.start < type.span.start;
    return [{ span: quoted, text: `{ type: ${isQuoted ? written : flowText(written)}, ${entry} }` }];
  }
  const at = quoted.end;
  if (/[{,]\s*(["']?)type\1\s*:\s*$/.test(between)) return [{ span: { start: at, end: at }, text: `, ${entry}` }];
  const margin = /\n([ \t]+)(["']?)type\2[ \t]*:[ \t]*$/.exec(between)?.[1];
  const end = afterComment(text, at, "#");
  return margin === undefined ? undefined : [{ span: { start: end, end }, text: `\n${margin}${entry}` }];
}
