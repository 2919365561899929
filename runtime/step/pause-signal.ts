import type { PauseItem } from "../interface/checkpoint.ts";

/**
 * Thrown by `interrupt` to leave the node body. It is not an `Error`, so that code that catches errors is unlikely to
 * handle it. If a body catches it anyway, the attempt still remembers the pause.
 */
export class PauseSignal {
  readonly pauses: readonly PauseItem[];

  constructor(pauses: readonly PauseItem[]) {
    this.pauses = pauses;
  }

  toString(): string {
    return "signal of a pause: do not catch it";
  }
}
