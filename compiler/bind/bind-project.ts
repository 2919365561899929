/**
 * From loaded files to bound graphs and plans, in three stages: `resolveProject` declares the names and types of each file and
 * resolves the names of each graph; `buildProjectControl` builds the control flow; `typeProject` types each graph and plan
 * after those that it calls.
 */
import { notSupported } from "../../diagnostics/catalog/names.ts";
import { sortDiagnostics, type Diagnostic } from "../../diagnostics/diagnostic.ts";
import { newSuggestions } from "../../diagnostics/similar.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { LoadedFile, LoadedProject } from "../load/load-project.ts";
import type { ImportedType, ReadTypes } from "../modules/type-scope.ts";
import type { TypeTable } from "../types/type-table.ts";
import { bindGraph } from "./bind-graph.ts";
import { bindTests, type BoundTest, type FindGraph } from "./bind-tests.ts";
import type { BoundGraph } from "./bound-graph.ts";
import { orderCalls } from "./call-order.ts";
import { declareTypes, nameTypes } from "./declare-types.ts";
import { FEATURES, type Feature, type Features } from "./features.ts";
import { declareFile } from "./declare-file.ts";
import type { CallableUnit, FileScope, GraphUnit, PlanUnit } from "./file-scope.ts";
import { bindPlan } from "./plan/bind-plan.ts";
import type { BoundPlan } from "./plan/bound-plan.ts";
import type { BindOptions as UnitOptions } from "./open-context.ts";
import { resolveGraph, type ResolvedGraph } from "./resolve-graph.ts";
import { buildControl, type GraphControl } from "../control/graph-control.ts";

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
  /** The tests of the entry file, in source order. Tests of graphs with errors are not bound. */
  readonly tests: readonly BoundTest[];
  /** By graph: the names of its file. */
  readonly scopes: ReadonlyMap<BoundGraph, FileScope>;
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

/** The files of a project with resolved names. */
export interface ResolvedProject {
  readonly loaded: LoadedProject;
  readonly features: Features;
  /** The names of the entry file. */
  readonly scope: FileScope;
  readonly types: TypeTable;
  readonly importedTypes: ReadonlyMap<string, ImportedType>;
  /** Graphs and plans that the entry file declares or calls, called ones before their callers. */
  readonly units: readonly (ResolvedGraph | UnboundPlan)[];
  /** Results of typing, which calls refer to. Filled by `typeProject`. */
  readonly bound: BoundUnits;
  /** Findings so far; typing adds to them. */
  readonly found: Diagnostic[];
  readonly report: (diagnostic: Diagnostic) => void;
}

interface UnboundPlan {
  readonly unit: PlanUnit;
  readonly options: UnitOptions;
}

interface BoundUnits {
  readonly graphs: Map<Ast.GraphDecl, BoundGraph>;
  readonly plans: Map<Ast.PlanDecl, BoundPlan>;
}

/** Binds a project: its names, its control flow, its types. Never throws, whatever was loaded. */
export function bindProject(loaded: LoadedProject, options: BindOptions = {}): BoundProject {
  const names = resolveProject(loaded, options);
  return typeProject(names, buildProjectControl(names));
}

/** Declares the names and types of all files, and resolves those in graphs. Never throws. */
export function resolveProject(loaded: LoadedProject, options: BindOptions = {}): ResolvedProject {
  const { entry } = loaded;
  const features: Features = new Set([...FEATURES, ...(options.supports ?? [])]);
  const found: Diagnostic[] = [...loaded.diagnostics];
  const report = (diagnostic: Diagnostic): void => {
    if (diagnostic.severity === "error" || diagnostic.file === entry.source) found.push(diagnostic);
  };
  const types = new Map<string, ValueType>();
  const importedTypes: ReadTypes["imports"] = new Map();
  const scope = declareFiles(loaded, types, importedTypes, report);
  // Reports errors of constants that nothing reads.
  for (const declared of scope.names.values()) if (declared.kind === "const") declared.value(declared.identifier.span);
  const bound: BoundUnits = { graphs: new Map(), plans: new Map() };
  const units = resolveUnits(scope, bound, { types, report });
  return { loaded, features, scope, types, importedTypes, units, bound, found, report };
}

/** The control flow of each graph of a project. */
export function buildProjectControl({ units }: ResolvedProject): ReadonlyMap<ResolvedGraph, GraphControl> {
  return new Map(units.flatMap((unit) => (isGraph(unit) ? [[unit, buildControl(unit)] as const] : [])));
}

/** Types each graph and plan. Never throws. */
export function typeProject(
  resolved: ResolvedProject,
  control: ReadonlyMap<ResolvedGraph, GraphControl>,
): BoundProject {
  const { loaded, features, scope, units, bound, report } = resolved;
  const { graphs, plans } = bound;
  const scopes = new Map<BoundGraph, FileScope>();
  const resolvedGraphs = new Map<Ast.GraphDecl, ResolvedGraph>();
  const findGraph: FindGraph = (declaration) => {
    const bound = graphs.get(declaration);
    const resolvedGraph = resolvedGraphs.get(declaration);
    return bound === undefined || resolvedGraph === undefined ? undefined : { resolved: resolvedGraph, bound };
  };
  for (const unit of units) {
    if (!isGraph(unit)) {
      if (features.has("plan")) plans.set(unit.unit.declaration, bindPlan(unit.unit, unit.options));
      continue;
    }
    const graph = bindGraph(unit, control.get(unit) ?? buildControl(unit));
    graphs.set(graph.declaration, graph);
    resolvedGraphs.set(graph.declaration, unit);
    scopes.set(graph, unit.unit.scope);
  }
  reportUnsupported(loaded.entry, features, report);
  const tests = features.has("test") ? bindTests(testsOf(loaded.entry), scope, findGraph, report) : [];
  return {
    tests,
    graphs: scope.graphs.flatMap((unit) => graphs.get(unit.declaration) ?? []),
    allGraphs: [...graphs.values()],
    plans: scope.plans.flatMap((unit) => plans.get(unit.declaration) ?? []),
    allPlans: [...plans.values()],
    scopes,
    files: loaded.files,
    entry: loaded.entry,
    scope,
    types: resolved.types,
    importedTypes: resolved.importedTypes,
    diagnostics: sortDiagnostics(resolved.found),
  };
}

function isGraph(unit: ResolvedGraph | UnboundPlan): unit is ResolvedGraph {
  return "context" in unit;
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
  const read: ReadTypes = { table: types, known: new Map(), results: new Map(), reserved, refs: new Set(), imports };
  for (const file of files) {
    const scope = declareFile(file, scopes, read, report, suggestions);
    scopes.set(file, scope);
    declareTypes(scope, typeNames, types, report);
  }
  return scopes.get(entry) as FileScope;
}

/** Resolves the names of all graphs that the entry file declares or calls. Plans are bound in one stage, with their types. */
function resolveUnits(
  scope: FileScope,
  { graphs, plans }: BoundUnits,
  shared: Pick<UnitOptions, "types" | "report">,
): (ResolvedGraph | UnboundPlan)[] {
  const order = orderCalls([...scope.graphs, ...scope.plans], shared.report);
  return order.units.map((unit) => {
    const options: UnitOptions = {
      ...shared,
      hasSyntaxErrors: hasErrorWithin(unit),
      boundGraph: (callee: GraphUnit) => (order.isCut(unit, callee) ? undefined : graphs.get(callee.declaration)),
      boundPlan: (callee: PlanUnit) => (order.isCut(unit, callee) ? undefined : plans.get(callee.declaration)),
    };
    return isPlanUnit(unit) ? { unit, options } : resolveGraph(unit, options);
  });
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

function testsOf({ syntax }: LoadedFile): readonly Ast.TestDecl[] {
  return syntax.items.flatMap((item) => (item.kind === "Test" ? [item] : []));
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
