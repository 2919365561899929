/** What the oracle leaves out, because the proofs are known to be wrong there; `docs/proofs.md` lists the same. */
export const KNOWN_GAPS = {
  /**
   * An exclusive `goto` to `end` discards the signal of a node beside it. A run can then complete where NG214 relies on a
   * barrier that never fires. The adversary does not jump so.
   */
  exclusiveEnd: "an exclusive `goto` to `end`",
  /**
   * NG310 counts the failure of a `for` node as a way out of a loop, also where its list stays empty in every run. Graphs with
   * a `for` over a channel need no run that completes.
   */
  emptyForFails: "a `for` over a channel that stays empty and cannot fail",
} as const;
