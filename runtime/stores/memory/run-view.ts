import type { Store } from "../../interface/store.ts";
import type { MemoryStore } from "../memory.ts";

/** The store as runs call it: `save` keeps the parts of a request without copying them. */
export function memoryRunView(store: MemoryStore, save: Store["save"]): Store {
  return {
    acceptsSplices: store.acceptsSplices,
    claim: (threadId, runner) => store.claim(threadId, runner),
    renew: (claim, leaseMs) => store.renew(claim, leaseMs),
    release: (claim) => store.release(claim),
    save,
    putWrites: (claim, id, writes) => store.putWrites(claim, id, writes),
    clearWrites: (claim, id, taskIds) => store.clearWrites(claim, id, taskIds),
    loadLatest: (threadId, namespace) => store.loadLatest(threadId, namespace),
    loadById: (threadId, id) => store.loadById(threadId, id),
    loadByLabel: (threadId, label) => store.loadByLabel(threadId, label),
    list: (threadId, options) => store.list(threadId, options),
    getWrites: (threadId, id) => store.getWrites(threadId, id),
    threads: (options) => store.threads(options),
    label: (threadId, id, label) => store.label(threadId, id, label),
    deleteThread: (threadId) => store.deleteThread(threadId),
    prune: (threadId, policy) => store.prune(threadId, policy),
    close: () => store.close(),
  };
}
