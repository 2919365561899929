import type * as Ast from "../ast.ts";
import { braced, group, ifBreak, indent, join, line, softline, words, type Doc } from "./doc-parts.ts";
import { layoutKey } from "./layout-expression.ts";
import { numberText, stringText } from "./literal-text.ts";
import type { SourceView } from "./source-view.ts";

export function layoutType(type: Ast.TypeExpr, source: SourceView): Doc {
  switch (type.kind) {
    case "NamedType":
      return type.name;
    case "LiteralType":
      return layoutLiteralType(type, source);
    case "ListType":
      return layoutListType(type, source);
    case "MapType":
      return ["map", "<", layoutType(type.value, source), ">"];
    case "RecordType":
      return braced(
        type.fields.map((field) => [
          layoutKey(field.name, source),
          field.optional ? "?" : "",
          ":",
          " ",
          layoutType(field.type, source),
        ]),
        source.hasComment(type.span),
      );
    case "UnionType":
      return layoutUnion(type, source);
    case "BrokenType":
      return source.spelled(type.span);
  }
}

export function layoutLiteralType(literal: Ast.LiteralType, source: SourceView): Doc {
  const { value } = literal;
  if (typeof value === "number") return [value < 0 || Object.is(value, -0) ? "-" : "", numberText(literal, source)];
  if (typeof value !== "string") return String(value);
  return stringText({ value, span: literal.span }, source);
}

/** `T[][]` without recursion: the brackets may be many. */
function layoutListType(type: Ast.ListType, source: SourceView): Doc {
  const brackets: Doc[] = [];
  let item: Ast.TypeExpr = type;
  while (item.kind === "ListType") {
    brackets.push("[", "]");
    item = item.item;
  }
  const doc = layoutType(item, source);
  return [item.kind === "UnionType" ? group(["(", doc, softline, ")"]) : doc, brackets];
}

function layoutUnion(type: Ast.UnionType, source: SourceView): Doc {
  const members = type.members.map((member) =>
    member.kind === "UnionType" ? ["(", layoutType(member, source), ")"] : layoutType(member, source),
  );
  return group(indent([softline, ifBreak(["|", " "]), join([line, "|", " "], members)]));
}

/** `"a" | "b"`: the patterns of a `match` arm. */
export function layoutPatterns(patterns: readonly Ast.LiteralType[], source: SourceView): Doc {
  const [first = "", ...rest] = patterns.map((pattern) => layoutLiteralType(pattern, source));
  return [first, rest.map((pattern) => [group(indent(line)), words("|", pattern)])];
}
