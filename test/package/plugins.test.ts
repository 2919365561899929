/** The plugins for esbuild and Prettier, as users load them. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type BuildFailure } from "esbuild";
import { format } from "prettier";
import { describe, expect, onTestFinished, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const entry = async <T>(path: string): Promise<T> => (await import(pathToFileURL(join(ROOT, path)).href)) as T;

function project(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-plugin-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, "node_modules"));
  symlinkSync(ROOT, join(directory, "node_modules/ngraph"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

const GRAPH = `import { double } from "./nodes.ts"

graph flow {
  input  n: int
  output twice: int

  node calc = double(n) into twice

  start -> calc
}
`;

describe("ngraph/esbuild", () => {
  test("an import of a graph file is its typed module", async () => {
    const { ngraph } = await entry<typeof import("../../api/esbuild.ts")>("dist/api/esbuild.js");
    const directory = project({
      "flow.ngraph": GRAPH,
      "nodes.ts": "export const double = (n: number): number => n * 2;\n",
      "main.ts": `import { flow } from "./flow.ngraph";\nexport const run = (n: number) => flow().run({ n });\n`,
    });
    const outfile = join(directory, "out.mjs");
    const result = await build({
      entryPoints: [join(directory, "main.ts")],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      plugins: [ngraph()],
      logLevel: "silent",
    });
    expect(result.warnings).toEqual([]);
    const { run } = (await import(pathToFileURL(outfile).href)) as {
      run(n: number): Promise<{ status: string; output: object }>;
    };
    expect(await run(21)).toMatchObject({ status: "completed", output: { twice: 42 } });
  });

  test("an error in a graph is an error of esbuild, at its place", async () => {
    const { ngraph } = await entry<typeof import("../../api/esbuild.ts")>("dist/api/esbuild.js");
    const directory = project({
      "flow.ngraph": GRAPH.replace("start -> calc", "start -> clac"),
      "nodes.ts": "export const double = (n: number): number => n * 2;\n",
      "main.ts": `import { flow } from "./flow.ngraph";\nconsole.log(flow);\n`,
    });
    const failure = await build({
      entryPoints: [join(directory, "main.ts")],
      bundle: true,
      write: false,
      plugins: [ngraph()],
      logLevel: "silent",
    }).then(
      () => undefined,
      (error: BuildFailure) => error,
    );
    expect(failure?.errors[0]).toMatchObject({
      text: expect.stringMatching(/`clac`.*\[NG101\]/),
      location: { line: 9, column: 11, length: 4, lineText: "  start -> clac" },
    });
  });
});

describe("ngraph/prettier", () => {
  test("Prettier formats graph files as ngc fmt does", async () => {
    const plugin = await entry<typeof import("../../api/prettier.ts")>("dist/api/prettier.js");
    const grammar = await entry<typeof import("../../api/grammar.ts")>("dist/api/grammar.js");
    const ugly = 'graph hello{ node greet=print( "hi" ) // said\nstart->greet }';
    const formatted = await format(ugly, { filepath: "a.ngraph", plugins: [plugin] });
    expect(formatted).toBe(await grammar.format(ugly));
    expect(formatted).toContain("// said");
  });
});
