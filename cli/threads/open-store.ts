import { accessSync, constants, existsSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { MaybePromise } from "../../runtime/value/json.ts";
import { StoreError } from "../../runtime/interface/errors.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { SnapshotCopy } from "../../runtime/stores/sqlite/snapshot-copy.ts";
import { CommandError } from "../process/command-error.ts";
import { makeDirectory } from "../output/make-directory.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { reasonOf } from "../sources/source-files.ts";
import { withoutPassword } from "../output/mask-password.ts";

export const DEFAULT_PATH = ".ngraph/runs.db";
export const DEFAULT_STORE = `sqlite:${DEFAULT_PATH}`;
export const STORE_FLAG = "--store <store>";
export const storeHelp = (defaultStore: string): string =>
  `the store of runs: sqlite:PATH, postgres:URL or memory (default ${defaultStore})`;
export const STORE_HELP = storeHelp(DEFAULT_STORE);

export interface OpenStore {
  readonly store: Store;
  /** The flag with which a later command finds the same store; empty for the default store. */
  readonly flag: string;
  /** Whether the store is lost when this process ends. */
  readonly isMemory: boolean;
  /** The file of a SQLite store. */
  readonly path?: string;
  /** Deletes the temporary copy that is open in place of a file that cannot be written. */
  readonly removeCopy?: () => void;
}

/**
 * `mustExist`: a missing SQLite file is an error; commands that only read never create a database. `readOnly`: the command writes
 * nothing, so a SQLite file that this user cannot write is read from a temporary copy.
 */
export interface StoreUse {
  readonly mustExist: boolean;
  readonly readOnly?: boolean;
}

/** Opens a store (see `openStore`), runs `work`, and closes the store in any case. */
export async function withStore<T>(
  given: string | undefined,
  use: StoreUse,
  work: (open: OpenStore) => MaybePromise<T>,
): Promise<T> {
  const open = await openStore(given, use);
  try {
    return await closing(open.store, () => work(open));
  } finally {
    open.removeCopy?.();
  }
}

async function closing<T>(store: Store, work: () => MaybePromise<T>): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    try {
      await store.close?.();
    } catch {
      // The first error is reported.
    }
    throw error;
  }
  await store.close?.();
  return result;
}

/** The store that `--store` names. */
export type StoreName =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string };

/** @throws CommandError when the flag names no store */
export function parseStore(spec: string, flag = "--store"): StoreName {
  if (spec === "memory") return { kind: "memory" };
  if (spec.startsWith("sqlite:") && spec.length > "sqlite:".length) {
    return { kind: "sqlite", path: spec.slice("sqlite:".length) };
  }
  const url = spec.replace(/^postgres:(?=postgres(?:ql)?:)/, "");
  if (/^postgres(?:ql)?:\/\/./.test(url)) {
    if (!URL.canParse(url) || HAS_AT_IN_PATH.test(url)) {
      // The wrong part is not shown: it may be the password.
      throw new CommandError(
        `the URL of ${flag} cannot be parsed: the form is postgres://USER:PASSWORD@HOST:5432/DATABASE`,
        {
          help: "write special characters of the password as %40 (@), %3A (:), %2F (/), %23 (#), %3F (?), %25 (%); or omit it and set PGPASSWORD",
        },
      );
    }
    return { kind: "postgres", url };
  }
  throw new CommandError(`${flag} takes sqlite:PATH, postgres:URL or memory, not \`${withoutPassword(spec)}\``, {
    help: /^postgres(?:ql)?:/.test(spec)
      ? "the URL of a database has the form postgres://USER@HOST/DATABASE"
      : /[./]/.test(spec) && !spec.includes("://")
        ? `did you mean \`sqlite:${withoutPassword(spec)}\`?`
        : undefined,
  });
}

/** The flag with which a later command finds the same store; empty for the default store. */
export function storeFlag(given: string | undefined): string {
  return given === undefined ? "" : ` --store ${quoteArgument(withoutPassword(given))}`;
}

/**
 * Opens the store that `--store` names.
 *
 * @throws CommandError when the flag names no store; StoreError when the store cannot be used
 */
export async function openStore(given: string | undefined, use: StoreUse): Promise<OpenStore> {
  const name = parseStore(given ?? DEFAULT_STORE);
  const flag = storeFlag(given);
  const isMemory = name.kind === "memory" || (name.kind === "sqlite" && name.path === ":memory:");
  if (use.mustExist && isMemory) {
    throw new CommandError("a store in memory is empty at the start of a command: name the store that the run used");
  }
  switch (name.kind) {
    case "memory": {
      const { MemoryStore } = await import("../../runtime/stores/memory.ts");
      return { store: new MemoryStore(), flag, isMemory };
    }
    case "sqlite": {
      const copy = use.readOnly === true ? await copyUnwritable(name.path) : undefined;
      const store = await openSqlite(copy?.path ?? name.path, use);
      if (isMemory) return { store, flag, isMemory };
      const path = resolve(name.path);
      return { store, flag, isMemory, path, ...(copy === undefined ? {} : { removeCopy: copy.remove }) };
    }
    case "postgres": {
      const { PostgresStore } = await import("../../runtime/stores/postgres.ts");
      return { store: new PostgresStore(name.url), flag, isMemory };
    }
  }
}

/** The password contains a `/`: the rest of it would be parsed as the database's name, and shown. */
const HAS_AT_IN_PATH = /^\w+:\/\/[^/?#]*\/[^?#]*@/;

/** A copy of a file that this user can read but not write; undefined for any other file. */
async function copyUnwritable(path: string): Promise<SnapshotCopy | undefined> {
  if (path === ":memory:" || !isFile(path)) return undefined;
  if (mayWrite(path) && mayWrite(dirname(resolve(path)))) return undefined;
  const { copySnapshot } = await import("../../runtime/stores/sqlite/snapshot-copy.ts");
  try {
    return copySnapshot(path);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new CommandError(`cannot read ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // Opening the store reports why.
    return false;
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** @throws CommandError with the store of a directory above, if there is one */
export function expectFile(path: string): void {
  if (existsSync(path)) return;
  const above = path === DEFAULT_PATH ? storeAbove(path) : undefined;
  throw new CommandError(`there is no store at ${path}`, {
    help:
      above === undefined
        ? "run the command where the graph was run, or name the store with --store"
        : `a directory above has one: --store ${quoteArgument(`sqlite:${above}`)}`,
  });
}

async function openSqlite(path: string, { mustExist }: StoreUse): Promise<Store> {
  if (mustExist) expectFile(path);
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
  if (!isNew || basename(resolve(directory)) !== ".ngraph") return;
  try {
    writeFileSync(join(directory, ".gitignore"), "*\n");
  } catch (error) {
    // A later run would take the directory for one that has its `.gitignore`.
    removeIfEmpty(directory);
    throw error;
  }
}

/** Removes a directory that has nothing but the begin of its `.gitignore`. */
function removeIfEmpty(directory: string): void {
  try {
    rmSync(join(directory, ".gitignore"), { force: true });
    rmdirSync(directory);
  } catch {
    // Another process has begun to use it.
  }
}
