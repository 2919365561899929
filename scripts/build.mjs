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
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundleLibrary, entryPoints, pruneDeclarations, writeLicences } from "./bundle-library.mjs";
import { buildPlayground } from "./build-playground.mjs";
import { bundleProgram } from "./bundle-program.mjs";
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

/** The entry is a module that loads the rest, scripts with V8's code cache (cli/start/load-program.ts). */
async function buildCli(outdir) {
  const define = { __NGRAPH_VERSION__: JSON.stringify(version) };
  const { main, modules } = await bundleProgram(root, join(outdir, "parts"), define);
  await build({
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20",
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    logLevel: "warning",
    entryPoints: ["cli/ngc.ts"],
    outfile: join(outdir, "ngc.js"),
    format: "esm",
    define: { ...define, __NGRAPH_MAIN__: JSON.stringify(main) },
  });
  chmodSync(join(outdir, "ngc.js"), 0o755);
  return modules;
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
