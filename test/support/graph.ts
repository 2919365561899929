/**
 * Graphs for tests, as text. They are bound and lowered but not checked, so that a test can run a graph that the
 * compiler refuses, for example with two writers of one channel, and verify that the engine is safe without the
 * compiler.
 */
import { bindProject } from "../../compiler/bind/bind-project.ts";
import { loadProject } from "../../compiler/load/load-project.ts";
import { memoryHost } from "../../compiler/index.ts";
import { lowerGraph } from "../../compiler/lower/lower.ts";
import {
  createEngine,
  type Engine,
  type EngineOptions,
  type FunctionRegistry,
  type Table,
} from "../../runtime/index.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { fail } from "../../stdlib/nodes/fail.ts";
import { createPrint } from "../../stdlib/nodes/print.ts";
import { receive } from "../../stdlib/nodes/receive.ts";
import { sleep } from "../../stdlib/nodes/sleep.ts";

/**
 * The last graph of a text, which may call the graphs before it. Its functions need no import: they come from one
 * module.
 */
export function tableOf(text: string, functions: readonly string[] = []): Table {
  const exported = functions.map((name) => `export const ${name} = (...args: unknown[]): unknown => args;`).join("\n");
  const header = functions.length === 0 ? "" : `import { ${functions.join(", ")} } from "./nodes.ts"\n`;
  const { graphs, diagnostics } = bindProject(
    loadProject(header + text, {
      path: "test.ngraph",
      host: memoryHost({ "nodes.ts": exported }),
    }),
  );
  const errors = diagnostics.filter((item) => item.severity === "error");
  const last = graphs.at(-1);
  if (last === undefined || errors.length > 0) {
    throw new Error(errors.map((item) => `${item.code} ${item.message}`).join("\n") || "no graph");
  }
  return lowerGraph(last);
}

/** An engine for a text; its functions are the imports. */
export function engineOf(text: string, functions: FunctionRegistry = {}, options: EngineOptions = {}): Engine {
  const table = tableOf(text, Object.keys(functions));
  return createEngine(table, {
    functions,
    builtins: { ask, fail, receive, sleep, print: createPrint(() => undefined) },
    ...options,
  });
}
