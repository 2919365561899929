import type { MaybePromise } from "../../value/json.ts";
import type { Store } from "../../interface/store.ts";
import type { CrashedStore, StoreUnderTest } from "./store-case.ts";

/**
 * `crash` for a store that keeps files in one directory and only appends to them, or replaces them by renaming. A file that
 * the write has extended is cut; a file that was replaced keeps its old content. A store that overwrites parts of a file
 * needs a `crash` of its own, which kills a process.
 *
 * @param open opens the store on a copy of the directory
 * @example
 * const crash = cutLastWrite(directory, (copy) => new MyStore(join(copy, "runs.jsonl")));
 */
export function cutLastWrite(
  directory: string,
  open: (directory: string) => MaybePromise<Store>,
): NonNullable<StoreUnderTest["crash"]> {
  return async (write, fraction): Promise<CrashedStore> => {
    // Loaded here, so that the suite itself runs without Node.
    const { mkdtemp, readdir, readFile, rm, writeFile } = await import("node:fs/promises");
    const { join } = await import("node:path");
    const contents = async (): Promise<Map<string, Uint8Array>> => {
      const names = (await readdir(directory)).sort();
      return new Map(
        await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)),
      );
    };

    const before = await contents();
    await write();
    const after = await contents();
    const copy = await mkdtemp(`${directory}-crash-`);
    let arrived = Math.floor(fraction * writtenBytes(before, after));
    for (const [name, bytes] of after) {
      const old = before.get(name);
      const start = old?.length ?? 0;
      const isExtended = extendsContent(old, bytes);
      const end = isExtended ? Math.min(bytes.length, start + arrived) : start;
      if (isExtended) arrived -= end - start;
      if (old === undefined && end === 0) continue;
      await writeFile(join(copy, name), isExtended ? bytes.subarray(0, end) : old!);
    }
    let store: Store;
    try {
      store = await open(copy);
    } catch (error) {
      await rm(copy, { recursive: true, force: true });
      throw error;
    }
    const reopen = async (): Promise<Store> => {
      await store.close?.();
      return open(copy);
    };
    return { store, reopen, dispose: () => rm(copy, { recursive: true, force: true }) };
  };
}

function writtenBytes(before: ReadonlyMap<string, Uint8Array>, after: ReadonlyMap<string, Uint8Array>): number {
  let total = 0;
  for (const [name, bytes] of after) {
    const old = before.get(name);
    if (extendsContent(old, bytes)) total += bytes.length - (old?.length ?? 0);
  }
  return total;
}

function extendsContent(old: Uint8Array | undefined, bytes: Uint8Array): boolean {
  return old === undefined || (bytes.length >= old.length && old.every((byte, index) => byte === bytes[index]));
}
