/** Where one channel of a chain changed, oldest first. */
export interface ChangePoint {
  /** Order of the checkpoint that wrote it. */
  readonly ord: number;
  /** Whether it stands alone (a full value or a reset); otherwise it needs those before it, back to one that does. */
  readonly full: boolean;
}

/**
 * Which changes of one channel no remaining checkpoint reads any more. A checkpoint reads, of each channel, the newest
 * full change up to its own order and what was appended since. So a change goes when the first remaining
 * checkpoint at or after it stands behind a newer full change, or when there is none.
 *
 * @param changes of one channel of one chain, ascending
 * @param kept orders of the chain's remaining checkpoints, ascending
 */
export function superseded<T extends ChangePoint>(changes: readonly T[], kept: readonly number[]): T[] {
  const gone: T[] = [];
  let nextFull = Number.POSITIVE_INFINITY;
  let reader = kept.length - 1;
  for (let index = changes.length - 1; index >= 0; index--) {
    const change = changes[index]!;
    while (reader > 0 && kept[reader - 1]! >= change.ord) reader--;
    const firstReader = kept[reader];
    if (firstReader === undefined || firstReader < change.ord || nextFull <= firstReader) gone.push(change);
    if (change.full) nextFull = change.ord;
  }
  return gone;
}
