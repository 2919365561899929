import { ThreadError } from "../../interface/thread-error.ts";

/**
 * Owners whose claims have ended although the database may still hold them: claiming or releasing failed because the store
 * could not be reached. A later claim through the same store does not wait for the leases of these owners.
 */
export type LostOwners = Set<string>;

/** Records the owner of a claim or release that failed with an unknown outcome. A conflict (`ThreadError`) is a known one. */
export function recordLost(owners: LostOwners, owner: string, error: unknown): void {
  if (!(error instanceof ThreadError)) owners.add(owner);
}
