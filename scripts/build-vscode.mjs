// Bundles the extension for Visual Studio Code into editors/vscode/dist, and packs it: `node scripts/build-vscode.mjs [FILE.vsix]`.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = fileURLToPath(new URL("../editors/vscode/", import.meta.url));
const grammar = fileURLToPath(new URL("../grammar/ngraph.tmLanguage.json", import.meta.url));

rmSync(`${folder}dist`, { recursive: true, force: true });
mkdirSync(`${folder}dist`, { recursive: true });
await build({
  entryPoints: [`${folder}source/extension.ts`],
  outfile: `${folder}dist/extension.cjs`,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
  minify: true,
  logLevel: "warning",
});
cpSync(grammar, `${folder}dist/ngraph.tmLanguage.json`);

const [packagePath] = process.argv.slice(2);
if (packagePath !== undefined) {
  const { createVSIX } = await import("@vscode/vsce");
  // The bundle has all dependencies.
  await createVSIX({ cwd: folder, packagePath, dependencies: false, skipLicense: true, allowMissingRepository: true });
}
