/**
 * From loaded files to bound graphs and plans: declares the names and types of each file, then binds each graph and
 * plan after those that it calls.
 */
import { notSupported } from "../../diagnostics/catalog/names.ts";
import { sortDiagnostics, type Diagnostic } from "../../diagnostics/diagnostic.ts";
import { newSuggestions } from "../../diagnostics/similar.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { LoadedFile, LoadedProject } from "../load/load-project.ts";
import type { ImportedType, ReadTypes } from "../modules/read-type.ts";
import type { TypeTable } from "../types/type-table.ts";
import { bindGraph } from "./bind-graph.ts";
import type { BoundGraph } from "./bound-graph.ts";
import { orderCalls } from "./call-order.ts";
import { declareTypes, nameTypes } from "./declare-types.ts";
import { FEATURES, type Feature, type Features } from "./features.ts";
import { declareFile } from "./declare-file.ts";
import type { CallableUnit, FileScope, GraphUnit, PlanUnit } from "./file-scope.ts";
import { bindPlan } from "./plan/bind-plan.ts";
import type { BoundPlan } from "./plan/bound-plan.ts";
import { reportJumps } from "./report-jumps.ts";

export interface BindOptions {
  /** Features to bind although this version does not support them in full. */
  readonly supports?: Iterable<Feature> | undefined;
}

export interface BoundProject {
  /** Graphs of the entry file, in source order. */
  readonly graphs: readonly BoundGraph[];
  /** All graphs that were bound, called ones before their callers. */
  readonly allGraphs: readonly BoundGraph[];
  /** Plans of the entry file, in source order. */
  readonly plans: readonly BoundPlan[];
  /** All plans that were bound, called ones before their callers. */
  readonly allPlans: readonly BoundPlan[];
  /** Each file after those that it imports; the entry file is the last. */
  readonly files: readonly LoadedFile[];
  readonly entry: LoadedFile;
  /** The names of the entry file. */
  readonly scope: FileScope;
  readonly types: TypeTable;
  /** The types among them that a graph file imports from a module. */
  readonly importedTypes: ReadonlyMap<string, ImportedType>;
  /**
   * Findings of loading and binding, sorted. Of imported files errors only: their warnings are reported where those
   * files are checked themselves.
   */
  readonly diagnostics: readonly Diagnostic[];
}

/** Never throws, whatever was loaded. */
export function bindProject(project: LoadedProject, options: BindOptions = {}): BoundProject {
  const { entry, files } = project;
  const features: Features = new Set([...FEATURES, ...(options.supports ?? [])]);
  const found: Diagnostic[] = [...project.diagnostics];
  const report = (diagnostic: Diagnostic): void => {
    if (diagnostic.severity === "error" || diagnostic.file === entry.source) found.push(diagnostic);
  };
  const types = new Map<string, ValueType>();
  const imports: ReadTypes["imports"] = new Map();
  const scope = declareFiles(project, types, imports, report);
  // Reports errors of constants that nothing reads.
  for (const declared of scope.names.values()) if (declared.kind === "const") declared.value(declared.identifier.span);
  const { graphs, plans } = bindUnits(scope, types, features, report);
  reportUnsupported(entry, features, report);
  return {
    graphs: scope.graphs.flatMap((unit) => graphs.get(unit.declaration) ?? []),
    allGraphs: [...graphs.values()],
    plans: scope.plans.flatMap((unit) => plans.get(unit.declaration) ?? []),
    allPlans: [...plans.values()],
    files,
    entry,
    scope,
    types,
    importedTypes: imports,
    diagnostics: sortDiagnostics(found),
  };
}

/** Declares the names and types of all files; returns the scope of the entry file, which is the last. */
function declareFiles(
  { files, entry }: LoadedProject,
  types: Map<string, ValueType>,
  imports: ReadTypes["imports"],
  report: (diagnostic: Diagnostic) => void,
): FileScope {
  const scopes = new Map<LoadedFile, FileScope>();
  const suggestions = newSuggestions();
  // The entry file names its types first: a type of an imported file with the same name gets another one.
  const typeNames = nameTypes([...files].reverse());
  const reserved = new Set(typeNames.values());
  const read: ReadTypes = { table: types, known: new Map(), reserved, refs: new Set(), imports };
  for (const file of files) {
    const scope = declareFile(file, scopes, read, report, suggestions);
    scopes.set(file, scope);
    declareTypes(scope, typeNames, types, report);
  }
  return scopes.get(entry) as FileScope;
}

/** Binds all graphs and plans that the entry file declares or calls. */
function bindUnits(
  scope: FileScope,
  types: TypeTable,
  features: Features,
  report: (diagnostic: Diagnostic) => void,
): {
  readonly graphs: ReadonlyMap<Ast.GraphDecl, BoundGraph>;
  readonly plans: ReadonlyMap<Ast.PlanDecl, BoundPlan>;
} {
  const order = orderCalls([...scope.graphs, ...scope.plans], report);
  const graphs = new Map<Ast.GraphDecl, BoundGraph>();
  const plans = new Map<Ast.PlanDecl, BoundPlan>();
  for (const unit of order.units) {
    const options = {
      types,
      report,
      hasSyntaxErrors: hasErrorWithin(unit),
      boundGraph: (callee: GraphUnit) => (order.isCut(unit, callee) ? undefined : graphs.get(callee.declaration)),
      boundPlan: (callee: PlanUnit) => (order.isCut(unit, callee) ? undefined : plans.get(callee.declaration)),
    };
    if (isPlanUnit(unit)) {
      if (features.has("plan")) plans.set(unit.declaration, bindPlan(unit, options));
      continue;
    }
    const graph = bindGraph(unit, options);
    reportJumps(graph, unit, report);
    graphs.set(unit.declaration, graph);
  }
  return { graphs, plans };
}

function isPlanUnit(unit: CallableUnit): unit is PlanUnit {
  return unit.declaration.kind === "Plan";
}

/** Whether there is a syntax error in the text of a graph or plan. */
function hasErrorWithin({ declaration, scope }: CallableUnit): boolean {
  const { errors } = scope.file;
  const { start, end } = declaration.span;
  let low = 0;
  let high = errors.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((errors[middle] ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return (errors[low] ?? Infinity) <= end;
}

/** NG117 for declarations that `features.ts` does not list. */
function reportUnsupported(file: LoadedFile, features: Features, report: (diagnostic: Diagnostic) => void): void {
  for (const item of file.syntax.items) {
    if (item.kind === "Plan" && !features.has("plan")) {
      const place = { file: file.source, span: item.name.span };
      report(notSupported(place, { what: "`plan` is", help: "write the order of the nodes as edges of a graph" }));
    } else if (item.kind === "Test" && !features.has("test")) {
      const place = { file: file.source, span: item.title.span };
      report(notSupported(place, { what: "`test` is", help: "remove it" }));
    }
  }
}
