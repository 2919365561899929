/**
 * Bundles the entry points of the library (`api/`) with esbuild, as ES modules that share chunks.
 *
 * An import of one file per source costs most of the start of a program: `ngraph` consisted of 1,017 files. Code splitting keeps one copy of
 * each module, so a class has one identity for all entry points. Names are not shortened, so stack traces show the functions. Bundlers of
 * users remove the functions that a program does not use.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

/** The packages that become part of the library. All other packages are imported from where they are installed. */
const BUNDLED = /^(?:@babel\/parser|chevrotain|get-east-asian-width|picocolors|prettier\/doc|yaml)$/;

/** Packages that few programs need, bundled so that their code runs at the first call of one of these functions. */
const LAZY = new Map([["@babel/parser", ["parse"]]]);

/** The entry points below `api/`: the files that `exports` of package.json names. */
export function entryPoints(packageJson) {
  return Object.values(packageJson.exports)
    .flatMap((target) => (typeof target === "string" ? [] : [target.default]))
    .map((path) => path.replace(/^\.\/dist\/api\/(.*)\.js$/, "$1.ts"));
}

/**
 * @param root the directory of the sources
 * @param output the directory of `api/` and `chunks/`
 * @returns the inputs and outputs, as esbuild describes them
 */
export async function bundleLibrary(root, output, entries) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries.map((entry) => join("api", entry)),
    outdir: output,
    outbase: root,
    bundle: true,
    splitting: true,
    minifyWhitespace: true,
    minifySyntax: true,
    format: "esm",
    target: "es2022",
    // The variants of packages that run on every host.
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["import"],
    // `process` is absent in browsers.
    define: { process: "globalThis.process" },
    chunkNames: "chunks/[name]-[hash]",
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
    plugins: [lazily(), outside()],
  });
  return metafile;
}

/** Keeps packages outside that are not part of the library. */
function outside() {
  return {
    name: "outside",
    setup(builder) {
      builder.onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) =>
        kind === "entry-point" || BUNDLED.test(path) || importer.includes("node_modules")
          ? undefined
          : { path, external: true },
      );
    },
  };
}

function lazily() {
  return {
    name: "lazily",
    setup(builder) {
      builder.onResolve({ filter: /./ }, ({ path, namespace, resolveDir }) =>
        LAZY.has(path) && namespace !== "lazy" ? { path, namespace: "lazy", pluginData: resolveDir } : undefined,
      );
      builder.onLoad({ filter: /./, namespace: "lazy" }, ({ path, pluginData }) => ({
        contents: LAZY.get(path)
          .map((name) => `export const ${name} = (...args) => require(${JSON.stringify(path)}).${name}(...args);`)
          .join("\n"),
        resolveDir: pluginData,
      }));
    },
  };
}

/** Deletes the declarations that no entry point reaches. */
export function pruneDeclarations(output, entries) {
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, specifier] of readFileSync(file, "utf8").matchAll(
      /(?:\bfrom\s*|\bimport\(\s*|\bimport\s+)["'](\.[^"']+)["']/g,
    )) {
      const target = join(dirname(file), specifier.replace(/\.js$/, ".d.ts"));
      // Examples in comments import files that do not exist.
      if (existsSync(target)) visit(target);
    }
  };
  for (const entry of entries) visit(join(output, "api", entry.replace(/\.ts$/, ".d.ts")));
  const clean = (directory) => {
    for (const item of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, item.name);
      if (item.isDirectory()) clean(path);
      else if (path.endsWith(".d.ts") && !reached.has(path)) rmSync(path);
    }
    if (readdirSync(directory).length === 0) rmSync(directory, { recursive: true });
  };
  clean(output);
}

/** Writes the licences of the packages whose code the outputs contain. */
export function writeLicences(root, output, metafiles) {
  const directories = new Set();
  for (const { outputs } of metafiles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
        const [, directory] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
        if (directory !== undefined && bytesInOutput > 0) directories.add(join(root, directory.replace(/^.*:/, "")));
      }
    }
  }
  const sections = [...directories].sort().map((directory) => {
    const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    const file = readdirSync(directory).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(directory, file), "utf8").trim();
    return `${name} ${version}\n${"-".repeat(78)}\n${text}\n`;
  });
  mkdirSync(output, { recursive: true });
  writeFileSync(
    join(output, "THIRD-PARTY.txt"),
    `This package contains code of the packages below.\n\n${sections.join("\n\n")}`,
  );
}
