import type * as Ast from "../ast.ts";
import { bareList, bracedBlock, bracketed, group, indent, line, words, wrap, type Doc } from "./doc-parts.ts";
import { layoutExpression, beginsWithBrace } from "./layout-expression.ts";
import { names } from "./layout-clauses.ts";
import { layoutPatterns } from "./layout-type.ts";
import type { SourceView } from "./source-view.ts";

/** Up to this many arms share a line if they fit. More arms are always written one per line. */
const ARMS_ON_ONE_LINE = 2;

export function layoutEdge(edge: Ast.EdgeDecl, source: SourceView): Doc {
  const links = edge.chain.map(({ name }) => [wrap(), name, " ", "->"]);
  return [layoutSource(edge.source), " ", "->", links, layoutTo(edge.to, source)];
}

function layoutSource(source: Ast.EdgeSource): Doc {
  if (source.kind === "NodeList") return source.nodes.length === 1 ? names(source.nodes) : anyOf(source.nodes);
  const members = source.members.map((member) => (member.kind === "Identifier" ? member.name : anyOf(member.nodes)));
  return [source.kind === "AllOf" ? "all" : "settled", bracketed("(", members, ")")];
}

function anyOf(nodes: readonly Ast.Identifier[]): Doc {
  const members = nodes.map(({ name }) => name);
  return ["any", bracketed("(", members, ")")];
}

function layoutTo(to: Ast.EdgeDecl["to"], source: SourceView): Doc {
  if (to.kind === "Targets") {
    const { guard } = to;
    return [
      group(indent([line, names(to.nodes)])),
      to.onError ? [wrap(), words("on", "error")] : "",
      guard === undefined
        ? ""
        : guard.kind === "Otherwise"
          ? [wrap(), "otherwise"]
          : [wrap(), words("when", layoutExpression(guard.condition, source))],
    ];
  }
  if (to.kind === "MatchCondition") {
    const arms = to.arms.map(({ condition, targets, span }) => ({
      doc: arm(condition === undefined ? "else" : layoutExpression(condition, source), targets),
      span,
    }));
    return words("", "match", bracedBlock(arms, arms.length > ARMS_ON_ONE_LINE));
  }
  const subject = layoutExpression(to.subject, source);
  const arms = to.arms.map(({ patterns, targets, span }) => ({
    doc: arm(patterns.length === 0 ? "else" : layoutPatterns(patterns, source), targets),
    span,
  }));
  return words(
    "",
    "match",
    beginsWithBrace(to.subject) ? ["(", subject, ")"] : subject,
    bracedBlock(arms, arms.length > ARMS_ON_ONE_LINE),
  );
}

function arm(head: Doc, targets: readonly Ast.Identifier[]): Doc {
  return words(head, "->", bareList(targets.map(({ name }) => name)));
}
