/** Where names are declared and used: definition, references, highlights, rename. */
import type { Edit } from "../diagnostics/fixes/apply-edits.ts";
import { RESERVED_WORDS } from "../grammar/words.ts";
import { isLibraryPath } from "../stdlib/graphs/library-files.ts";
import type { FileNames, Location, NameIndex } from "./name-index.ts";
import type { NameUse } from "./names.ts";
import { editUse } from "./edit-use.ts";
import { NOUNS, placeOf } from "./name-nouns.ts";
import {
  entityOf,
  placesOfExport,
  renameExport,
  renameInModules,
  type Edits,
  type FileOfEdits,
  type ModuleFiles,
} from "./rename-export.ts";

/** The names at an offset. In `{ reply }` there are two: the field and the channel, which comes first. */
export function namesAt({ uses }: FileNames, offset: number): readonly NameUse[] {
  const found = uses.filter(({ span }) => span.start <= offset && offset <= span.end);
  return found.sort((a, b) => Number(a.short === "field") - Number(b.short === "field"));
}

/** The declarations of the names at an offset. */
export function findDefinition(file: FileNames, offset: number, index: NameIndex): readonly Location[] {
  return namesAt(file, offset).flatMap((use) => declarationsOf(use.target, index));
}

/** The declaration of a target, in its file. */
export function declarationsOf(target: string, index: NameIndex): readonly Location[] {
  const exported = index.exportOf(target);
  if (exported !== undefined) return [exported];
  const [path = ""] = target.split("\n");
  const file = index.of(path);
  return (file?.uses ?? []).flatMap((use) =>
    use.target === target && use.role === "declaration" ? [{ source: file!.source, span: use.span }] : [],
  );
}

/** All places of the first name at an offset, in all files. */
export function findReferences(
  file: FileNames,
  offset: number,
  files: Iterable<FileNames>,
  index: NameIndex,
  { withDeclaration, modules }: { readonly withDeclaration: boolean; readonly modules?: ModuleFiles },
): readonly Location[] {
  const [use] = namesAt(file, offset);
  if (use === undefined) return [];
  const entity = modules && entityOf(use, modules);
  const isUnit = use.kind === "graph" || use.kind === "plan";
  if (entity !== undefined && !isUnit) return placesOfExport(entity, files, modules!, withDeclaration ? "all" : "uses");
  const exported = withDeclaration ? index.exportOf(use.target) : undefined;
  const found: Location[] = exported === undefined ? [] : [exported];
  for (const each of files) {
    for (const { target, role, span } of each.uses) {
      if (target === use.target && (withDeclaration || role !== "declaration"))
        found.push({ source: each.source, span });
    }
  }
  // Modules import graphs, too.
  return entity === undefined ? found : [...found, ...placesOfExport(entity, [], modules!, "all")];
}

/** Places of the first name at an offset in its own file. */
export function findHighlights(file: FileNames, offset: number): readonly NameUse[] {
  const [use] = namesAt(file, offset);
  return use === undefined ? [] : file.uses.filter(({ target }) => target === use.target);
}

/** The name that a rename at an offset changes; a reason where none can be renamed. */
export function prepareRename(file: FileNames, offset: number): NameUse | string {
  const [use] = namesAt(file, offset);
  if (use === undefined) return "there is no name here";
  if (use.kind === "builtin" || use.kind === "library") return `\`${use.name}\` is part of the language`;
  // `import { agent as helper }`: the name that the file gives can change.
  if (isLibraryPath(use.target) && use.target.endsWith(`\n${use.name}`))
    return `\`${use.name}\` is part of the library`;
  return use;
}

/** The edits of a rename by file path; a reason where it is refused. */
export function rename(
  file: FileNames,
  offset: number,
  newName: string,
  files: Iterable<FileNames>,
  modules?: ModuleFiles,
): Edits | string {
  const use = prepareRename(file, offset);
  if (typeof use === "string") return use;
  if (!/^[A-Za-z_]\w*$/.test(newName))
    return `\`${newName}\` is no name: a name is a letter, and letters, digits or \`_\``;
  if (isReserved(use, newName)) return `\`${newName}\` is a word of the language`;
  const entity = modules && entityOf(use, modules);
  const isUnit = use.kind === "graph" || use.kind === "plan";
  if (entity?.name === use.name && !isUnit) return renameExport(entity, newName, files, modules!);
  const inModules = entity?.name === use.name ? renameInModules(entity, newName, modules!) : [];
  if (typeof inModules === "string") return inModules;
  // A function of a package keeps its name in its module: the file gives it another one.
  const isLocal = use.kind === "function" || (use.kind === "type" && isOfModule(use));
  const found = new Map<FileOfEdits, readonly Edit[]>(inModules);
  for (const each of isLocal ? [file] : files) {
    // `import { a as b }`: the names of a and b change on their own.
    const uses = each.uses.filter(({ target, name }) => target === use.target && name === use.name);
    const edits = editsOf(uses, newName, each.source.text, isLocal);
    if (edits.length === 0) continue;
    const isNamed = use.kind !== "variable" && !uses.every((place) => place.role === "import" && !isPlainImport(place));
    const taken = isNamed ? declaredAs(each, use, newName) : undefined;
    if (taken !== undefined) return taken;
    found.set(each, edits);
  }
  return found.size === 0 ? `\`${use.name}\` is declared in a TypeScript module: rename it there` : found;
}

/** Words of the grammar, and names that mean a place or a value of their own. */
function isReserved({ kind }: NameUse, name: string): boolean {
  const words: readonly string[] = [...RESERVED_WORDS, "start", "end", "finally", "rollback", "error", "outcome"];
  return (
    words.includes(name) ||
    (kind === "channel" && name === "set") ||
    (kind === "node" && ["each", "all", "any"].includes(name))
  );
}

/** A type of a TypeScript module. */
function isOfModule({ target }: NameUse): boolean {
  return !/\.ngraph(?:\.ya?ml)?\n/.test(target);
}

/** Why a name of the same scope is in the way; `undefined` where none is. */
function declaredAs(file: FileNames, use: NameUse, newName: string): string | undefined {
  const scope = scopeOf(use);
  const isDeclared = (each: NameUse): boolean =>
    each.name === newName && (each.role === "declaration" || isPlainImport(each)) && scopeOf(each) === scope;
  const found = file.uses.find(isDeclared);
  if (found === undefined) return undefined;
  return `\`${newName}\` is the name of ${NOUNS[found.kind]} already, at ${placeOf(file, found.span)}`;
}

/** An import without `as`, which declares its name in the file. */
function isPlainImport({ role, pair }: NameUse): boolean {
  return role === "import" && pair === undefined;
}

/** Names of one scope are different: those of a file, and those of a graph or plan, whose pools have a scope of their own. */
function scopeOf({ kind, target }: NameUse): string {
  const parts = target.split("\n");
  if (parts.length <= 2) return kind === "variable" ? target : "file";
  return kind === "pool" ? `${parts[0]}\n${parts[1]}\npool` : `${parts[0]}\n${parts[1]}`;
}

function editsOf(uses: readonly NameUse[], newName: string, text: string, isLocal: boolean): readonly Edit[] {
  return uses.flatMap((use): readonly Edit[] => {
    if (use.role !== "import" || !isLocal) return [editUse(use, newName, text)];
    const hasAlias = !uses.some((other) => other.role !== "import");
    return hasAlias ? [] : [{ span: use.span, text: `${use.name} as ${newName}` }];
  });
}
