import type * as Ast from "../ast.ts";
import { BINARY_PRECEDENCE } from "../binary-precedence.ts";
import {
  braced,
  bracketed,
  flatten,
  group,
  indent,
  join,
  line,
  softline,
  verbatim,
  words,
  type Doc,
} from "./doc-parts.ts";
import { stringText } from "./literal-text.ts";
import type { SourceView } from "./source-view.ts";

/**
 * Binding strength of each form, loosest first. A looser form inside a tighter one needs parentheses. The strengths in
 * `BINARY_PRECEDENCE` are between `CONDITIONAL` and `UNARY`.
 */
const CONDITIONAL = 0;
const UNARY = 8;
const POSTFIX = 9;

/** The document of an expression, in as few parentheses as its meaning needs. */
export function layoutExpression(expr: Ast.Expr, source: SourceView): Doc {
  switch (expr.kind) {
    case "String":
      return stringText(expr, source);
    case "Number":
    case "DurationLiteral":
      return expr.raw;
    case "Bool":
      return expr.value ? "true" : "false";
    case "Null":
      return "null";
    case "Name":
    case "Derived":
      return expr.name;
    case "Template":
      return layoutTemplate(expr, source);
    case "List":
      return bracketed(
        "[",
        expr.items.map((item) => layoutItem(item, source)),
        "]",
        expr.items.length > 1 && expr.items.some((item) => item.kind !== "Spread" && spansLines(item)),
      );
    case "Record":
      return braced(
        expr.fields.map((field) => layoutField(field, source)),
        source.hasComment(expr.span),
      );
    case "Comprehension":
      return layoutComprehension(expr, source);
    case "Member":
    case "Index":
    case "NonNull":
      return layoutPostfix(expr, source);
    case "Call":
      return [expr.callee.name, layoutArguments(expr.args, source)];
    case "Unary":
      return layoutUnary(expr, source);
    case "Binary":
      return layoutBinary(expr, source);
    case "Conditional":
      return layoutConditional(expr, source);
    case "BrokenExpr":
      return source.spelled(expr.span);
  }
}

/** A field name. Quoted if the source quotes it, or if it is not an identifier. */
export function layoutKey(key: Ast.Key, source: SourceView): Doc {
  if (!key.quoted && /^[A-Za-z_]\w*$/.test(key.name)) return key.name;
  return stringText({ value: key.name, span: key.span }, source);
}

/** Whether an expression begins with `{`. After `match`, the parser would read that brace as the start of the arms. */
export function beginsWithBrace(expr: Ast.Expr): boolean {
  let first = expr;
  for (;;) {
    if (first.kind === "Record") return true;
    if (first.kind === "Conditional") first = first.condition;
    else if (first.kind === "Binary") first = first.left;
    else if (first.kind === "Member" || first.kind === "Index" || first.kind === "NonNull") first = first.object;
    else return false;
  }
}

function layoutItem(item: Ast.Expr | Ast.Spread, source: SourceView): Doc {
  return item.kind === "Spread" ? ["...", operand(item.value, POSTFIX, source)] : layoutExpression(item, source);
}

function bindingOf(expr: Ast.Expr): number {
  if (expr.kind === "Conditional") return CONDITIONAL;
  if (expr.kind === "Binary") return BINARY_PRECEDENCE[expr.operator];
  if (expr.kind === "Unary") return UNARY;
  return POSTFIX;
}

/** An operand. It has parentheses if it binds less tightly than `binding`. */
function operand(expr: Ast.Expr, binding: number, source: SourceView): Doc {
  const doc = layoutExpression(expr, source);
  return bindingOf(expr) >= binding ? doc : group(["(", indent([softline, doc]), softline, ")"]);
}

/** A chain of operators of equal precedence is laid out as one list. A loop walks the left-leaning tree. */
function layoutBinary(expr: Ast.BinaryExpr, source: SourceView): Doc {
  const binding = BINARY_PRECEDENCE[expr.operator];
  const rest: Doc[] = [];
  let first: Ast.Expr = expr;
  while (first.kind === "Binary" && BINARY_PRECEDENCE[first.operator] === binding) {
    rest.push([" ", first.operator, line, operand(first.right, binding + 1, source)]);
    first = first.left;
  }
  return group([operand(first, binding, source), indent(rest.reverse())]);
}

/** `a ? b : c ? d : e` is laid out as one list of cases. */
function layoutConditional(expr: Ast.ConditionalExpr, source: SourceView): Doc {
  const parts: Doc[] = [];
  let last: Ast.Expr = expr;
  while (last.kind === "Conditional") {
    parts.push(operand(last.condition, CONDITIONAL + 1, source));
    parts.push([line, words("?", layoutExpression(last.then, source)), line, ":", " "]);
    last = last.otherwise;
  }
  const [first = "", ...rest] = parts;
  return group([first, indent([...rest, layoutExpression(last, source)])]);
}

function layoutUnary(expr: Ast.UnaryExpr, source: SourceView): Doc {
  const isDoubleMinus = expr.operator === "-" && expr.operand.kind === "Unary" && expr.operand.operator === "-";
  return [expr.operator, isDoubleMinus ? " " : "", operand(expr.operand, UNARY, source)];
}

function layoutPostfix(expr: Ast.MemberExpr | Ast.IndexExpr | Ast.NonNullExpr, source: SourceView): Doc {
  const rest: Doc[] = [];
  let object: Ast.Expr = expr;
  while (object.kind === "Member" || object.kind === "Index" || object.kind === "NonNull") {
    if (object.kind === "NonNull") rest.push("!");
    else if (object.kind === "Member") rest.push([object.optional ? "?." : ".", object.property.name]);
    else rest.push(["[", layoutExpression(object.index, source), "]"]);
    object = object.object;
  }
  return [operand(object, POSTFIX, source), rest.reverse()];
}

/** The parts of `for x, i in xs if x.ok`, between which a line may break. */
export function layoutFor({ item, index, list, condition }: Ast.ForClause, source: SourceView): Doc[] {
  const names = index === undefined ? item.name : [item.name, ",", " ", index.name];
  const head = words("for", names, "in", layoutExpression(list, source));
  return condition === undefined ? [head] : [head, words("if", layoutExpression(condition, source))];
}

function layoutField(field: Ast.RecordField | Ast.Spread, source: SourceView): Doc {
  if (field.kind === "Spread") return layoutItem(field, source);
  const { name, value } = field;
  if (!name.quoted && value.kind === "Name" && value.name === name.name) return name.name;
  return [layoutKey(name, source), ":", " ", layoutExpression(value, source)];
}

function layoutComprehension(expr: Ast.ComprehensionExpr, source: SourceView): Doc {
  const clauses = [layoutExpression(expr.value, source), ...expr.clauses.flatMap((each) => layoutFor(each, source))];
  return group(["[", indent([softline, join(line, clauses)]), softline, "]"]);
}

/** An only argument that is a record or a list adds no level of indentation. */
function layoutArguments(args: readonly Ast.Argument[], source: SourceView): Doc {
  const docs = args.map(({ name, value }) =>
    name === undefined ? layoutExpression(value, source) : [name.name, ":", " ", layoutExpression(value, source)],
  );
  const [only] = args;
  if (args.length === 1 && only !== undefined && only.name === undefined && HUGGING.has(only.value.kind)) {
    return ["(", docs, ")"];
  }
  return bracketed("(", docs, ")", args.length > 1 && args.some(({ value }) => spansLines(value)));
}

const HUGGING: ReadonlySet<Ast.Expr["kind"]> = new Set(["Record", "List", "Comprehension"] as const);

function spansLines(expr: Ast.Expr): boolean {
  return expr.kind === "Template" && expr.parts.some((part) => part.kind === "TemplateText" && part.raw.includes("\n"));
}

/** The text is unchanged. Each expression in it is laid out on one line. */
function layoutTemplate(expr: Ast.TemplateExpr, source: SourceView): Doc {
  return [
    "`",
    expr.parts.map((part) =>
      part.kind === "TemplateText" ? verbatim(part.raw) : ["${", flatten(layoutExpression(part, source)), "}"],
    ),
    "`",
  ];
}
