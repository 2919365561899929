import { randomUUID } from "node:crypto";
import type { MaybePromise } from "../runtime/json.ts";
import type { Store } from "../runtime/store.ts";

const LEASE_MS = 30_000;

/**
 * Does something to a thread that nobody runs.
 *
 * @throws ThreadError NG_THREAD_CONFLICT when somebody does
 */
export async function withThreadClaimed<T>(store: Store, thread: string, work: () => MaybePromise<T>): Promise<T> {
  const claim = await store.claim(thread, { owner: randomUUID(), leaseMs: LEASE_MS });
  try {
    return await work();
  } finally {
    await store.release(claim);
  }
}
