import { basename, dirname, join } from "node:path";
import type { CompileResult } from "../../compiler/compile.ts";
import { CommandError } from "../process/command-error.ts";
import { withKnownOrder } from "./plan-order.ts";

export const TARGETS = ["ts", "js", "json"] as const;
export type Target = (typeof TARGETS)[number];

/** A file that `ngc compile` writes. */
export interface CompileOutput {
  readonly path: string;
  readonly text: string;
}

/**
 * What a checked file becomes: `support.ngraph.ts`; or `support.ngraph.js` with `support.ngraph.d.ts`; or the table of each
 * graph and plan, `support.table.json`. Beside the source, or in `directory`.
 */
export async function compileOutputs(
  result: CompileResult,
  target: Target,
  directory: string | undefined,
): Promise<CompileOutput[]> {
  const { emitDeclarations, emitJavaScript, emitTypeScript } = await import("../../compiler/emit/emit-typescript.ts");
  const place = (name: string): string => join(directory ?? dirname(result.path), name);
  const module = place(basename(result.path));
  // An order that was found for a plan stays with it.
  const source: CompileResult = {
    ...result,
    plans: result.plans.map((plan) =>
      plan.table === undefined ? plan : { ...plan, table: withKnownOrder(plan.table, result.path) },
    ),
  };
  switch (target) {
    case "ts": {
      const path = `${module}.ts`;
      return [{ path, text: emitTypeScript(source, { outPath: path }) }];
    }
    case "js": {
      const path = `${module}.js`;
      const types = `${module}.d.ts`;
      return [
        { path, text: emitJavaScript(source, { outPath: path }) },
        { path: types, text: emitDeclarations(source, { outPath: types }) },
      ];
    }
    case "json":
      return [...result.tables].map(([name, table]) => {
        const path = place(`${name}.table.json`);
        // An order that was found for a plan stays with it: beside the source, or where the table is written.
        const ordered = table.kind === "plan" ? withKnownOrder(withKnownOrder(table, result.path), path) : table;
        return { path, text: `${JSON.stringify(ordered, null, 2)}\n` };
      });
  }
}

/** Two sources must not write one file. */
export function refuseCollisions(outputs: readonly { readonly source: string; readonly path: string }[]): void {
  const writers = new Map<string, string>();
  for (const { source, path } of outputs) {
    const other = writers.get(path);
    if (other !== undefined) {
      throw new CommandError(`${other} and ${source} would both be written to ${path}`, {
        help: "compile them apart, each with its own --out",
      });
    }
    writers.set(path, source);
  }
}
