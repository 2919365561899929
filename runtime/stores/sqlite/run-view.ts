import type { Claim, Store } from "../../interface/store.ts";
import type { MaybePromise } from "../../value/json.ts";
import type { SqliteStore } from "../sqlite.ts";
import { encodeLong } from "../contract/encode-long.ts";
import type { GroupCommit } from "./group-commit.ts";

export interface SqliteRunView extends Store {
  readonly group: GroupCommit;
}

/** The store as runs call it: concurrent calls share a transaction. */
export function sqliteRunView(store: SqliteStore, group: GroupCommit): SqliteRunView {
  const ended = (claim: Claim): void => group.end(keyOf(claim.threadId, claim.owner));
  return {
    group,
    acceptsSplices: store.acceptsSplices,
    claim: (threadId, runner) => {
      const key = keyOf(threadId, runner.owner);
      group.begin(key);
      return settled(() => group.write(() => store.claim(threadId, runner)), undefined, () => group.end(key)); // prettier-ignore
    },
    renew: (claim, leaseMs) => group.write(() => store.renew(claim, leaseMs)),
    release: (claim) => {
      const end = (): void => ended(claim);
      return settled(() => group.write(() => store.release(claim)), end, end);
    },
    save: (claim, request) => {
      const end = request.releaseClaim === true ? (): void => ended(claim) : undefined;
      const write = (): MaybePromise<void> =>
        settled(() => group.write(() => store.save(claim, request)), end, undefined);
      return encodeLong(request)?.then(write) ?? write();
    },
    putWrites: (claim, id, writes, taken) => group.write(() => store.putWrites(claim, id, writes, taken)),
    clearWrites: (claim, id, taskIds) => group.write(() => store.clearWrites(claim, id, taskIds)),
    loadLatest: (threadId, namespace) => group.read(() => store.loadLatest(threadId, namespace)),
    loadById: (threadId, id) => group.read(() => store.loadById(threadId, id)),
    loadByLabel: (threadId, label) => group.read(() => store.loadByLabel(threadId, label)),
    list: (threadId, options) => group.read(() => store.list(threadId, options)),
    getWrites: (threadId, id) => group.read(() => store.getWrites(threadId, id)),
    putSignal: (threadId, signal) => group.write(() => store.putSignal(threadId, signal)),
    getSignals: (threadId) => group.read(() => store.getSignals(threadId)),
    threads: (options) => group.read(() => store.threads(options)),
    label: (threadId, id, label) => group.write(() => store.label(threadId, id, label)),
    deleteThread: (threadId) => group.write(() => store.deleteThread(threadId)),
    prune: (threadId, policy) => group.write(() => store.prune(threadId, policy)),
    putItem: (item) => group.write(() => store.putItem(item)),
    getItem: (namespace, key) => group.read(() => store.getItem(namespace, key)),
    deleteItem: (namespace, key) => group.write(() => store.deleteItem(namespace, key)),
    listItems: (prefix, options) => group.read(() => store.listItems(prefix, options)),
    pruneItems: (now) => group.write(() => store.pruneItems(now)),
    close: () => store.close(),
  };
}

function keyOf(threadId: string, owner: string): string {
  return `${owner}\n${threadId}`;
}

function settled<T>(
  call: () => MaybePromise<T>,
  onDone: (() => void) | undefined,
  onError: (() => void) | undefined,
): MaybePromise<T> {
  let result: MaybePromise<T>;
  try {
    result = call();
  } catch (error) {
    onError?.();
    throw error;
  }
  if (!(result instanceof Promise)) {
    onDone?.();
    return result;
  }
  return result.then(
    (value: T) => {
      onDone?.();
      return value;
    },
    (error: unknown) => {
      onError?.();
      throw error;
    },
  );
}
