/** Mistakes of claims: who holds a thread, for how long, and who may write. */
import type { PlantedFault } from "./planted-faults.ts";

const HELD = "if (holder !== undefined && holder.owner !== owner && holder.until > Date.now()) {";
const CLAIMED = "if (thread?.holder?.epoch === epoch) return thread;";
const RENEWED = "thread.holder = { ...claim, until: Date.now() + leaseMs };";
const RELEASED = "if (thread?.holder?.epoch === epoch) thread.holder = undefined;";

export const CLAIM_FAULTS: readonly PlantedFault[] = [
  {
    name: "the claim of a live owner is stolen",
    edits: [[HELD, "if (false) {"]],
    foundBy: "5.6 a thread has one runner; a second claim fails with an error that names the holder",
  },
  {
    name: "the claim of a dead owner is never given",
    edits: [[HELD, HELD.replace(" && holder.until > Date.now()", "")]],
    foundBy: "5.6 after an expired claim is taken over, it cannot write",
  },
  {
    name: "the same owner is refused",
    edits: [[HELD, HELD.replace(" && holder.owner !== owner", "")]],
    foundBy: "5.6 the same owner claims again",
  },
  {
    name: "the epoch does not grow",
    edits: [["const epoch = ++this.#disk.epoch;", "const epoch = 1;"]],
    foundBy: "5.6 the same owner claims again",
  },
  {
    name: "epochs are counted by thread, and begin again when it was deleted",
    edits: [["const epoch = ++this.#disk.epoch;", "const epoch = (holder?.epoch ?? 0) + 1;"]],
    foundBy: "5.6 a thread has one runner; a second claim fails with an error that names the holder",
  },
  {
    name: "the epoch is ignored where somebody holds the thread",
    edits: [[CLAIMED, "if (thread?.holder !== undefined) return thread;"]],
    foundBy: "5.6 the same owner claims again",
  },
  {
    name: "the owner counts, not the epoch",
    edits: [[CLAIMED, "if (thread?.holder?.owner === owner) return thread;"]],
    foundBy: "5.6 the same owner claims again",
  },
  {
    name: "older epochs write on",
    edits: [[CLAIMED, "if (thread?.holder !== undefined && thread.holder.epoch >= epoch) return thread;"]],
    foundBy: "5.6 the same owner claims again",
  },
  {
    name: "later epochs than the newest are taken",
    edits: [[CLAIMED, "if (thread?.holder !== undefined && thread.holder.epoch <= epoch) return thread;"]],
    foundBy: "5.6 the epoch decides: a forged claim cannot write",
  },
  {
    name: "nobody needs a claim to save",
    edits: [
      [
        "save(claim: Claim, request: SaveRequest): void {\n    const thread = this.#claimed(claim);",
        "save(claim: Claim, request: SaveRequest): void {\n    const thread = this.#find(claim.threadId)!;",
      ],
    ],
    foundBy: "5.6 the same owner claims again",
  },
  {
    name: "nobody needs a claim to put writes",
    edits: [
      [
        "const thread = this.#claimed(claim);\n    const texts",
        "const thread = this.#find(claim.threadId)!;\n    const texts",
      ],
    ],
    foundBy: "5.6 after an expired claim is taken over, it cannot write",
  },
  {
    name: "nobody needs a claim to clear writes",
    edits: [["const { writes } = this.#claimed(claim);", "const { writes } = this.#find(claim.threadId)!;"]],
    foundBy: "5.6 after an expired claim is taken over, it cannot write",
  },
  {
    name: "a lease is not renewed",
    edits: [[RENEWED, ""]],
    foundBy: "5.6 a claim holds for the time of its lease and no longer",
  },
  {
    name: "renewing always takes the first lease again",
    edits: [[RENEWED, "thread.holder = { ...claim, until: Date.now() + 60_000 };"]],
    foundBy: "5.6 after an expired claim is taken over, it cannot write",
  },
  {
    name: "an expired claim writes no more though nobody took it",
    edits: [[CLAIMED, "if (thread?.holder?.epoch === epoch && thread.holder.until > Date.now()) return thread;"]],
    foundBy: "an expired claim that was not taken over still holds and can be renewed",
  },
  {
    name: "the length of a lease is not looked at",
    edits: [
      [
        "thread.holder = { owner, epoch, until: Date.now() + leaseMs };",
        "thread.holder = { owner, epoch, until: Date.now() + 60_000 };",
      ],
    ],
    foundBy: "5.6 a claim holds for the time of its lease and no longer",
  },
  {
    name: "a release does nothing",
    edits: [[RELEASED, ""]],
    foundBy: "5.6 a thread has one runner; a second claim fails with an error that names the holder",
  },
  {
    name: "anybody may release",
    edits: [[RELEASED, "if (thread !== undefined) thread.holder = undefined;"]],
    foundBy: "5.6 a thread has one runner; a second claim fails with an error that names the holder",
  },
  {
    name: "releasing a claim that is gone is an error",
    edits: [[RELEASED, "this.#claimed({ threadId, epoch, owner: '' }).holder = undefined;"]],
    foundBy: "5.6 a thread has one runner; a second claim fails with an error that names the holder",
  },
  {
    name: "a conflict does not say who holds the thread",
    edits: [["throw conflict(threadId, `is being run by ${holder.owner}`);", "throw conflict(threadId, `is taken`);"]],
    foundBy: "5.6 a thread has one runner; a second claim fails with an error that names the holder",
  },
  {
    name: "a conflict is an ordinary error",
    edits: [
      [
        "throw conflict(threadId, `is being run by ${holder.owner}`);",
        "throw new Error(`it is being run by ${holder.owner}`);",
      ],
    ],
    foundBy: "5.6 a thread has one runner; a second claim fails with an error that names the holder",
  },
  {
    name: "a conflict does not carry the thread",
    edits: [
      ['return new ThreadError("NG_THREAD_CONFLICT", threadId,', 'return new ThreadError("NG_THREAD_CONFLICT", "",'],
    ],
    foundBy: "5.6 a thread has one runner; a second claim fails with an error that names the holder",
  },
  {
    name: "claims are forgotten when the store is opened again",
    edits: [
      [
        "this.#disk = disk;",
        "this.#disk = disk;\n    for (const thread of disk.threads.values()) thread.holder = undefined;",
      ],
    ],
    foundBy: "saved checkpoints, writes, labels and claims are read after reopening",
  },
  {
    name: "the claim is made after a moment",
    edits: [
      [
        "  claim(threadId: string, { owner, leaseMs }: Runner): Claim {",
        "  async claim(threadId: string, { owner, leaseMs }: Runner): Promise<Claim> {",
      ],
      ["const epoch = ++this.#disk.epoch;", "await null; const epoch = ++this.#disk.epoch;"],
    ],
    foundBy: "of concurrent claims or saves, exactly one succeeds",
  },
  {
    name: "the last save keeps the claim",
    edits: [["if (releaseClaim === true) thread.holder = undefined;", ""]],
    foundBy: "a released claim cannot write",
  },
  {
    name: "every save gives the claim back",
    edits: [["if (releaseClaim === true) thread.holder = undefined;", "thread.holder = undefined;"]],
    foundBy: "5.1 a checkpoint is read as it was saved, in every phase",
  },
];
