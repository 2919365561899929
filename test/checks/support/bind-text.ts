import { bindProject } from "../../../compiler/bind/bind-project.ts";
import { loadProject } from "../../../compiler/load/load-project.ts";
import type { BoundGraph } from "../../../compiler/bind/bound-graph.ts";
import { emptyHost } from "../../../compiler/load/host.ts";
import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";

/** Parses and binds a text without files. Functions come from packages, which the compiler does not read. */
export function bindText(
  text: string,
  path = "test.ngraph",
): { graphs: readonly BoundGraph[]; diagnostics: readonly Diagnostic[] } {
  return bindProject(loadProject(text, { path, host: emptyHost }));
}
