import { printer } from "prettier/doc";
import type { EdgeDecl, Expr, ForClause, ImportName, Output, Statement, TestItem, TypeExpr } from "../ast.ts";
import { flatten, join, type Doc } from "../format/doc-parts.ts";
import { layoutOutput } from "../format/layout-clauses.ts";
import { layoutExpression, layoutFor } from "../format/layout-expression.ts";
import { layoutImportName } from "../format/layout-file.ts";
import { layoutStatement } from "../format/layout-statement.ts";
import { layoutType } from "../format/layout-type.ts";
import type { SourceView } from "../format/source-view.ts";

/** Fragments of the text spelling for strings in YAML: on one line, except for templates over several lines. */
export function expressionText(expr: Expr, source: SourceView): string {
  return print(layoutExpression(expr, source));
}

/** `item, index in list if condition`: the clause without its first word, which the YAML key replaces. */
export function forText(clause: ForClause, source: SourceView): string {
  return print(join(" ", layoutFor(clause, source))).replace(/^for /, "");
}

/** `set notes`, `{ reply?, score: set points }` */
export function outputText(output: Output, source: SourceView): string {
  return print(layoutOutput(output, source)).replace(/^\s*into /, "");
}

export function typeText(type: TypeExpr, source: SourceView): string {
  return print(layoutType(type, source));
}

export function importNameText(name: ImportName): string {
  return print(layoutImportName(name));
}

export function edgeText(edge: EdgeDecl, source: SourceView): string {
  return print(layoutStatement(edge, source));
}

/** A statement or line of a test without the word that its YAML key replaces. */
export function textBehindWord(statement: Statement | TestItem, source: SourceView): string {
  return print(layoutStatement(statement, source)).replace(/^\w+ /, "");
}

function print(doc: Doc): string {
  return printer.printDocToString(flatten(doc), { printWidth: Number.POSITIVE_INFINITY, tabWidth: 2 }).formatted;
}
