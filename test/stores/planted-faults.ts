/**
 * Stores with planted faults: mistakes that a store could make, each a set of mutations of the text of `PlainStore`
 * (`test/support/mutate.ts`).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, transform } from "esbuild";
import type { Store } from "../../runtime/interface/store.ts";
import type { StoreCase } from "../../runtime/stores/conformance/conformance.ts";
import { mutate } from "../support/mutate.ts";
import { CLAIM_FAULTS } from "./planted-claim-faults.ts";
import { DISK_FILE, STORE_FILE, type PlantedFault } from "./planted-fault.ts";
import { READ_FAULTS } from "./planted-read-faults.ts";
import { REST_FAULTS } from "./planted-rest-faults.ts";
import { SAVE_FAULTS } from "./planted-save-faults.ts";

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...READ_FAULTS,
  ...SAVE_FAULTS,
  ...CLAIM_FAULTS,
  ...REST_FAULTS,
];

/** The conformance suite and a store with the fault. Both use the same classes of errors. */
export interface Planted {
  readonly storeConformance: readonly StoreCase[];
  /** A store with a new disk. `reopen` closes it and returns another store with the same disk. */
  makeStore(): { readonly store: Store; reopen(): Store };
}

const folder = dirname(fileURLToPath(import.meta.url));
const FILES = [STORE_FILE, DISK_FILE];

/** Plants faults until `dispose` is called. All of them share one build of the suite. */
export async function planter(): Promise<{ plant(edits: PlantedFault["edits"]): Promise<Planted>; dispose(): void }> {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-planted-"));
  const files = [
    "stores/conformance/conformance",
    "interface/errors",
    "interface/thread-error",
    "interface/checkpoint",
  ];
  const contents = files.map((file) => `export * from "../../runtime/${file}.ts";`);
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
      for (const [file, text] of sourceTexts(edits)) {
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

/** Text of each source file, with its mutations. */
export function sourceTexts(edits: PlantedFault["edits"] = []): ReadonlyMap<string, string> {
  const texts = new Map(FILES.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
  for (const edit of edits) texts.set(edit.file, mutate(texts.get(edit.file) ?? "", edit));
  return texts;
}
