/**
 * Loads the user's node functions from TypeScript or JavaScript. esbuild bundles all imported modules once; the bundle is imported
 * and then deleted. Packages are not bundled: they are resolved from the file that imports them, as Node does.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, isAbsolute, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { BuildFailure, Loader, Plugin } from "esbuild";
import { keepStreamsOpen } from "../process/output-streams.ts";
import { CommandError } from "../process/command-error.ts";
import { reasonOf } from "./source-files.ts";
import { EXIT } from "../process/exit-codes.ts";
import { importModule } from "../start/import-module.ts";
import { recordBuiltins } from "../process/builtin-objects.ts";
import { enterStage } from "../process/stage.ts";
import {
  describeUserError,
  messageOf as messageOfUser,
  rememberUserSources,
  USER_BUNDLE_MARK,
} from "../process/user-error.ts";

/** A module that a graph file imports: its specifier and the directory of the graph file. */
export interface UserModule {
  readonly specifier: string;
  readonly directory: string;
}

/** The exports of modules, by `moduleKey`. */
export type LoadedModules = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

export function moduleKey(module: UserModule): string {
  return JSON.stringify([module.directory, module.specifier]);
}

/** Bundles and imports modules, which runs their top-level code. Errors of user code are reported with file and line. */
export async function loadUserModules(modules: readonly UserModule[]): Promise<LoadedModules> {
  const loaded = new Map<string, Readonly<Record<string, unknown>>>();
  if (modules.length === 0) return loaded;
  const exports = await importBundle(modules);
  for (const [index, module] of modules.entries()) {
    const value = exports[`m${index}`];
    if (typeof value === "object" && value !== null) {
      loaded.set(moduleKey(module), value as Readonly<Record<string, unknown>>);
    }
  }
  return loaded;
}

/**
 * Imports the bundle from a temporary file, so that stack traces refer to the sources. The file is deleted before the first node runs.
 */
async function importBundle(modules: readonly UserModule[]): Promise<Readonly<Record<string, unknown>>> {
  process.setSourceMapsEnabled(true);
  // Source maps are relative to the file, so its path must not contain symbolic links.
  const directory = makeTemporaryDirectory();
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  // A module may end the process before the `finally` below.
  process.once("exit", remove);
  enterStage({ name: "loading" });
  recordBuiltins();
  keepStreamsOpen();
  try {
    const file = join(directory, `${USER_BUNDLE_MARK}.mjs`);
    writeFileSync(file, await bundle(modules, file));
    return (await importModule(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`the imported modules could not be loaded: ${messageOf(error)}`, {
      exitCode: EXIT.failed,
      code: "user_code",
      cause: error,
    });
  } finally {
    enterStage({ name: "idle" });
    process.off("exit", remove);
    remove();
  }
}

/** The bundles in the making. They share the process of esbuild. */
let bundling = 0;

async function bundle(modules: readonly UserModule[], outfile: string): Promise<string> {
  const { build, stop } = (await importModule("esbuild")) as typeof import("esbuild");
  // Two graph files may import different files as "./nodes.ts", so each import is resolved from its own directory.
  const entry = modules.map((_, index) => `export * as m${index} from "ngraph-import:${index}";`).join("\n");
  bundling++;
  try {
    const result = await build({
      stdin: { contents: entry, resolveDir: process.cwd(), loader: "js" },
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      platform: "node",
      target: `node${process.versions.node}`,
      // Resolves as Node does, and not as bundlers prefer to.
      mainFields: ["main"],
      conditions: [],
      keepNames: true,
      sourcemap: "inline",
      sourcesContent: false,
      outfile,
      banner: { js: `${deleteDirectory(dirname(outfile))}\n${REQUIRE}` },
      logLevel: "silent",
      plugins: [entriesOf(modules), packagesStayOutside, ownPlaceOfEachFile],
    });
    rememberUserSources(Object.keys(result.metafile.inputs).map((file) => join(process.cwd(), file)));
    return result.outputFiles[0]?.text ?? "";
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    throw new CommandError(error.errors.slice(0, 10).map(describeBuildError).join("\nerror: "), {
      exitCode: EXIT.usage,
      code: "user_code",
    });
  } finally {
    // User code may replace functions that the connection to the process of esbuild uses.
    if (--bundling === 0) await stop();
  }
}

/**
 * Deletes the directory of the bundle before user code runs. Code that never returns can be interrupted only by the default action of a
 * signal, which runs no `finally`.
 */
function deleteDirectory(directory: string): string {
  return `import { rmSync as __ngraphRemove } from "node:fs";
__ngraphRemove(${JSON.stringify(directory)}, { recursive: true, force: true });`;
}

/** Bundled CommonJS modules load built-in modules with `require`. */
const REQUIRE = `import { createRequire as __ngraphCreateRequire } from "node:module";
const require = __ngraphCreateRequire(${JSON.stringify(pathToFileURL(join(process.cwd(), "package.json")).href)});`;

function entriesOf(modules: readonly UserModule[]): Plugin {
  return {
    name: "graph-imports",
    setup(build) {
      build.onResolve({ filter: /^ngraph-import:\d+$/ }, async (args) => {
        const module = modules[Number(args.path.slice("ngraph-import:".length))];
        if (module === undefined) return undefined;
        const found = await build.resolve(module.specifier, { resolveDir: module.directory, kind: "import-statement" });
        if (found.errors.length > 0) {
          const text = `cannot find \`${module.specifier}\`, imported by a graph in ${shown(module.directory)}`;
          return { errors: [{ text }] };
        }
        return found;
      });
    },
  };
}

/** Marks modules in `node_modules` as external, by the absolute path to which the importing file resolves them. */
const packagesStayOutside: Plugin = {
  name: "packages-stay-outside",
  setup(build) {
    build.onResolve({ filter: /^[^./]|^\.[^./]|^\.\.[^/]/ }, async (args) => {
      if (args.pluginData === RESOLVING || args.path.startsWith("ngraph-import:") || isAbsolute(args.path))
        return undefined;
      if (args.path.startsWith("node:")) return { path: args.path, external: true };
      const found = await build.resolve(args.path, {
        resolveDir: args.resolveDir,
        importer: args.importer,
        kind: args.kind,
        pluginData: RESOLVING,
      });
      if (found.errors.length > 0 || found.external) return found;
      if (!/[\\/]node_modules[\\/]/.test(found.path)) return found;
      const isRequire = args.kind === "require-call" || args.kind === "require-resolve";
      return { path: isRequire ? found.path : pathToFileURL(found.path).href, external: true };
    });
  },
};
const RESOLVING = Symbol("resolving");

/** Replaces `import.meta.url` and `__dirname` with those of the source file; otherwise they would refer to the bundle. */
const ownPlaceOfEachFile: Plugin = {
  name: "own-place-of-each-file",
  setup(build) {
    build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, async ({ path }) => {
      const contents = readFileSync(path, "utf8");
      if (!/import\.meta|__dirname|__filename/.test(contents)) return undefined;
      const loader = loaderOf(path);
      const { code } = await build.esbuild.transform(contents, {
        loader,
        sourcefile: path,
        sourcemap: "inline",
        target: `node${process.versions.node}`,
        define: {
          "import.meta.url": JSON.stringify(pathToFileURL(path).href),
          "import.meta.dirname": JSON.stringify(dirname(path)),
          "import.meta.filename": JSON.stringify(path),
          __dirname: JSON.stringify(dirname(path)),
          __filename: JSON.stringify(path),
        },
      });
      return { contents: code, loader: "js", resolveDir: dirname(path) };
    });
  },
};

function loaderOf(path: string): Loader {
  const extension = extname(path).replace(/^\.[cm]/, ".");
  return extension === ".ts" ? "ts" : extension === ".tsx" ? "tsx" : extension === ".jsx" ? "jsx" : "js";
}

function messageOf(error: unknown): string {
  return describeUserError(error) ?? messageOfUser(error);
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors);
}

function describeBuildError(message: BuildFailure["errors"][number]): string {
  const { location, text } = message;
  if (location === null || location.file.startsWith("ngraph-import:") || location.file === "<stdin>") return text;
  return `${location.file}:${location.line}:${location.column + 1}: ${text}`;
}

function shown(directory: string): string {
  return relative(process.cwd(), directory) || ".";
}

/** @throws CommandError when the directory of the system does not exist or cannot be written */
function makeTemporaryDirectory(): string {
  try {
    return mkdtempSync(join(realpathSync(tmpdir()), `${USER_BUNDLE_MARK}-`));
  } catch (error) {
    throw new CommandError(`cannot create a temporary directory in ${tmpdir()}: ${reasonOf(error)}`, {
      cause: error,
      help: "set TMPDIR to a directory that can be written",
    });
  }
}
