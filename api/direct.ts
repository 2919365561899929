/**
 * `ngraph/direct`: the imports of generated modules whose graphs all run without the engine. It is a part of `ngraph/generated` that loads the engine
 * on use. Not for code written by hand: its names belong to the generator of the same version.
 */
import type { DirectModule } from "../runtime/direct/direct-graph.ts";
import { openDirect } from "../runtime/engine/open-direct.ts";
import type { Bindings, EngineOptions } from "../runtime/interface/engine-options.ts";
import { fromEnvironment } from "../stdlib/from-environment.ts";
import type { GeneratedGraph, Graph, GraphOptions, GraphTypes } from "./generated-types.ts";

export type * from "./generated.ts";
export * from "../runtime/expression/generated.ts";
export { largeTable } from "./large-table.ts";
export {
  appendAll,
  mergeAll,
  reduceAppend,
  reduceMax,
  reduceMerge,
  reduceMin,
  reduceSum,
  reduceUnion,
  unionAll,
} from "../runtime/program/reducers.ts";
export { barriers } from "../runtime/direct/direct-barriers.ts";
export { fields } from "../runtime/direct/direct-fields.ts";
export { items } from "../runtime/direct/direct-items.ts";
export { jumps } from "../runtime/direct/direct-jumps.ts";
export { records } from "../runtime/direct/direct-records.ts";
export { secrets } from "../runtime/direct/direct-secrets.ts";
export { timeouts } from "../runtime/direct/direct-timeouts.ts";
export { fail as failNode } from "../stdlib/nodes/fail.ts";
export { json as jsonNode } from "../stdlib/nodes/json.ts";
export { print as printNode } from "../stdlib/nodes/print.ts";
export type { DirectModule } from "../runtime/direct/direct-graph.ts";

/**
 * As `createGraph`, for a graph whose runs need no more than its nodes, channels, edges and barriers. The engine is loaded when a call or a run needs it.
 */
export function createDirectGraph<T extends GraphTypes>(
  { table, bindings }: GeneratedGraph,
  options: GraphOptions<T>,
  module: DirectModule,
): Graph<T> {
  const given = options as Omit<EngineOptions, keyof Bindings>;
  const all = { secrets: fromEnvironment, ...given, ...bindings };
  const builtins = module.builtins && { builtins: { ...module.builtins, ...given.builtins } };
  const engine: unknown = openDirect(table, { ...all, ...builtins }, module);
  return engine as Graph<T>;
}
