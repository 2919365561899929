import type { Store } from "./store.ts";

/** By the store itself, so that a wrapper or a proxy of a store keeps seeing each call. */
const VIEWS = new WeakMap<Store, Store>();

/**
 * Registers a view of a store for runs. The view behaves as the store does, but its methods may return promises where the
 * store returns values, for example to commit the calls of several runs in one transaction.
 */
export function registerRunView(store: Store, view: Store): void {
  VIEWS.set(store, view);
}

/** The store that runs call: the registered view, or the store itself. */
export function runViewOf(store: Store): Store {
  return VIEWS.get(store) ?? store;
}
