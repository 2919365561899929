import { memoryHost } from "../../compiler/load/host.ts";
import { compile } from "../../compiler/compile.ts";
import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";

/** Functions without declared types. */
export const NODES = ["a", "b", "c", "route"]
  .map((name) => `export const ${name} = (...all: any[]): any => all;`)
  .join("\n");

/** The last graph of a text, which may call those before it. */
export async function boundGraph(
  text: string,
  files: Readonly<Record<string, string>> = { "nodes.ts": NODES },
): Promise<BoundGraph> {
  const { graphs, diagnostics } = await compile(text, { path: "g.ngraph", host: memoryHost(files) });
  const last = graphs.at(-1);
  if (last !== undefined && !last.bound.hasErrors) return last.bound;
  throw new Error(`${diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n")}\n${text}`);
}
