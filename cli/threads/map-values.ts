import { compile } from "../../compiler/compile.ts";
import { hasErrors, type Diagnostic } from "../../diagnostics/diagnostic.ts";
import { compileExpression, type Evaluate } from "../../runtime/expression/compile-expression.ts";
import type { Json } from "../../runtime/value/json.ts";
import { CommandError } from "../process/command-error.ts";
import { typeTextOf } from "./type-of-value.ts";

/**
 * A function that converts values with an expression over `value`, such as `value * 100`. The expression is typed against the
 * value that it converts, and evaluated by the interpreter.
 *
 * @throws CommandError for a text that is not an expression
 */
export function valueMapper(option: string, text: string): (value: Json) => Json {
  const syntax = compiled(text, "json").diagnostics.find(
    ({ severity, code }) => severity === "error" && isSyntax(code),
  );
  if (syntax !== undefined) throw notAnExpression(option, text, syntax);
  const known = new Map<string, Evaluate>();
  return (value) => {
    const records = typeTextOf(value, "record");
    let evaluate = known.get(records);
    if (evaluate === undefined) {
      const first = compiled(text, records);
      // An object is a record or a map: the expression decides.
      const found = first.evaluate ?? compiled(text, typeTextOf(value, "map")).evaluate;
      if (found === undefined) throw notAnExpression(option, text, first.diagnostics.find(isError)!, records);
      known.set(records, (evaluate = found));
    }
    return evaluate({ state: [value] });
  };
}

function compiled(
  text: string,
  type: string,
): { readonly evaluate?: Evaluate; readonly diagnostics: readonly Diagnostic[] } {
  // In YAML the expression is a text of its own, which its messages are about. The channel `value` has index 0.
  const graph = {
    graph: "convert",
    input: { value: type },
    output: { result: { type: "json | null", default: null } },
    derive: { converted: text },
    nodes: { convert: { expr: "converted", into: "result" } },
    edges: ["start -> convert"],
  };
  const { table, diagnostics } = compile(JSON.stringify(graph), { path: "value.yaml" });
  if (hasErrors(diagnostics) || table?.kind !== "graph") return { diagnostics };
  const { call } = table.nodes[0]!;
  if (call.kind !== "expression") return { diagnostics };
  return { evaluate: compileExpression(table.expressions[call.expression]!), diagnostics };
}

function isError({ severity }: Diagnostic): boolean {
  return severity === "error";
}

/** Codes of the parser. */
function isSyntax(code: string): boolean {
  return code.startsWith("NG0");
}

function notAnExpression(option: string, text: string, { message }: Diagnostic, type?: string): CommandError {
  const what = type === undefined ? "" : ` for a value of type \`${type}\``;
  return new CommandError(`the expression of ${option} is not valid${what}: ${message}`, {
    help: `an expression over \`value\`, such as value * 100 or [{ ...m, role: "user" } for m in value]; it is: ${text}`,
  });
}
