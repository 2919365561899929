/** What a program loads when it imports an entry point: files and bytes, which do not depend on the machine. */
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { compile, emitJavaScript, memoryHost } from "../../compiler/index.ts";

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
    { entry: "runtime", files: 12, kB: 369, outside: [] },
    { entry: "direct", files: 6, kB: 124, outside: [] },
    { entry: "generated", files: 12, kB: 350, outside: [] },
    { entry: "grammar", files: 3, kB: 900, outside: [] },
    { entry: "compiler", files: 15, kB: 2821, outside: [] },
    { entry: "index", files: 17, kB: 2380, outside: ["node:fs", "node:fs/promises"] },
  ];
  test.each(rows)("of $entry loads at most $files files of $kB kB", ({ entry, files, kB, outside }) => {
    const loaded = loadedBy(entry);
    const names = loaded.files.map((file) => relative(DIST, file));
    expect(names.length, names.join(", ")).toBeLessThanOrEqual(files);
    expect(kilobytes(loaded.files)).toBeLessThanOrEqual(kB);
    expect(loaded.outside.toSorted()).toEqual(outside);
  });

  test("of direct loads no file of the engine, also where its expressions call functions", () => {
    const names = loadedBy("direct").files.map((file) => basename(file, ".js"));
    expect(names).toContain("functions");
    expect(names.filter((name) => /engine|interpreter|linker|threads/.test(name))).toEqual([]);
  });

  // Node prints the source line of an error that a program does not catch.
  test("of an entry point loads files whose lines fit into a terminal", () => {
    for (const file of ["runtime", "direct", "generated", "stores/sqlite"].flatMap((entry) => loadedBy(entry).files)) {
      const longest = Math.max(
        ...readFileSync(file, "utf8")
          .split("\n")
          .map((line) => line.length),
      );
      expect(longest, relative(DIST, file)).toBeLessThan(6_000);
    }
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

/**
 * The files of a bundle for browsers that the start of a page loads, and all of its files. Code that runs need later is
 * loaded by dynamic imports, for which the bundler makes files of their own.
 */
async function bundled(code: string): Promise<{ readonly start: number; readonly all: number }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: DIST },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    splitting: true,
    outdir: "out",
    metafile: true,
    external: ["./nodes.js"],
    alias: { "ngraph/direct": join(DIST, "api/direct.js"), "ngraph/generated": join(DIST, "api/generated.js") },
    logLevel: "silent",
  });
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const start = new Set<string>();
  const open = [...outputs].flatMap(([name, { entryPoint }]) => (entryPoint === "<stdin>" ? [name] : []));
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (start.has(name)) continue;
    start.add(name);
    for (const { path, kind } of outputs.get(name)?.imports ?? []) {
      if (kind === "import-statement") open.push(basename(path));
    }
  }
  const bytes = (files: typeof outputFiles): number =>
    Math.ceil(files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0) / 100) / 10;
  return { start: bytes(outputFiles.filter(({ path }) => start.has(basename(path)))), all: bytes(outputFiles) };
}

describe("a bundle for browsers, minified and compressed", () => {
  const rows = [
    { name: "a module that needs no engine", entry: "direct", names: "createDirectGraph", start: 12.9, all: 101.9 },
    { name: "a generated module", names: "createGraph", start: 47.6, all: 108.4 },
    { name: "a generated module with a question", names: "createGraph, askNode", start: 48.6, all: 109.4 },
    {
      name: "a generated module with calls of graphs and a `finally` part",
      names: "createGraph, callingGraphs, endingFinally",
      start: 48.9,
      all: 109.7,
    },
    { name: "a generated module with `undo`", names: "createGraph, undoing", start: 48.1, all: 108.9 },
    {
      name: "a generated module with `undo` and secrets",
      names: "createGraph, undoingWithSecrets",
      start: 56.7,
      all: 117.5,
    },
    { name: "a generated module that calls plans", names: "createGraph, callingPlans", start: 62.8, all: 122.9 },
    { name: "a generated plan", names: "createPlan", start: 64.2, all: 124.2 },
    { name: "createEngine", entry: "runtime", names: "createEngine", start: 67.1, all: 137.4 },
    {
      name: "createEngine and MemoryStore",
      entry: "runtime",
      names: "createEngine, MemoryStore",
      start: 74.2,
      all: 144.6,
    },
    { name: "createPlanRunner", entry: "runtime", names: "createPlanRunner", start: 65.1, all: 135.5 },
  ];
  test.each(rows)("of $name has at most $start kB at the start, $all kB in all", async (row) => {
    const { start, all } = await bundled(`export { ${row.names} } from "./api/${row.entry ?? "generated"}.js";`);
    expect(start).toBeLessThanOrEqual(row.start);
    expect(all).toBeLessThanOrEqual(row.all);
  });
});

const NODES = `export const step = async (x: number): Promise<number> => x + 1;
export const search = async (question: string, where: string): Promise<string[]> => [question + where];
export const rank = (hits: string[]): string[] => hits;
export const draft = async (question: string, best: string[]): Promise<string> => question + best[0];
export const review = async (reply: string): Promise<string> => reply;
export const judge = async (text: string): Promise<"send" | "again"> => (text === "" ? "again" : "send");
export const score = (reply: string): number => reply.length;
export const tell = (reply: string): void => undefined;`;

const CHAIN = `import { step } from "./nodes.ts"
graph chain { input n: int  output x: int = 0
  ${Array.from({ length: 10 }, (_, at) => `node n${at} = step(x) into x`).join("\n")}
  start -> ${Array.from({ length: 10 }, (_, at) => `n${at}`).join(" -> ")} }`;

const LOOP = `import { search, rank, draft, review, judge, score, tell } from "./nodes.ts"
graph answer { input question: string  output reply: string
  state hits: string[] = [] reduce append  state best: string[] = []
  state points: float = 0.0  state rounds: int = 0  state verdict: "send" | "again"
  node web = search(question, "web") into hits { tries 3 backoff 200ms..5s }
  node wiki = search(question, "wiki") into hits { tries 3 }
  node files = search(question, "files") into hits
  node rank = rank(hits) into best         node draft = draft(question, best) into reply
  node score = score(reply) into points    node count = rounds + 1 into rounds
  node review = review(reply) into reply   node judge = judge(\`Send this? \${reply}\`) into verdict
  node tell = tell(reply)
  start -> web, wiki, files
  all(web, wiki, files) -> rank -> draft -> score -> count
  count -> review when points < 0.8 && rounds < 3   count -> judge otherwise
  review -> draft
  judge -> match verdict { "send" -> tell  "again" -> draft } }`;

describe("a whole generated module of ten nodes, minified and compressed", () => {
  const rows = [
    { name: "in a chain", text: CHAIN, start: 13.4 },
    { name: "with retries, a barrier, a loop and conditions", text: LOOP, start: 15.3 },
    {
      name: "with built-in nodes",
      text: CHAIN.replace("step(x) into x\n", "json(`[${x}]`) into x\n").replace(
        "start",
        "node tell = print(x)\n  start -> tell  start",
      ),
      start: 14,
    },
    { name: "with a timeout", text: CHAIN.replace("into x\n", "into x { timeout 5s }\n"), start: 13.5 },
    {
      name: "with items",
      text: CHAIN.replace("node n0 = step(x) into x", "state all: int[] = []  node n0 = step(i) for i in [n] into all"),
      start: 14.7,
    },
    // The engine runs this graph.
    { name: "with a pause", text: CHAIN.replace("into x\n", "into x { pause before }\n"), start: 48.1 },
  ];
  test.each(rows)("$name has at most $start kB at the start", async ({ text, start }) => {
    const result = compile(text, { path: "ten.ngraph", host: memoryHost({ "nodes.ts": NODES }) });
    expect(result.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect((await bundled(emitJavaScript(result))).start).toBeLessThanOrEqual(start);
  });
});

test("the licences of bundled packages are part of the package", () => {
  const text = readFileSync(join(DIST, "THIRD-PARTY.txt"), "utf8");
  for (const name of ["chevrotain", "lodash-es", "yaml", "@babel/parser", "prettier", "commander"]) {
    expect(text).toMatch(new RegExp(`^${name} \\d`, "m"));
  }
});
