/** Engines like those of users: the text is compiled with all checks, and run through the public entry point. */
import { compile, createEngine, type Engine, type EngineOptions, type Table } from "../../api/index.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import type { FunctionRegistry } from "../../runtime/index.ts";

/**
 * The first graph of a text; its functions are exports of one module.
 *
 * @throws Error with the findings of a text that has errors
 */
export function compiledTable(text: string, functions: readonly string[] = []): Table {
  const { table, diagnostics } = compileFor(text, functions);
  if (table !== undefined) return table;
  throw new Error(diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n"));
}

export function compiledEngine(text: string, functions: FunctionRegistry = {}, options: EngineOptions = {}): Engine {
  return createEngine(compiledTable(text, Object.keys(functions)), { functions, ...options });
}

/** Errors and warnings of a text, as `code:severity`. */
export function findingsOf(text: string, functions: readonly string[] = []): string[] {
  const reported = compileFor(text, functions).diagnostics.filter(({ severity }) => severity !== "info");
  return reported.map(({ code, severity }) => `${code}:${severity}`);
}

/** Compiles each text once: many tests run one graph with different functions. */
function compileFor(text: string, functions: readonly string[]): ReturnType<typeof compile> {
  const names = functions.join(", ");
  const key = `${names}\n${text}`;
  let result = compiled.get(key);
  if (result === undefined) {
    const header = names === "" ? "" : `import { ${names} } from "./nodes.ts"\n`;
    const exported = functions.map((name) => `export const ${name} = (...args: any[]): any => args;`).join("\n");
    result = compile(header + text, { path: "case.ngraph", host: memoryHost({ "nodes.ts": exported }) });
    compiled.set(key, result);
  }
  return result;
}

const compiled = new Map<string, ReturnType<typeof compile>>();
