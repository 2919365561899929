import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { MaybePromise } from "../../runtime/value/json.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { CommandError } from "../process/command-error.ts";
import { makeDirectory } from "../output/make-directory.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { reasonOf } from "../sources/source-files.ts";
import { withoutPassword } from "../output/mask-password.ts";

const DEFAULT_PATH = ".ngraph/runs.db";
export const DEFAULT_STORE = `sqlite:${DEFAULT_PATH}`;
export const STORE_FLAG = "--store <store>";
export const STORE_HELP = "the store of runs: sqlite:PATH, postgres:URL or memory (default sqlite:.ngraph/runs.db)";

export interface OpenStore {
  readonly store: Store;
  /** The flag with which a later command finds the same store; empty for the default store. */
  readonly flag: string;
  /** Whether the store is lost when this process ends. */
  readonly isMemory: boolean;
  /** The file of a SQLite store. */
  readonly path?: string;
}

/** Opens a store (see `openStore`), runs `work`, and closes the store in any case. */
export async function withStore<T>(
  given: string | undefined,
  options: { readonly mustExist: boolean },
  work: (open: OpenStore) => MaybePromise<T>,
): Promise<T> {
  const open = await openStore(given, options);
  let result: T;
  try {
    result = await work(open);
  } catch (error) {
    try {
      await open.store.close?.();
    } catch {
      // The first error is reported.
    }
    throw error;
  }
  await open.store.close?.();
  return result;
}

/**
 * Opens the store that `--store` names. `mustExist`: commands that only read never create a database.
 *
 * @throws CommandError when the flag names no store; StoreError when the store cannot be used
 */
export async function openStore(given: string | undefined, options: { mustExist: boolean }): Promise<OpenStore> {
  const spec = given ?? DEFAULT_STORE;
  const flag = given === undefined ? "" : ` --store ${quoteArgument(withoutPassword(given))}`;
  if (options.mustExist && (spec === "memory" || spec === "sqlite::memory:")) {
    throw new CommandError("a store in memory is empty at the start of a command: name the store that the run used");
  }
  if (spec === "memory") {
    return { store: new MemoryStore(), flag, isMemory: true };
  }
  if (spec.startsWith("sqlite:") && spec.length > "sqlite:".length) {
    const path = spec.slice("sqlite:".length);
    const store = await openSqlite(path, options);
    return path === ":memory:"
      ? { store, flag, isMemory: true }
      : { store, flag, isMemory: false, path: resolve(path) };
  }
  const url = spec.replace(/^postgres:(?=postgres(?:ql)?:)/, "");
  if (/^postgres(?:ql)?:\/\/./.test(url)) {
    if (!URL.canParse(url) || HAS_AT_IN_PATH.test(url)) {
      // The wrong part is not shown: it may be the password.
      throw new CommandError(
        "the URL of --store cannot be parsed: the form is postgres://USER:PASSWORD@HOST:5432/DATABASE",
        {
          help: "write special characters of the password as %40 (@), %3A (:), %2F (/), %23 (#), %3F (?), %25 (%); or omit it and set PGPASSWORD",
        },
      );
    }
    const { PostgresStore } = await import("../../runtime/stores/postgres.ts");
    return { store: new PostgresStore(url), flag, isMemory: false };
  }
  throw new CommandError(`--store takes sqlite:PATH, postgres:URL or memory, not \`${withoutPassword(spec)}\``, {
    help: /^postgres(?:ql)?:/.test(spec)
      ? "the URL of a database has the form postgres://USER@HOST/DATABASE"
      : /[./]/.test(spec) && !spec.includes("://")
        ? `did you mean \`sqlite:${withoutPassword(spec)}\`?`
        : undefined,
  });
}

/** The password contains a `/`: the rest of it would be parsed as the database's name, and shown. */
const HAS_AT_IN_PATH = /^\w+:\/\/[^/?#]*\/[^?#]*@/;

async function openSqlite(path: string, { mustExist }: { mustExist: boolean }): Promise<Store> {
  if (mustExist && !existsSync(path)) {
    const above = path === DEFAULT_PATH ? storeAbove(path) : undefined;
    throw new CommandError(`there is no store at ${path}`, {
      help:
        above === undefined
          ? "run the command where the graph was run, or name the store with --store"
          : `a directory above has one: --store ${quoteArgument(`sqlite:${above}`)}`,
    });
  }
  try {
    if (path !== ":memory:") makeStoreDirectory(dirname(path));
  } catch (error) {
    const reason = existsSync(dirname(path)) ? "a file with this name exists" : reasonOf(error);
    throw new CommandError(`cannot create the directory ${dirname(path)}: ${reason}`, {
      cause: error,
      help: "--store sqlite:PATH stores runs elsewhere, --store memory stores none",
    });
  }
  const { SqliteStore } = await import("../../runtime/stores/sqlite.ts");
  // Runs contain inputs, answers and commands: a new file is readable by its owner only. SQLite gives its other files the same mode.
  const mask = process.umask(0o077);
  try {
    return new SqliteStore(path);
  } finally {
    process.umask(mask);
  }
}

/** The relative path of the default store of a parent directory, if there is one. */
function storeAbove(path: string): string | undefined {
  for (let up = ".."; ; up = join("..", up)) {
    if (existsSync(join(up, path))) return join(up, path);
    if (dirname(resolve(up)) === resolve(up)) return undefined;
  }
}

/** Permissions of directories with runs: for their owner only. */
export const PRIVATE = 0o700;

/** Creates the directory of a store. A new `.ngraph` contains a `.gitignore`, so that runs are not committed. */
export function makeStoreDirectory(directory: string): void {
  const isNew = !existsSync(directory);
  makeDirectory(directory, PRIVATE);
  if (isNew && resolve(directory) === resolve(".ngraph")) writeFileSync(join(directory, ".gitignore"), "*\n");
}
