/** Graph files as modules in the bundlers that users have, in Node, and in editors: `ngraph/vite`, `ngraph/webpack`, `ngraph/register`. */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { PluginBuild } from "esbuild";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Compiler, Configuration } from "webpack";
import { createProject } from "../cli/project.ts";
import { deferred } from "../support/deferred.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Where `npm ci --prefix test/peers` installs older versions of TypeScript. */
const PEERS = "test/peers/node_modules";
const entry = async <T>(path: string): Promise<T> => (await import(pathToFileURL(join(ROOT, path)).href)) as T;
const vitePlugin = async () => (await entry<typeof import("../../api/vite.ts")>("dist/api/vite.js")).ngraph;
const webpackEntry = () => entry<typeof import("../../api/webpack.ts")>("dist/api/webpack.js");
const run = promisify(execFile);

const GRAPH = `import { double } from "./nodes.js"

/// Doubles a number.
graph flow {
  input  n: int
  output twice: int

  node calc = double(n) into twice

  start -> calc
}
`;
const FILES = {
  "package.json": `{ "type": "module" }`,
  "flow.ngraph": GRAPH,
  "nodes.js": "/** @param {number} n\n * @returns {number} */\nexport const double = (n) => n * 2;\n",
  "main.js": `import { MemoryStore } from "ngraph/runtime";
import { flow } from "./flow.ngraph";
export const run = (n) => flow().run({ n });
export const runOnThread = (n) => flow({ store: new MemoryStore() }).run({ n }, { thread: "t" });
`,
};
const BROKEN = { ...FILES, "flow.ngraph": GRAPH.replace("start -> calc", "start -> clac") };

function projectWith(files: Readonly<Record<string, string>>) {
  const project = createProject(files);
  mkdirSync(join(project.directory, "node_modules"));
  symlinkSync(ROOT, join(project.directory, "node_modules/ngraph"), "junction");
  return project;
}

interface Built {
  /** The file with the export `run`. */
  readonly file: string;
  readonly map: string;
}

/** Builds `main.js` of a directory. Rejects with the errors of the bundler. */
const BUNDLERS: Readonly<Record<string, (directory: string) => Promise<Built>>> = {
  async vite(directory) {
    const { build } = await import("vite");
    await build({
      root: directory,
      configFile: false,
      logLevel: "silent",
      plugins: [(await vitePlugin())()],
      build: {
        outDir: "out",
        sourcemap: true,
        minify: false,
        target: "es2022",
        lib: { entry: join(directory, "main.js"), formats: ["es"], fileName: () => "main.mjs" },
      },
    });
    return { file: "out/main.mjs", map: "out/main.mjs.map" };
  },
  async rolldown(directory) {
    const { rolldown } = await import("rolldown");
    const bundle = await rolldown({ input: join(directory, "main.js"), plugins: [(await vitePlugin())()] });
    // The package imports the code for threads dynamically: it becomes a file of its own.
    await bundle.write({ dir: join(directory, "out"), entryFileNames: "main.mjs", format: "es", sourcemap: true });
    await bundle.close();
    return { file: "out/main.mjs", map: "out/main.mjs.map" };
  },
  async rollup(directory) {
    const { rollup } = await import("rollup");
    const bundle = await rollup({
      input: join(directory, "main.js"),
      external: (id) => id.startsWith("ngraph/"),
      plugins: [(await vitePlugin())()],
    });
    await bundle.write({ file: join(directory, "out/main.mjs"), format: "es", sourcemap: true });
    return { file: "out/main.mjs", map: "out/main.mjs.map" };
  },
  async webpack(directory) {
    return buildWithWebpack(directory, { plugins: [(await webpackEntry()).ngraph()] });
  },
  "webpack with a rule": (directory) =>
    buildWithWebpack(directory, { module: { rules: [{ test: /\.ngraph(\.ya?ml)?$/, use: "ngraph/webpack" }] } }),
};

async function webpackFor(directory: string, options: Configuration): Promise<Compiler> {
  const { default: webpack } = await import("webpack");
  const compiler = webpack({
    context: directory,
    mode: "development",
    target: "node20",
    devtool: "source-map",
    entry: "./main.js",
    externalsType: "module",
    externals: /^ngraph\//,
    experiments: { outputModule: true },
    ...options,
    output: { path: join(directory, "out"), filename: "main.mjs", library: { type: "module" } },
  });
  if (compiler === null) throw new Error("no compiler");
  return compiler;
}

async function buildWithWebpack(directory: string, options: Configuration): Promise<Built> {
  const compiler = await webpackFor(directory, options);
  await new Promise<void>((done, fail) => {
    compiler.run((error, stats) => {
      if (error !== null && error !== undefined) fail(error);
      else if (stats?.hasErrors() === true) fail(new Error(stats.toString({ all: false, errors: true })));
      else compiler.close(() => done());
    });
  });
  return { file: "out/main.mjs", map: "out/main.mjs.map" };
}

describe.each(Object.entries(BUNDLERS))("%s", (_, build) => {
  test("an import of a graph file is its module, with a source map that leads to the file", async () => {
    const project = projectWith(FILES);
    const { file, map } = await build(project.directory);
    const { run: flow, runOnThread } = (await import(pathToFileURL(join(project.directory, file)).href)) as Record<
      "run" | "runOnThread",
      (n: number) => Promise<object>
    >;
    expect(await flow(21)).toMatchObject({ status: "completed", output: { twice: 42 } });
    // The bundle contains, or loads, what a run with a store needs.
    expect(await runOnThread(21)).toMatchObject({ status: "completed", output: { twice: 42 }, thread: "t" });
    const { sources, sourcesContent } = JSON.parse(project.read(map)) as {
      sources: string[];
      sourcesContent: string[];
    };
    const at = sources.findIndex((source) => source.endsWith("flow.ngraph"));
    expect(sourcesContent[at]).toBe(GRAPH);
  });

  test("an error in a graph has its place and the lines of the file", async () => {
    const { directory } = projectWith(BROKEN);
    const error = (await build(directory).catch((caught: unknown) => caught)) as Error & { frame?: string };
    expect(`${error.message}\n${error.frame ?? ""}`).toMatch(/flow\.ngraph:10:12[^]*start -> clac\n[^]*\^\^\^\^/);
  });
});

test("the loader of webpack among its plugins is an error that names the plugin", async () => {
  const { default: webpack } = await import("webpack");
  const { default: loader } = await webpackEntry();
  expect(() => webpack({ plugins: [loader as never] })).toThrow("`plugins: [ngraph()]` needs");
});

test("the plugin watches the files that a graph imports", async () => {
  const { directory } = projectWith(FILES);
  const watched: string[] = [];
  const context = { addWatchFile: (file: string) => watched.push(file), warn: () => {}, error: () => expect.fail() };
  const plugin = (await vitePlugin())();
  expect(plugin.load.call(context as never, join(directory, "flow.ngraph?raw"))).toBeNull();
  expect(plugin.load.call(context as never, join(directory, "flow.ngraph"))?.code).toContain("function flow(");
  expect(watched.map((file) => file.slice(directory.length + 1)).sort()).toEqual(
    expect.arrayContaining(["flow.ngraph", "nodes.js"]),
  );
});

describe("a graph whose import is missing is built when the file appears", () => {
  const { "nodes.js": nodes, ...others } = FILES;

  test("vite", async () => {
    const { createServer } = await import("vite");
    const { directory, write } = projectWith(others);
    const changed = deferred<string[]>();
    const server = await createServer({
      root: directory,
      configFile: false,
      logLevel: "silent",
      server: { middlewareMode: true, ws: false },
      optimizeDeps: { noDiscovery: true },
      plugins: [
        (await vitePlugin())(),
        { name: "seen", hotUpdate: ({ modules }) => changed.resolve(modules.map(({ url }) => url)) },
      ],
    });
    onTestFinished(() => server.close());
    const { client } = server.environments;
    await client.transformRequest("/main.js");
    await expect(client.transformRequest("/flow.ngraph")).rejects.toThrow("no file `./nodes.js`");
    write("nodes.js", nodes);
    // Vite reloads the page for the importer: it does not know that of a module that has never been loaded.
    expect(await changed.promise).toEqual(["/flow.ngraph", "/main.js"]);
    expect((await client.transformRequest("/flow.ngraph"))?.code).toContain("function flow(");
  });

  test("esbuild", async () => {
    const { context } = await import("esbuild");
    const { ngraph } = await entry<typeof import("../../api/esbuild.ts")>("dist/api/esbuild.js");
    const { directory, write } = projectWith(others);
    const failed = deferred();
    const built = deferred();
    const seen = {
      name: "seen",
      setup: (build: PluginBuild) =>
        build.onEnd(({ errors }) => (errors.length > 0 ? failed.resolve() : built.resolve())),
    };
    const watching = await context({
      absWorkingDir: directory,
      entryPoints: ["main.js"],
      outfile: join(directory, "out.js"),
      external: ["ngraph/*"],
      bundle: true,
      format: "esm",
      logLevel: "silent",
      plugins: [ngraph(), seen],
    });
    onTestFinished(() => watching.dispose());
    await watching.watch();
    await failed.promise;
    write("nodes.js", nodes);
    await built.promise;
  });

  test("webpack", async () => {
    const { directory, write } = projectWith(others);
    const failed = deferred();
    const built = deferred();
    const compiler = await webpackFor(directory, { plugins: [(await webpackEntry()).ngraph()] });
    const watching = compiler.watch({}, (_, stats) => (stats?.hasErrors() ? failed.resolve() : built.resolve()));
    onTestFinished(() => new Promise<void>((done) => watching?.close(() => done())));
    await failed.promise;
    write("nodes.js", nodes);
    await built.promise;
  });
});

describe("node --import ngraph/register", () => {
  const node = (directory: string, script: string) =>
    run(process.execPath, ["--import", "ngraph/register", script], { cwd: directory, timeout: 240_000 });

  test("imports graph files and TypeScript modules", async () => {
    const { directory } = projectWith({
      ...FILES,
      "flow.ngraph": GRAPH.replace("./nodes.js", "./lib/nodes.js"),
      "lib/nodes.ts": `import type { Json } from "ngraph/runtime";\nexport const double = (n: number): number => n * 2;\nexport type T = Json;\n`,
      "app.ts": `import { flow } from "./flow.ngraph";\nconst { output } = await flow().run({ n: 21 as number });\nconsole.log(output.twice);\n`,
    });
    expect((await node(directory, "app.ts")).stdout).toBe("42\n");
  });

  test("fails with the lines of a graph file that has errors", async () => {
    const { directory } = projectWith(BROKEN);
    const error = (await node(directory, "main.js").catch((caught: unknown) => caught)) as { stderr: string };
    expect(error.stderr).toMatch(/flow\.ngraph:10:12[^]*start -> clac\n[^]*\^\^\^\^/);
  });
});

/** Sends requests to the language server of TypeScript, as editors do. */
function languageServer(directory: string): (command: string, args: object) => Promise<unknown> {
  const server = spawn(process.execPath, [join(ROOT, PEERS, "typescript-6/lib/tsserver.js")], { cwd: directory });
  onTestFinished(() => void server.kill());
  const waiting = new Map<number, (body: unknown) => void>();
  createInterface({ input: server.stdout }).on("line", (line) => {
    if (!line.startsWith("{")) return;
    const message = JSON.parse(line) as { type: string; request_seq?: number; body?: unknown };
    if (message.type === "response") waiting.get(message.request_seq ?? -1)?.(message.body);
  });
  let seq = 0;
  return (command, args) =>
    new Promise((done) => {
      seq++;
      waiting.set(seq, done);
      server.stdin.write(`${JSON.stringify({ seq, type: "request", command, arguments: args })}\n`);
      if (command === "open") done(undefined);
    });
}

// The language server of TypeScript 7 is another program.
test.runIf(existsSync(join(ROOT, PEERS, "typescript-6")))(
  "ngc types: editors check the import of a graph file, and its definition is in the file",
  async () => {
    const app = `import { flow, type FlowInput } from "./flow.ngraph";
const input: FlowInput = { n: 1 };
const { output } = await flow().run(input);
export const twice: number | null = output.twice;
`;
    const project = projectWith({
      ...FILES,
      "tsconfig.json": JSON.stringify({
        compilerOptions: {
          module: "nodenext",
          target: "es2022",
          strict: true,
          noEmit: true,
          allowArbitraryExtensions: true,
          types: [],
        },
        files: ["app.ts"],
      }),
      "app.ts": app,
    });
    expect(project.ngc(["types", "flow.ngraph"])).toMatchObject({ status: 0 });
    expect(project.ngc(["types", "flow.ngraph", "--check"])).toMatchObject({ status: 0 });
    for (const version of ["node_modules/typescript", `${PEERS}/typescript-6`, `${PEERS}/typescript-5`]) {
      const tsc = join(ROOT, version, "bin/tsc");
      const checked = await run(process.execPath, [tsc, "-p", "."], { cwd: project.directory }).catch((error) => error);
      expect(checked.stdout, version).toBe("");
    }
    const request = languageServer(project.directory);
    const file = join(project.directory, "app.ts");
    await request("open", { file });
    const definitionOf = async (text: string): Promise<unknown> => {
      const before = app.slice(0, app.indexOf(text)).split("\n");
      return request("definition", { file, line: before.length, offset: (before.at(-1)?.length ?? 0) + 1 });
    };
    const graph = join(project.directory, "flow.ngraph");
    const at = (line: number, offset: number, length: number) => ({
      file: graph,
      start: { line, offset },
      end: { line, offset: offset + length },
    });
    expect(await definitionOf("flow()")).toMatchObject([at(4, 7, 4)]);
    expect(await definitionOf("n: 1")).toMatchObject([at(5, 10, 1)]);
    // A property of the outputs of a completed run, and of all others.
    expect(await definitionOf("twice;")).toMatchObject([at(6, 10, 5), at(6, 10, 5)]);
  },
);
