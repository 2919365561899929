/** Exports of TypeScript modules as one thing in all files: where a name comes from, and all of its places. */
import { findFile, isGraphFile } from "../compiler/load/find-file.ts";
import type { CompilerHost } from "../compiler/load/host.ts";
import { readSyntax } from "../compiler/load/read-syntax.ts";
import { createModuleReader, type LoadedModule } from "../compiler/load/load-module.ts";
import { directoryOf, joinPath } from "../compiler/load/paths.ts";
import { realPathOf } from "../compiler/load/project-root.ts";
import { applyEdits, type Edit } from "../diagnostics/fixes/apply-edits.ts";
import { SourceFile, type Span } from "../diagnostics/source.ts";
import { kindsOf } from "./names.ts";
import { placesInModule, type ModulePlace } from "./module-names.ts";

/** An export of a module, or a graph that modules import, with the modules that export it again under the same name. */
export interface ModuleEntity {
  /** The file that declares it, or the module that gives it this name. */
  readonly path: string;
  readonly name: string;
}

/** Places of an entity in one module. */
export interface EntityPlaces {
  readonly path: string;
  readonly source: SourceFile;
  readonly places: readonly ModulePlace[];
}

const MODULE = /\.[cm]?[jt]sx?$/;

/** Maximum number of re-exports between a name and its declaration. */
const MAX_STEPS = 50;

export class ModuleEntities {
  readonly #host: CompilerHost;
  readonly #read: (path: string) => LoadedModule;

  constructor(host: CompilerHost) {
    this.#host = host;
    this.#read = createModuleReader(host);
  }

  /** The entity that a module exports under a name; `undefined` for names that cannot be renamed in a file: packages, unreadable modules, `default`. */
  exportOf(path: string, name: string, steps = 0): ModuleEntity | undefined {
    if (isGraphFile(path)) return this.#unitOf(path, name);
    if (name === "default" || !this.#isOwn(path) || steps > MAX_STEPS) return undefined;
    const module = this.#read(path);
    const exported = module.scope?.exports.get(name)?.name;
    if (exported !== undefined) {
      if (exported.kind === "declared" || exported.name !== name) return { path: realPathOf(path, this.#host), name };
      const from = this.#resolve(path, exported.specifier);
      return from === undefined ? undefined : this.exportOf(from, name, steps + 1);
    }
    for (const specifier of module.scope?.stars ?? []) {
      const from = this.#resolve(path, specifier);
      const found = from === undefined ? undefined : this.exportOf(from, name, steps + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The graph or plan of a file that modules can import. */
  #unitOf(path: string, name: string): ModuleEntity | undefined {
    const text = this.#host.readFile(path);
    if (text?.includes(name) !== true) return undefined;
    const kind = kindsOf((this.#host.readSyntax ?? readSyntax)(text, path).file).get(name);
    return kind === "graph" || kind === "plan" ? { path: realPathOf(path, this.#host), name } : undefined;
  }

  /** The entity whose name is at an offset of a module. */
  at(path: string, offset: number): { readonly entity: ModuleEntity; readonly span: Span } | undefined {
    const text = this.#host.readFile(path);
    if (text === undefined || !this.#isOwn(path)) return undefined;
    const start = offset - (/[\w$]*$/.exec(text.slice(0, offset))?.[0].length ?? 0);
    const name = /^[A-Za-z_]\w*/.exec(text.slice(start))?.[0];
    if (name === undefined) return undefined;
    const places = placesInModule(text, path, name) ?? [];
    const place = places.find(({ span }) => span.start === start);
    if (place === undefined) return undefined;
    const from = place.from === undefined ? path : this.#resolve(path, place.from);
    const candidates = [from, this.#importOf(path, name), path];
    for (const each of candidates) {
      const entity = each === undefined ? undefined : this.exportOf(each, name);
      const isPlace = (found: EntityPlaces | undefined): boolean =>
        found?.places.some(({ span }) => span.start === start) ?? false;
      if (entity !== undefined && isPlace(this.placesOf(entity, path))) return { entity, span: place.span };
    }
    return undefined;
  }

  /** The places of an entity in a module; `undefined` where it has none. */
  placesOf(entity: ModuleEntity, path: string): EntityPlaces | undefined {
    const text = this.#host.readFile(path);
    if (text === undefined || !text.includes(entity.name)) return undefined;
    const isSame = (found: ModuleEntity | undefined): boolean =>
      found !== undefined && found.path === entity.path && found.name === entity.name;
    const comesFrom = (specifier: string): boolean => {
      const from = this.#resolve(path, specifier);
      return from !== undefined && isSame(this.exportOf(from, entity.name));
    };
    const isOwn = this.#binds(path, entity);
    const isExported = isSame(this.exportOf(path, entity.name));
    const places = (placesInModule(text, path, entity.name) ?? []).filter(({ kind, from }) => {
      if (kind === "plain" || kind === "short") return isOwn;
      if (kind === "exported") return isExported;
      return from !== undefined && comesFrom(from);
    });
    return places.length === 0 ? undefined : { path, source: new SourceFile(path, text), places };
  }

  /** Whether a module exports an entity with `export *`, and something under a new name. */
  passesOn(entity: ModuleEntity, path: string, newName: string): boolean {
    if (this.#host.readFile(path)?.includes("export *") !== true) return false;
    const found = this.exportOf(path, entity.name);
    const isSame = found?.path === entity.path && found.name === entity.name;
    return isSame && this.exportOf(path, newName) !== undefined;
  }

  /** Whether an export is in the way of a new name, or a name of a scope that the edits reach. */
  isTaken({ path, source, places }: EntityPlaces, newName: string, edits: readonly Edit[]): boolean {
    if (this.#read(path).exports?.has(newName) === true) return true;
    const isLocal = ({ kind }: ModulePlace): boolean => kind === "plain" || kind === "short";
    const expected = places.filter(isLocal).length;
    if (expected === 0) return false;
    const after = placesInModule(applyEdits(source.text, edits), path, newName);
    return after?.filter(isLocal).length !== expected;
  }

  /** The module whose import gives a name to the scope of a module. */
  #importOf(path: string, name: string): string | undefined {
    const local = this.#read(path).scope?.locals.get(name);
    return local?.kind === "imported" && local.name === name ? this.#resolve(path, local.specifier) : undefined;
  }

  /** Whether the name in the module's own scope is the entity. */
  #binds(path: string, entity: ModuleEntity): boolean {
    const { scope } = this.#read(path);
    const local = scope?.locals.get(entity.name);
    if (local === undefined) return false;
    if (local.kind === "imported") {
      const from = local.name === entity.name ? this.#resolve(path, local.specifier) : undefined;
      const found = from === undefined ? undefined : this.exportOf(from, entity.name);
      return found !== undefined && found.path === entity.path;
    }
    const exported = scope?.exports.get(entity.name)?.name;
    const isExported = exported?.kind === "declared" && exported.statements[0] === local.statements[0];
    return isExported && realPathOf(path, this.#host) === entity.path;
  }

  #resolve(from: string, specifier: string): string | undefined {
    if (!/^\.{1,2}\//.test(specifier)) return undefined;
    return findFile(joinPath(directoryOf(from), specifier), this.#host).path;
  }

  #isOwn(path: string): boolean {
    return MODULE.test(path) && !/(?:^|[/\\])node_modules[/\\]/.test(path) && this.#host.realPath(path) !== undefined;
  }
}
