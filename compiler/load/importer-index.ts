import type { LoadedFile } from "./load-project.ts";

/**
 * Finds the graph file that imports a type of a TypeScript module. An opaque type stores the module specifier, which is
 * relative to the importing file. Other files use the type as well, so they cannot resolve the specifier by themselves.
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
