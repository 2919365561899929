/** The stores of the pairs of operations. A process that dies leaves its store: the next one opens the data again. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Claim, Store } from "../../runtime/interface/store.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { isThenable } from "../../runtime/value/promise.ts";
import type { PostgresServer } from "../stores/postgres-server.ts";
import { FAST_DIRECTORY } from "../stores/temporary-directory.ts";

export interface Backend {
  store: Store;
  /** Opens the data again, after a process has died with claims. Their leases are over. */
  reopen(lost: readonly Claim[]): void | Promise<void>;
  dispose(): void | Promise<void>;
  /** Waits until the calls of the store that are in progress have ended. */
  settle(): Promise<void>;
}

/** @param now the clock of the leases; a database server has its own */
export type OpenBackend = (now: () => number) => Backend;

export const inMemory: OpenBackend = (now) => {
  const store = new MemoryStore({ now });
  return { store, reopen: () => undefined, dispose: () => store.close(), settle: turns };
};

export const inFile: OpenBackend = (now) => {
  const directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-pairs-"));
  const open = (): SqliteStore => new SqliteStore({ path: join(directory, "runs.db"), now });
  let store = open();
  const backend: Backend = {
    store,
    reopen: () => {
      store.close();
      backend.store = store = open();
    },
    dispose: () => {
      store.close();
      rmSync(directory, { recursive: true, force: true });
    },
    settle: turns,
  };
  return backend;
};

let schemas = 0;

/** A schema of a server for each seed. */
export function inPostgres(server: PostgresServer): OpenBackend {
  return () => {
    const schema = `pairs_${++schemas}`;
    const open = (): PostgresStore => new PostgresStore({ url: server.url, schema, connections: 2 });
    const calls = new Set<Promise<unknown>>();
    const settle = async (): Promise<void> => {
      await turns();
      while (calls.size > 0) {
        await Promise.allSettled(calls);
        await turns();
      }
    };
    let store = open();
    const backend: Backend = {
      store: withCalls(store, calls),
      reopen: async (lost) => {
        // The clock of the server cannot be set: a released claim is as free as one whose lease is over.
        for (const claim of lost) await store.release(claim);
        await store.close();
        store = open();
        backend.store = withCalls(store, calls);
      },
      dispose: async () => {
        await settle();
        await store.close();
        await server.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      },
      settle,
    };
    return backend;
  };
}

/** A store that notes its calls in progress. */
function withCalls(store: Store, calls: Set<Promise<unknown>>): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        const result: unknown = member.apply(target, args);
        if (!(result instanceof Promise)) return result;
        calls.add(result);
        const end = (): void => void calls.delete(result);
        result.then(end, end);
        return result;
      };
    },
  });
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A store that reports its claims, and what it has stored. */
export function watchStore(
  store: Store,
  { claimed, written }: { readonly claimed?: (claim: Claim) => void; readonly written: (text: string) => void },
): Store {
  const after = <T>(result: T, report: (result: Awaited<T>) => void): T => {
    if (!isThenable(result)) return (report(result as Awaited<T>), result);
    return result.then((value) => (report(value as Awaited<T>), value)) as T;
  };
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        const result: unknown = member.apply(target, args);
        if (name === "claim") return after(result, (claim) => claimed?.(claim as Claim));
        if (name === "save" || name === "putWrites" || name === "putSignal")
          return after(result, () => written(JSON.stringify(args)));
        return result;
      };
    },
  });
}
