/** Declares the names of an import. */
import { missingExport, wrongSortOfName } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic, Place } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { LoadedModule } from "../load/load-module.ts";
import type { LoadedFile, LoadedImport } from "../load/load-project.ts";
import { findExport } from "../modules/find-declaration.ts";
import { readSignatures, type FunctionSignature } from "../modules/read-signature.ts";
import { readDeclared } from "../modules/read-type.ts";
import type { ReadTypes } from "../modules/type-scope.ts";
import { opaque } from "../types/construct.ts";
import { isPoisoned, namesOf, KIND_NAMES, type Declared, type FileScope } from "./file-scope.ts";

export interface ImportContext {
  /** The file that imports. */
  readonly scope: FileScope;
  /** Files that have been declared: those that the file imports are among them. */
  readonly scopes: ReadonlyMap<LoadedFile, FileScope>;
  readonly types: ReadTypes;
  readonly report: (diagnostic: Diagnostic) => void;
}

export function declareImport(name: Ast.ImportName, link: LoadedImport, context: ImportContext): Declared {
  const { target } = link;
  switch (target.kind) {
    case "broken":
      return broken(name);
    case "file": {
      const other = context.scopes.get(target.file);
      return other === undefined ? broken(name) : importFromFile(name, other, link, context);
    }
    case "module":
      return importFromModule(name, target.module, link, context);
    case "package":
      return importFromModule(name, undefined, link, context);
    default:
      return target satisfies never;
  }
}

function broken({ local }: Ast.ImportName): Declared {
  return { kind: "broken", identifier: local };
}

function placeOf({ imported }: Ast.ImportName, { scope }: ImportContext): Place {
  return { file: scope.file.source, span: imported.span };
}

/** A type, graph or plan of another graph file. */
function importFromFile(name: Ast.ImportName, other: FileScope, link: LoadedImport, context: ImportContext): Declared {
  const wanted = name.imported.name;
  const found = other.names.get(wanted);
  switch (found?.kind) {
    case "type":
      return { ...found, identifier: name.local };
    case "const":
    case "graph":
    case "plan": {
      if (!name.isType) return { ...found, identifier: name.local };
      const facts = { name: wanted, is: KIND_NAMES[found.kind], expected: "a type", help: "remove `type`" };
      context.report(wrongSortOfName(placeOf(name, context), facts));
      return broken(name);
    }
    case "broken":
      return broken(name);
    // The imports and secrets of a file are not exported.
    case "import":
    case "importedType":
    case "secret":
    case undefined: {
      // Where the other file has errors, a statement that could not be read may be what declares the name.
      if (isPoisoned(wanted, other) || other.file.errors.length > 0) return broken(name);
      const own = (): string[] =>
        (["graph", "type", "plan", "const"] as const).flatMap((kind) => [...namesOf(kind, other)]);
      return reportMissing(name, own, true, link, context);
    }
    default:
      return found satisfies never;
  }
}

/** A function or type of a TypeScript or JavaScript module. `module`: `undefined` for a package, which is not read. */
function importFromModule(
  name: Ast.ImportName,
  module: LoadedModule | undefined,
  link: LoadedImport,
  context: ImportContext,
): Declared {
  const wanted = name.imported.name;
  const specifier = link.declaration.from.value;
  const exported = module?.exports === undefined ? "both" : module.exports.get(wanted);
  if (exported === undefined) return reportMissing(name, () => module?.exports?.keys() ?? [], false, link, context);
  const place = placeOf(name, context);
  const type = (): ValueType => readImportedType(wanted, specifier, module, context.types);
  if (name.isType) {
    if (exported !== "value") return { kind: "importedType", type: type(), identifier: name.local };
    context.report(wrongSortOfName(place, { name: wanted, is: "a value", expected: "a type", help: "remove `type`" }));
    return broken(name);
  }
  if (exported === "type") {
    const help = `write \`type ${wanted}\``;
    context.report(wrongSortOfName(place, { name: wanted, is: "a type", expected: "a value", help }));
    return { kind: "importedType", type: type(), identifier: name.local };
  }
  let signatures: readonly FunctionSignature[] | undefined;
  return {
    kind: "import",
    spec: { name: name.local.name, module: specifier, export: wanted },
    identifier: name.local,
    module,
    exported,
    type,
    signatures: () =>
      (signatures ??= module === undefined ? [] : readSignatures(module, wanted, specifier, context.types)),
  };
}

function readImportedType(
  name: string,
  specifier: string,
  module: LoadedModule | undefined,
  types: ReadTypes,
): ValueType {
  const found = module === undefined ? undefined : findExport(module, name);
  if (found === undefined) return opaque(name, specifier);
  const type = readDeclared(found, name, { types, module: found.module, specifier, parameters: new Map(), depth: 0 });
  if (type.kind === "ref" && !types.imports.has(type.name)) types.imports.set(type.name, { name, module: specifier });
  return type;
}

/** NG105, with a similar name where there is one. */
function reportMissing(
  name: Ast.ImportName,
  candidates: () => Iterable<string>,
  isGraphFile: boolean,
  link: LoadedImport,
  context: ImportContext,
): Declared {
  const { scope, report } = context;
  const wanted = name.imported.name;
  const { similar, known: exports } = suggest(wanted, candidates, scope.suggestions);
  report(
    missingExport(placeOf(name, context), {
      name: wanted,
      specifier: link.declaration.from.value,
      similar,
      exports,
      isGraphFile,
      isUsed: isUsed(name, similar, scope),
    }),
  );
  // No findings about uses of the name that was probably meant.
  if (similar !== undefined) scope.poisoned.add(similar);
  return broken(name);
}

/**
 * Whether the file uses a misspelt import by its misspelt name, so that renaming it in the import alone would break
 * those uses.
 */
function isUsed({ imported, local }: Ast.ImportName, similar: string | undefined, scope: FileScope): boolean {
  if (similar === undefined || imported.name !== local.name) return false;
  const { text } = scope.file.source;
  return new RegExp(`\\b${local.name}\\b`).test(text.slice(imported.span.end));
}
