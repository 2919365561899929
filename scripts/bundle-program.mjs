/**
 * Bundles the command line (`cli/main.ts`) with Rolldown, as scripts that `cli/start/load-program.ts` loads with V8's code cache.
 *
 * Reading and compiling code costs most of the start of a command. The program is therefore divided: what every command needs, the
 * compiler, the engine, and a part for each dynamic import. Names of functions and classes are kept, for stack traces and
 * `Error.name`; those of local variables are shortened. The name of a part contains its hash, so a command that runs while the
 * program is replaced never loads a part of another version.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { toAscii } from "./ascii.mjs";

/** What `fmt` and `check` share. */
const LANGUAGE = ["edge-syntax", "format/format", "matrix-axes", "parse", "yaml/parse-yaml", "yaml/yaml-comments"];

/** The parts that several commands load, by the modules whose static imports they contain. A module belongs to the first part that reaches it. */
const PARTS = [
  ["start", ["cli/main.ts"]],
  ["language", LANGUAGE.map((name) => `grammar/${name}.ts`)],
  ["compiler", ["compiler/compile.ts", "compiler/check.ts", "api/node-host.ts"]],
  [
    "engine",
    ["runtime/index.ts", "runtime/program/program.ts", "runtime/plan/link-calls.ts", "stdlib/builtin-nodes.ts"],
  ],
];

/** Loaded by the commands that need them, from where they are installed. */
const INSTALLED = new Set([
  ...["esbuild", "prettier", "pg", "@photostructure/sqlite", "@hpcc-js/wasm-graphviz"],
  "vscode-languageserver-protocol",
]);

/** Loaded when its function is first called: syntax trees are stored, so few commands need it. */
const LAZY = "@babel/parser";

/** The parameters of the function that a part is (cli/start/load-program.ts). */
const PARAMETERS = "exports, require, module, __ngcUrl, __ngcImport, __ngcStart";

/**
 * @param root the directory of the sources
 * @param outdir the directory of the parts
 * @param define the values of names that the build sets
 * @returns the file name of the first part, and the paths of the bundled modules
 */
export async function bundleProgram(root, outdir, define) {
  const [parser] = await writeParts(root, outdir, { input: { parser: LAZY } });
  const lazy = `\0${LAZY}`;
  const parts = await writeParts(root, outdir, {
    input: { main: "cli/main.ts" },
    external: (id) => INSTALLED.has(id),
    // A script has no `import.meta`.
    transform: { target: "node20", define: { ...define, "import.meta.url": "__ngcUrl" } },
    plugins: [
      {
        name: "lazily",
        resolveId(id) {
          if (id === LAZY) return lazy;
          return id === `./${parser.fileName}` ? { id, external: "absolute" } : undefined;
        },
        load: (id) =>
          id === lazy
            ? `export const parse = (...args) => require(${JSON.stringify(`./${parser.fileName}`)}).parse(...args);`
            : undefined,
      },
    ],
  });
  const names = new Set(parts.map(({ fileName }) => fileName));
  const installed = parts.flatMap(({ dynamicImports }) => dynamicImports).find((name) => !names.has(name));
  if (installed !== undefined) throw new Error(`import("${installed}") in the program: use cli/start/import-module.ts`);
  const main = parts.find(({ isEntry }) => isEntry);
  return { main: main.fileName, modules: [parser, ...parts].flatMap(({ moduleIds }) => moduleIds) };
}

async function writeParts(root, outdir, options) {
  const imports = new Map();
  const bundle = await rolldown({
    cwd: root,
    platform: "node",
    // The variant for Node reads the environment at each token of a text: an eighth of the time of reading it.
    resolve: { alias: { yaml: join(root, "node_modules/yaml/browser/index.js") } },
    checks: { ineffectiveDynamicImport: false, bundlerTimings: false },
    ...options,
    plugins: [
      ...(options.plugins ?? []),
      { name: "imports", moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds) },
    ],
  });
  const reached = new Map();
  const reachedBy = (name, files) => {
    if (!reached.has(name))
      reached.set(
        name,
        closure(
          imports,
          files.map((file) => join(root, file)),
        ),
      );
    return reached.get(name);
  };
  const result = await bundle.write({
    dir: outdir,
    format: "cjs",
    // As in the modules: an assignment to a frozen object is an error.
    strict: true,
    entryFileNames: "[name]-[hash].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    comments: false,
    minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
    codeSplitting: {
      groups: PARTS.map(([name, files], at) => ({
        name,
        priority: PARTS.length - at,
        test: (id) => reachedBy(name, files).has(id),
      })),
    },
  });
  await bundle.close();
  for (const { fileName } of result.output) {
    const path = join(outdir, fileName);
    writeFileSync(path, `(function (${PARAMETERS}) {${toAscii(readFileSync(path, "utf8"))}\n})`);
  }
  return result.output;
}

/** The modules that modules import statically, including these. */
function closure(imports, ids) {
  const found = new Set();
  const open = [...ids];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(imports.get(id) ?? []));
  }
  return found;
}
