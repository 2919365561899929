import type { LoadedFile } from "./load-project.ts";

/**
 * Which graph file imports a type of a TypeScript module. The module stands in a type as the file wrote it, relative to
 * itself, and types travel from file to file.
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
