import type { LoadedModule } from "../load/load-module.ts";
import type { ModuleName } from "./module-scope.ts";
import type { Statement } from "./parse-module.ts";

/** The statements that declare a name, and the module that contains them. */
export interface FoundDeclaration {
  readonly module: LoadedModule;
  readonly name: string;
  readonly statements: readonly Statement[];
}

/** Maximum number of re-exports between a name and its declaration. */
const MAX_STEPS = 50;

/** Finds the declaration that a module exports under a name. Follows re-exports from relative modules. */
export function findExport(module: LoadedModule, name: string, steps = 0): FoundDeclaration | undefined {
  const { scope } = module;
  if (scope === undefined || steps > MAX_STEPS) return undefined;
  const exported = scope.exports.get(name);
  if (exported !== undefined) return follow(exported.name, name, module, steps);
  if (name === "default") return undefined;
  for (const specifier of scope.stars) {
    const target = module.imported(specifier);
    const found = target === undefined ? undefined : findExport(target, name, steps + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Finds the declaration of a name that is used inside a module. Follows imports from relative modules. */
export function findLocal(module: LoadedModule, name: string): FoundDeclaration | undefined {
  const local = module.scope?.locals.get(name);
  return local === undefined ? undefined : follow(local, name, module, 0);
}

/** Finds a member of a namespace: `types.Ticket` after `import * as types from "./types.ts"`. */
export function findMember(module: LoadedModule, namespace: string, name: string): FoundDeclaration | undefined {
  const local = module.scope?.locals.get(namespace);
  if (local?.kind !== "imported" || local.name !== "*") return undefined;
  const target = module.imported(local.specifier);
  return target === undefined ? undefined : findExport(target, name);
}

function follow(found: ModuleName, name: string, module: LoadedModule, steps: number): FoundDeclaration | undefined {
  if (found.kind === "declared") return followDefault({ module, name, statements: found.statements });
  const target = found.name === "*" ? undefined : module.imported(found.specifier);
  return target === undefined ? undefined : findExport(target, found.name, steps + 1);
}

/** Resolves `export default name` to the declaration of the name. */
function followDefault(found: FoundDeclaration): FoundDeclaration | undefined {
  const [statement] = found.statements;
  if (statement?.type !== "ExportDefaultDeclaration") return found;
  const { declaration } = statement;
  return declaration.type === "Identifier" ? findLocal(found.module, declaration.name) : found;
}
