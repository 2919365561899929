import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * The test files that do not read the depth of the tests (`depth.ts`), directly or through another file of the tests: they do the same
 * at any depth.
 *
 * @param root the directory of the project
 * @returns paths from there
 */
export function testsWithoutDepth(root: string): readonly string[] {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.includes("node_modules"))
    .map((file) => join("test", file));
  const importers = new Map<string, string[]>();
  for (const file of files) {
    for (const [, path] of readFileSync(join(root, file), "utf8").matchAll(
      /^(?:import|export|\}).* from "(\..*)";$/gm,
    )) {
      const imported = resolve(root, file, "..", path!);
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  const readers = new Set(["test/support/depth.ts"]);
  for (const reader of readers) for (const file of importers.get(resolve(root, reader)) ?? []) readers.add(file);
  return files.filter((file) => file.endsWith(".test.ts") && !readers.has(file));
}
