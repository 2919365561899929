import type { Clock } from "../interface/clock.ts";
import { StoreError, type NgraphError } from "../interface/errors.ts";
import { ThreadError } from "../interface/thread-error.ts";
import type { Claim, Store } from "../interface/store.ts";
import type { Lease } from "../run/shared.ts";
import { newId } from "../checkpoint/ids.ts";
import { asStoreError, storeAnswer } from "../checkpoint/journal.ts";
import type { MaybePromise } from "../value/json.ts";
import { isThenable } from "../value/promise.ts";

export interface ClaimSettings {
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Called when the claim is lost: another runner has it, or the store does not answer. */
  readonly onLost: (error: NgraphError) => void;
}

/** A claim in use, and its lease. */
export interface HeldClaim {
  readonly claim: Claim;
  /**
   * Ensures that the claim is valid if its lease may have run out. Rejects with NG_THREAD_CONFLICT if another runner has the
   * thread.
   */
  readonly ensureHeld: () => Promise<void> | undefined;
  /** Where the work records that it releases the claim. */
  readonly lease: Lease;
  /** Ends the work: releases the claim, unless the last save of the work has released it. */
  end(): Promise<void> | undefined;
}

/** Claims a thread for its only runner (5.6), and renews the claim (a lease) until the work ends. */
export function claimThread(store: Store, threadId: string, settings: ClaimSettings): MaybePromise<HeldClaim> {
  const { leaseMs, clock } = settings;
  // The lease counts from the request, not from the answer.
  const heldUntil = clock.now() + leaseMs;
  // Mutation point: claim
  const answer = storeAnswer(() => store.claim(threadId, { owner: newId(), leaseMs }));
  const held = (claim: Claim): HeldClaim => new RenewedClaim(store, claim, settings, heldUntil);
  return isThenable(answer) ? answer.then(held) : held(answer);
}

class RenewedClaim implements HeldClaim {
  readonly claim: Claim;
  readonly lease: Lease = { ends: false, isReleased: false };
  readonly #store: Store;
  readonly #settings: ClaimSettings;
  #heldUntil: number;
  #isOver = false;
  #timer: unknown;

  constructor(store: Store, claim: Claim, settings: ClaimSettings, heldUntil: number) {
    this.claim = claim;
    this.#store = store;
    this.#settings = settings;
    this.#heldUntil = heldUntil;
    this.#renewLater();
  }

  // After the machine slept, or the store was slow, another runner may have taken the thread.
  readonly ensureHeld = (): Promise<void> | undefined =>
    this.#settings.clock.now() < this.#heldUntil ? undefined : asStoreError(() => this.#extend());

  end(): Promise<void> | undefined {
    this.#isOver = true;
    this.#settings.clock.clearTimeout(this.#timer);
    return this.lease.isReleased ? undefined : releaseQuietly(this.#store, this.claim);
  }

  async #extend(): Promise<void> {
    const { clock, leaseMs } = this.#settings;
    const asked = clock.now();
    await this.#store.renew(this.claim, leaseMs);
    this.#heldUntil = Math.max(this.#heldUntil, asked + leaseMs);
  }

  #lose(error: NgraphError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settings.onLost(error);
  }

  readonly #renew = (): void => {
    const { clock, leaseMs } = this.#settings;
    let answered = false;
    const due = clock.now() + leaseMs / 3;
    // Retries while a renewal is unanswered, because another connection may reach the store. If the store does not
    // respond for a whole lease, the claim counts as lost. Otherwise the run would never end.
    this.#timer = clock.setTimeout(() => {
      answered = true;
      const now = clock.now();
      // If this timer itself is late (the machine slept, or a body blocked the event loop), answers may have arrived
      // that are not yet handled: the store is not at fault.
      if (now < this.#heldUntil || now - due > leaseMs / 3) return this.#renew();
      const { threadId } = this.claim;
      const message = `the claim on thread \`${threadId}\` could not be renewed before its lease of ${leaseMs} ms ended`;
      this.#lose(new StoreError("NG_STORE_FAILED", `${message}: the store does not answer`));
    }, leaseMs / 3);
    unref(this.#timer);
    this.#extend()
      .catch((error: unknown) => {
        // A failed store may recover before another runner claims the thread. `ensureHeld` checks the claim before the
        // next bodies run.
        // A renewal that arrives after the last save finds no claim.
        if (error instanceof ThreadError && !this.lease.ends) this.#lose(error);
      })
      .finally(() => {
        if (answered || this.#isOver) return;
        clock.clearTimeout(this.#timer);
        this.#renewLater();
      });
  };

  #renewLater(): void {
    const { clock, leaseMs } = this.#settings;
    this.#timer = clock.setTimeout(this.#renew, leaseMs / 3);
    unref(this.#timer);
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
