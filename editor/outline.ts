import type { DocumentSymbol, FoldingRange } from "vscode-languageserver-protocol";
import { coverSpans, type SourceFile, type Span } from "../diagnostics/source.ts";
import type * as Ast from "../grammar/ast.ts";
import { toRange } from "./positions.ts";

/** The `SymbolKind` of the protocol for each kind of declaration. */
const KIND = { Graph: 2, Plan: 2, Type: 5, Const: 14, Secret: 14, Channel: 8, Derive: 7, Node: 12, Task: 12 } as const;

/** The declarations of a text, those of graphs and plans below them. Unreadable parts are left out. */
export function findOutline(file: Ast.File): DocumentSymbol[] {
  return file.items.flatMap((item) => {
    const symbol = toSymbol(file.source, item);
    if (symbol === undefined) return [];
    const statements: readonly (Ast.Item | Ast.Statement | Ast.PlanDecl["statements"][number])[] =
      item.kind === "Graph" || item.kind === "Plan" ? item.statements : [];
    const children = statements.flatMap((each) => toSymbol(file.source, each) ?? []);
    return [children.length === 0 ? symbol : { ...symbol, children }];
  });
}

function toSymbol(
  source: SourceFile,
  declaration: { readonly kind: string; readonly span: Span },
): DocumentSymbol | undefined {
  const kind = KIND[declaration.kind as keyof typeof KIND] as (typeof KIND)[keyof typeof KIND] | undefined;
  const { name } = declaration as { readonly name?: Ast.Identifier };
  if (kind === undefined || name === undefined || name.name === "") return undefined;
  const detail =
    declaration.kind === "Channel" ? (declaration as Ast.ChannelDecl).role : declaration.kind.toLowerCase();
  return {
    name: name.name,
    detail,
    kind,
    // In YAML a name is beside its declaration. The protocol requires that the range includes it.
    range: toRange(source, coverSpans(declaration.span, name.span)),
    selectionRange: toRange(source, name.span),
  };
}

/** The parts of a text that an editor can fold: declarations and block comments of more than one line. */
export function findFoldingRanges(file: Ast.File): FoldingRange[] {
  const parts: { readonly span: Span }[] = [];
  for (const item of file.items) {
    parts.push(item);
    if (item.kind === "Graph" || item.kind === "Plan") parts.push(...item.statements);
  }
  const comments = file.comments.filter(({ kind }) => kind === "BlockComment");
  const spans = [
    ...parts.map(({ span }) => ({ span, isComment: false })),
    ...comments.map(({ span }) => ({ span, isComment: true })),
  ];
  return spans.flatMap(({ span, isComment }) => {
    const { start, end } = toRange(file.source, span);
    if (start.line >= end.line) return [];
    return [{ startLine: start.line, endLine: end.line, ...(isComment ? { kind: "comment" } : {}) }];
  });
}
