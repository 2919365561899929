import type { Clock } from "../interface/clock.ts";
import { StoreError, type NgraphError } from "../interface/errors.ts";
import { ThreadError } from "../interface/thread-error.ts";
import type { Claim, Store } from "../interface/store.ts";
import type { Lease } from "../run/shared.ts";
import { newId } from "../checkpoint/ids.ts";
import { asStoreError, storeAnswer } from "../checkpoint/journal.ts";
import { isThenable } from "../value/promise.ts";

/**
 * Runs `work` as the only runner of a thread (5.6): claims the thread first, renews the claim (a lease) while the work
 * runs, and releases it afterwards, unless the last save of the work has released it.
 *
 * @param settings `onLost` is called when the claim is lost: another runner has it, or the store does not answer
 * @param work receives the claim, and a function that ensures the claim is valid if its lease may have run out. The
 * function rejects with NG_THREAD_CONFLICT if another runner has the thread. The work records in `lease` that it releases the claim.
 */
export async function withClaim<T>(
  store: Store,
  threadId: string,
  settings: { readonly leaseMs: number; readonly clock: Clock; readonly onLost: (error: NgraphError) => void },
  work: (claim: Claim, ensureHeld: () => Promise<void> | undefined, lease: Lease) => Promise<T>,
): Promise<T> {
  const { leaseMs, clock } = settings;
  // The lease counts from the request, not from the answer.
  let heldUntil = clock.now() + leaseMs;
  // Mutation point: claim
  const answer = storeAnswer(() => store.claim(threadId, { owner: newId(), leaseMs }));
  const claim = isThenable(answer) ? await answer : answer;
  const lease: Lease = { ends: false, isReleased: false };
  let over = false;
  let timer: unknown;
  const extend = async (): Promise<void> => {
    const asked = clock.now();
    await store.renew(claim, leaseMs);
    heldUntil = Math.max(heldUntil, asked + leaseMs);
  };
  // After the machine slept, or the store was slow, another runner may have taken the thread.
  const ensureHeld = (): Promise<void> | undefined => (clock.now() < heldUntil ? undefined : asStoreError(extend));
  const lose = (error: NgraphError): void => {
    if (over) return;
    over = true;
    settings.onLost(error);
  };
  const renew = (): void => {
    let answered = false;
    const due = clock.now() + leaseMs / 3;
    // Retries while a renewal is unanswered, because another connection may reach the store. If the store does not
    // respond for a whole lease, the claim counts as lost. Otherwise the run would never end.
    timer = clock.setTimeout(() => {
      answered = true;
      const now = clock.now();
      // If this timer itself is late (the machine slept, or a body blocked the event loop), answers may have arrived
      // that are not yet handled: the store is not at fault.
      if (now < heldUntil || now - due > leaseMs / 3) return renew();
      const message = `the claim on thread \`${threadId}\` could not be renewed before its lease of ${leaseMs} ms ended`;
      lose(new StoreError("NG_STORE_FAILED", `${message}: the store does not answer`));
    }, leaseMs / 3);
    unref(timer);
    extend()
      .catch((error: unknown) => {
        // A failed store may recover before another runner claims the thread. `ensureClaimed` checks the claim before
        // the next bodies run.
        // A renewal that arrives after the last save finds no claim.
        if (error instanceof ThreadError && !lease.ends) lose(error);
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
    return await work(claim, ensureHeld, lease);
  } finally {
    over = true;
    clock.clearTimeout(timer);
    if (!lease.isReleased) await releaseQuietly(store, claim);
  }
}

async function releaseQuietly(store: Store, claim: Claim): Promise<void> {
  try {
    await store.release(claim);
  } catch {
    // Other runners can claim the thread when the lease has expired.
  }
}

/** The lease of an idle run must not keep the process alive. */
function unref(timer: unknown): void {
  (timer as { unref?: () => void } | undefined)?.unref?.();
}
