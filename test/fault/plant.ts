/** Builds an engine and a store from the runtime's source text with a mistake in it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type StdinOptions } from "esbuild";
import { mutate, wordsUnder } from "../support/mutate.ts";
import type { PlantedBug } from "./planted-bugs.ts";
import type { Subject } from "./simulate.ts";

const runtime = join(import.meta.dirname, "../../runtime");
const words = wordsUnder(runtime);

/** An engine and a store of the mutated text. */
export async function plant(bug: PlantedBug): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), "ngraph-planted-"));
  try {
    const contents = `export { createEngine } from "./engine/create-engine.ts"; export { MemoryStore } from "./stores/memory.ts";`;
    const file = join(folder, "engine.mjs");
    writeFileSync(file, await plantedText(bug, { contents, resolveDir: runtime, loader: "ts" }));
    const planted = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as PlantedModule;
    return { createEngine: planted.createEngine, makeStore: (now) => new planted.MemoryStore({ now }) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The text of a program with everything that it imports, from the mutated runtime. */
export async function plantedText({ edits }: PlantedBug, stdin: StdinOptions): Promise<string> {
  const open = new Set(edits);
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
    logLevel: "silent",
    plugins: [
      {
        name: "plant",
        setup: ({ onLoad }) => {
          onLoad({ filter: /runtime[\\/].*\.ts$/ }, ({ path }) => {
            let contents = readFileSync(path, "utf8");
            for (const edit of edits) {
              if (path !== join(runtime, edit.file)) continue;
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
  return outputFiles[0]!.text;
}

interface PlantedModule {
  readonly createEngine: Subject["createEngine"];
  readonly MemoryStore: new (options: { now: () => number }) => ReturnType<Subject["makeStore"]>;
}
