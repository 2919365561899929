/** Short ways to read a piece of text in a test. */
import { expect } from "vitest";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type {
  Expr,
  File,
  ForClause,
  GraphDecl,
  PlanDecl,
  PlanStatement,
  Statement,
  TestDecl,
  TestItem,
  TypeExpr,
} from "../../grammar/ast.ts";
import { parse } from "../../grammar/parse.ts";
import { misplacedSpans } from "./tree.ts";

/** "NG001 2:14 message", for comparison. */
export function shown(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map((item) => {
    const { line, column } = item.file.position(item.span.start);
    return `${item.code} ${line}:${column} ${item.message}`;
  });
}

/** Reads a text that has nothing wrong with it. */
export function read(text: string): File {
  const { file, diagnostics } = parse(text);
  expect(shown(diagnostics)).toEqual([]);
  expect(misplacedSpans(file, text.length)).toEqual([]);
  return file;
}

export function readGraph(body: string): readonly Statement[] {
  return (read(`graph g {\n${body}\n}`).items[0] as GraphDecl).statements;
}

export function readStatement(text: string): Statement {
  const statements = readGraph(text);
  expect(statements).toHaveLength(1);
  return statements[0] as Statement;
}

export function readPlan(body: string): readonly PlanStatement[] {
  return (read(`plan p {\n${body}\n}`).items[0] as PlanDecl).statements;
}

export function readTest(body: string): readonly TestItem[] {
  return (read(`test "t" for g {\n${body}\n}`).items[0] as TestDecl).items;
}

export function readExpression(text: string): Expr {
  const statement = readStatement(`node n = ${text}`);
  if (statement.kind !== "Node") throw new Error(`read as ${statement.kind}`);
  return statement.call;
}

export function readType(text: string): TypeExpr {
  const item = read(`type T = ${text}`).items[0];
  if (item?.kind !== "Type") throw new Error(`read as ${item?.kind ?? "nothing"}`);
  return item.type;
}

/** An expression with every operation in parentheses. */
export function grouped(expr: Expr): string {
  switch (expr.kind) {
    case "Name":
      return expr.name;
    case "Number":
    case "DurationLiteral":
      return expr.raw;
    case "String":
      return JSON.stringify(expr.value);
    case "Bool":
      return String(expr.value);
    case "Null":
      return "null";
    case "Unary":
      return `(${expr.operator}${grouped(expr.operand)})`;
    case "Binary":
      return `(${grouped(expr.left)} ${expr.operator} ${grouped(expr.right)})`;
    case "Conditional":
      return `(${grouped(expr.condition)} ? ${grouped(expr.then)} : ${grouped(expr.otherwise)})`;
    case "Member":
      return `${grouped(expr.object)}${expr.optional ? "?." : "."}${expr.property.name}`;
    case "Index":
      return `${grouped(expr.object)}[${grouped(expr.index)}]`;
    case "Call":
      return `${expr.callee.name}(${expr.args.map(({ name, value }) => (name === undefined ? "" : `${name.name}: `) + grouped(value)).join(", ")})`;
    case "List":
      return `[${expr.items.map((item) => (item.kind === "Spread" ? `...${grouped(item.value)}` : grouped(item))).join(", ")}]`;
    case "Record":
      return `{${expr.fields.map((field) => (field.kind === "Spread" ? `...${grouped(field.value)}` : `${field.name.name}: ${grouped(field.value)}`)).join(", ")}}`;
    case "Comprehension":
      return `[${[grouped(expr.value), ...expr.clauses.map(groupedFor)].join(" ")}]`;
    case "NonNull":
      return `${grouped(expr.object)}!`;
    case "Derived":
      return expr.name;
    case "Template":
      return `\`${expr.parts.map((part) => (part.kind === "TemplateText" ? part.value : `\${${grouped(part)}}`)).join("")}\``;
    case "BrokenExpr":
      return "<broken>";
  }
}

function groupedFor({ item, index, list, condition }: ForClause): string {
  const names = index === undefined ? item.name : `${item.name}, ${index.name}`;
  return `for ${names} in ${grouped(list)}${condition === undefined ? "" : ` if ${grouped(condition)}`}`;
}
