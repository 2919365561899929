/**
 * The compiler as a pipeline: load (files, modules, syntax), bind names, build the control flow, bind types (they depend on the
 * control flow), check and prove, lower. Types, checks, proofs and lowering read one control flow (`BoundGraph.control`).
 * It does I/O through the host only, runs no user code, and never throws.
 */
import { hasErrors, sortDiagnostics, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { withoutFollowUps } from "../diagnostics/follow-ups.ts";
import type { Span } from "../diagnostics/source.ts";
import type { PlanTable } from "../runtime/table/plan-table.ts";
import type { Table } from "../runtime/table/table.ts";
import type { ValueType } from "../runtime/table/value-type.ts";
import { finish, type Steps } from "./algorithms/steps.ts";
import { buildProjectControl, resolveProject, typeProject, type BoundProject } from "./bind/bind-project.ts";
import { compareWithBaseline, type Baseline } from "./baseline/compare-with-baseline.ts";
import type { Feature } from "./bind/features.ts";
import type { BoundTest } from "./bind/bind-tests.ts";
import type { BoundGraph } from "./bind/bound-graph.ts";
import type { BoundPlan } from "./bind/plan/bound-plan.ts";
import type { Proof, Verdict } from "./checks/check-graph.ts";
import { checkProject, type ProjectCheck } from "./checks/check-project.ts";
import { emptyHost, type CompilerHost } from "./load/host.ts";
import { createImporterIndex } from "./load/importer-index.ts";
import { lowerGraph, lowerPlan, noTables } from "./lower/lower.ts";
import { loadProject } from "./load/load-project.ts";
import type { Spelling } from "./load/read-syntax.ts";
import { isLibraryPath } from "../stdlib/graphs/library-files.ts";
import type { ImportedType } from "./modules/type-scope.ts";
import { readSuppressions } from "./suppress/read-suppressions.ts";
import { suppressFindings, type SuppressedDiagnostic } from "./suppress/suppress-findings.ts";

export interface CompileOptions {
  /** The path of the text: imports are relative to it, and messages name it. Default `input.ngraph`. */
  readonly path?: string;
  /** How imports are read. Default: there are no files, so every relative import is missing. */
  readonly host?: CompilerHost;
  /**
   * The directory that imports must not leave. Default: the nearest one above with a `package.json`, or the root of the
   * workspace that lists it.
   */
  readonly root?: string;
  /** Default: by the path. `.yaml` and `.yml` are YAML, all others text. */
  readonly spelling?: Spelling;
  /** The number of states after which a proof gives up (NG900). Default 100,000. */
  readonly maxStates?: number;
  /** Older versions of the graphs. Changes that prevent their threads from resuming are reported (NG610). */
  readonly baseline?: Baseline;
  /** Features to compile although this version does not support them in full. */
  readonly supports?: Iterable<Feature>;
}

/** A graph of the file. */
export interface CompiledGraph {
  readonly name: string;
  readonly bound: BoundGraph;
  /** Absent where the file has errors. */
  readonly table: Table | undefined;
  /** Properties that hold for every run. */
  readonly proofs: readonly Proof[];
  /** The summary of all checks; absent if errors prevent the exploration of its runs. */
  readonly verdict: Verdict | undefined;
}

/** A plan of the file. */
export interface CompiledPlan {
  readonly name: string;
  readonly bound: BoundPlan;
  /** Absent where the file has errors. */
  readonly table: PlanTable | undefined;
}

export interface CompileResult {
  readonly path: string;
  /** The table of the first graph; absent where there is none or the file has errors. */
  readonly table: Table | undefined;
  /**
   * The tables of all graphs and plans of the file, by name, in source order; empty where the file has errors. Their
   * `kind` is `graph` or `plan`.
   */
  readonly tables: ReadonlyMap<string, Table | PlanTable>;
  /** All findings about the file, and the errors of the files that it imports. Sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
  /** Findings that comments in the text suppress; `diagnostics` does not contain them. */
  readonly suppressed: readonly SuppressedDiagnostic[];
  /** The graphs of the file in source order, those with errors included. */
  readonly graphs: readonly CompiledGraph[];
  /** The plans of the file in source order, those with errors included. */
  readonly plans: readonly CompiledPlan[];
  /** The tests of the file in source order. */
  readonly tests: readonly BoundTest[];
  /** The types that the file declares, in source order. */
  readonly types: readonly {
    readonly name: string;
    readonly type: ValueType;
    readonly doc?: string;
    /** Of its name in the text. */
    readonly span: Span;
  }[];
  /** The targets of `ref` types, in all files. */
  readonly namedTypes: ReadonlyMap<string, ValueType>;
  /** The named types that a graph file imports from a TypeScript module. */
  readonly importedTypes: ReadonlyMap<string, ImportedType>;
  /** The graph file that imports a type of a TypeScript module; `from` where it is one of several. */
  readonly importerOf: (type: string, module: string, from: string) => string;
  /** Paths of the graph files that were read, this one last. */
  readonly files: readonly string[];
}

/**
 * Compiles a text. A file with errors has no tables; `diagnostics` states the errors.
 *
 * ```ts
 * const { table, diagnostics } = compile(`graph hello { node greet = print("hi")  start -> greet }`);
 * ```
 */
export function compile(text: string, options: CompileOptions = {}): CompileResult {
  return finish(compileInSteps(text, options));
}

/** Compiles a text in steps: a stage, or the check of one graph. Editors do other work between them. */
export function* compileInSteps(text: string, options: CompileOptions = {}): Steps<CompileResult> {
  const { path = "input.ngraph", baseline } = options;
  const project = yield* bindInSteps(text, path, options);
  yield;
  const checked = yield* checkProject(project, options.maxStates === undefined ? {} : { maxStates: options.maxStates });
  const found = withoutFollowUps([...project.diagnostics, ...checked.diagnostics]);
  const suppressions = readSuppressions(project.entry.syntax);
  const isValid = !hasErrors(found) && !hasErrors(suppressions.diagnostics);
  const { graphs, plans } = lowerProject(project, isValid, checked.results);
  if (isValid && baseline !== undefined) {
    for (const each of compareWithBaseline(baseline, graphs, project.entry.source)) found.push(each);
  }
  const { diagnostics, suppressed } = suppressFindings(sortDiagnostics(found), project.entry.syntax, suppressions, {
    // Without a baseline, no check has searched for differences.
    notLookedFor: baseline === undefined ? ["NG610"] : [],
  });
  let tables: CompileResult["tables"] | undefined;
  return {
    path,
    // A check of a large file needs no tables, and lowering takes a fifth of the time.
    get table() {
      return graphs[0]?.table;
    },
    get tables() {
      return (tables ??= tablesInOrder([...graphs, ...plans]));
    },
    diagnostics,
    suppressed,
    graphs,
    plans,
    tests: project.tests,
    types: declaredTypes(project),
    namedTypes: project.types,
    importedTypes: project.importedTypes,
    importerOf: createImporterIndex(project.files),
    files: project.files.map((file) => file.source.path).filter((each) => !isLibraryPath(each)),
  };
}

/** Binds a text in steps. What a stage has found for the next one is free when it returns: the checks need the bound project only. */
function* bindInSteps(
  text: string,
  path: string,
  { host = emptyHost, root, spelling, supports }: CompileOptions,
): Steps<BoundProject> {
  const loaded = loadProject(text, { path, host, root, spelling });
  yield;
  const names = resolveProject(loaded, { supports });
  yield;
  const control = buildProjectControl(names);
  yield;
  return typeProject(names, control);
}

/** The graphs and plans of the file. Where the file is valid, each is lowered when its table is read first. */
function lowerProject(
  project: BoundProject,
  isValid: boolean,
  results: ProjectCheck["results"],
): { readonly graphs: readonly CompiledGraph[]; readonly plans: readonly CompiledPlan[] } {
  const tables = noTables();
  return {
    graphs: project.graphs.map((bound) => ({
      name: bound.name,
      bound,
      get table() {
        return isValid ? lowerGraph(bound, tables) : undefined;
      },
      proofs: results.get(bound)?.proofs ?? [],
      verdict: results.get(bound)?.verdict,
    })),
    plans: project.plans.map((bound) => ({
      name: bound.name,
      bound,
      get table() {
        return isValid && !bound.hasErrors ? lowerPlan(bound, tables) : undefined;
      },
    })),
  };
}

function tablesInOrder(compiled: readonly (CompiledGraph | CompiledPlan)[]): CompileResult["tables"] {
  const ordered = [...compiled].sort((a, b) => a.bound.declaration.span.start - b.bound.declaration.span.start);
  return new Map(ordered.flatMap(({ name, table }) => (table === undefined ? [] : [[name, table]])));
}

function declaredTypes({ scope, entry }: BoundProject): CompileResult["types"] {
  const types: { name: string; type: ValueType; doc?: string; span: Span }[] = [];
  for (const item of entry.syntax.items) {
    if (item.kind !== "Type") continue;
    const declared = scope.names.get(item.name.name);
    if (declared?.kind !== "type" || declared.declaration !== item) continue;
    const { doc } = item;
    types.push({
      name: item.name.name,
      type: declared.type,
      ...(doc === undefined ? {} : { doc: doc.text }),
      span: item.name.span,
    });
  }
  return types;
}
