/**
 * Functions that `ngc import` has written beside an imported state machine. Their texts are known, so an export can say what a call
 * of them computes.
 */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { BoundGraph } from "../../../compiler/bind/bound-graph.ts";
import type { FunctionSpec } from "../../../runtime/table/table.ts";
import { HELPER_TEXT, HELPERS, type Helper } from "../../../importers/asl/stub-functions.ts";

/** The helper that an imported function of a graph is; `undefined`: another function. */
export type HelperOf = (graph: BoundGraph, imported: FunctionSpec) => Helper | undefined;

/** The text of a module; empty if there is none. */
export type ReadModule = (path: string) => string;

/** Reads each module once. A function with the name of a helper and another body is another function. */
export function findHelpers(readModule: ReadModule): HelperOf {
  const modules = new Map<string, string>();
  return ({ file }, { module, export: exported }) => {
    const name = HELPERS.find((helper) => helper === exported);
    if (name === undefined || !module.startsWith(".")) return undefined;
    const path = resolve(dirname(file.path), module);
    const text = modules.get(path) ?? withoutSpaces(readModule(path));
    modules.set(path, text);
    return text.includes(withoutSpaces(HELPER_TEXT[name])) ? name : undefined;
  };
}

/** From the disk. The compiler reports modules that cannot be read. */
export function readModuleFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** A formatter may have changed the spaces. */
function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, "");
}

/** The fields and positions of a path such as `$.order.items[0]`, as the helpers read it. */
export function keysOf(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\.([A-Za-z_]\w*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)].map(
    ([, field, index, name]) => field ?? (index === undefined ? (JSON.parse(name!) as string) : Number(index)),
  );
}
