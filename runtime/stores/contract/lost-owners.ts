import { ThreadError } from "../../interface/errors.ts";

/**
 * Owners of claims that are over, though the database does not know: the store could not be reached when the claim was made or given
 * back. Who claims the same thread through the same store need not wait for their leases.
 */
export type LostOwners = Set<string>;

/** A claim or a release failed. Nobody knows whether it came true, unless the thread is somebody else's. */
export function noteLost(owners: LostOwners, owner: string, error: unknown): void {
  if (!(error instanceof ThreadError)) owners.add(owner);
}
