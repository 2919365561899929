import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import type { CompilerHost } from "../compiler/load/host.ts";

/** Bytes of the largest file that is read. It exceeds the limit of graph files (NG005), because modules can be larger. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads the files of this machine. Paths are relative to the working directory. A path is read once for each host, so
 * one compilation sees one state of the disk.
 */
export function createNodeHost(): CompilerHost {
  return {
    readFile: once(readText),
    whyUnreadable,
    realPath: once((path) => attempt(() => realpathSync.native(path))),
    listDirectory: (path) => attempt(() => readdirSync(path).sort()),
  };
}

/** A function of a path that keeps its results. */
function once<T>(read: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => {
    if (!known.has(path)) known.set(path, read(path));
    return known.get(path) as T;
  };
}

function readText(path: string): string | undefined {
  return attempt(() => {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > MAX_BYTES) return undefined;
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  });
}

function whyUnreadable(path: string): string | undefined {
  const stat = attempt(() => statSync(path));
  if (stat === undefined) return undefined;
  if (stat.isDirectory()) return "it is a directory";
  if (!stat.isFile()) return "it is not a regular file";
  if (stat.size > MAX_BYTES) return `it has ${stat.size} bytes, more than any graph file or module may have`;
  return attempt(() => readFileSync(path)) === undefined ? "permission denied" : "it is not UTF-8 text";
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
