/**
 * Bundles the entry points of the library (`api/`) with Rolldown, as ES modules that share chunks.
 *
 * An import of one file per source costs most of the start of a program: `ngraph` consisted of 1,017 files. Code splitting keeps one copy of
 * each module, so a class has one identity for all entry points. Names are not shortened, so stack traces show the functions. Bundlers of
 * users remove the functions that a program does not use.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { nodesOf, toAscii } from "./ascii.mjs";

/** The packages that become part of the library. All other packages are imported from where they are installed. */
const BUNDLED = /^(?:@babel\/parser|chevrotain|get-east-asian-width|picocolors|prettier\/doc|yaml)$/;

/** Bundled so that their code runs at the first call: few programs need them. By package, the modules that stand for them. */
const LAZY = {
  "@babel/parser": "export const parse = (...args) => require('@babel/parser').parse(...args);",
  picocolors: "export default { createColors: (...args) => require('picocolors').createColors(...args) };",
};

/**
 * Modules of which `ngraph/direct` has copies of its own. A bundler puts all of a file that the start of a program shares with the engine into the
 * start, whatever the start uses of it, and keeps the names that the engine imports. Of a copy, the start has only what it uses. A copy has
 * neither state nor an identity that matters.
 */
const COPIED = [
  ...["event/redact", "expression/equal", "expression/expression-depth", "expression/generated"],
  ...["expression/operations", "expression/secret-arguments"],
  ...["interface/usage", "memory/lazy-memory", "program/expected-type", "program/reducers", "program/update-types"],
  ...["routing/routes", "run/begin-items", "run/check-options", "run/copy-arguments", "run/option-kinds"],
  ...["run/option-names", "step/call-options", "table/effects", "table/missing-secrets", "table/read-secrets"],
  ...["table/refuse-effects", "table/sha256", "value/copy-plain", "value/limits", "value/own-value"],
  ...["value/plain-object", "value/work"],
];
const COPY = "?direct";
/** The modules that import copies. The engine imports none of them. */
const START = [
  ...["api/direct", "runtime/engine/open-direct"],
  "runtime/direct/accept",
  ...["context", "edges", "graph", "items", "jumps", "loop", "run", "secrets", "settle"].map(
    (name) => `runtime/direct/direct-${name}`,
  ),
];

/**
 * The chunks of the runtime, by the modules whose imports they contain. A module belongs to the first chunk that reaches it.
 * Bundlers of users split programs by the files of the package: the files of dynamic imports have no
 * module that the start of a program needs. The third element names modules of other chunks.
 */
const RUNTIME_CHUNKS = [
  // What the start of a module without the engine shares with the engine: classes, and modules with state.
  ["direct", ["runtime/engine/open-direct.ts"], COPIED.map((name) => `runtime/${name}.ts`)],
  // What expressions call, apart from the engine: a module without the engine imports no file of it. The engine needs the first of both, too.
  ["results", ["runtime/value/admit.ts", "runtime/expression/operations.ts"]],
  ["functions", ["runtime/expression/call-function.ts", "runtime/expression/library.ts"]],
  [
    "engine",
    [
      "runtime/engine/direct-engine.ts",
      "runtime/engine/open-generated.ts",
      "runtime/step/call-graph.ts",
      "runtime/step/call-tool.ts",
      "runtime/step/finally-part.ts",
      "runtime/step/undo-entry.ts",
    ],
  ],
  [
    "memory-store",
    ["stores/memory", "stores/contract/encoded-text", "interface/store"].map((name) => `runtime/${name}.ts`),
  ],
  ["threads", ["runtime/engine/thread-operations.ts"]],
  ["interpreter", ["runtime/expression/compile-expression.ts"]],
  ["nodes", ["ask", "fail", "json", "memory", "print", "receive", "sleep"].map((name) => `stdlib/nodes/${name}.ts`)],
  ["direct-module", ["api/direct.ts"]],
  // What plans share with the compiler, and with the linker.
  ["paths", ["matrix-names", "overlapping-patterns", "path-pattern"].map((name) => `runtime/plan/${name}.ts`)],
  [
    "plan-order",
    ["plan-nodes", "plan-option-names", "plan-order", "task-backoff", "task-expressions"].map(
      (name) => `runtime/plan/${name}.ts`,
    ),
  ],
  [
    "linker",
    ["runtime/engine/loaded-linker.ts", "runtime/engine/checked-engine.ts", "runtime/plan/open-plan-runner.ts"],
  ],
  ["library", ["api/create-engine.ts", "api/create-plan-runner.ts"]],
  ["plans", ["runtime/plan/loaded-plans.ts"]],
  ["large-nodes", ["csv", "file", "http", "shell"].map((name) => `stdlib/nodes/${name}.ts`)],
  ["whole-engine", ["runtime/engine/create-engine.ts", "runtime/plan/plan-runner.ts", "stdlib/builtin-nodes.ts"]],
  ["runtime", ["api/runtime.ts", "api/generated.ts", "api/stdlib.ts"]],
];

/** The entry points below `api/`: the files that `exports` of package.json names. */
export function entryPoints(packageJson) {
  return Object.values(packageJson.exports)
    .flatMap((target) => (typeof target === "string" ? [] : [target.default]))
    .map((path) => path.replace(/^\.\/dist\/api\/(.*)\.js$/, "$1.ts"));
}

/**
 * @param root the directory of the sources
 * @param output the directory of `api/` and `chunks/`
 * @returns the paths of the bundled modules
 */
export async function bundleLibrary(root, output, entries) {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((entry) => [entry.replace(/\.ts$/, ""), join("api", entry)])),
    // The variants of packages that run on every host.
    platform: "neutral",
    resolve: { mainFields: ["module", "main"], conditionNames: ["import"] },
    external: (id, importer) =>
      /^[^./\0]/.test(id) && !BUNDLED.test(id) && importer?.includes("node_modules") !== true && !entries.includes(id),
    plugins: [copied(root), lazily()],
    transform: { target: "es2022", define: { process: "globalThis.process" } },
    // A module that one entry point imports statically and another one dynamically is loaded by both.
    checks: { ineffectiveDynamicImport: false, bundlerTimings: false },
  });
  const paths = (files) => files.map((file) => join(root, file));
  const runtime = RUNTIME_CHUNKS.map(([name, files, others = []]) => ({
    name,
    modules: new Set([...importedModules(paths(files))].filter((file) => !paths(others).includes(file))),
  }));
  const isLanguage = /\/(?:grammar|diagnostics)\/|\/node_modules\/(?!@babel\/)/;
  const isCompiler = /\/compiler\/|\/node_modules\/@babel\//;
  const shared = (name, priority, test) => ({ name, priority, test, minShareCount: 2 });
  const result = await bundle.write({
    dir: output,
    format: "esm",
    entryFileNames: "api/[name].js",
    chunkFileNames: "chunks/[name].js",
    comments: false,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    codeSplitting: {
      groups: [
        ...runtime.map(({ name, modules }, at) => shared(name, 3 + runtime.length - at, (id) => modules.has(id))),
        shared("grammar", 2, (id) => isLanguage.test(id)),
        shared("compiler", 1, (id) => isCompiler.test(id)),
      ],
    },
  });
  await bundle.close();
  for (const { type, fileName, code } of result.output) {
    if (type === "chunk") writeFileSync(join(output, fileName), breakLines(toAscii(code)));
  }
  return result.output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}

/**
 * One line for each statement and each member of a class. Node prints the line of an error that a program does not catch, which would
 * otherwise be the whole file.
 */
function breakLines(code) {
  const starts = new Set();
  for (const { type, body } of nodesOf(code)) {
    const isList = type === "Program" || type === "BlockStatement" || type === "ClassBody";
    if (isList) for (const part of body) starts.add(part.start);
  }
  const places = [...starts].sort((a, b) => a - b).filter((at) => at > 0);
  return places
    .map((at, index) => code.slice(places[index - 1] ?? 0, at))
    .concat(code.slice(places.at(-1) ?? 0))
    .join("\n");
}

/** The modules of this repository that the files import statically, including these files. */
function importedModules(files) {
  const found = new Set();
  const visit = (file) => {
    if (found.has(file)) return;
    found.add(file);
    const imports = /^(?:import|export)\s(?!type\b)[^;]*?from\s+"(\.[^"]+)"/gm;
    for (const [, specifier] of readFileSync(file, "utf8").matchAll(imports)) visit(join(dirname(file), specifier));
  };
  for (const file of files) visit(file);
  return found;
}

/** Resolves the imports of the start to copies of modules, and those of the copies too. */
function copied(root) {
  const start = new Set(START.map((name) => join(root, `${name}.ts`)));
  const modules = new Set(COPIED.map((name) => join(root, "runtime", `${name}.ts`)));
  return {
    name: "copied",
    resolveId(specifier, importer) {
      if (importer === undefined || (!start.has(importer) && !importer.endsWith(COPY))) return undefined;
      const path = join(dirname(importer), specifier);
      return modules.has(path) ? path + COPY : path;
    },
    load(id) {
      if (!id.endsWith(COPY)) return undefined;
      const code = readFileSync(id.slice(0, -COPY.length), "utf8");
      // The class of an error is compared, so it extends another.
      if (/^(?:export )?(?:let|abstract|class \w+ extends)\b|^(?:export )?const .*\b(?:new|Symbol)\b/m.test(code)) {
        throw new Error(`${id} has state, or values with an identity: it cannot be copied`);
      }
      return { code, moduleType: "ts" };
    },
  };
}

function lazily() {
  const prefix = "\0lazily:";
  return {
    name: "lazily",
    resolveId: (id, importer) => (Object.hasOwn(LAZY, id) && !importer?.startsWith(prefix) ? prefix + id : undefined),
    load: (id) => (id.startsWith(prefix) ? LAZY[id.slice(prefix.length)] : undefined),
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

/**
 * Writes the licences of the packages whose code the outputs contain.
 *
 * @param modules the paths of bundled modules
 */
export function writeLicences(output, modules) {
  const directories = new Set(
    modules.flatMap((file) => /^\0?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.slice(1) ?? []),
  );
  const sections = [...directories].sort().map((directory) => {
    const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    const file = readdirSync(directory).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(directory, file), "utf8").trim();
    return `${name} ${version}\n${"-".repeat(78)}\n${text}\n`;
  });
  writeFileSync(
    join(output, "THIRD-PARTY.txt"),
    `This package contains code of the packages below.\n\n${sections.join("\n\n")}`,
  );
}
