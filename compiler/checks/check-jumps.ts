import { undeclaredJump } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { LoadedModule } from "../load/load-module.ts";
import { findFunctions } from "../modules/find-function.ts";
import { findJumps, type Jump } from "../modules/find-jumps.ts";
import { END_NAME, type BoundGraph } from "../bind/bound-graph.ts";
import type { FileScope } from "../bind/file-scope.ts";

/**
 * Reports NG115: the code of a node jumps to a node of the graph that its `goes` does not list. Only jumps that the
 * text of the module states as string literals are found; the engine checks every jump at run time.
 */
export function checkJumps(
  graph: BoundGraph,
  scope: FileScope | undefined,
  report: (diagnostic: Diagnostic) => void,
): void {
  if (graph.nodes.every(({ call }) => call.kind !== "function")) return;
  // Most functions do not jump: the names of the nodes are not collected for them.
  let names: Set<string> | undefined;
  const known = new Map<string, readonly Jump[]>();
  for (const { name, call, goes = [], declaration } of graph.nodes) {
    if (call.kind !== "function" || graph.poisoned.has(name)) continue;
    const declared = scope?.names.get(call.function.name);
    const module = declared?.kind === "import" ? declared.module : undefined;
    if (module === undefined) continue;
    const key = `${call.args.length} ${call.function.name}`;
    const jumps = known.get(key) ?? jumpsOf(module, call.function.export, call.args.length);
    known.set(key, jumps);
    if (jumps.length === 0) continue;
    const targets = (names ??= new Set([END_NAME, ...graph.nodes.map((node) => node.name)]));
    const missing = jumps.find(({ target }) => targets.has(target) && !goes.includes(target));
    if (missing === undefined) continue;
    const place = { file: graph.file, span: declaration.name.span };
    const facts = { callee: call.function.export, module: call.function.module, declared: goes };
    report(undeclaredJump(place, { node: name, target: missing.target, ...facts }));
  }
}

function jumpsOf({ scope }: LoadedModule, name: string, position: number): readonly Jump[] {
  const exported = scope?.exports.get(name)?.name;
  if (exported?.kind !== "declared") return [];
  return findFunctions(exported.statements, name).flatMap((body) => findJumps(body, position));
}
