import { basename, dirname, extname, join } from "node:path";
import { generatedEntryPoint } from "../../api/runtime-package.ts";
import type { CompileResult } from "../../compiler/compile.ts";
import { CommandError } from "../process/command-error.ts";
import { importExtensions } from "../types/import-extensions.ts";
import { refuseManyPaths } from "./called-tables.ts";
import { withKnownOrder } from "./plan-order.ts";

export const TARGETS = ["ts", "js", "json"] as const;
export type Target = (typeof TARGETS)[number];

/** A file that `ngc compile` writes. */
export interface CompileOutput {
  readonly path: string;
  readonly text: string;
}

/**
 * The outputs of a checked file: `support.ngraph.ts`; or `support.ngraph.js` and `support.ngraph.d.ts`; or one table for each graph
 * and plan, `support.table.json`. They are placed beside the source or in `directory`.
 */
export async function compileOutputs(
  result: CompileResult,
  target: Target,
  directory: string | undefined,
): Promise<CompileOutput[]> {
  const { emitDeclarations, emitJavaScript, emitTypeScript } = await import("../../compiler/emit/emit-typescript.ts");
  const place = (name: string): string => join(directory ?? dirname(result.path), name);
  const module = place(basename(result.path));
  // Tables keep the order that was found for a plan.
  const source: CompileResult = {
    ...result,
    plans: result.plans.map((plan) =>
      plan.table === undefined ? plan : { ...plan, table: withKnownOrder(plan.table, result.path) },
    ),
  };
  const runtime = generatedEntryPoint(dirname(module));
  switch (target) {
    case "ts": {
      const path = `${module}.ts`;
      const extensions = importExtensions(dirname(path));
      return [{ path, text: emitTypeScript(source, { outPath: path, runtime, extensions }) }];
    }
    case "js": {
      const path = `${module}.js`;
      const types = `${module}.d.ts`;
      return [
        { path, text: emitJavaScript(source, { outPath: path, runtime }) },
        { path: types, text: emitDeclarations(source, { outPath: types, runtime }) },
      ];
    }
    case "json":
      return [...result.tables].map(([name, table]) => {
        refuseManyPaths(table);
        const path = place(`${name}.table.json`);
        // The order of a plan is stored in its table, beside the source or at the place where the table is written.
        const ordered = table.kind === "plan" ? withKnownOrder(withKnownOrder(table, result.path), path) : table;
        return { path, text: `${JSON.stringify(ordered, null, 2)}\n` };
      });
  }
}

/**
 * The types of a checked file, for the import of the graph file itself: `support.d.ngraph.ts` and its declaration map, always
 * beside the source.
 */
export async function typeOutputs(result: CompileResult): Promise<CompileOutput[]> {
  const { emitMappedDeclarations } = await import("../../compiler/emit/emit-typescript.ts");
  const extension = extname(result.path);
  const path = `${result.path.slice(0, result.path.length - extension.length)}.d${extension}.ts`;
  const { code, map } = emitMappedDeclarations(result, { outPath: path, runtime: generatedEntryPoint(dirname(path)) });
  if (map === undefined) return [{ path, text: code }];
  return [
    { path, text: `${code}//# sourceMappingURL=${encodeURIComponent(basename(path))}.map\n` },
    { path: `${path}.map`, text: `${JSON.stringify(map)}\n` },
  ];
}

/** Refuses two sources that would write the same file. @throws CommandError */
export function refuseCollisions(outputs: readonly { readonly source: string; readonly path: string }[]): void {
  const writers = new Map<string, string>();
  for (const { source, path } of outputs) {
    const other = writers.get(path);
    if (other !== undefined) {
      throw new CommandError(`${other} and ${source} would both be written to ${path}`, {
        help: "compile them with two commands, each with its own --out",
      });
    }
    writers.set(path, source);
  }
}
