/** Builds the binder and the checks from the compiler's source text with a mistake in it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
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

export async function plantCompiler(mutations: readonly Mutation[]): Promise<Checker> {
  const folder = mkdtempSync(join(tmpdir(), "ngraph-planted-"));
  try {
    const file = join(folder, "checker.mjs");
    writeFileSync(file, await plantedText(mutations));
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Checker;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
    format: "esm",
    write: false,
    logLevel: "silent",
    banner: {
      js: `import { createRequire } from "node:module"; const require = createRequire(${JSON.stringify(import.meta.url)});`,
    },
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
