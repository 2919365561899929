/** `@ngraph/runtime` as a server installs it: packed, unpacked into a directory with nothing else, and run. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createNodeHost } from "../../api/node-host.ts";
import { generatedEntryPoint } from "../../api/runtime-package.ts";
import { compile } from "../../compiler/compile.ts";
import { emitJavaScript } from "../../compiler/emit/emit-typescript.ts";
import packageJson from "../../package.json" with { type: "json" };

const BUILT = fileURLToPath(new URL("../../dist/runtime-package", import.meta.url));

const GRAPH = `import { double } from "./nodes.js"

graph flow {
  input  n: int
  output twice: int
  output ok: bool

  node calc  = double(n) into twice
  node check = ask("ok?") into ok

  start -> calc -> check
}
`;

const SERVER = `import { MemoryStore, StoreError } from "@ngraph/runtime";
import { SqliteStore } from "@ngraph/runtime/stores/sqlite";
import { builtinNodes } from "@ngraph/runtime/stdlib";
import { flow } from "./flow.ngraph.js";

const engine = flow({ store: new MemoryStore() });
const paused = await engine.run({ n: 21 }, { thread: "t" });
const { status, output } = await engine.resume("t", { answer: true });
console.log(JSON.stringify([paused.status, status, output, typeof SqliteStore, typeof StoreError, "ask" in builtinNodes]));
`;

test("a server installs under 3 MB without dependencies, and runs a compiled graph with it", () => {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-server-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", directory], {
    cwd: BUILT,
    encoding: "utf8",
    timeout: 240_000,
  });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  const installed = join(directory, "node_modules/@ngraph/runtime");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(directory, filename), "-C", installed, "--strip-components=1"], {
    timeout: 240_000,
  });

  expect(bytesOf(installed)).toBeLessThan(3_000_000);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as typeof packageJson;
  expect(manifest).toMatchObject({ version: packageJson.version, license: packageJson.license });
  expect(manifest).not.toHaveProperty("dependencies");
  expect(manifest).not.toHaveProperty("optionalDependencies");
  const required = Object.keys(manifest.peerDependencies).filter(
    (name) => !(manifest.peerDependenciesMeta as Readonly<Record<string, { optional: boolean }>>)[name]?.optional,
  );
  expect(required).toEqual([]);

  writeFileSync(
    join(directory, "package.json"),
    JSON.stringify({ type: "module", dependencies: { "@ngraph/runtime": packageJson.version } }),
  );
  writeFileSync(join(directory, "nodes.js"), "export const double = (n) => n * 2;\n");
  const result = compile(GRAPH, { path: join(directory, "flow.ngraph"), host: createNodeHost() });
  expect(result.diagnostics.filter((item) => item.severity === "error")).toEqual([]);
  const module = join(directory, "flow.ngraph.js");
  writeFileSync(module, emitJavaScript(result, { outPath: module, runtime: generatedEntryPoint(directory) }));
  writeFileSync(join(directory, "server.js"), SERVER);
  const output = execFileSync(process.execPath, ["server.js"], { cwd: directory, encoding: "utf8", timeout: 240_000 });
  expect(JSON.parse(output)).toEqual(["paused", "completed", { twice: 42, ok: true }, "function", "function", true]);
});

test.each([
  { dependencies: { "@ngraph/runtime": "1" }, entry: "@ngraph/runtime/generated" },
  { dependencies: { ngraph: "1" }, entry: "ngraph/generated" },
  { devDependencies: { "@ngraph/runtime": "1" }, entry: "ngraph/generated" },
])("a generated module imports $entry", ({ entry, ...manifest }) => {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-entry-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, "graphs/deep"), { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify(manifest));
  expect(generatedEntryPoint(join(directory, "graphs/deep"))).toBe(entry);
  writeFileSync(join(directory, "package.json"), "{");
  expect(generatedEntryPoint(directory)).toBe("ngraph/generated");
});

function bytesOf(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
