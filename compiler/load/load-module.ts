import { SourceFile } from "../../diagnostics/source.ts";
import { readScope, type ModuleScope, type NameKind } from "../modules/module-scope.ts";
import { isTypeScript, parseStoredModule } from "../modules/parse-module.ts";
import { findFile } from "./find-file.ts";
import type { CompilerHost, SyntaxTrees } from "./host.ts";
import { directoryOf, joinPath } from "./paths.ts";

/** A TypeScript or JavaScript module that graphs import from, or that such a module imports. Modules are never run. */
export interface LoadedModule {
  readonly path: string;
  readonly source: SourceFile;
  /** `undefined` if the file could not be read as a module. */
  readonly scope: ModuleScope | undefined;
  /** All exported names, including those of `export *`; `undefined` if the list may be incomplete. */
  readonly exports: ReadonlyMap<string, NameKind> | undefined;
  /** The module that an import of this module names; `undefined` for packages and missing files. */
  readonly imported: (specifier: string) => LoadedModule | undefined;
}

/** Maximum number of modules that a reader loads through imports of modules. */
const MAX_MODULES = 500;

/** The names of a module; `undefined` for CommonJS files and for text with syntax errors. */
export function readModule(text: string, path: string, trees: SyntaxTrees | undefined): ModuleScope | undefined {
  const program = parseStoredModule(text, path, trees);
  return program === undefined ? undefined : readScope(program);
}

/** Reads modules through a host, each once. Modules that a module imports are read when they are first used. */
export function createModuleReader(host: CompilerHost): (path: string) => LoadedModule {
  const known = new Map<string, LoadedModule>();
  const read = (path: string): LoadedModule => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const text = host.readFile(path) ?? "";
    const scope = (host.readModule ?? readModule)(text, path, host.syntaxTrees);
    let exports: { readonly names: LoadedModule["exports"] } | undefined;
    const module: LoadedModule = {
      path,
      source: new SourceFile(path, text),
      scope,
      get exports() {
        exports ??= { names: allExports(module) };
        return exports.names;
      },
      imported: (specifier) => {
        if (!/^\.{1,2}\//.test(specifier) || known.size > MAX_MODULES) return undefined;
        const found = findFile(joinPath(directoryOf(path), specifier), host).path;
        return found === undefined ? undefined : read(found);
      },
    };
    known.set(path, module);
    return module;
  };
  return read;
}

function allExports(module: LoadedModule): LoadedModule["exports"] {
  const names = new Map<string, NameKind>();
  const seen = new Set([module]);
  const open = [module];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { scope } = next;
    if (scope === undefined) return undefined;
    // A JavaScript file without exports may be CommonJS, which exports by assignment.
    if (scope.exports.size === 0 && scope.stars.length === 0 && !isTypeScript(next.path)) return undefined;
    for (const [name, { kind }] of scope.exports) {
      // `export *` does not include the default export.
      if (name !== "default" || next === module) names.set(name, names.has(name) ? "both" : kind);
    }
    for (const specifier of scope.stars) {
      const target = next.imported(specifier);
      if (target === undefined) return undefined;
      if (seen.has(target)) continue;
      seen.add(target);
      open.push(target);
    }
  }
  return names;
}
