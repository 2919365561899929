import type { Claim, Store } from "./store.ts";

/** Claims that have created their thread, by the store that made them. */
const CLAIMS = new WeakMap<Claim, Store>();

/** Records that a claim has created its thread, so the thread has no checkpoint until the owner of the claim saves one. */
export function noteNewThread(store: Store, claim: Claim): void {
  CLAIMS.set(claim, store);
}

/**
 * Whether the claim has created its thread, so that a run need not look for a head. Always false for a store that wraps
 * another one: it may read from elsewhere.
 */
export function isNewThread(store: Store | undefined, claim: Claim): boolean {
  return store !== undefined && CLAIMS.get(claim) === store;
}
