/**
 * Generates modules from graphs and plans: TypeScript, JavaScript or declarations. The target decides which parts are
 * written and how they are annotated.
 *
 * A module imports the node functions, and `ngraph/generated` as `$`. Its internal names begin with `$`, which no name
 * of a graph does.
 */
import type { ImportedType } from "../modules/type-scope.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { FunctionSpec, Table } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { graphsCalledBy, type BoundGraph } from "../bind/bound-graph.ts";
import type { BoundPlan } from "../bind/plan/bound-plan.ts";
import { planAsGraph } from "../bind/plan/plan-as-graph.ts";
import type { Span } from "../../diagnostics/source.ts";
import { baseName, directoryOf, relativeSpecifier } from "../load/paths.ts";
import { runsDirectly } from "../../runtime/table/runs-directly.ts";
import { emitChecks } from "./emit-checks.ts";
import { emitDirect } from "./emit-direct.ts";
import { emitTable } from "./emit-table.ts";
import { engineParts } from "./engine-parts.ts";
import { completedType, emitChannelTypes, storedType, unmarked, type Mark } from "./emit-channel-types.ts";
import { emitGraphTypes } from "./emit-graph-types.ts";
import { expressionToTypeScript, type ExpressionNames } from "./expression-to-typescript.ts";
import { createIdentifiers, pascalCase, type Identifiers } from "./identifiers.ts";
import { createModuleImports, type ModuleImports } from "./module-imports.ts";
import { createSourceMap, placeMark, takePlaces, type SourceMap } from "./source-map.ts";
import { createTypeScope, type TypeScope } from "./type-scope.ts";
import { commentText, docComment, fieldName, literal, quote } from "./quote.ts";

/** The source of a generated module: a file without errors. A `CompileResult` is one. */
export interface ModuleSource {
  /** The path of the graph file. */
  readonly path: string;
  /** Its types, in declaration order; records and recursive ones are `ref`s into `namedTypes`. */
  readonly types: readonly {
    readonly name: string;
    readonly type: ValueType;
    readonly doc?: string;
    /** Of its name in the file. */
    readonly span?: Span;
  }[];
  /** The types that `ref`s name, of all files. */
  readonly namedTypes: ReadonlyMap<string, ValueType>;
  /** Types to import from a TypeScript module, by name of their `ref`. */
  readonly importedTypes?: ReadonlyMap<string, ImportedType>;
  /** The graph file that imports a type of a TypeScript module; `from` if it is one of several such files. */
  readonly importerOf: (type: string, module: string, from: string) => string;
  /** Its graphs, in declaration order. All of them have tables: only files without errors become modules. */
  readonly graphs: readonly { readonly bound: BoundGraph; readonly table: Table | undefined }[];
  /** Its plans, in declaration order, all with tables. */
  readonly plans?: readonly { readonly bound: BoundPlan; readonly table: PlanTable | undefined }[];
}

type GraphUnit = { readonly kind: "graph"; readonly bound: BoundGraph; readonly table: Table };
type PlanUnit = { readonly kind: "plan"; readonly bound: BoundPlan; readonly table: PlanTable };
/** Larger graphs run in the engine: the code of their calls would take longer to read than it saves. */
const MOST_DIRECT_NODES = 5000;

const DEFAULT_RUNTIME = "ngraph/generated";

/** A graph or plan in the module. */
type Unit = GraphUnit | PlanUnit;

export interface EmitOptions {
  /** The path of the generated module. Default: beside the source. Imports are relative to it. */
  readonly outPath?: string;
  /** The package's entry point for generated modules. */
  readonly runtime?: string;
  /**
   * `js`: import `.ts` modules as `.js`, for projects whose tsconfig.json does not allow imports of `.ts` files. Default: as
   * written for TypeScript, `js` for the other targets.
   */
  readonly extensions?: "as-written" | "js";
  /** The comment of each check begins with its span in the graph file: `// 120-141 node send = …`. */
  readonly marks?: boolean;
}

export type EmitTarget = "ts" | "js" | "dts";

const SUFFIX: Readonly<Record<EmitTarget, string>> = { ts: ".ts", js: ".js", dts: ".d.ts" };

export function emitModule(source: ModuleSource, target: EmitTarget, options: EmitOptions = {}): string {
  return emit(source, target, options, unmarked);
}

/** A generated module with its source map. */
export interface MappedModule {
  readonly code: string;
  /** `undefined` for a file without a graph or a plan. */
  readonly map: SourceMap | undefined;
}

/** A module with a source map, which contains the graph file unless the target is declarations. */
export function emitMapped(source: ModuleSource, target: EmitTarget, options: EmitOptions = {}): MappedModule {
  const outPath = options.outPath ?? source.path + SUFFIX[target];
  const { text, places } = takePlaces(emit(source, target, options, placeMark));
  const file = unitsOf(source)[0]?.bound.file;
  if (file === undefined) return { code: text, map: undefined };
  const names = {
    file: baseName(outPath),
    source: relativeSpecifier(directoryOf(outPath), source.path).replace(/^\.\//, ""),
    withContent: target !== "dts",
  };
  return { code: text, map: createSourceMap(places, file, names) };
}

function emit(source: ModuleSource, target: EmitTarget, options: EmitOptions, mark: Mark): string {
  const identifiers = createIdentifiers();
  const imports = createModuleImports(identifiers, {
    outPath: options.outPath ?? source.path + SUFFIX[target],
    asJavaScript: (options.extensions ?? (target === "ts" ? "as-written" : "js")) === "js",
  });
  const context = {
    ...createContext(source, target, identifiers, imports, mark, options.runtime),
    marks: options.marks === true,
  };
  const runtime = options.runtime ?? DEFAULT_RUNTIME;
  // Types and imports are collected while the other parts are written, so they come last.
  const units = target === "dts" ? [] : emitUnits(context);
  const functions = unitsOf(source).flatMap((unit) =>
    unit.kind === "graph" ? emitGraph(unit, context) : emitPlan(unit, context),
  );
  const types = target === "js" ? [] : context.types.declarations();
  const header = [
    `// Generated by ngc from ${commentText(baseName(source.path)).replaceAll(/[\r\n]/g, " ")}. Do not edit: the next compile overwrites it.`,
    // A project may check its JavaScript files: the declarations of this one have its types.
    ...(target === "js" ? ["// @ts-nocheck"] : []),
    ...entryPoints(runtime, context).map(
      ([name, entry]) => `import ${target === "dts" ? "type " : ""}* as ${name} from ${quote(entry)};`,
    ),
    ...imports.lines(target),
  ];
  return `${[header.join("\n"), ...types, ...units, ...functions].join("\n\n")}\n`;
}

/**
 * The entry points that a module imports, by their names in it. That of graphs which run directly is a part of the package that loads the
 * engine on use; a module whose graphs all run directly imports it alone.
 */
function entryPoints(runtime: string, { called, direct }: EmitContext): readonly (readonly [string, string])[] {
  const ofDirect = directEntry(runtime);
  if (called.length > 0 && called.every(({ bound }) => direct.has(bound))) return [["$", ofDirect]];
  return direct.size === 0
    ? [["$", runtime]]
    : [
        ["$", runtime],
        ["$d", ofDirect],
      ];
}

/** The entry point for graphs that run directly, beside that of generated modules. */
function directEntry(runtime: string): string {
  return runtime.replace(GENERATED_ENTRY, "direct$1");
}

const GENERATED_ENTRY = /generated((?:\.[cm]?[jt]s)?)$/;

interface EmitContext {
  readonly marks?: boolean;
  /** The path of the graph file of the module. */
  readonly path: string;
  readonly mark: Mark;
  readonly target: EmitTarget;
  readonly imports: ModuleImports;
  /** Types of the file and graphs, by name. */
  readonly exported: ReadonlyMap<string, string>;
  readonly identifiers: Identifiers;
  readonly types: TypeScope;
  /** Names of the constants that contain a table and its bindings, by graph or plan. */
  readonly units: ReadonlyMap<Unit["bound"], string>;
  readonly called: readonly Unit[];
  /** The graphs of the file that run directly. */
  readonly direct: ReadonlySet<Unit["bound"]>;
}

function createContext(
  source: ModuleSource,
  target: EmitTarget,
  identifiers: Identifiers,
  imports: ModuleImports,
  mark: Mark,
  runtime: string = DEFAULT_RUNTIME,
): EmitContext {
  const own = unitsOf(source);
  const called = collectUnits(own);
  const exported = new Map<string, string>();
  for (const { bound } of own) exported.set(bound.name, identifiers.allocate(bound.name));
  for (const { name } of source.types) exported.set(name, identifiers.allocate(name));
  // The functions of this file's graphs and plans are named first, so that they keep their names.
  for (const { bound } of target === "dts" ? [] : own) {
    for (const spec of bound.functions) imports.value(spec.name, spec.export, spec.module, bound.file.path);
  }
  const types = createTypeScope(source, exported, identifiers, imports, mark);
  const units = new Map(called.map(({ kind, bound }, at) => [bound, `$${kind}${at}`]));
  const mayRunDirectly = target !== "dts" && GENERATED_ENTRY.test(runtime);
  const direct = new Set(
    own.flatMap(({ kind, bound, table }) =>
      mayRunDirectly && kind === "graph" && table.nodes.length <= MOST_DIRECT_NODES && runsDirectly(table)
        ? [bound]
        : [],
    ),
  );
  return { path: source.path, mark, target, imports, exported, identifiers, types, units, called, direct };
}

/** The graphs and plans of a file, in source order. */
function unitsOf({ path, graphs, plans = [] }: ModuleSource): readonly Unit[] {
  const missing = (): never => {
    throw new TypeError(`${path} has errors: only a file without becomes a module`);
  };
  const units: Unit[] = [
    ...graphs.map(({ bound, table }): Unit => ({ kind: "graph", bound, table: table ?? missing() })),
    ...plans.map(({ bound, table }): Unit => ({ kind: "plan", bound, table: table ?? missing() })),
  ];
  return units.sort((a, b) => a.bound.declaration.span.start - b.bound.declaration.span.start);
}

/** Graphs and plans with all that they call; a called graph or plan comes before its callers. */
function collectUnits(units: readonly Unit[]): readonly Unit[] {
  const found = new Map<Unit["bound"], Unit>();
  const open = [...units].reverse();
  for (let next = open.at(-1); next !== undefined; next = open.at(-1)) {
    const missing = calledBy(next).filter(({ bound }) => !found.has(bound));
    if (found.has(next.bound) || missing.length === 0) {
      open.pop();
      if (!found.has(next.bound)) found.set(next.bound, next);
    } else for (const each of missing) open.push(each);
  }
  return [...found.values()];
}

/** The graphs and plans that a unit calls, in the order of their numbers in its table: by their first call. */
function calledBy(unit: Unit): readonly Unit[] {
  if (unit.kind === "plan") {
    const { bound, table } = unit;
    return [
      ...bound.graphs.map((graph, at): Unit => ({ kind: "graph", bound: graph, table: table.graphs[at] as Table })),
      ...bound.plans.map((plan, at): Unit => ({ kind: "plan", bound: plan, table: table.plans[at] as PlanTable })),
    ];
  }
  const { bound, table } = unit;
  const called = new Set(bound.nodes.flatMap((node) => graphsCalledBy(node.call)));
  return [
    ...[...called].map((graph, at): Unit => ({ kind: "graph", bound: graph, table: table.graphs[at] as Table })),
    ...(bound.plans ?? []).map((plan, at): Unit => ({
      kind: "plan",
      bound: plan,
      table: table.plans?.[at] as PlanTable,
    })),
  ];
}

/** The constant with the code of a graph that runs directly. */
function directName(unit: string): string {
  return `${unit}d`;
}

/** The name of the entry point for graphs that run directly. */
function directNamespace({ called, direct }: EmitContext): "$" | "$d" {
  return called.every(({ bound }) => direct.has(bound)) ? "$" : "$d";
}

/** The call that creates the engine of a graph. */
function emitCreate(types: string, { bound, table }: GraphUnit, context: EmitContext): string {
  const unit = context.units.get(bound) ?? "";
  return context.direct.has(bound)
    ? `${directNamespace(context)}.createDirectGraph${types}(${unit}, options, ${directName(unit)})`
    : `$.createGraph${types}(${unit}, options${engineParts(table)})`;
}

/** A constant for each table with its functions and expressions. */
function emitUnits(context: EmitContext): readonly string[] {
  return context.called.map((unit) => {
    const { kind, bound, table } = unit;
    const name = context.units.get(bound) ?? "";
    const called = calledBy(unit);
    const unitOf = (other: Unit["bound"]): string => context.units.get(other) ?? "";
    const tables = (of: Unit["kind"]): readonly string[] =>
      called.filter((other) => other.kind === of).map((other) => `${unitOf(other.bound)}.table`);
    const constants: string[] = [];
    const expressions = emitExpressions(table, name, constants, context);
    const functions = table.functions.map((spec) => {
      const local = context.imports.value(spec.name, spec.export, spec.module, bound.file.path);
      return spec.name === local && spec.name !== "__proto__" ? local : `${fieldName(spec.name)}: ${local}`;
    });
    const graphs = called.map(({ bound: graph }) => `${fieldName(graph.name)}: ${unitOf(graph)}.bindings`);
    const bindings = [
      functions.length === 0 ? "functions: {}," : `functions: { ${functions.join(", ")} },`,
      expressions.length === 0 ? "expressions: []," : `expressions: [\n${expressions.join("\n")}\n    ],`,
      graphs.length === 0 ? "graphs: {}," : `graphs: { ${graphs.join(", ")} },`,
    ];
    const tableText = emitTable(table, tables("graph"), tables("plan"));
    const annotation = context.target === "ts" ? `: $.Generated${kind === "plan" ? "Plan" : "Graph"}` : "";
    const direct =
      unit.kind === "graph" && context.direct.has(bound)
        ? [
            `const ${directName(name)}${context.target === "ts" ? `: ${directNamespace(context)}.DirectModule` : ""} = ${emitDirect(unit.table, { isTyped: context.target === "ts", namespace: directNamespace(context) })};`,
          ]
        : [];
    return [
      ...constants,
      ...direct,
      `const ${bound.file.path === context.path ? context.mark(bound.declaration.name.span, name) : name}${annotation} = {\n  table: ${tableText.replaceAll("\n", "\n  ")},\n  bindings: {\n${bindings
        .map((line) => `    ${line}`)
        .join("\n")}\n  },\n};`,
    ].join("\n");
  });
}

function emitExpressions(
  table: Table | PlanTable,
  unit: string,
  constants: string[],
  context: EmitContext,
): readonly string[] {
  const names: ExpressionNames = {
    functions: table.functions.map((spec) => spec.name),
    nonNull: context.target === "ts" ? "!" : "",
    constant(value: unknown): string {
      const constant = `${unit}c${constants.length}`;
      constants.push(`const ${constant} = $.constant(${literal(value)});`);
      return constant;
    },
  };
  return table.expressions.map((expression) => `      ${expressionToTypeScript(expression, names)},`);
}

/** The exported function of a graph, with the types of its input and output. */
function emitGraph({ bound, table }: GraphUnit, context: EmitContext): readonly string[] {
  const identifier = context.exported.get(bound.name) ?? bound.name;
  const exports = identifier === bound.name ? [] : [`export { ${identifier} as ${bound.name} };`];
  const doc = docComment(bound.doc);
  const keyword = identifier === bound.name ? "export " : "";
  if (context.target === "js") {
    return [
      `${doc}${keyword}function ${context.mark(bound.declaration.name.span, identifier)}(options = {}) {\n  return ${emitCreate("", { kind: "graph", bound, table }, context)};\n}`,
      ...exports,
    ];
  }
  const { identifiers } = context;
  const pascal = pascalCase(bound.name);
  const [input, output] = [identifiers.allocate(`${pascal}Input`), identifiers.allocate(`${pascal}Output`)];
  const state = identifiers.allocate(`${pascal}State`);
  const config = bound.config.length === 0 ? "" : identifiers.allocate(`${pascal}Config`);
  const checks = identifiers.allocate(`${pascal}Checks`);
  const write = (value: ValueType, of: BoundGraph, json?: string): string =>
    context.types.write(value, of.file.path, of.functions, json);
  const type = (value: ValueType): string => write(value, bound);
  const isComplete = bound.channels
    .filter(({ role }) => role === "output")
    .every((channel) => storedType(channel, type) === completedType(channel, type));
  const names = {
    input,
    output,
    completed: isComplete ? output : identifiers.allocate(`${pascal}Completed`),
    state,
    config,
    node: identifiers.allocate(`${pascal}Node`),
    pause: identifiers.allocate(`${pascal}Pause`),
    update: identifiers.allocate(`${pascal}Update`),
    signals: identifiers.allocate(`${pascal}Signals`),
    types: identifiers.allocate(`${pascal}Types`),
  };
  const types = [
    ...emitChannelTypes(bound, names, type, context.mark),
    ...emitGraphTypes(bound, names, write, context.mark),
  ];
  const options = context.target === "dts" ? "options?" : "options";
  const preset = context.target === "dts" ? "" : " = {}";
  const declaration = `function ${context.mark(bound.declaration.name.span, identifier)}(${options}: $.GraphOptions<${names.types}>${preset}): $.Graph<${names.types}>`;
  if (context.target === "dts") return [...types, `${doc}${keyword}declare ${declaration};`, ...exports];
  return [
    ...types,
    `${doc}${keyword}${declaration} {\n  return ${emitCreate(`<${names.types}>`, { kind: "graph", bound, table }, context)};\n}`,
    ...exports,
    ...checksOf(bound, checks, type, context),
  ];
}

/** The checks for `tsc` of the functions that a graph, or a plan as a graph, imports. */
function checksOf(
  bound: BoundGraph,
  name: string,
  type: (value: ValueType) => string,
  context: EmitContext,
): readonly string[] {
  const checks = emitChecks(bound, {
    type,
    expected: (value) => context.types.write(value, bound.file.path, bound.functions, "unknown"),
    mark: ({ start, end }) => (context.marks === true ? `${start}-${end} ` : ""),
    function: (imported) => {
      const spec = bound.functions.find((item) => item.name === imported) as FunctionSpec;
      return context.imports.value(spec.name, spec.export, spec.module, bound.file.path);
    },
  });
  if (checks.length === 0) return [];
  return [
    `/** Checked by tsc: imported functions accept the arguments that \`${bound.name}\` passes, and return what it stores. */\n` +
      `export type ${name} = [\n${checks.map((line) => `  ${line}`).join("\n")}\n];`,
  ];
}

/**
 * The exported function that creates the runner of a plan, with the types of its inputs and outputs and the names of
 * its tasks.
 */
function emitPlan({ bound, table }: PlanUnit, context: EmitContext): readonly string[] {
  const { target, identifiers } = context;
  const identifier = context.exported.get(bound.name) ?? bound.name;
  const exports = identifier === bound.name ? [] : [`export { ${identifier} as ${bound.name} };`];
  const doc = docComment(bound.doc);
  const keyword = identifier === bound.name ? "export " : "";
  const unit = context.units.get(bound) ?? "";
  if (target === "js") {
    return [
      `${doc}${keyword}function ${context.mark(bound.declaration.name.span, identifier)}(options = {}) {\n  return $.createPlan(${unit}, options${engineParts(table)});\n}`,
      ...exports,
    ];
  }
  const pascal = pascalCase(bound.name);
  const names = {
    input: identifiers.allocate(`${pascal}Input`),
    output: identifiers.allocate(`${pascal}Output`),
    task: identifiers.allocate(`${pascal}Task`),
    config: bound.config.length === 0 ? "" : identifiers.allocate(`${pascal}Config`),
    checks: identifiers.allocate(`${pascal}Checks`),
  };
  const type = (value: ValueType): string => context.types.write(value, bound.file.path, bound.functions);
  const tasks = table.tasks.map((task) => quote(task.name)).join(" | ");
  const types = [
    ...emitChannelTypes(bound, names, type, context.mark),
    `${docComment(`The tasks of \`${bound.name}\`, in the order of the file.`)}export type ${context.mark(bound.declaration.name.span, names.task)} = ${tasks};`,
  ];
  const generics = [names.input, names.output, names.task, names.config].filter((name) => name !== "").join(", ");
  const isDeclared = target === "dts";
  const declaration = `function ${context.mark(bound.declaration.name.span, identifier)}(options${isDeclared ? "?" : ""}: $.PlanOptions${isDeclared ? "" : " = {}"}): $.Plan<${generics}>`;
  if (isDeclared) return [...types, `${doc}${keyword}declare ${declaration};`, ...exports];
  return [
    ...types,
    `${doc}${keyword}${declaration} {\n  return $.createPlan<${generics}>(${unit}, options${engineParts(table)});\n}`,
    ...exports,
    ...checksOf(planAsGraph(bound), names.checks, type, context),
  ];
}
