/**
 * From a text to bound graphs: reads the file and what it imports, resolves names, types everything. The front half of the
 * compiler; checks, proofs and lowering go on from its result.
 */
import { notSupported, unusedDeclaration } from "../../diagnostics/catalog/names.ts";
import { newSuggestions } from "../../diagnostics/similar.ts";
import { sortDiagnostics, type Diagnostic } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundGraph } from "./bound-graph.ts";
import type { BoundPlan } from "./plan/bound-plan.ts";
import type { CompilerHost } from "../load/host.ts";
import { loadFiles, type LoadedFile } from "../load/load-files.ts";
import { readSyntax, type Spelling } from "../load/read-syntax.ts";
import type { TypeTable } from "../types/type-table.ts";
import { bindGraph } from "./bind-graph.ts";
import { orderCalls } from "./call-order.ts";
import { declareTypes, nameTypes } from "./declare-types.ts";
import { FEATURES, type Feature, type Features } from "./features.ts";
import { declareFile, type CallableUnit, type FileScope, type GraphUnit, type PlanUnit } from "./file-scope.ts";
import { bindPlan } from "./plan/bind-plan.ts";
import { reportJumps } from "./report-jumps.ts";

export interface BindOptions {
  /** Where the text stands: imports are relative to it, and messages name it. */
  readonly path: string;
  readonly host: CompilerHost;
  /** What imports must not leave; else the nearest directory above with a `package.json`, else the file's own. */
  readonly root?: string | undefined;
  /** Else by the path: `.yaml` and `.yml` are YAML, all others text. */
  readonly spelling?: Spelling | undefined;
  /** What is done although this version cannot do it all: for the parts that bring it. */
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
  /** What a file imports stands before it; the entry file is the last. */
  readonly files: readonly LoadedFile[];
  readonly entry: LoadedFile;
  /** The entry file's names, for what is bound beside graphs (plans, tests). */
  readonly scope: FileScope;
  readonly types: TypeTable;
  /** Of the entry file all; of imported files errors only, because their warnings are told where they are checked. Sorted. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Never throws, whatever the text; reads files through `host` only and runs nothing. */
export function bindProject(text: string, options: BindOptions): BoundProject {
  const { path, host, root, spelling } = options;
  const features: Features = new Set([...FEATURES, ...(options.supports ?? [])]);
  const loaded = loadFiles(
    { text, path },
    { host, root, readSyntax: (part, at) => readSyntax(part, at, at === path ? spelling : undefined) },
  );
  const { entry } = loaded;
  const found: Diagnostic[] = [...loaded.diagnostics];
  const report = (diagnostic: Diagnostic): void => {
    if (diagnostic.severity === "error" || diagnostic.file === entry.source) found.push(diagnostic);
  };

  const scopes = new Map<LoadedFile, FileScope>();
  const types = new Map<string, ValueType>();
  const suggestions = newSuggestions();
  const typeNames = nameTypes([...loaded.files].reverse());
  for (const file of loaded.files) {
    const scope = declareFile(file, scopes, report, suggestions);
    scopes.set(file, scope);
    declareTypes(scope, typeNames, types, report);
  }
  const scope = scopes.get(entry) as FileScope;

  const order = orderCalls([...scope.graphs, ...scope.plans], report);
  const bound = new Map<Ast.GraphDecl, BoundGraph>();
  const plans = new Map<Ast.PlanDecl, BoundPlan>();
  for (const unit of order.units) {
    const options = {
      types,
      report,
      hasSyntaxErrors: hasErrorWithin(unit),
      boundGraph: (callee: GraphUnit) => (order.isCut(unit, callee) ? undefined : bound.get(callee.declaration)),
      boundPlan: (callee: PlanUnit) => (order.isCut(unit, callee) ? undefined : plans.get(callee.declaration)),
    };
    if (isPlanUnit(unit)) {
      if (features.has("plan")) plans.set(unit.declaration, bindPlan(unit, options));
      continue;
    }
    const graph = bindGraph(unit, options);
    reportJumps(graph, unit, report);
    bound.set(unit.declaration, graph);
  }
  reportUnsupported(entry, features, report);
  reportUnused(scope, features, report);
  return {
    graphs: scope.graphs.flatMap((unit) => bound.get(unit.declaration) ?? []),
    allGraphs: [...bound.values()],
    plans: scope.plans.flatMap((unit) => plans.get(unit.declaration) ?? []),
    allPlans: [...plans.values()],
    files: loaded.files,
    entry,
    scope,
    types,
    diagnostics: sortDiagnostics(found),
  };
}

function isPlanUnit(unit: CallableUnit): unit is PlanUnit {
  return unit.declaration.kind === "Plan";
}

/** Whether the text of a graph or plan could not be read as it stands. */
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

/** NG117 for whole declarations. The one place that refuses them: `features.ts` opens them. */
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

/**
 * NG111 for imports and secrets. Types, graphs and plans may be there for other files; graphs and plans are what a file is
 * run by.
 */
function reportUnused(scope: FileScope, features: Features, report: (diagnostic: Diagnostic) => void): void {
  const { file, used } = scope;
  // What could not be read may be what uses it; so may a test or plan that was refused.
  const isPartial =
    file.errors.length > 0 ||
    file.syntax.items.some((item) => (item.kind === "Plan" && !features.has("plan")) || item.kind === "Test");
  if (isPartial) return;
  for (const [name, { kind, identifier }] of scope.names) {
    if (used.has(name) || kind === "broken") continue;
    const isImported = file.imports.some(({ declaration }) =>
      declaration.names.some(({ local }) => local === identifier),
    );
    if (!isImported && kind !== "secret") continue;
    const place = { file: file.source, span: identifier.span };
    report(unusedDeclaration(place, { name, what: kind === "secret" ? "secret" : "import" }));
  }
}
