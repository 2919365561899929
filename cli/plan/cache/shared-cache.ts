import { randomUUID } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeDirectory } from "../../output/make-directory.ts";
import { CommandError } from "../../process/command-error.ts";
import { reasonOf } from "../../sources/source-files.ts";
import { MOST_ARCHIVE_BYTES, openHttpCache } from "./http-cache.ts";

/** A place that several trees and machines share: archives of results by key. */
export interface SharedCache {
  /** For messages. */
  readonly name: string;
  /** Writes an archive to a file; `undefined` if there is none. `tag`: its signature, if it was stored with one. */
  get(key: string, target: string): Promise<{ readonly tag: string | undefined } | undefined>;
  put(key: string, archive: string, tag: string | undefined): Promise<void>;
}

/**
 * Opens the cache that `--shared-cache` or `NGRAPH_SHARED_CACHE` names: an address of a server with Turborepo's protocol, or a folder.
 *
 * @throws CommandError
 */
export function openSharedCache(place: string, environment: NodeJS.ProcessEnv): SharedCache {
  if (/^https?:/i.test(place)) return openHttpCache(place, environment["NGRAPH_CACHE_TOKEN"]);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) {
    throw new CommandError(`--shared-cache: ${JSON.stringify(place.split(":")[0])} is not a known kind of address`, {
      help: "give a folder, or the `http` or `https` address of a server with Turborepo's protocol",
    });
  }
  return openFolder(resolve(place));
}

function openFolder(folder: string): SharedCache {
  try {
    makeDirectory(folder);
    if (!statSync(folder).isDirectory()) throw new Error("it is not a folder");
  } catch (error) {
    throw new CommandError(`--shared-cache ${folder}: ${reasonOf(error)}`, { cause: error });
  }
  const fileOf = (key: string): string => join(folder, `${key}.ngraph.gz`);
  const tagOf = (key: string): string => join(folder, `${key}.tag`);
  const write = (path: string, fill: (temporary: string) => void): void => {
    // Other processes write to the folder, too: a file appears as a whole, or not at all.
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      fill(temporary);
      renameSync(temporary, path);
    } finally {
      rmSync(temporary, { force: true });
    }
  };
  return {
    name: folder,
    get(key, target) {
      if (!existsSync(fileOf(key))) return Promise.resolve(undefined);
      // Reading a pipe waits without end.
      if (!statSync(fileOf(key)).isFile()) throw new Error(`the result ${key} is not a file`);
      if (statSync(fileOf(key)).size > MOST_ARCHIVE_BYTES) throw new Error(`the result ${key} is larger than 4 GiB`);
      copyFileSync(fileOf(key), target);
      const tag =
        existsSync(tagOf(key)) && statSync(tagOf(key)).isFile() ? readFileSync(tagOf(key), "utf8") : undefined;
      return Promise.resolve({ tag });
    },
    put(key, archive, tag) {
      if (tag !== undefined) write(tagOf(key), (path) => writeFileSync(path, tag));
      write(fileOf(key), (path) => copyFileSync(archive, path));
      return Promise.resolve();
    },
  };
}
