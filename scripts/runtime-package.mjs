/**
 * Assembles `dist/runtime-package/`, the package `@ngraph/runtime`: what a server needs that runs compiled graphs. It has the files of these
 * entry points and the declarations that they reach, and no dependencies. `ngraph` also has the compiler, `ngc`, and their dependencies.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The entry points of the package, with those of `ngraph` that they equal. */
const EXPORTS = new Map([
  [".", "./runtime"],
  ["./direct", "./direct"],
  ["./generated", "./generated"],
  ["./stdlib", "./stdlib"],
  ["./stores/sqlite", "./stores/sqlite"],
  ["./stores/postgres", "./stores/postgres"],
  ["./stores/contract", "./stores/contract"],
  ["./stores/langgraph", "./stores/langgraph"],
]);

const README = `# @ngraph/runtime

Runs compiled ngraph graphs. The package contains the engine, the stores and the built-in nodes, and has no dependencies.

\`\`\`sh
npm install @ngraph/runtime
npm install --save-dev ngraph
\`\`\`

\`ngc compile\` of \`ngraph\` writes modules that import this package if \`package.json\` lists it in \`dependencies\`. \`SqliteStore\` on Node 20 needs
\`@photostructure/sqlite\`, and \`PostgresStore\` needs \`pg\`.
`;

/**
 * @param root the directory of the sources
 * @param dist the directory of the built package
 * @param packageJson the content of `package.json` of `ngraph`
 */
export function assembleRuntimePackage(root, dist, packageJson) {
  const output = join(dist, "runtime-package");
  const exported = [...EXPORTS].map(([name, original]) => [name, packageJson.exports[original]]);
  const entries = exported.flatMap(([, { types, default: code }]) => [types, code]);
  for (const file of filesOf(entries.map((path) => join(dist, relative("dist", path))))) {
    const target = join(output, "dist", relative(dist, file));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
  const { version, license, type, engines, sideEffects, optionalDependencies, peerDependencies } = packageJson;
  const peers = { ...peerDependencies, ...optionalDependencies };
  const manifest = {
    name: "@ngraph/runtime",
    version,
    description: "Runs compiled ngraph graphs",
    license,
    type,
    engines,
    sideEffects,
    exports: { ...Object.fromEntries(exported), "./package.json": "./package.json" },
    files: ["dist"],
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
  };
  writeFileSync(join(output, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(output, "README.md"), README);
  copyFileSync(join(root, "LICENSE"), join(output, "LICENSE"));
}

/** The files, and all that they import by a relative path: modules and declarations. */
function filesOf(entries) {
  const found = new Set();
  const visit = (file) => {
    if (found.has(file)) return;
    found.add(file);
    const imports = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s*)["'`](\.{1,2}\/[^"'`\n]+)["'`]/g;
    for (const [, specifier] of readFileSync(file, "utf8").matchAll(imports)) {
      const target = join(dirname(file), specifier);
      const wanted = file.endsWith(".d.ts") ? target.replace(/\.js$/, ".d.ts") : target;
      // Examples in comments import files that do not exist.
      if (existsSync(wanted)) visit(wanted);
    }
  };
  entries.forEach(visit);
  return found;
}
