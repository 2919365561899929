import type { Clock } from "../interface/clock.ts";
import { StoreError, ThreadError, type NgraphError } from "../interface/errors.ts";
import type { Claim, Store } from "../interface/store.ts";
import { asStoreError } from "../checkpoint/journal.ts";

/**
 * Does something as the one runner of a thread (5.6): claims it before, renews the claim as long as it takes, and gives it
 * back after.
 *
 * @param settings `onLost` is told when the claim is gone: another runner has it, or the store no longer answers
 * @param work gets the claim, and what makes sure of it where its lease may have run out: rejects with NG_THREAD_CONFLICT when another
 *   runner has it
 */
export async function withClaim<T>(
  store: Store,
  threadId: string,
  settings: { readonly leaseMs: number; readonly clock: Clock; readonly onLost: (error: NgraphError) => void },
  work: (claim: Claim, ensureHeld: () => Promise<void> | undefined) => Promise<T>,
): Promise<T> {
  const { leaseMs, clock } = settings;
  // From when it was asked for, not from when the answer came.
  let heldUntil = clock.now() + leaseMs;
  // Mutation point: claim
  const claim = await asStoreError(() => store.claim(threadId, { owner: globalThis.crypto.randomUUID(), leaseMs }));
  let over = false;
  let timer: unknown;
  const extend = async (): Promise<void> => {
    const asked = clock.now();
    await store.renew(claim, leaseMs);
    heldUntil = Math.max(heldUntil, asked + leaseMs);
  };
  // A machine that slept, or a store that took long: somebody else may run the thread by now.
  const ensureHeld = (): Promise<void> | undefined => (clock.now() < heldUntil ? undefined : asStoreError(extend));
  const lose = (error: NgraphError): void => {
    if (over) return;
    over = true;
    settings.onLost(error);
  };
  const renew = (): void => {
    let answered = false;
    const due = clock.now() + leaseMs / 3;
    // Asked again meanwhile: another connection may get through. One that says nothing for the whole lease would keep the run for ever.
    timer = clock.setTimeout(() => {
      answered = true;
      const now = clock.now();
      // Of a machine that slept, and a host that a body kept busy, answers may have come that nobody has heard yet: it is not the store's fault.
      if (now < heldUntil || now - due > leaseMs / 3) return renew();
      const message = `the claim on thread \`${threadId}\` could not be renewed before its lease of ${leaseMs} ms ended`;
      lose(new StoreError("NG_STORE_FAILED", `${message}: the store does not answer`));
    }, leaseMs / 3);
    unref(timer);
    extend()
      .catch((error: unknown) => {
        // A store that fails may come back, and nobody else may have come meanwhile: whether the claim holds is asked before the next bodies run.
        if (error instanceof ThreadError) lose(error);
      })
      .finally(() => {
        if (answered || over) return;
        clock.clearTimeout(timer);
        renewLater();
      });
  };
  const renewLater = (): void => {
    timer = clock.setTimeout(renew, leaseMs / 3);
    unref(timer);
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

/** The lease of a run that waits for nothing else must not keep the process alive. */
function unref(timer: unknown): void {
  (timer as { unref?: () => void } | undefined)?.unref?.();
}
