/** The suite finds what is wrong with a store: each of these has one fault, and fails. */
import { describe, expect, it } from "vitest";
import type { Store } from "../../runtime/store.ts";
import { storeConformance } from "../../runtime/stores/conformance/conformance.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";

type Fault = (store: Store) => Partial<Store>;

const FAULTS: Readonly<Record<string, Fault>> = {
  "claims a thread that is held": (store) => ({
    claim: (thread, runner) => {
      store.renew({ ...lastClaim(store, thread) }, 0);
      return store.claim(thread, runner);
    },
  }),
  "saves whatever the head is": (store) => ({
    save: async (claim, request) => {
      const head = await store.loadLatest(claim.threadId, request.header.namespace);
      return store.save(claim, { ...request, expectedHead: head?.id ?? null });
    },
  }),
  "keeps the writes of a step that is done": (store) => ({
    save: (claim, request) => store.save(claim, { ...request, clearWritesOf: "none" }),
  }),
  "keeps the claim of a run that is over": (store) => ({
    save: (claim, request) => store.save(claim, { ...request, releaseClaim: false }),
  }),
  "lists oldest first": (store) => ({ list: async (...given) => [...(await store.list(...given))].reverse() }),
  "lists without a limit": (store) => ({ list: (thread, options) => store.list(thread, { ...options, limit: 1e9 }) }),
  "lists from the head whatever `before` says": (store) => ({
    list: (thread, { namespace = "", limit = 100 } = {}) => store.list(thread, { namespace, limit }),
  }),
  "mixes namespaces": (store) => ({ loadLatest: (thread) => store.loadLatest(thread) }),
  "folds names": (store) => ({
    claim: (thread, runner) => store.claim(thread.normalize("NFC"), runner),
    loadLatest: (thread, namespace) => store.loadLatest(thread.normalize("NFC"), namespace),
  }),
  "cuts names at NUL": (store) => ({
    loadByLabel: (thread, label) => store.loadByLabel!(thread, label.split("\0")[0]!),
  }),
  "forgets versions": (store) => ({
    loadById: async (thread, id) => {
      const found = await store.loadById(thread, id);
      return found && { ...found, versions: {} };
    },
  }),
  "turns the order of writes": (store) => ({
    getWrites: async (thread, id) => [...(await store.getWrites!(thread, id))].reverse(),
  }),
  "clears all writes for one": (store) => ({ clearWrites: (claim, id) => store.clearWrites!(claim, id) }),
  "prunes what has a label": (store) => ({
    prune: async (thread, policy) => {
      for (const { id } of await store.list(thread)) await store.label!(thread, id, "moved");
      return store.prune!(thread, policy);
    },
  }),
  "prunes whatever its age": (store) => ({
    prune: (thread, policy) => store.prune!(thread, { ...policy, olderThan: Number.MAX_VALUE }),
  }),
  "keeps labels that the policy gives up": (store) => ({
    prune: (thread, policy) => store.prune!(thread, { ...policy, keepLabelled: true }),
  }),
  "deletes nothing": () => ({ deleteThread: () => {} }),
  "answers after it was closed": () => ({ close: () => {} }),
  "asks for all values each time": (store) => ({
    save: (claim, request) => {
      request.snapshot();
      return store.save(claim, request);
    },
  }),
};

describe("the suite", () => {
  it.each(Object.keys(FAULTS))("fails a store that %s", async (name) => {
    const failed: string[] = [];
    for (const { name: caseName, run } of storeConformance) {
      await run(() => faulty(new MemoryStore(), FAULTS[name]!)).catch(() => failed.push(caseName));
    }
    expect(failed).not.toEqual([]);
  });

  it("asks nothing of a store that lacks the optional methods but what it has", async () => {
    const optional = ["putWrites", "getWrites", "clearWrites", "label", "loadByLabel", "threads", "prune", "close"];
    for (const { run } of storeConformance) {
      await run(() => {
        const store = faulty(new MemoryStore(), () => ({}));
        return Object.assign(store, Object.fromEntries(optional.map((method) => [method, undefined])));
      });
    }
  });
});

const claims = new WeakMap<object, Map<string, { threadId: string; owner: string; epoch: number }>>();

function lastClaim(store: Store, threadId: string) {
  return claims.get(store)?.get(threadId) ?? { threadId, owner: "", epoch: 0 };
}

/** The store with some methods replaced. */
function faulty(inner: MemoryStore, fault: Fault): Store {
  const made = new Map<string, { threadId: string; owner: string; epoch: number }>();
  claims.set(inner, made);
  const store: Store = {
    claim: (thread, runner) => remember(inner.claim(thread, runner)),
    renew: (claim, leaseMs) => inner.renew(claim, leaseMs),
    release: (claim) => inner.release(claim),
    save: (claim, request) => inner.save(claim, request),
    loadLatest: (thread, namespace) => inner.loadLatest(thread, namespace),
    loadById: (thread, id) => inner.loadById(thread, id),
    list: (thread, options) => inner.list(thread, options),
    deleteThread: (thread) => inner.deleteThread(thread),
    putWrites: (claim, id, writes) => inner.putWrites(claim, id, writes),
    getWrites: (thread, id) => inner.getWrites(thread, id),
    clearWrites: (claim, id, tasks) => inner.clearWrites(claim, id, tasks),
    label: (thread, id, label) => inner.label(thread, id, label),
    loadByLabel: (thread, label) => inner.loadByLabel(thread, label),
    threads: (options) => inner.threads(options),
    prune: (thread, policy) => inner.prune(thread, policy),
    close: () => inner.close(),
  };
  return { ...store, ...fault(inner) };

  function remember<T extends { threadId: string; owner: string; epoch: number }>(claim: T): T {
    made.set(claim.threadId, claim);
    return claim;
  }
}
