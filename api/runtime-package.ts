import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * The entry point that generated modules of a directory import: that of `@ngraph/runtime` if the nearest `package.json` lists
 * this package in `dependencies`, because a server then installs it without `ngraph`.
 */
export function generatedEntryPoint(directory: string): "@ngraph/runtime/generated" | "ngraph/generated" {
  for (let at = resolve(directory); ; at = dirname(at)) {
    const path = join(at, "package.json");
    if (existsSync(path)) return dependsOnRuntime(path) ? "@ngraph/runtime/generated" : "ngraph/generated";
    if (dirname(at) === at) return "ngraph/generated";
  }
}

/** `false` for a file that is not valid JSON: npm reports it. */
function dependsOnRuntime(path: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof manifest !== "object" || manifest === null || !("dependencies" in manifest)) return false;
    const { dependencies } = manifest;
    return typeof dependencies === "object" && dependencies !== null && "@ngraph/runtime" in dependencies;
  } catch {
    return false;
  }
}
