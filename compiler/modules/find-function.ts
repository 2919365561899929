import type { FunctionNode, Statement } from "./parse-module.ts";

/**
 * The functions that statements declare under a name: `function f() {}`, `const f = () => …`,
 * `export default function () {}`. Overloads come before their implementation.
 */
export function findFunctions(statements: readonly Statement[], name: string): readonly FunctionNode[] {
  return statements.flatMap((statement): readonly FunctionNode[] => {
    switch (statement.type) {
      case "FunctionDeclaration":
      case "TSDeclareFunction":
        return [statement];
      case "ExportDefaultDeclaration": {
        const { declaration } = statement;
        return isFunction(declaration) ? [declaration] : [];
      }
      case "VariableDeclaration":
        return statement.declarations.flatMap(({ id, init }) =>
          id.type === "Identifier" && id.name === name && init !== null && init !== undefined && isFunction(init)
            ? [init]
            : [],
        );
      default:
        return [];
    }
  });
}

function isFunction(node: { readonly type: string }): node is FunctionNode {
  return (
    node.type === "FunctionDeclaration" ||
    node.type === "TSDeclareFunction" ||
    node.type === "ArrowFunctionExpression" ||
    node.type === "FunctionExpression"
  );
}
