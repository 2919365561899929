/** What reads a channel or a derived name besides the nodes whose reads the compiler lists. */
import type * as Ast from "../grammar/ast.ts";
import type { FileNames } from "./name-index.ts";

/**
 * Derived names, edges and assertions of a file that read a name, in the words of a sentence.
 *
 * @param withNodes also the nodes and tasks
 */
export function readersIn({ file, uses }: FileNames, target: string, withNodes = false): readonly string[] {
  const reads = uses.filter((use) => use.target === target && use.role === "read").map(({ span }) => span.start);
  if (reads.length === 0) return [];
  return file.items.flatMap((item) => {
    const statements: readonly (Ast.Statement | Ast.PlanStatement)[] =
      item.kind === "Graph" || item.kind === "Plan" ? item.statements : [];
    return statements.flatMap((each) => {
      const first = reads[firstFrom(reads, each.span.start)];
      return first === undefined || first >= each.span.end ? [] : readerOf(each, withNodes);
    });
  });
}

/** The place of the first number of a sorted list that is not less than another one. */
function firstFrom(sorted: readonly number[], least: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

function readerOf(statement: Ast.Statement | Ast.PlanStatement, withNodes: boolean): readonly string[] {
  switch (statement.kind) {
    case "Derive":
      return [`\`${statement.name.name}\``];
    case "Node":
    case "Task":
      return withNodes ? [`\`${statement.name.name}\``] : [];
    case "Edge":
      return [`the edges of ${sourcesOf(statement).join(", ")}`];
    case "Assert":
      return ["an assertion"];
    default:
      return [];
  }
}

function sourcesOf({ source, chain }: Ast.EdgeDecl): readonly string[] {
  // The condition stands behind the last arrow.
  const last = chain[chain.length - 1];
  if (last !== undefined) return [`\`${last.name}\``];
  const members = source.kind === "NodeList" ? source.nodes : source.members;
  return members
    .flatMap((member) => (member.kind === "AnyOf" ? member.nodes : [member]))
    .map(({ name }) => `\`${name}\``);
}
