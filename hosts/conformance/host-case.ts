import type { Engine, FunctionRegistry } from "../../runtime/interface/engine-options.ts";
import { NgraphError } from "../../runtime/interface/errors.ts";
import { ConformanceError } from "../../runtime/stores/conformance/expect.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { MaybePromise } from "../../runtime/value/json.ts";
import { bindProject } from "../../compiler/bind/bind-project.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { loadProject } from "../../compiler/load/load-project.ts";
import { lowerGraph } from "../../compiler/lower/lower.ts";

/** A system that runs one graph with its code. */
export interface HostUnderTest {
  /** An engine of the graph: the one that runs it, or a client of the system. */
  readonly engine: Engine;
  /**
   * For a system that survives its processes: ends all processes that run the graph, without a warning, and starts new ones. Enables
   * more cases.
   */
  crash?(): MaybePromise<void>;
  /** Called at the end of each case. */
  dispose?(): MaybePromise<void>;
}

/** Prepares a system for a graph. The functions run in this process, so that the cases see their calls. */
export type MakeHost = (table: Table, functions: FunctionRegistry) => MaybePromise<HostUnderTest>;

/** One promise about execution, on any host. */
export interface HostCase {
  /** Starts with the number of the promise. */
  readonly name: string;
  /** The case needs a system that survives its processes. */
  readonly needsCrash: boolean;
  /** Returns false if the host lacks what the case needs. @throws ConformanceError */
  run(makeHost: MakeHost): Promise<boolean>;
}

/** Defines a case: a graph, its code, and what they do on the host. */
export function hostCase<Code extends { readonly functions: FunctionRegistry }>(
  name: string,
  parts: { readonly text: string; readonly code: () => Code; readonly needsCrash?: boolean },
  body: (host: HostUnderTest & { readonly crash: () => Promise<void> }, code: Code) => Promise<void>,
): HostCase {
  const { text, needsCrash = false } = parts;
  return {
    name,
    needsCrash,
    async run(makeHost) {
      const code = parts.code();
      const host = await makeHost(tableOf(text, Object.keys(code.functions)), code.functions);
      try {
        if (needsCrash && host.crash === undefined) return false;
        await body({ ...host, crash: async () => host.crash!() }, code);
        return true;
      } finally {
        await host.dispose?.();
      }
    },
  };
}

/** Code of a graph without functions. */
export const noCode = (): { readonly functions: FunctionRegistry } => ({ functions: {} });

/** The call must fail with an error of this package that has this code. */
export async function expectRefused(code: string, call: () => Promise<unknown>, what: string): Promise<void> {
  let found: unknown;
  try {
    found = await call();
  } catch (error) {
    if (error instanceof NgraphError && error.code === code) return;
    throw new ConformanceError(`${what}: expected ${code}, got ${String(error)}`, { cause: error });
  }
  throw new ConformanceError(`${what}: expected ${code}, but the call returned ${JSON.stringify(found)}`);
}

/** The last graph of a text. Its functions need no import: they come from one module. */
function tableOf(text: string, functions: readonly string[]): Table {
  const module = functions.map((name) => `export const ${name} = (...args: unknown[]): unknown => args;`).join("\n");
  const imports = functions.length === 0 ? "" : `import { ${functions.join(", ")} } from "./nodes.ts"\n`;
  const options = { path: "case.ngraph", host: memoryHost({ "nodes.ts": module }) };
  const { graphs, diagnostics } = bindProject(loadProject(imports + text, options));
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const last = graphs.at(-1);
  if (last === undefined || errors.length > 0) {
    throw new Error(errors.map(({ code, message }) => `${code} ${message}`).join("\n"));
  }
  return lowerGraph(last);
}
