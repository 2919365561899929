import type { CompilerHost } from "./host.ts";
import { readModuleExports, type ModuleExports } from "./module-exports.ts";
import { findFile } from "./find-file.ts";
import { directoryOf, joinPath } from "./paths.ts";

/** A TypeScript or JavaScript module that graphs import from. */
export interface LoadedModule {
  readonly path: string;
  readonly text: string;
  /** Every exported name; `undefined` where that is not certain. */
  readonly exports: ModuleExports["names"] | undefined;
}

/** Modules that one `export *` chain may lead through. */
const MAX_STARS = 50;

/** Reads a module's text and finds its exports, those of `export * from "./other.ts"` included. */
export function readModule(path: string, host: CompilerHost): LoadedModule {
  const text = host.readFile(path) ?? "";
  return { path, text, exports: allExports(path, text, host) };
}

function allExports(path: string, text: string, host: CompilerHost): ModuleExports["names"] | undefined {
  const names = new Map<string, "value" | "type" | "both">();
  const seen = new Set([path]);
  const open = [{ path, text }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const found = readModuleExports(next.text, next.path);
    if (found === undefined) return undefined;
    for (const [name, kind] of found.names) {
      // `export *` leaves the default export out.
      if (name !== "default" || next.path === path) names.set(name, names.has(name) ? "both" : kind);
    }
    for (const specifier of found.stars) {
      if (!specifier.startsWith(".")) return undefined;
      const target = findFile(joinPath(directoryOf(next.path), specifier), host).path;
      if (target === undefined || seen.size > MAX_STARS) return undefined;
      if (seen.has(target)) continue;
      seen.add(target);
      open.push({ path: target, text: host.readFile(target) ?? "" });
    }
  }
  return names;
}
