/** The names of one file: types, secrets, imports, graphs and plans share one namespace. */
import { duplicateName, missingExport, reservedName, wrongSortOfName } from "../../diagnostics/catalog/names.ts";
import { suggest, type Suggestions } from "../../diagnostics/similar.ts";
import type { Diagnostic, Place } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { FunctionSpec } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { LoadedFile, LoadedImport } from "../load/load-project.ts";
import type { LoadedModule } from "../load/load-module.ts";
import { BROKEN_TYPE, opaque } from "../types/construct.ts";

/** What a name of a file stands for. */
export type Declared =
  | {
      /** A value of a TypeScript module, or a type of one that was imported without saying `type`. */
      readonly kind: "import";
      readonly spec: FunctionSpec;
      readonly identifier: Ast.Identifier;
      readonly module: LoadedModule | undefined;
      readonly exported: "value" | "type" | "both";
    }
  | { readonly kind: "importedType"; readonly type: ValueType; readonly identifier: Ast.Identifier }
  | { readonly kind: "type"; readonly declaration: Ast.TypeDecl; readonly identifier: Ast.Identifier; type: ValueType }
  | { readonly kind: "secret"; readonly identifier: Ast.Identifier }
  | { readonly kind: "graph"; readonly unit: GraphUnit; readonly identifier: Ast.Identifier }
  | { readonly kind: "plan"; readonly unit: PlanUnit; readonly identifier: Ast.Identifier }
  /** An error has been reported about it. */
  | { readonly kind: "broken"; readonly identifier: Ast.Identifier };

/** A graph declaration in its file. */
export interface GraphUnit {
  readonly declaration: Ast.GraphDecl;
  readonly scope: FileScope;
}

/** A plan declaration in its file. */
export interface PlanUnit {
  readonly declaration: Ast.PlanDecl;
  readonly scope: FileScope;
}

/** What a node or task calls by its name, and what has a body of its own to bind. */
export type CallableUnit = GraphUnit | PlanUnit;

export interface FileScope {
  readonly file: LoadedFile;
  readonly names: ReadonlyMap<string, Declared>;
  /** Graphs that are called by their names; of two with one name only the first. */
  readonly graphs: readonly GraphUnit[];
  readonly plans: readonly PlanUnit[];
  /** Where each secret is declared. */
  readonly secrets: ReadonlyMap<string, Span>;
  /** Names that stand in statements which could not be read. */
  readonly poisoned: Set<string>;
  /** A statement could not be read and its names are unknown: any unknown name may be one of them. */
  readonly hasUnknownNames: boolean;
  /** Local names of imports and secrets that something refers to. */
  readonly used: Set<string>;
  /** Shared by all files of a compilation. */
  readonly suggestions: Suggestions;
}

/** The names of one sort, in the order of the file. */
export function* namesOf(kind: Declared["kind"], scope: FileScope): Iterable<string> {
  for (const [name, declared] of scope.names) if (declared.kind === kind) yield name;
}

export const SORTS: Readonly<Record<Declared["kind"], string>> = {
  import: "an imported function",
  importedType: "an imported type",
  type: "a type",
  secret: "a secret",
  graph: "a graph",
  plan: "a plan",
  broken: "an import",
};

const BUILT_IN_TYPES = new Set(["string", "int", "float", "bool", "json", "null", "map"]);

/** Declares everything that a file names. `scopes` holds the files that it imports, already declared. */
export function declareFile(
  file: LoadedFile,
  scopes: ReadonlyMap<LoadedFile, FileScope>,
  report: (diagnostic: Diagnostic) => void,
  suggestions: Suggestions,
): FileScope {
  const names = new Map<string, Declared>();
  const graphs: GraphUnit[] = [];
  const plans: PlanUnit[] = [];
  const secrets = new Map<string, Span>();
  const poisoned = new Set<string>();
  let hasUnknownNames = false;
  const scope: FileScope = {
    file,
    names,
    graphs,
    plans,
    secrets,
    poisoned,
    hasUnknownNames: false,
    used: new Set(),
    suggestions,
  };
  const declare = (declared: Declared): boolean => {
    const { name, span } = declared.identifier;
    const known = names.get(name);
    if (known === undefined) {
      names.set(name, declared);
      return true;
    }
    const first = { file: file.source, span: known.identifier.span };
    report(duplicateName({ file: file.source, span }, { name, what: SORTS[known.kind], first }));
    return false;
  };
  const imports = new Map(file.imports.map((link) => [link.declaration, link]));
  for (const item of file.syntax.items) {
    switch (item.kind) {
      case "Import": {
        const link = imports.get(item);
        if (link !== undefined)
          for (const name of item.names) declare(declareImport(name, link, scope, scopes, report));
        break;
      }
      case "Type":
        if (BUILT_IN_TYPES.has(item.name.name)) {
          const place = { file: file.source, span: item.name.span };
          report(reservedName(place, { name: item.name.name, meaning: "the name of a built-in type" }));
        } else declare({ kind: "type", declaration: item, identifier: item.name, type: BROKEN_TYPE });
        break;
      case "Secret":
        if (declare({ kind: "secret", identifier: item.name })) secrets.set(item.name.name, item.name.span);
        break;
      case "Graph": {
        const unit: GraphUnit = { declaration: item, scope };
        if (declare({ kind: "graph", unit, identifier: item.name })) graphs.push(unit);
        break;
      }
      case "Plan": {
        const unit: PlanUnit = { declaration: item, scope };
        if (declare({ kind: "plan", unit, identifier: item.name })) plans.push(unit);
        break;
      }
      case "Broken":
        for (const name of item.names) poisoned.add(name);
        if (item.names.length === 0 && item.of !== "test") hasUnknownNames = true;
        break;
      case "Test":
        break;
    }
  }
  // The scope is handed to units before the loop has seen everything, so it must stay one object.
  return Object.assign(scope, { hasUnknownNames });
}

/** Whether the file uses a misspelt import by its misspelt name, so that renaming it here alone would break those uses. */
function isUsed({ imported, local }: Ast.ImportName, similar: string | undefined, scope: FileScope): boolean {
  if (similar === undefined || imported.name !== local.name) return false;
  const { text } = scope.file.source;
  return new RegExp(`\\b${local.name}\\b`).test(text.slice(imported.span.end));
}

/** The name that was probably meant: uses of it are no mistakes of their own. */
function poison(similar: string | undefined, scope: FileScope): void {
  if (similar !== undefined) scope.poisoned.add(similar);
}

/** A misspelt name counts as a use of the one that was meant: nothing is said about its being unused. */
export function useMeant(similar: string | undefined, scope: FileScope): void {
  if (similar !== undefined) scope.used.add(similar);
}

/** Whether nothing should be said about an unknown name of a file. */
export function isPoisoned(name: string, scope: FileScope): boolean {
  return scope.hasUnknownNames || scope.poisoned.has(name);
}

function declareImport(
  name: Ast.ImportName,
  link: LoadedImport,
  scope: FileScope,
  scopes: ReadonlyMap<LoadedFile, FileScope>,
  report: (diagnostic: Diagnostic) => void,
): Declared {
  const { target } = link;
  const specifier = link.declaration.from.value;
  const identifier = name.local;
  const place: Place = { file: scope.file.source, span: name.imported.span };
  const broken: Declared = { kind: "broken", identifier };
  if (target.kind === "broken") return broken;
  if (target.kind === "file") {
    const other = scopes.get(target.file);
    const found = other?.names.get(name.imported.name);
    if (other === undefined) return broken;
    const isOwn =
      found !== undefined && found.kind !== "import" && found.kind !== "importedType" && found.kind !== "secret";
    if (isOwn && found.kind !== "broken") {
      if (name.isType && found.kind !== "type") {
        report(
          wrongSortOfName(place, {
            name: found.identifier.name,
            is: SORTS[found.kind],
            expected: "a type",
            help: "remove `type`",
          }),
        );
        return broken;
      }
      return { ...found, identifier };
    }
    if (found?.kind === "broken" || isPoisoned(name.imported.name, other)) return broken;
    // What could not be read in that file, which is an error there, may be what declares it.
    if (other.file.errors.length > 0) return broken;
    const own = (): string[] => (["graph", "type", "plan"] as const).flatMap((kind) => [...namesOf(kind, other)]);
    const { similar, known: exports } = suggest(name.imported.name, own, scope.suggestions);
    report(
      missingExport(place, {
        name: name.imported.name,
        specifier,
        similar,
        exports,
        isGraphFile: true,
        isUsed: isUsed(name, similar, scope),
      }),
    );
    poison(similar, scope);
    return broken;
  }
  const module = target.kind === "module" ? target.module : undefined;
  const exported = module?.exports === undefined ? "both" : module.exports.get(name.imported.name);
  if (exported === undefined) {
    const { similar, known: exports } = suggest(
      name.imported.name,
      () => module?.exports?.keys() ?? [],
      scope.suggestions,
    );
    report(
      missingExport(place, {
        name: name.imported.name,
        specifier,
        similar,
        exports,
        isGraphFile: false,
        isUsed: isUsed(name, similar, scope),
      }),
    );
    poison(similar, scope);
    return broken;
  }
  if (exported === "type" && !name.isType) {
    const help = `write \`type ${name.imported.name}\``;
    report(wrongSortOfName(place, { name: name.imported.name, is: "a type", expected: "a value", help }));
    return { kind: "importedType", type: opaque(identifier.name, specifier), identifier };
  }
  if (name.isType) {
    if (exported === "value") {
      report(
        wrongSortOfName(place, { name: name.imported.name, is: "a value", expected: "a type", help: "remove `type`" }),
      );
      return broken;
    }
    return { kind: "importedType", type: opaque(name.imported.name, specifier), identifier };
  }
  const spec: FunctionSpec = { name: identifier.name, module: specifier, export: name.imported.name };
  return { kind: "import", spec, identifier, module, exported };
}
