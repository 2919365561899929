import { StoreError } from "../../interface/errors.ts";
import type { PrunePolicy } from "../../interface/store.ts";
import { shown } from "../../value/shown.ts";

/** Number of rows that a listing returns: 100 by default, 0 for anything that is not a number above 0. */
export function rowLimit(limit = 100): number {
  return limit > 0 ? Math.min(Math.trunc(limit), Number.MAX_SAFE_INTEGER) : 0;
}

/** @throws StoreError NG_STORE_FAILED for a policy that is not valid */
export function checkPrunePolicy(policy: PrunePolicy): void {
  if (!Number.isSafeInteger(policy.keepLast) || policy.keepLast < 1) {
    throw new StoreError(
      "NG_STORE_FAILED",
      `\`keepLast\` must be a whole number of at least 1, not ${shown(policy.keepLast)}`,
    );
  }
  const { olderThan } = policy;
  if (olderThan !== undefined && !Number.isFinite(olderThan)) {
    throw new StoreError(
      "NG_STORE_FAILED",
      `\`olderThan\` must be a time in milliseconds since 1970, not ${shown(olderThan)}`,
    );
  }
}
