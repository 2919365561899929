/** What a program loads when it imports an entry point: files and bytes, which do not depend on the machine. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));

/** The files that an import of an entry point loads, and the modules outside that they import. */
function loadedBy(entry: string): { readonly files: readonly string[]; readonly outside: readonly string[] } {
  const files = new Set<string>();
  const outside = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, specifier = ""] of text.matchAll(/(?:^|[;}])(?:import|export)\b[^;"]*?"([^"\n]+)"/gm)) {
      if (specifier.startsWith(".")) visit(join(dirname(file), specifier));
      else outside.add(specifier);
    }
  };
  visit(join(DIST, "api", `${entry}.js`));
  return { files: [...files], outside: [...outside] };
}

const kilobytes = (files: readonly string[]): number =>
  Math.ceil(files.reduce((sum, file) => sum + statSync(file).size, 0) / 1000);

describe("an import", () => {
  const rows = [
    { entry: "runtime", files: 2, kB: 600, outside: [] },
    { entry: "generated", files: 2, kB: 570, outside: [] },
    { entry: "grammar", files: 3, kB: 900, outside: [] },
    { entry: "compiler", files: 5, kB: 3100, outside: [] },
    { entry: "index", files: 6, kB: 2800, outside: ["node:fs", "node:fs/promises"] },
  ];
  test.each(rows)("of $entry loads at most $files files of $kB kB", ({ entry, files, kB, outside }) => {
    const loaded = loadedBy(entry);
    const names = loaded.files.map((file) => relative(DIST, file));
    expect(names.length, names.join(", ")).toBeLessThanOrEqual(files);
    expect(kilobytes(loaded.files)).toBeLessThanOrEqual(kB);
    expect(loaded.outside.toSorted()).toEqual(outside);
  });

  test("of two entry points yields the same classes", async () => {
    const load = async (name: string): Promise<Readonly<Record<string, unknown>>> =>
      (await import(pathToFileURL(join(DIST, "api", `${name}.js`)).href)) as Readonly<Record<string, unknown>>;
    const runtime = await load("runtime");
    const library = await load("index");
    const names = ["NgraphError", "NodeError", "RunError", "StoreError", "TableError", "ThreadError"];
    for (const name of names) {
      expect(library[name], name).toBe(runtime[name]);
      expect(library[name], name).toHaveProperty("name", name);
    }
    const { createGraph } = await load("generated");
    const invalid = createGraph as (graph: object, options: object) => unknown;
    expect(() => invalid({ table: { name: "none" }, bindings: {} }, {})).toThrow(
      runtime["TableError"] as ErrorConstructor,
    );
  });
});

describe("a bundle for browsers, minified and compressed", () => {
  const rows = [
    {
      name: "createEngine and MemoryStore",
      code: `export { createEngine, MemoryStore } from "./api/runtime.js";`,
      kB: 126,
    },
    { name: "a generated module", code: `export { createGraph } from "./api/generated.js";`, kB: 120 },
    { name: "a plan without graphs", code: `export { createPlan } from "./api/generated.js";`, kB: 116 },
  ];
  test.each(rows)("of $name has at most $kB kB", async ({ code, kB }) => {
    const { outputFiles } = await build({
      stdin: { contents: code, resolveDir: DIST },
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      platform: "browser",
      logLevel: "silent",
    });
    const bytes = gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length;
    expect(Math.ceil(bytes / 1000)).toBeLessThanOrEqual(kB);
  });
});

test("the licences of bundled packages are part of the package", () => {
  const text = readFileSync(join(DIST, "THIRD-PARTY.txt"), "utf8");
  for (const name of ["chevrotain", "lodash-es", "yaml", "@babel/parser", "prettier", "commander"]) {
    expect(text).toMatch(new RegExp(`^${name} \\d`, "m"));
  }
});
