import type { PauseItem } from "../interface/checkpoint.ts";

/**
 * Thrown through a node's body to leave it at an `interrupt`. No `Error`: code that catches failures should not take it for
 * one, and where it is swallowed all the same the context remembers the pause.
 */
export class PauseSignal {
  readonly pauses: readonly PauseItem[];

  constructor(pauses: readonly PauseItem[]) {
    this.pauses = pauses;
  }

  toString(): string {
    return "the run pauses here: let this pass";
  }
}
