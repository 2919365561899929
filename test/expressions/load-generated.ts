import { transform } from "esbuild";
import * as operations from "../../runtime/expression/generated.ts";
import { expressionToTypeScript } from "../../compiler/emit/expression-to-typescript.ts";
import { literal } from "../../compiler/emit/quote.ts";
import type { GeneratedExpression } from "../../runtime/expression/compile-expression.ts";
import type { Expression } from "../../runtime/expression/expression.ts";

/** Expressions as generated code, loaded as one module without being passed to an evaluator of code. */
export async function loadGenerated(
  expressions: readonly Expression[],
  functions: readonly string[],
): Promise<readonly GeneratedExpression[]> {
  const constants: string[] = [];
  const constant = (value: unknown): string => {
    constants.push(`const $c${constants.length} = $.constant(${literal(value)});`);
    return `$c${constants.length - 1}`;
  };
  const texts = expressions.map((expression) =>
    expressionToTypeScript(expression, { functions, constant, nonNull: "!" }),
  );
  const source = `export default ($: any) => {\n${constants.join("\n")}\nreturn [\n${texts.map((text) => `${text},\n`).join("")}];\n};\n`;
  const { code } = await transform(source, { loader: "ts", format: "esm", target: "node20" });
  const url = `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`;
  const module = (await import(/* @vite-ignore */ url)) as { default: (operations: unknown) => GeneratedExpression[] };
  return module.default(operations);
}
