import type * as Ast from "../ast.ts";
import { braced, element, hardline, indent, join, verbatim, words, type Doc } from "./doc-parts.ts";
import { names } from "./layout-clauses.ts";
import { layoutDoc, layoutStatement, type AnyStatement } from "./layout-statement.ts";
import { layoutExpression } from "./layout-expression.ts";
import { layoutType } from "./layout-type.ts";
import { stringText } from "./literal-text.ts";
import type { SourceView } from "./source-view.ts";

/** The document of a whole file, without its comments (see `weave-comments.ts`). Empty for a file without items. */
export function layoutFile(file: Ast.File, source: SourceView): Doc {
  const items = layoutSequence(
    file.items,
    (item) => layoutItem(item, source),
    (before, after) =>
      isBlock(before) || isBlock(after) || (source.blankAfter(before.span.end) ?? before.kind !== after.kind),
    source,
  );
  const after = source.commentsOf(file)?.after ?? [];
  if (after.length === 0) return items;
  const lines = join(hardline, after.map(commentLine));
  return file.items.length === 0 ? lines : [items, hardline, hardline, lines];
}

function commentLine(text: string): Doc {
  return text === "" ? "//" : `// ${text}`;
}

/** A blank line always separates graphs, plans and tests. */
function isBlock(item: Ast.Item): boolean {
  return item.kind === "Graph" || item.kind === "Plan" || item.kind === "Test";
}

function layoutItem(item: Ast.Item, source: SourceView): Doc {
  switch (item.kind) {
    case "Import":
      return words(
        "import",
        braced(item.names.map(layoutImportName), source.hasComment(item.span)),
        "from",
        stringText(item.from, source),
      );
    case "Type":
      return words("type", item.name.name, "=", layoutType(item.type, source));
    case "Secret":
      return words("secret", item.name.name);
    case "Const":
      return words("const", item.name.name, "=", layoutExpression(item.value, source));
    case "Graph":
      return words(
        "graph",
        item.name.name,
        ...(item.was === undefined ? [] : ["was", names(item.was)]),
        layoutBody(item, item.statements, source),
      );
    case "Plan":
      return words("plan", item.name.name, layoutBody(item, item.statements, source));
    case "Test":
      return words(
        "test",
        stringText(item.title, source),
        "for",
        item.subject.name,
        ...(item.cases === undefined ? [] : ["with", layoutExpression(item.cases, source)]),
        layoutBody(item, item.items, source),
      );
    case "Broken":
      return source.spelled(item.span);
  }
}

export function layoutImportName({ isType, imported, local }: Ast.ImportName): Doc {
  return words(...(isType ? ["type"] : []), imported.name, ...(local.name === imported.name ? [] : ["as", local.name]));
}

function layoutBody(item: Ast.Item, statements: readonly AnyStatement[], source: SourceView): Doc {
  const { behind, after = [] } = source.commentsOf(item) ?? {};
  const end = after.map((text) => [hardline, commentLine(text)]);
  if (statements.length === 0 && end.length === 0 && behind === undefined) return ["{", "}"];
  const body = layoutSequence(
    statements,
    (statement) => layoutStatement(statement, source),
    (before, after) => source.blankAfter(before.span.end) ?? paragraphOf(before) !== paragraphOf(after),
    source,
  );
  const open = ["{", behind === undefined ? "" : [" ", commentLine(behind)]];
  return [open, indent([statements.length === 0 ? "" : [hardline, body], end]), hardline, "}"];
}

/** The paragraph of a statement. Without a source, a blank line separates statements of different paragraphs. */
function paragraphOf(statement: AnyStatement): string {
  switch (statement.kind) {
    case "Channel":
      return statement.role === "input" || statement.role === "output" ? "interface" : "state";
    case "PlanMaxParallel":
    case "PlanOrder":
    case "PlanPool":
    case "PlanOnFailure":
      return "settings";
    case "Given":
    case "Mock":
    case "MockFails":
    case "Answer":
    case "Expect":
    case "Signal":
    case "ExpectRan":
    case "ExpectNeverRan":
    case "ExpectPausedAt":
    case "ExpectFailsWith":
    case "ExpectUndone":
    case "ExpectStatus":
      return "test";
    default:
      return statement.kind;
  }
}

/** One statement per line, with at most one blank line between each two. */
function layoutSequence<
  T extends { readonly span: Ast.File["span"]; readonly doc?: Ast.DocComment } & (AnyStatement | Ast.Item),
>(
  statements: readonly T[],
  layout: (statement: T) => Doc,
  isApart: (before: T, after: T) => boolean,
  source: SourceView,
): Doc {
  return statements.map((statement, index) => {
    const before = statements[index - 1];
    const separator = before === undefined ? "" : isApart(before, statement) ? [hardline, hardline] : hardline;
    const ignored = source.ignored(statement);
    const doc =
      ignored === undefined
        ? [layoutDoc(statement.doc), layout(statement)]
        : verbatim(source.spelled(ignored), ignored);
    return [separator, withComments(element(doc, statement.span), statement, source)];
  });
}

/**
 * Adds the comments of a tree that was read from YAML: above the documentation, and after the statement. `layoutBody`
 * prints the comment after the head of a graph, plan or test, behind its opening brace.
 */
function withComments(doc: Doc, statement: AnyStatement | Ast.Item, source: SourceView): Doc {
  const comments = source.commentsOf(statement);
  if (comments === undefined) return doc;
  const { before, behind } = comments;
  const isHead = statement.kind === "Graph" || statement.kind === "Plan" || statement.kind === "Test";
  return [
    before.map((text) => [commentLine(text), hardline]),
    doc,
    behind === undefined || isHead ? "" : [" ", commentLine(behind)],
  ];
}
