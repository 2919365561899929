import { randomUUID } from "node:crypto";
import type { MaybePromise } from "../../runtime/value/json.ts";
import type { Store } from "../../runtime/interface/store.ts";

const LEASE_MS = 30_000;

/**
 * Runs `work` while this process holds the claim on a thread.
 *
 * @throws ThreadError NG_THREAD_CONFLICT when another process holds the claim
 */
export async function withThreadClaimed<T>(store: Store, thread: string, work: () => MaybePromise<T>): Promise<T> {
  const claim = await store.claim(thread, { owner: randomUUID(), leaseMs: LEASE_MS });
  // Work on a large thread may take longer than the lease.
  const renewal = setInterval(() => {
    void (async () => store.renew(claim, LEASE_MS))().catch(() => undefined);
  }, LEASE_MS / 3);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    await store.release(claim);
  }
}
