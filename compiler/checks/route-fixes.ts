/** Edits of edges and channels, in the spelling of the file. */
import { afterComment } from "../../diagnostics/fixes/after-comment.ts";
import { deleteItem, itemSpan } from "../../diagnostics/fixes/delete-declaration.ts";
import type { Fix } from "../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import * as inYaml from "./yaml-route-fixes.ts";

/** The left side of an edge: the word of its key in YAML, and the nodes of each member. */
export interface NewSource {
  readonly word: "from" | "any" | "all" | "settled";
  readonly members: readonly (readonly string[])[];
}

/** Adds an arm without a condition, or for these values, after the last one of a `match`. */
export function addArm(file: SourceFile, edge: Ast.EdgeDecl, values: readonly string[] | "else", to: string): Fix[] {
  const last = edge.to.kind === "Targets" ? undefined : edge.to.arms.at(-1);
  if (last === undefined) return [];
  const arm = `${values === "else" ? values : values.join(" | ")} -> ${to}`;
  const title = `add \`${arm}\``;
  if (inYaml.isMap(file, edge)) return fix(title, inYaml.addArm(file, last.span, values, to));
  const { text } = file;
  const end = edge.to.span.end;
  if (text[end - 1] !== "}") return [];
  const isOneLine = !text.slice(last.span.end, end).includes("\n");
  const at = isOneLine ? last.span.end : afterComment(text, last.span.end, "//");
  const added = isOneLine ? `  ${arm}` : `\n${indentAt(text, last.span.start)}${arm}`;
  return fix(title, written(file, edge, [{ span: { start: at, end: at }, text: added }]));
}

/** Adds an edge without arms after another. */
export function addEdge(file: SourceFile, after: Ast.EdgeDecl, edge: string): Fix[] {
  const title = `add \`${edge}\``;
  if (isYaml(file)) return fix(title, inYaml.addItem(file, itemSpan(file, after.span), edge));
  const at = afterComment(file.text, after.span.end, "//");
  return fix(title, [{ span: { start: at, end: at }, text: `\n${indentAt(file.text, after.span.start)}${edge}` }]);
}

/** Replaces the left side of an edge. */
export function replaceSource(file: SourceFile, edge: Ast.EdgeDecl, title: string, source: NewSource): Fix[] {
  const { span } = edge.source;
  if (inYaml.isMap(file, edge)) return fix(title, [{ span, text: inYaml.sourceEntry(source) }]);
  return fix(title, written(file, edge, [{ span, text: sourceText(source) }]));
}

/** Replaces a member of a barrier by several, of which one is enough. */
export function replaceMember(
  file: SourceFile,
  edge: Ast.EdgeDecl,
  title: string,
  span: Span,
  names: readonly string[],
): Fix[] {
  const list = names.join(", ");
  if (inYaml.isMap(file, edge)) return fix(title, [{ span, text: `{ any: [${list}] }` }]);
  return fix(title, written(file, edge, [{ span, text: `any(${list})` }]));
}

/** Removes a name and the comma before it from a barrier; if it is the first name, the comma after it. */
export function removeMember(file: SourceFile, edge: Ast.EdgeDecl, title: string, span: Span): Fix[] {
  const removed = deleteItem({ file, span });
  if (removed === undefined) return [];
  return fix(title, inYaml.isMap(file, edge) ? [removed] : written(file, edge, [removed]));
}

/** Makes an edge with arms an edge that leads to these nodes. */
export function replaceArms(file: SourceFile, edge: Ast.EdgeDecl, title: string, targets: readonly string[]): Fix[] {
  if (inYaml.isMap(file, edge)) {
    const span = inYaml.withoutLineEnd(file.text, edge.span);
    return fix(title, [{ span, text: inYaml.plainEdge(edge, targets) }]);
  }
  return fix(title, written(file, edge, [{ span: edge.to.span, text: targets.join(", ") }]));
}

/** Replaces the left side of an edge, and deletes the edges that it replaces. */
export function joinEdges(
  file: SourceFile,
  [kept, ...removed]: readonly [Ast.EdgeDecl, ...Ast.EdgeDecl[]],
  title: string,
  source: NewSource,
): Fix[] {
  const [replaced] = replaceSource(file, kept, title, source);
  if (replaced === undefined) return [];
  const deleted = removed.map(({ span }) =>
    isYaml(file) ? deleteItem({ file, span }) : { span: wholeLine(file.text, span), text: "" },
  );
  return deleted.every((edit) => edit !== undefined) ? [{ title, edits: [...replaced.edits, ...deleted] }] : [];
}

/** Gives a channel without a reducer one. */
export function addReducer(file: SourceFile, channel: Ast.ChannelDecl, title: string, reducer: string): Fix[] {
  if (isYaml(file)) return fix(title, inYaml.addReducer(file, channel, reducer));
  const { end } = channel.span;
  return fix(title, [{ span: { start: end, end }, text: ` reduce ${reducer}` }]);
}

function isYaml(file: SourceFile): boolean {
  return /\.ya?ml$/i.test(file.path);
}

/** The edits of an edge in the language, which can be a string of YAML. */
function written(file: SourceFile, edge: Ast.EdgeDecl, edits: Fix["edits"]): Fix["edits"] | undefined {
  return isYaml(file) ? inYaml.editScalar(file, edge.span, edits) : edits;
}

function fix(title: string, edits: Fix["edits"] | undefined): Fix[] {
  return edits === undefined ? [] : [{ title, edits }];
}

function sourceText({ word, members }: NewSource): string {
  const list = members.map((member) => (member.length === 1 ? member.join() : `any(${member.join(", ")})`)).join(", ");
  return word === "from" ? list : `${word}(${list})`;
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

/** A span with the line break before it, if nothing else is on its line. */
function wholeLine(text: string, span: Span): Span {
  const start = text.lastIndexOf("\n", span.start - 1);
  const isAlone =
    start !== -1 && text.slice(start, span.start).trim() === "" && /^[ \t]*(?:\r?\n|$)/.test(text.slice(span.end));
  return isAlone ? { start: text[start - 1] === "\r" ? start - 1 : start, end: span.end } : span;
}
