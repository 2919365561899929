import type { CheckpointId } from "./checkpoint.ts";
import type { Claim, Store } from "./store.ts";

interface ClaimedHead {
  readonly store: Store;
  readonly id: CheckpointId | null;
}

const CLAIMS = new WeakMap<Claim, ClaimedHead>();

/**
 * Records which checkpoint was the head of a thread when the store made a claim; `null` if the claim has created the thread. It stays
 * the head until the owner of the claim saves another one.
 */
export function noteClaimedHead(store: Store, claim: Claim, id: CheckpointId | null): void {
  CLAIMS.set(claim, { store, id });
}

/**
 * The head of the claimed thread, so that a run need not look for it; `null` if the claim has created the thread, `undefined` if it is
 * not known. A store that wraps another one may read from elsewhere, so the head is not known there.
 */
export function claimedHead(store: Store | undefined, claim: Claim): CheckpointId | null | undefined {
  const noted = CLAIMS.get(claim);
  return noted !== undefined && noted.store === store ? noted.id : undefined;
}
