import { bindGraph } from "../../../compiler/bind/bind-graph.ts";
import { FEATURES } from "../../../compiler/bind/features.ts";
import { declareTypes, nameTypes } from "../../../compiler/bind/declare-types.ts";
import { declareFile, type FileScope, type GraphUnit } from "../../../compiler/bind/file-scope.ts";
import type { BoundGraph } from "../../../compiler/bound-graph.ts";
import { emptyHost } from "../../../compiler/host.ts";
import { type LoadedFile, loadFiles } from "../../../compiler/load/load-files.ts";
import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { parse } from "../../../grammar/parse.ts";
import type { ValueType } from "../../../runtime/value-type.ts";

/** Parses and binds a text without files; functions come from packages, which nobody looks at. */
export function bindText(text: string, path = "test.ngraph"): { graphs: BoundGraph[]; diagnostics: Diagnostic[] } {
  const project = loadFiles(
    { text, path },
    { host: emptyHost, root: ".", readSyntax: (source, name) => parse(source, { path: name }) },
  );
  const diagnostics: Diagnostic[] = [...project.diagnostics];
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic);
  const scopes = new Map<LoadedFile, FileScope>();
  for (const file of project.files) scopes.set(file, declareFile(file, scopes, report));
  const refNames = nameTypes([...scopes.values()]);
  const types = new Map<string, ValueType>();
  for (const scope of scopes.values()) declareTypes(scope, refNames, types, report);
  const bound = new Map<GraphUnit, BoundGraph>();
  const bind = (unit: GraphUnit): BoundGraph => {
    let graph = bound.get(unit);
    if (graph === undefined) {
      graph = bindGraph(unit, { types, features: FEATURES, report, boundGraph: bind });
      bound.set(unit, graph);
    }
    return graph;
  };
  const entry = scopes.get(project.entry);
  return { graphs: (entry?.graphs ?? []).map(bind), diagnostics };
}
