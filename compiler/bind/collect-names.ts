import type { Expr } from "../../grammar/ast.ts";

/**
 * Adds the names that an expression reads, variables of comprehensions included. A loop in place of recursion: chains
 * may be long.
 */
export function collectNames(expression: Expr, names: Set<string>): void {
  const open: Expr[] = [expression];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    switch (next.kind) {
      case "Name":
        names.add(next.name);
        break;
      case "Template":
        for (const part of next.parts) if (part.kind !== "TemplateText") open.push(part);
        break;
      case "List":
        for (const each of next.items) open.push(each.kind === "Spread" ? each.value : each);
        break;
      case "Record":
        for (const field of next.fields) open.push(field.value);
        break;
      case "Comprehension":
        open.push(next.value);
        for (const { list, condition } of next.clauses) {
          open.push(list);
          if (condition !== undefined) open.push(condition);
        }
        break;
      case "NonNull":
        open.push(next.object);
        break;
      case "Derived":
        // Mutation point: derived-reads
        open.push(next.value);
        break;
      case "Member":
        open.push(next.object);
        break;
      case "Index":
        open.push(next.object, next.index);
        break;
      case "Call":
        for (const argument of next.args) open.push(argument.value);
        break;
      case "Unary":
        open.push(next.operand);
        break;
      case "Binary":
        open.push(next.left, next.right);
        break;
      case "Conditional":
        open.push(next.condition, next.then, next.otherwise);
        break;
      default:
        break;
    }
  }
}
