import type { LoadedFile } from "./load-project.ts";

/**
 * Finds the graph file that imports a type of a TypeScript module. An opaque type contains the module as its file
 * writes it, relative to that file, but types are used in other files, too.
 */
export function createImporterIndex(
  files: readonly LoadedFile[],
): (type: string, module: string, from: string) => string {
  const importers = new Map<string, string[]>();
  for (const file of files) {
    for (const { declaration } of file.imports) {
      for (const { imported } of declaration.names) {
        const key = keyOf(imported.name, declaration.from.value);
        const known = importers.get(key);
        if (known === undefined) importers.set(key, [file.source.path]);
        else known.push(file.source.path);
      }
    }
  }
  return (type, module, from) => {
    const paths = importers.get(keyOf(type, module)) ?? [];
    return paths.includes(from) ? from : (paths[0] ?? from);
  };
}

function keyOf(type: string, module: string): string {
  return `${type} ${module}`;
}
