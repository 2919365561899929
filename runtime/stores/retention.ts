/** What pruning keeps: which checkpoints, and which changes of channels they still read. */

/** What decides whether a checkpoint stays. */
export interface PrunePoint {
  readonly ord: number;
  readonly namespace: string;
  readonly label: string | null;
  readonly chain: number;
}

/** Orders of those that stay: the newest of each namespace, and what has a label. */
export function keptCheckpoints(ascending: readonly PrunePoint[], keepLast: number): Set<number> {
  const kept = new Set<number>();
  const newer = new Map<string, number>();
  for (let index = ascending.length - 1; index >= 0; index--) {
    const { ord, namespace, label } = ascending[index]!;
    const count = newer.get(namespace) ?? 0;
    newer.set(namespace, count + 1);
    if (count < keepLast || label !== null) kept.add(ord);
  }
  return kept;
}

/** Of each chain, ascending, those that stay; none for a chain that ends here. */
export function keptByChain(ascending: readonly PrunePoint[], kept: ReadonlySet<number>): Map<number, number[]> {
  const chains = new Map<number, number[]>();
  for (const { ord, chain } of ascending) {
    let ords = chains.get(chain);
    if (ords === undefined) chains.set(chain, (ords = []));
    if (kept.has(ord)) ords.push(ord);
  }
  return chains;
}

/**
 * `superseded` for all channels of a chain.
 *
 * @param changes ordered by channel, then ascending
 */
export function supersededByChannel<T extends ChangePoint & { readonly channel: string }>(
  changes: readonly T[],
  kept: readonly number[],
): T[] {
  const gone: T[] = [];
  for (let start = 0; start < changes.length;) {
    let end = start + 1;
    while (changes[end]?.channel === changes[start]!.channel) end++;
    gone.push(...superseded(changes.slice(start, end), kept));
    start = end;
  }
  return gone;
}

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
