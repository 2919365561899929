import {
  brokenModule,
  forbiddenSpecifier,
  importEscapesRoot,
  missingFile,
  missingLibraryFile,
  unreadableFile,
} from "../../diagnostics/catalog/names.ts";
import type { Diagnostic, Place } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import { isLibraryPath, libraryFiles } from "../../stdlib/graphs/library-files.ts";
import { syntaxErrorOf } from "../modules/parse-module.ts";
import { findFile, isGraphFile } from "./find-file.ts";
import type { CompilerHost } from "./host.ts";
import type { LoadedModule } from "./load-module.ts";
import type { ImportTarget, LoadedFile } from "./load-project.ts";
import { directoryOf, isInside, joinPath, relativeSpecifier } from "./paths.ts";
import { realPathOf } from "./project-root.ts";

/** The state that all imports of a project share. */
export interface ImportResolution {
  readonly host: CompilerHost;
  /** The directory of the project's package. */
  readonly root: string;
  /** The directory that imports must not leave: the root of the package's workspace, else of the package. */
  readonly workspaceRoot: () => string;
  readonly report: (diagnostic: Diagnostic) => void;
  /** Parses a graph file and queues it, so that its imports are resolved later. */
  readonly parse: (text: string, path: string) => LoadedFile;
  readonly readModule: (path: string) => LoadedModule;
  /** Files that have been read, by real path. */
  readonly files: Map<string, LoadedFile>;
}

/** Finds and reads the target of an import. Reports forbidden, escaping (NG113), missing and unreadable targets. */
export function resolveImport(
  declaration: Ast.ImportDecl,
  file: LoadedFile,
  resolution: ImportResolution,
): ImportTarget {
  const { host, report, files } = resolution;
  const { value: specifier, span } = declaration.from;
  const place = { file: file.source, span };
  if (isLibraryPath(specifier)) {
    const text = libraryFiles.get(specifier);
    if (text === undefined) {
      report(missingLibraryFile(place, { specifier, known: [...libraryFiles.keys()] }));
      return { kind: "broken" };
    }
    const known = files.get(specifier) ?? resolution.parse(text, specifier);
    files.set(specifier, known);
    return { kind: "file", file: known };
  }
  if (isForbidden(specifier)) {
    report(forbiddenSpecifier(place, { specifier }));
    return { kind: "broken" };
  }
  const isPath = /^(\.{1,2}(\/|$)|\/|[A-Za-z]:[\\/])/.test(specifier);
  if (!isPath && !isGraphFile(specifier)) return { kind: "package" };

  const directory = directoryOf(file.source.path);
  const path = joinPath(directory, specifier);
  const found = isPath ? findFile(path, host).path : undefined;
  const wanted = joinPath(realPathOf(directory, host), specifier);
  const real = found === undefined ? undefined : realPathOf(found, host);
  // Most imports stay in the package: the directories above it are not read for them.
  if (!isInside(real ?? wanted, resolution.root)) {
    const root = resolution.workspaceRoot();
    if (!isInside(real ?? wanted, root)) {
      const byLink = real !== undefined && isInside(wanted, root);
      report(importEscapesRoot(place, { specifier, root, byLink, isGraph: isGraphFile(specifier) }));
      return { kind: "broken" };
    }
  }
  if (found === undefined || real === undefined) {
    const why = isPath ? host.whyUnreadable?.(path) : undefined;
    if (why !== undefined) report(unreadableFile(place, { specifier, why }));
    else {
      const similar = similarSpecifier(specifier, isPath, path, host);
      const inPackage = isPath || similar !== undefined ? undefined : pathInPackage(specifier, directory, resolution);
      report(missingFile(place, { specifier, isPath, similar, inPackage }));
    }
    return { kind: "broken" };
  }

  if (isGraphFile(found)) {
    const known = files.get(real) ?? resolution.parse(host.readFile(found) ?? "", found);
    files.set(real, known);
    return { kind: "file", file: known };
  }
  const module = resolution.readModule(found);
  if (module.scope === undefined) reportSyntaxError(module, place, specifier, report);
  return { kind: "module", module };
}

function reportSyntaxError(
  { source, path }: LoadedModule,
  place: Place,
  specifier: string,
  report: (diagnostic: Diagnostic) => void,
): void {
  const found = syntaxErrorOf(source.text, path);
  if (found === undefined) return;
  const { message, offset } = found;
  report(
    brokenModule(place, { specifier, message, error: { file: source, span: { start: offset, end: offset + 1 } } }),
  );
}

/**
 * Whether a specifier is empty, a URL (a `data:` URL would contain code) or a network path. `node:` is the only allowed
 * scheme; a single letter and a colon begin a Windows path.
 */
function isForbidden(specifier: string): boolean {
  if (specifier.trim() === "" || /^\s|\s$|[\u0000-\u001f]/.test(specifier)) return true;
  if (/^[\\/]{2}|^\\/.test(specifier)) return true;
  // Control, bidirectional and other invisible characters: a specifier with one of them differs from the text that a
  // reader sees.
  if (/[\p{C}\u2028\u2029]/u.test(specifier)) return true;
  return /^[a-zA-Z][\w+.-]+:/.test(specifier) && !/^node:[\w/]+$/.test(specifier);
}

/** A specifier of an existing file that the import may mean, for suggestions. */
function similarSpecifier(specifier: string, isPath: boolean, path: string, host: CompilerHost): string | undefined {
  const { path: found, similar } = findFile(path, host);
  if (!isPath) return found === undefined ? undefined : `./${specifier}`;
  if (similar === undefined) return undefined;
  const slash = specifier.lastIndexOf("/");
  return `${slash === -1 ? "./" : specifier.slice(0, slash + 1)}${similar}`;
}

/**
 * The relative specifier of a graph file that an import names by its package, as Node.js finds packages: in the nearest
 * `node_modules` above that has the file. A workspace links its packages there.
 */
function pathInPackage(
  specifier: string,
  directory: string,
  { host, root, workspaceRoot }: ImportResolution,
): string | undefined {
  const own = realPathOf(directory, host);
  for (let at = own; ; at = directoryOf(at)) {
    const path = joinPath(joinPath(at, "node_modules"), specifier);
    if (host.readFile(path) !== undefined) {
      const real = realPathOf(path, host);
      return isInside(real, root) || isInside(real, workspaceRoot()) ? relativeSpecifier(own, real) : undefined;
    }
    if (directoryOf(at) === at || at === "..") return undefined;
  }
}
