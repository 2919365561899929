/** Renames an export of a TypeScript module in the module, in other modules, and in the graph files that import it. */
import type { Edit } from "../diagnostics/fixes/apply-edits.ts";
import { isGraphFile } from "../compiler/load/find-file.ts";
import type { SourceFile } from "../diagnostics/source.ts";
import { RESERVED_WORDS } from "../grammar/words.ts";
import { editUse } from "./edit-use.ts";
import type { FileNames, Location } from "./name-index.ts";
import type { NameUse } from "./names.ts";
import type { EntityPlaces, ModuleEntities, ModuleEntity } from "./module-entity.ts";
import type { ModulePlace } from "./module-names.ts";

/** The modules of the workspace. */
export interface ModuleFiles {
  readonly entities: ModuleEntities;
  readonly paths: readonly string[];
}

/** Edits by file: graph files and modules. */
export type Edits = ReadonlyMap<FileOfEdits, readonly Edit[]>;

export interface FileOfEdits {
  readonly path: string;
  readonly source: SourceFile;
}

/** Words that cannot be the name of a function or a type in TypeScript. */
const TYPESCRIPT_WORDS = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if " +
    "implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof " +
    "undefined var void while with yield any boolean never number object string symbol unknown bigint"
  ).split(" "),
);

/** The export that a name of a graph file means, also under another name that the file gives to it with `as`. */
export function entityOf({ target }: NameUse, { entities }: ModuleFiles): ModuleEntity | undefined {
  const [path = "", name = "", ...rest] = target.split("\n");
  return rest.length === 0 ? entities.exportOf(path, name) : undefined;
}

/** The edits of a new name; a reason where it is refused. */
export function renameExport(
  entity: ModuleEntity,
  newName: string,
  files: Iterable<FileNames>,
  modules: ModuleFiles,
): Edits | string {
  if (!/^[A-Za-z_]\w*$/.test(newName))
    return `\`${newName}\` is no name: a name is a letter, and letters, digits or \`_\``;
  if ((RESERVED_WORDS as readonly string[]).includes(newName)) return `\`${newName}\` is a word of the language`;
  if (TYPESCRIPT_WORDS.has(newName)) return `\`${newName}\` is a word of TypeScript`;
  const inModules = renameInModules(entity, newName, modules);
  if (typeof inModules === "string") return inModules;
  const found = new Map<FileOfEdits, readonly Edit[]>(inModules);
  for (const file of files) {
    const all = usesOf(file, entity, modules);
    const uses = all.filter(({ name }) => name === entity.name);
    if (uses.length === 0) continue;
    // With `as`, the file uses another name.
    const isLocal = all.length === uses.length;
    if (isLocal && file.uses.some((use) => use.name === newName && declaresInFile(use)))
      return `${file.path} declares \`${newName}\` already`;
    found.set(
      file,
      uses.map((use) => editUse(use, newName, file.source.text)),
    );
  }
  return found;
}

/** The edits of a new name in modules; a reason where it is refused. */
export function renameInModules(entity: ModuleEntity, newName: string, modules: ModuleFiles): Edits | string {
  const { entities } = modules;
  const found = new Map<FileOfEdits, readonly Edit[]>();
  for (const each of placesInModules(entity, modules)) {
    if (TYPESCRIPT_WORDS.has(newName))
      return `\`${newName}\` is a word of TypeScript, and ${each.path} imports \`${entity.name}\``;
    const edits = each.places.map((place) => editOf(place, entity.name, newName));
    if (entities.isTaken(each, newName, edits))
      return `${each.path} has the name \`${newName}\`: choose another one, or write \`import { ${entity.name} as ${newName} }\` in the graph file`;
    found.set(each, edits);
  }
  const passing = modules.paths.find((path) => entities.passesOn(entity, path, newName));
  return passing === undefined
    ? found
    : `${passing} exports another \`${newName}\`, which would hide this one: choose another name`;
}

function declaresInFile({ kind, role }: NameUse): boolean {
  return (role === "declaration" || role === "import") && !OF_GRAPHS.has(kind);
}

/** Names of graphs and plans, which may be those of functions, too. */
const OF_GRAPHS: ReadonlySet<NameUse["kind"]> = new Set(["channel", "derived", "node", "task", "pool", "variable"]);

function editOf({ span, kind, pair }: ModulePlace, name: string, newName: string): Edit {
  if (pair?.other === newName) return { span: pair.span, text: newName };
  return { span, text: kind === "short" ? `${name}: ${newName}` : newName };
}

/** All places of an export. `graphs`: those of graph files alone. */
export function placesOfExport(
  entity: ModuleEntity,
  files: Iterable<FileNames>,
  modules: ModuleFiles,
  which: "all" | "uses" | "graphs",
): readonly Location[] {
  const found: Location[] = [];
  for (const { path, source, places } of which === "graphs" ? [] : placesInModules(entity, modules)) {
    // The first place in its own module is the declaration.
    const isOwn = path === entity.path && which === "uses";
    for (const { span } of isOwn ? places.slice(1) : places) found.push({ source, span });
  }
  for (const file of files)
    for (const { span } of usesOf(file, entity, modules)) found.push({ source: file.source, span });
  return found;
}

function placesInModules(entity: ModuleEntity, { entities, paths }: ModuleFiles): readonly EntityPlaces[] {
  const own = isGraphFile(entity.path) ? [] : [entity.path];
  return [...new Set([...own, ...paths])].flatMap((path) => entities.placesOf(entity, path) ?? []);
}

/** The uses of an export in a graph file. */
export function usesOf(file: FileNames, entity: ModuleEntity, modules: ModuleFiles): readonly NameUse[] {
  const targets = new Map<string, boolean>();
  const isUse = ({ target }: NameUse): boolean => {
    if (!target.endsWith(`\n${entity.name}`)) return false;
    const known = targets.get(target);
    if (known !== undefined) return known;
    const [path = "", name = "", ...rest] = target.split("\n");
    const found = rest.length === 0 ? modules.entities.exportOf(path, name) : undefined;
    targets.set(target, found?.path === entity.path);
    return found?.path === entity.path;
  };
  return file.uses.filter(isUse);
}
