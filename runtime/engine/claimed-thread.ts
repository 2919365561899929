import type { Clock } from "../clock.ts";
import { ThreadError } from "../errors.ts";
import type { Claim, Store } from "../store.ts";
import { asStoreError } from "./journal.ts";

/**
 * Does something as the one runner of a thread (5.6): claims it before, renews the claim as long as it takes, and gives it
 * back after.
 *
 * @param settings `onLost` is told when the claim is gone: another runner has it
 * @param work gets the claim, and what makes sure of it where its lease may have run out: rejects with NG_THREAD_CONFLICT when another
 *   runner has it
 */
export async function withClaim<T>(
  store: Store,
  threadId: string,
  settings: { readonly leaseMs: number; readonly clock: Clock; readonly onLost: (error: ThreadError) => void },
  work: (claim: Claim, ensureHeld: () => Promise<void> | undefined) => Promise<T>,
): Promise<T> {
  const { leaseMs, clock } = settings;
  // From when it was asked for, not from when the answer came.
  let heldUntil = clock.now() + leaseMs;
  const claim = await asStoreError(() => store.claim(threadId, { owner: globalThis.crypto.randomUUID(), leaseMs }));
  let over = false;
  let timer: unknown;
  const extend = async (): Promise<void> => {
    const asked = clock.now();
    await store.renew(claim, leaseMs);
    heldUntil = asked + leaseMs;
  };
  // A machine that slept, or a store that took long: somebody else may run the thread by now.
  const ensureHeld = (): Promise<void> | undefined => (clock.now() < heldUntil ? undefined : asStoreError(extend));
  const renew = async (): Promise<void> => {
    try {
      await extend();
    } catch (error) {
      if (error instanceof ThreadError) {
        if (!over) settings.onLost(error);
        return;
      }
      // The store may come back before the lease ends; if not, the next write says so.
    }
    if (!over) renewLater();
  };
  const renewLater = (): void => {
    timer = clock.setTimeout(() => void renew(), leaseMs / 3);
    // The lease of a run that waits for nothing else must not keep the process alive.
    (timer as { unref?: () => void } | undefined)?.unref?.();
  };
  renewLater();
  try {
    return await work(claim, ensureHeld);
  } finally {
    over = true;
    clock.clearTimeout(timer);
    try {
      await store.release(claim);
    } catch {
      // It is free for others once the lease has run out.
    }
  }
}
