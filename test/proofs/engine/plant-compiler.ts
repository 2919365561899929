/** Builds the binder and the checks from the compiler's source text with a mistake in it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import { build } from "esbuild";
import type { checkGraph } from "../../../compiler/checks/check-graph.ts";
import { mutate, type Mutation, wordsUnder } from "../../support/mutate.ts";
import type { bindText } from "../../checks/support/bind-text.ts";

const compiler = join(import.meta.dirname, "../../../compiler");
const words = wordsUnder(compiler);

/** What the oracle uses of the compiler. */
export interface Checker {
  readonly bindText: typeof bindText;
  readonly checkGraph: typeof checkGraph;
}

/** Evaluates the text as a CommonJS module: an ES module would stay in memory until the process ends. */
export async function plantCompiler(mutations: readonly Mutation[]): Promise<Checker> {
  const evaluate = compileFunction(await plantedText(mutations), ["module", "exports", "require"]);
  const module = { exports: {} };
  evaluate(module, module.exports, createRequire(import.meta.url));
  return module.exports as Checker;
}

async function plantedText(mutations: readonly Mutation[]): Promise<string> {
  const open = new Set(mutations);
  const { outputFiles } = await build({
    stdin: {
      contents: `export { checkGraph } from "../../compiler/checks/check-graph.ts"; export { bindText } from "../checks/support/bind-text.ts";`,
      resolveDir: join(import.meta.dirname, ".."),
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "cjs",
    define: { "import.meta.url": JSON.stringify(import.meta.url) },
    write: false,
    logLevel: "silent",
    plugins: [
      {
        name: "plant",
        setup: ({ onLoad }) => {
          onLoad({ filter: /compiler[\\/].*\.ts$/ }, ({ path }) => {
            let contents = readFileSync(path, "utf8");
            for (const edit of mutations) {
              if (path !== join(compiler, edit.file)) continue;
              contents = mutate(contents, edit, words);
              open.delete(edit);
            }
            return { contents, loader: "ts" };
          });
        },
      },
    ],
  });
  if (open.size > 0) throw new Error(`never loaded: ${[...open].map(({ file }) => file).join(", ")}`);
  return outputFiles[0]?.text ?? "";
}
