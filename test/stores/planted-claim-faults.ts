/** Mistakes of claims: owner, lease, epoch, and the check before a write. */
import { after, before, swap } from "../support/mutate.ts";
import { inStore, VALUE, type PlantedFault } from "./planted-fault.ts";

const ONE_RUNNER = "5.6 a thread has one runner; a second claim fails with an error that names the holder";
const SAME_OWNER = "5.6 the same owner claims again";
const TAKEN_OVER = "5.6 after an expired claim is taken over, it cannot write";
const LEASE = "5.6 a claim holds for the time of its lease and no longer";

export const CLAIM_FAULTS: readonly PlantedFault[] = [
  {
    name: "a claim is taken from a live owner",
    edits: [inStore("live-holder", "false", "test")],
    foundBy: ONE_RUNNER,
  },
  {
    name: "a claim of a dead owner cannot be taken over",
    edits: [inStore("live-holder", swap(" && holder.until > Date.now()", ""), "test")],
    foundBy: TAKEN_OVER,
  },
  {
    name: "a second claim of the same owner is refused",
    edits: [inStore("live-holder", swap(" && holder.owner !== owner", ""), "test")],
    foundBy: SAME_OWNER,
  },
  {
    name: "the epoch does not grow",
    edits: [inStore("next-epoch", "1", VALUE)],
    foundBy: SAME_OWNER,
  },
  {
    name: "each thread counts its epochs, and restarts the count after it is deleted",
    edits: [inStore("next-epoch", "(holder?.epoch ?? 0) + 1", VALUE)],
    foundBy: ONE_RUNNER,
  },
  {
    name: "a write is accepted with any epoch while the thread is claimed",
    edits: [inStore("newest-claim", "thread?.holder !== undefined", "test")],
    foundBy: SAME_OWNER,
  },
  {
    name: "a write is checked by owner instead of epoch",
    edits: [inStore("newest-claim", "thread?.holder?.owner === owner", "test")],
    foundBy: SAME_OWNER,
  },
  {
    name: "a write with an older epoch is accepted",
    edits: [inStore("newest-claim", "thread?.holder !== undefined && thread.holder.epoch >= epoch", "test")],
    foundBy: SAME_OWNER,
  },
  {
    name: "a write with an epoch later than the newest is accepted",
    edits: [inStore("newest-claim", "thread?.holder !== undefined && thread.holder.epoch <= epoch", "test")],
    foundBy: "5.6 the epoch decides: a forged claim cannot write",
  },
  {
    name: "a save does not check the claim",
    edits: [inStore("claim-of-save", "this.#find(claim.threadId)!", VALUE)],
    foundBy: SAME_OWNER,
  },
  {
    name: "putting writes does not check the claim",
    edits: [inStore("claim-of-put", "this.#find(claim.threadId)!", VALUE)],
    foundBy: TAKEN_OVER,
  },
  {
    name: "clearing writes does not check the claim",
    edits: [inStore("claim-of-clear", "this.#find(claim.threadId)!", VALUE)],
    foundBy: TAKEN_OVER,
  },
  {
    name: "a lease is not renewed",
    edits: [inStore("renewed-lease", "")],
    foundBy: LEASE,
  },
  {
    name: "renewing ignores the length of the lease",
    edits: [inStore("renewed-lease", swap("leaseMs", "60_000"))],
    foundBy: TAKEN_OVER,
  },
  {
    name: "an expired claim that was not taken over cannot write",
    edits: [inStore("newest-claim", "thread?.holder?.epoch === epoch && thread.holder.until > Date.now()", "test")],
    foundBy: "an expired claim that was not taken over still holds and can be renewed",
  },
  {
    name: "a claim ignores the length of the lease",
    edits: [inStore("lease", swap("leaseMs", "60_000"))],
    foundBy: LEASE,
  },
  {
    name: "a release does nothing",
    edits: [inStore("release", "")],
    foundBy: ONE_RUNNER,
  },
  {
    name: "a release ignores the epoch",
    edits: [inStore("release", "thread !== undefined", "test")],
    foundBy: ONE_RUNNER,
  },
  {
    name: "releasing a claim that no longer exists is an error",
    edits: [inStore("release", `this.#claimed({ threadId, epoch, owner: "" }).holder = undefined;`)],
    foundBy: ONE_RUNNER,
  },
  {
    name: "a conflict does not name the holder",
    edits: [inStore("refused-claim", "throw conflict(threadId, `is taken`);")],
    foundBy: ONE_RUNNER,
  },
  {
    name: "a conflict is an `Error` without a code",
    edits: [inStore("refused-claim", "throw new Error(`it is being run by ${holder.owner}`);")],
    foundBy: ONE_RUNNER,
  },
  {
    name: "a conflict does not have the id of the thread",
    edits: [inStore("conflict", `""`, "argument.arguments.1")],
    foundBy: ONE_RUNNER,
  },
  {
    name: "claims are lost when the store is reopened",
    edits: [inStore("opened-disk", after("for (const thread of disk.threads.values()) thread.holder = undefined;"))],
    foundBy: "saved checkpoints, writes, labels and claims are read after reopening",
  },
  {
    name: "a claim is asynchronous between check and write",
    edits: [inStore("claim", before("async")), inStore("next-epoch", before("await null;"))],
    foundBy: "of concurrent claims or saves, exactly one succeeds",
  },
  {
    name: "the last save does not release the claim",
    edits: [inStore("released-claim", "")],
    foundBy: "a released claim cannot write",
  },
  {
    name: "every save releases the claim",
    edits: [inStore("released-claim", "thread.holder = undefined;")],
    foundBy: "5.1 a checkpoint is read as it was saved, in every phase",
  },
];
