import type { Clock } from "../clock.ts";
import { StoreError, NgraphError } from "../errors.ts";
import type { Claim, Store } from "../store.ts";

/**
 * Does something as the one runner of a thread (5.6): claims it before, renews the claim as long as it takes, and gives it
 * back after.
 */
export async function withClaim<T>(
  store: Store,
  threadId: string,
  settings: { readonly leaseMs: number; readonly clock: Clock; readonly onLost?: (error: unknown) => void },
  work: (claim: Claim) => Promise<T>,
): Promise<T> {
  const { leaseMs, clock } = settings;
  const claim = await asStoreError(() => store.claim(threadId, { owner: globalThis.crypto.randomUUID(), leaseMs }));
  let over = false;
  let timer: unknown;
  const renewLater = (): void => {
    timer = clock.setTimeout(() => {
      Promise.resolve()
        .then(() => (over ? undefined : store.renew(claim, leaseMs)))
        .then(
          () => (over ? undefined : renewLater()),
          (error: unknown) => settings.onLost?.(error),
        );
    }, leaseMs / 3);
    // A timer of the host must not keep its process alive.
    (timer as { unref?: () => void } | undefined)?.unref?.();
  };
  renewLater();
  try {
    return await work(claim);
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

/** Whatever a store throws becomes an error of this package. */
export async function asStoreError<T>(call: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof NgraphError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError("NG_STORE_FAILED", `the store failed: ${reason}`, { cause: error });
  }
}
