/** The package from outside: every entry point loads and has types, and the runtime runs without Node. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createContext, Script } from "node:vm";
import { build } from "esbuild";
import { describe, expect, onTestFinished, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Entry points with code; each is `{ types, default }`. */
const entryPoints = Object.entries(packageJson.exports).flatMap(([name, target]) =>
  typeof target === "string" ? [] : [{ name: name === "." ? "ngraph" : `ngraph/${name.slice(2)}`, ...target }],
);

/** Loads only beside its peer package; test/peers runs it with this package. */
const NEEDS_PEER = { entryPoint: "ngraph/stores/langgraph", package: "@langchain/langgraph-checkpoint" };
const hasPackage = (name: string): boolean => existsSync(join(ROOT, "node_modules", name));

/** A program that uses the promised exports of each entry point. */
const CONSUMER = `
import { check, compile, compileFile, createEngine, type RunResult, type Table } from "ngraph";
import { format, parse, parseYaml, toYaml, type File } from "ngraph/grammar";
import { emitTypeScript, loadTable, compile as compileText, check as checkText } from "ngraph/compiler";
import { createEngine as createBareEngine, MemoryStore, type Store } from "ngraph/runtime";
import { SqliteStore } from "ngraph/stores/sqlite";
import { PostgresStore } from "ngraph/stores/postgres";
import { describeStore, storeConformance } from "ngraph/stores/conformance";
import { addChecksum, frozenJson, keptCheckpoints, type Table as RowTable } from "ngraph/stores/contract";
import { builtinNodes, createLlm, nodeSignatures } from "ngraph/stdlib";
import * as prettierPlugin from "ngraph/prettier";
import { ngraph } from "ngraph/esbuild";
import { ngraph as vitePlugin } from "ngraph/vite";
import graphLoader, { ngraph as webpackPlugin } from "ngraph/webpack";
import { load } from "ngraph/register";
import { traceRuns } from "ngraph/opentelemetry";
import { assertPassed, runTests, type TestResult } from "ngraph/testing";

export async function main(): Promise<void> {
  const { table, diagnostics } = await compileFile("support.ngraph");
  if (table === undefined) throw new Error(diagnostics.map((item) => item.message).join());
  const store: Store = new SqliteStore("runs.db");
  const engine = createEngine(table, { functions: { double: (n: number) => n * 2 }, store });
  const result: RunResult = await engine.run({ n: 1 }, { thread: "42" });
  const tested: TestResult[] = await runTests("support.ngraph", { filter: "refund", load: (url) => import(url) });
  for (const each of tested) assertPassed(each);
  const status: "completed" | "incomplete" | "paused" | "failed" | "limit" | "cancelled" | "rolled_back" = result.status;
  const [pause] = result.pauses;
  if (pause !== undefined) await engine.resume("42", { answers: { [pause.id]: "yes" } });
  for await (const event of engine.stream({ n: 1 })) void event.type;
  const one: Table = loadTable(JSON.stringify(table));
  const file: File = parse("graph g {}").file;
  void [status, one, file, check, compile, format, parseYaml, toYaml, emitTypeScript, compileText, checkText];
  void [createBareEngine, MemoryStore, PostgresStore, describeStore, storeConformance];
  const rows: RowTable<{ readonly text: string; readonly v: number; readonly sum: number }> = {
    name: "lines",
    version: 1,
    values: ({ text }) => [text],
    describe: ({ text }) => text,
  };
  void [addChecksum(rows, { text: "" }).sum, frozenJson([1], "a list"), keptCheckpoints];
  void [builtinNodes, createLlm, nodeSignatures, prettierPlugin.parsers, ngraph(), vitePlugin(), webpackPlugin(), graphLoader, load, traceRuns()];
}
`;

function consumerProject(): string {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-consumer-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, "node_modules"));
  symlinkSync(ROOT, join(directory, "node_modules/ngraph"));
  for (const name of ["@types", "@opentelemetry", "esbuild", "prettier"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(directory, "node_modules", name));
  }
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }');
  return directory;
}

describe("entry points", () => {
  for (const { name, types, default: code } of entryPoints) {
    test(`${name} has code and types, and can be imported`, async () => {
      expect(existsSync(join(ROOT, code)), code).toBe(true);
      expect(existsSync(join(ROOT, types)), types).toBe(true);
      if (name === NEEDS_PEER.entryPoint && !hasPackage(NEEDS_PEER.package)) {
        await expect(import(pathToFileURL(join(ROOT, code)).href)).rejects.toThrow(NEEDS_PEER.package);
        return;
      }
      const module: object = await import(pathToFileURL(join(ROOT, code)).href);
      expect(Object.keys(module)).not.toEqual([]);
      expect(readFileSync(join(ROOT, types), "utf8")).not.toMatch(/from ["']\.[^"']*\.ts["']/);
    });
  }

  for (const moduleResolution of ["nodenext", "bundler"]) {
    test(`types resolve with moduleResolution ${moduleResolution}`, () => {
      const directory = consumerProject();
      writeFileSync(join(directory, "consumer.ts"), CONSUMER);
      const compilerOptions = {
        target: "es2022",
        lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
        module: moduleResolution === "nodenext" ? "nodenext" : "esnext",
        moduleResolution,
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        skipLibCheck: false,
        types: ["node"],
      };
      writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
      const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
      const run = (): string => {
        try {
          return execFileSync(process.execPath, [tsc, "-p", "."], { cwd: directory, encoding: "utf8" });
        } catch (error) {
          return String((error as { stdout?: unknown }).stdout);
        }
      };
      expect(run()).toBe("");
    });
  }
});

describe("ngraph/runtime", () => {
  test("is bundled for browsers without a package, a built-in or a warning, and runs without Node", async () => {
    const result = await build({
      stdin: {
        contents: `import { createEngine, MemoryStore } from "ngraph/runtime";
globalThis.main = async (table) => {
  const engine = createEngine(table, { store: new MemoryStore() });
  const paused = await engine.run({ n: 20 }, { thread: "t" });
  return engine.resume("t", { answer: paused.pauses[0].payload.question === "add?" ? 1 : 0 });
};`,
        resolveDir: consumerProject(),
      },
      bundle: true,
      write: false,
      metafile: true,
      platform: "browser",
      format: "iife",
      logLevel: "silent",
    });
    expect(result.warnings).toEqual([]);
    const outside = Object.keys(result.metafile.inputs).filter((file) =>
      /node_modules\/(?!ngraph\/)|^node:/.test(file),
    );
    expect(outside).toEqual([]);

    const { compile } = (await import(
      pathToFileURL(join(ROOT, "dist/api/index.js")).href
    )) as typeof import("../../api/index.ts");
    const { table, diagnostics } = compile(
      `graph add {
  input  n: int
  output sum: int
  state  more: int = 0

  node question = ask("add?") into more
  node total    = n + more into sum

  start -> question -> total
}
`,
      { path: "add.ngraph" },
    );
    expect(diagnostics.filter((item) => item.severity === "error")).toEqual([]);
    // Only the globals that every browser has; Node's own globals are absent.
    const context = createContext({
      AbortController,
      TextDecoder,
      TextEncoder,
      URL,
      clearTimeout,
      console,
      crypto,
      performance,
      queueMicrotask,
      setTimeout,
      structuredClone,
    });
    new Script(result.outputFiles[0]?.text ?? "").runInContext(context);
    const main = context["main"] as (table: unknown) => Promise<{ status: string; output: object }>;
    const ran = await main(JSON.parse(JSON.stringify(table)));
    expect({ status: ran.status, output: { ...ran.output } }).toEqual({ status: "completed", output: { sum: 21 } });
  });
});

test("the published files are the build, the pages, the examples and the grammars and the schema for editors; no sources or tests", () => {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const [{ files }] = JSON.parse(output) as [{ files: { path: string }[] }];
  const paths = new Set(files.map((file) => file.path));
  for (const wanted of [
    "dist/cli/ngc.js",
    "dist/api/index.js",
    "dist/api/index.d.ts",
    "docs/diagnostics/NG301.md",
    "grammar/ngraph.schema.json",
    "grammar/ngraph.tmLanguage.json",
    "editors/tree-sitter-ngraph/grammar.js",
    "editors/tree-sitter-ngraph/src/parser.c",
    "editors/tree-sitter-ngraph/src/tree_sitter/parser.h",
    "editors/tree-sitter-ngraph/queries/highlights.scm",
    "stdlib/graphs/agents.ngraph",
    "LICENSE",
    "README.md",
  ]) {
    expect(paths).toContain(wanted);
  }
  const allowed =
    /^(?:dist\/|docs\/|examples\/|grammar\/ngraph\.(?:schema|tmLanguage)\.json$|editors\/tree-sitter-ngraph\/(?:src|queries|grammar\.js$|package\.json$|tree-sitter\.json$)|stdlib\/graphs\/\w+\.ngraph$|package\.json$|[A-Z]+(?:\.md)?$)/;
  expect([...paths].filter((path) => !allowed.test(path))).toEqual([]);
  // Links of README.md lead to published files.
  const links = readFileSync(join(ROOT, "README.md"), "utf8").matchAll(/\]\((?!https?:)([^)#]+)/g);
  expect([...links].map(([, path = ""]) => path).filter((path) => !paths.has(path))).toEqual([]);
});

describe("ngc", () => {
  test("npx finds the package's own program inside the repository", () => {
    const { bin } = packageJson;
    expect(bin.ngc).toBe("dist/cli/ngc.js");
    const output = execFileSync("npx", ["--no-install", "ngc", "--version"], { cwd: ROOT, encoding: "utf8" });
    expect(output.trim()).toBe(packageJson.version);
  });

  test("`ngc --version` loads only a few files", () => {
    // The entry; the rest is one script, which is loaded only if a command needs it.
    const entry = readFileSync(join(ROOT, "dist/cli/ngc.js"), "utf8");
    expect(entry.length).toBeLessThan(8000);
    const imports = [...entry.matchAll(/\bfrom\s*"([^"]+)"/g)].map(([, module = ""]) => module);
    expect(imports).toContain("node:vm");
    expect(imports.filter((module) => !module.startsWith("node:"))).toEqual([]);
  });
});
