/** Builds an engine and a store of the runtime's text with a mistake in it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type StdinOptions } from "esbuild";
import type { PlantedBug } from "./planted-bugs.ts";
import type { Subject } from "./simulate.ts";

const runtime = join(import.meta.dirname, "../../runtime");

/** An engine and a store of the edited text. */
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

/** A program with all that it imports, as text, of the edited runtime. */
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
            for (const { file, from, to } of edits) {
              if (path !== join(runtime, file)) continue;
              if (contents.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`);
              contents = contents.replace(from, () => to);
              for (const one of open) if (one.file === file && one.from === from) open.delete(one);
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
