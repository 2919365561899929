/**
 * Builds `dist/`: the types of the library (tsc), its entry points (Rolldown) and the command line (esbuild).
 * Builds beside the old `dist/` and swaps at the end: a program that runs from it never finds a partial build.
 *
 *   node scripts/build.mjs          everything
 *   node scripts/build.mjs --cli    only the command line, without type checks: for work on it
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundleLibrary, entryPoints, pruneDeclarations, writeLicences } from "./bundle-library.mjs";
import { buildPlayground } from "./build-playground.mjs";
import { assembleRuntimePackage } from "./runtime-package.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const packageJson = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { version } = packageJson;
const entries = entryPoints(packageJson);
const onlyCli = process.argv.includes("--cli");
const next = join(root, `dist-${process.pid}`);

try {
  await import("./generate-table-validator.mjs");
  const library = onlyCli ? undefined : await buildLibrary(next);
  const program = await buildCli(join(next, "cli"));
  const studio = await buildStudio(join(next, "cli", "studio"));
  const playground = await buildPlayground(root, join(next, "cli", "playground"));
  if (library !== undefined) {
    writeLicences(next, [...library, ...program, ...studio, ...playground]);
    assembleRuntimePackage(root, next, packageJson);
  }
  const target = onlyCli ? "dist/cli" : "dist";
  swap(onlyCli ? join(next, "cli") : next, join(root, target));
  console.error(`built ${target} (${version})`);
} catch (error) {
  if (!error?.isReported) console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(next, { recursive: true, force: true });
}

async function buildLibrary(output) {
  buildTypes(output);
  const modules = await bundleLibrary(root, output, entries);
  pruneDeclarations(output, entries);
  return modules;
}

function runTsc(args) {
  const require = createRequire(import.meta.url);
  const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
  try {
    execFileSync(process.execPath, [tsc, ...args], { cwd: root, stdio: ["ignore", 2, 2] });
  } catch (cause) {
    throw Object.assign(new Error("tsc failed", { cause }), { isReported: true });
  }
}

function buildTypes(output) {
  runTsc(["-p", "tsconfig.build.json", "--outDir", output]);
  // Declarations of modules that are JavaScript already (generated validators) keep their place.
  const sources = ["diagnostics", "grammar", "compiler", "runtime", "stdlib", "adapters", "testing", "service", "api"];
  for (const file of listFiles(root, sources)) {
    if (file.endsWith(".d.ts")) {
      mkdirSync(dirname(join(output, file)), { recursive: true });
      copyFileSync(join(root, file), join(output, file));
    }
  }
  // tsc rewrites `./x.ts` in modules, but not in declarations, where older compilers would not find it.
  for (const file of listFiles(output, ["."])) {
    if (!file.endsWith(".d.ts")) continue;
    const path = join(output, file);
    const text = readFileSync(path, "utf8");
    const rewritten = text.replace(
      /(\bfrom\s*|\bimport\(\s*|\bimport\s+)(["'])(\.{1,2}\/[^"']+)\.ts\2/g,
      "$1$2$3.js$2",
    );
    if (rewritten !== text) writeFileSync(path, rewritten);
  }
}

/** The entry is a module that loads the rest, one script, with V8's code cache (cli/start/load-program.ts). */
async function buildCli(outdir) {
  const common = {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20",
    define: { __NGRAPH_VERSION__: JSON.stringify(version) },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    logLevel: "warning",
  };
  const { metafile } = await build({
    ...common,
    metafile: true,
    entryPoints: ["cli/main.ts"],
    outfile: join(outdir, "main.cjs"),
    format: "cjs",
    // The variant for Node reads the environment at each token of a text: an eighth of the time of reading it.
    alias: { yaml: join(root, "node_modules/yaml/browser/index.js") },
    plugins: [lazily("@babel/parser"), separately("@restatedev/restate-sdk", "./restate-sdk.cjs")],
    // Loaded only by the commands that need them, from where they are installed.
    external: [
      "esbuild",
      "prettier",
      "pg",
      "@photostructure/sqlite",
      "@hpcc-js/wasm-graphviz",
      "vscode-languageserver-protocol",
    ],
    // A script has no `import.meta`: the entry hands it over.
    define: { ...common.define, "import.meta.url": "__ngcUrl" },
  });
  const imported = Object.values(metafile.outputs)
    .flatMap((output) => output.imports)
    .filter(({ kind, external }) => kind === "dynamic-import" && external);
  if (imported.length > 0) {
    throw new Error(`import(${JSON.stringify(imported[0].path)}) in the program: use cli/start/import-module.ts`);
  }
  const program = readFileSync(join(outdir, "main.cjs"));
  if (!program.every((byte) => byte < 0x80))
    throw new Error("the program is not ASCII: cli/start/load-program.ts reads it as such");
  const hash = createHash("sha256").update(program).digest("hex").slice(0, 32);
  await build({
    ...common,
    entryPoints: ["cli/ngc.ts"],
    outfile: join(outdir, "ngc.js"),
    format: "esm",
    define: { ...common.define, __NGRAPH_PROGRAM_HASH__: JSON.stringify(hash) },
  });
  const sdk = await build({
    ...common,
    metafile: true,
    stdin: { contents: 'export * from "@restatedev/restate-sdk";', resolveDir: root },
    outfile: join(outdir, "restate-sdk.cjs"),
    format: "cjs",
  });
  chmodSync(join(outdir, "ngc.js"), 0o755);
  return [metafile, sdk.metafile].flatMap(({ inputs }) => Object.keys(inputs).map((file) => join(root, file)));
}

/** The page of the studio, which `ngc serve --studio` sends. It loads nothing from elsewhere. */
async function buildStudio(outdir) {
  if (!onlyCli) for (const page of ["studio", "playground"]) runTsc(["-p", page]);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { studio: "studio/main.tsx" },
    outdir,
    bundle: true,
    format: "esm",
    // The browsers of which the oldest has `light-dark()` in styles.
    target: ["chrome123", "firefox120", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
  });
  await build({
    absWorkingDir: root,
    entryPoints: ["studio/studio.css"],
    outdir,
    bundle: true,
    minify: true,
    logLevel: "warning",
  });
  copyFileSync(join(root, "studio", "index.html"), join(outdir, "index.html"));
  return Object.keys(metafile.inputs).map((file) => join(root, file));
}

/**
 * Bundles a package so that its code runs when one of its functions is first called: most commands never need it. The use is
 * noted for the code cache (cli/start/load-program.ts).
 */
function lazily(name) {
  const require = createRequire(import.meta.url);
  return {
    name: `lazily ${name}`,
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^${name}$`) }, ({ namespace }) =>
        namespace === "lazy" ? { path: require.resolve(name) } : { path: name, namespace: "lazy" },
      );
      builder.onLoad({ filter: /.*/, namespace: "lazy" }, () => ({
        contents: `export const parse = (...args) => {
          __ngcStart.parts.add(${JSON.stringify(name)});
          return require(${JSON.stringify(name)}).parse(...args);
        };`,
        resolveDir: root,
      }));
    },
  };
}

/** Leaves a large package to a file of its own, which `require` loads: reading the program costs every command time. */
function separately(name, file) {
  return {
    name: `separately ${name}`,
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace: "separate" }));
      builder.onResolve({ filter: /.*/, namespace: "separate" }, ({ path }) => ({ path, external: true }));
      builder.onLoad({ filter: /.*/, namespace: "separate" }, () => ({
        contents: `module.exports = require(${JSON.stringify(file)});`,
      }));
    },
  };
}

function swap(from, to) {
  const old = `${to}-old-${process.pid}`;
  mkdirSync(dirname(to), { recursive: true });
  try {
    renameSync(to, old);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  renameSync(from, to);
  rmSync(old, { recursive: true, force: true });
}

function listFiles(base, directories) {
  return directories.flatMap((directory) =>
    readdirSync(join(base, directory), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(base, join(entry.parentPath, entry.name))),
  );
}
