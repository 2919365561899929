import { compile, memoryHost } from "../../compiler/index.ts";
import { compileExpression } from "../../runtime/expression/compile-expression.ts";
import type { Json } from "../../runtime/value/json.ts";

/** The errors and warnings (but not NG406, an unused channel) of a graph whose node calls `shell(COMMAND)`, and the command for an input. */
export function commandOf(
  command: string,
  value: Json = "",
  type = "string",
): { readonly codes: readonly string[]; readonly text: Json | undefined } {
  const text = `graph g { input x: ${type}  output o: string  node a = shell(${command}) into { stdout: o }  start -> a -> end }`;
  const { graphs, diagnostics } = compile(text, { path: "test.ngraph", host: memoryHost({}) });
  const codes = diagnostics.flatMap(({ code, severity }) => (severity === "info" || code === "NG406" ? [] : [code]));
  const table = graphs[0]?.table;
  const call = table?.nodes[0]?.call;
  const argument = call?.kind === "builtin" ? call.args.find(({ name }) => name === "command") : undefined;
  const expression = table?.expressions[argument?.expression ?? -1];
  if (table === undefined || expression === undefined) return { codes, text: undefined };
  const state = table.channels.map(({ name }) => (name === "x" ? value : null));
  return { codes, text: compileExpression(expression)({ state }) };
}

/** A template whose text parts are these, with `${x}` in place of `null`. */
export function templateOf(parts: readonly (string | null)[]): string {
  return `\`${parts.map((part) => (part === null ? "${x}" : part.replace(/[\\`]|\$/g, "\\$&"))).join("")}\``;
}
