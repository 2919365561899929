import { compile } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import type { Table } from "../../runtime/table/table.ts";

export const functions = { add: async (x: number): Promise<number> => x + 1 };

const CHAIN = `graph chain { input n: int  state x: int = 0  state y: int = 0  output z: int = 0
  node a = add(n) into x  node b = add(x) into y  node c = add(y) into z  start -> a -> b -> c }`;

/** The table of a graph that imports `add` from `nodes.ts`. */
export function tableOf(text: string): Table {
  const host = memoryHost({ "nodes.ts": "export const add = async (x: number): Promise<number> => x + 1;" });
  const { table, diagnostics } = compile(`import { add } from "./nodes.ts"\n${text}`, { path: "bench.ngraph", host });
  if (table === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  return table;
}

/** Three nodes in a chain. */
export function chainTable(): Table {
  return tableOf(CHAIN);
}
