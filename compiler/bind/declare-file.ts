/** Declares the names of one file. */
import { duplicateName, reservedName } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Suggestions } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { LoadedFile } from "../load/load-project.ts";
import type { ReadTypes } from "../modules/type-scope.ts";
import { BROKEN_TYPE } from "../types/construct.ts";
import { declareConstant } from "./declare-constants.ts";
import { declareImport } from "./declare-import.ts";
import { KIND_NAMES, type Declared, type FileScope, type GraphUnit, type PlanUnit } from "./file-scope.ts";

const BUILT_IN_TYPES = new Set(["string", "int", "float", "bool", "json", "null", "map"]);

/** Declares everything that a file names. `scopes` holds the files that it imports, already declared. */
export function declareFile(
  file: LoadedFile,
  scopes: ReadonlyMap<LoadedFile, FileScope>,
  types: ReadTypes,
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
    report(duplicateName({ file: file.source, span }, { name, what: KIND_NAMES[known.kind], first }));
    return false;
  };
  const imports = new Map(file.imports.map((link) => [link.declaration, link]));
  for (const item of file.syntax.items) {
    switch (item.kind) {
      case "Import": {
        const link = imports.get(item);
        if (link !== undefined)
          for (const name of item.names) declare(declareImport(name, link, { scope, scopes, types, report }));
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
      case "Const":
        declare({ kind: "const", identifier: item.name, value: declareConstant(item, scope, report) });
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
  // Units already refer to this scope object, so it must stay the same object.
  return Object.assign(scope, { hasUnknownNames });
}
