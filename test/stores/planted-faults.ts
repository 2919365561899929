/**
 * Mistakes that a store could make, each a change of the text of `PlainStore`, with the case of the suite that finds it. An edit that
 * finds no place any more is an error: whoever rewrites the store moves the mistake along.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, transform } from "esbuild";
import type { Store } from "../../runtime/interface/store.ts";
import type { StoreCase } from "../../runtime/stores/conformance/conformance.ts";
import { CLAIM_FAULTS } from "./planted-claim-faults.ts";
import { READ_FAULTS } from "./planted-read-faults.ts";
import { REST_FAULTS } from "./planted-rest-faults.ts";
import { SAVE_FAULTS } from "./planted-save-faults.ts";

export interface PlantedFault {
  readonly name: string;
  /** Of `PlainStore`, or of its disk. */
  readonly edits: readonly (readonly [from: string, to: string])[];
  /** How the name of the case begins that finds it. */
  readonly foundBy: string;
}

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...READ_FAULTS,
  ...SAVE_FAULTS,
  ...CLAIM_FAULTS,
  ...REST_FAULTS,
];

/** The suite and a store with the fault: both know the same classes of errors. */
export interface Planted {
  readonly storeConformance: readonly StoreCase[];
  /** A store over a disk of its own, and how to open it again. */
  makeStore(): { readonly store: Store; reopen(): Store };
}

const folder = dirname(fileURLToPath(import.meta.url));
const FILES = ["plain-store.ts", "plain-disk.ts"];

/** Plants faults until `dispose` is called. The suite is built once, for all of them. */
export async function planter(): Promise<{ plant(edits: PlantedFault["edits"]): Promise<Planted>; dispose(): void }> {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-planted-"));
  const contents = ["stores/conformance/conformance", "interface/errors", "interface/checkpoint"].map(
    (file) => `export * from "../../runtime/${file}.ts";`,
  );
  await build({
    stdin: { contents: contents.join("\n"), resolveDir: folder, loader: "ts" },
    outfile: join(directory, "suite.mjs"),
    ...{ bundle: true, platform: "node", format: "esm", logLevel: "silent" },
  });
  const load = async <T>(file: string): Promise<T> =>
    (await import(/* @vite-ignore */ pathToFileURL(join(directory, file)).href)) as T;
  const { storeConformance } = await load<Pick<Planted, "storeConformance">>("suite.mjs");
  let planted = 0;

  return {
    dispose: () => rmSync(directory, { recursive: true, force: true }),
    async plant(edits) {
      const number = ++planted;
      for (const [file, text] of edited(edits)) {
        const { code } = await transform(text, { loader: "ts", format: "esm" });
        const linked = code
          .replaceAll(/"\.\.\/\.\.\/runtime\/[^"]*"/g, '"./suite.mjs"')
          .replaceAll("./plain-disk.ts", `./${number}-plain-disk.mjs`);
        writeFileSync(join(directory, `${number}-${file.replace(".ts", ".mjs")}`), linked);
      }
      const { newDisk } = await load<{ newDisk: () => object }>(`${number}-plain-disk.mjs`);
      const { PlainStore } = await load<{ PlainStore: new (disk: object) => Store }>(`${number}-plain-store.mjs`);
      return {
        storeConformance,
        makeStore: () => {
          const disk = newDisk();
          const store = new PlainStore(disk);
          const reopen = (): Store => {
            void store.close?.();
            return new PlainStore(disk);
          };
          return { store, reopen };
        },
      };
    },
  };
}

function edited(edits: PlantedFault["edits"]): ReadonlyMap<string, string> {
  const texts = new Map(FILES.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
  for (const [from, to] of edits) {
    const places = FILES.filter((file) => texts.get(file)!.includes(from));
    const [file] = places;
    if (file === undefined || places.length > 1 || texts.get(file)!.split(from).length !== 2) {
      throw new Error(`the store does not have once: ${from}`);
    }
    texts.set(
      file,
      texts.get(file)!.replace(from, () => to),
    );
  }
  return texts;
}
