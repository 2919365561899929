import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { CompilerHost, SyntaxTrees } from "../../compiler/load/host.ts";
import type { ProgramStart } from "../start/load-program.ts";

declare const __ngcStart: ProgramStart | undefined;

/** Larger trees are not stored, in UTF-16 code units. */
const MAX_TREE = 1024 * 1024;
const MAX_TREES = 2000;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Syntax trees of modules in files beside the program's code cache: who may write there may change the program. The name of a file
 * is the hash of all that its tree depends on, so a tree is never out of date; a file with damaged content is not used.
 *
 * @returns the part of a host; empty where the program runs from its sources
 */
export function storedTrees(): Pick<CompilerHost, "syntaxTrees"> {
  return typeof __ngcStart === "object" ? { syntaxTrees: treesIn(__ngcStart.trees) } : {};
}

/** @param directory need not exist, nor be writable */
export function treesIn(directory: string): SyntaxTrees {
  let isWritable: boolean | undefined;
  const pathOf = (path: string, text: string): string => join(directory, hash(`${kindOf(path)}\n${text}`));
  return {
    get: (path, text) => {
      const content = attempt(() => readFileSync(pathOf(path, text), "utf8"));
      if (content === undefined) return undefined;
      const tree = content.slice(HASH_LENGTH);
      return hash(tree) === content.slice(0, HASH_LENGTH) ? tree : undefined;
    },
    set: (path, text, tree) => {
      if (tree.length > MAX_TREE) return;
      isWritable ??= attempt(() => makeRoom(directory)) ?? false;
      if (isWritable) isWritable = attempt(() => write(pathOf(path, text), hash(tree) + tree)) ?? false;
    },
  };
}

/** Parsers differ by extension alone: `.d.ts` files have declarations without bodies. */
function kindOf(path: string): string {
  return /\.d\.[cm]?ts$/.exec(path)?.[0] ?? extname(path);
}

/** Trees of texts that have changed since are never read again; all are removed when they have become many. */
function makeRoom(directory: string): boolean {
  mkdirSync(directory, { recursive: true });
  const files = readdirSync(directory).map((name) => join(directory, name));
  const bytes = files.reduce((sum, file) => sum + (attempt(() => statSync(file).size) ?? 0), 0);
  if (files.length > MAX_TREES || bytes > MAX_BYTES) for (const file of files) rmSync(file, { force: true });
  return true;
}

/** Another process never reads an incomplete file. */
function write(path: string, content: string): boolean {
  const next = `${path}.${process.pid}`;
  writeFileSync(next, content);
  renameSync(next, path);
  return true;
}

const HASH_LENGTH = 64;

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
