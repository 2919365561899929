/** What pruning keeps: which checkpoints, and which changes of channels they still read. */
import type { CheckpointHeader, CheckpointId } from "../../interface/checkpoint.ts";
import type { PrunePolicy } from "../../interface/store.ts";

/** What decides whether a checkpoint stays. */
export interface PrunePoint {
  readonly ord: number;
  readonly id: CheckpointId;
  readonly namespace: string;
  readonly label: string | null;
  /** Asked for only where the policy needs it, or where the checkpoint stays. */
  header(): Pick<CheckpointHeader, "timestamp" | "children">;
}

/** Orders of those that stay under a policy. */
export function keptCheckpoints(ascending: readonly PrunePoint[], policy: PrunePolicy): Set<number> {
  const { keepLast, keepLabelled = true, olderThan = Number.POSITIVE_INFINITY } = policy;
  const kept = new Set<number>();
  const newer = new Map<string, number>();
  const children: CheckpointId[] = [];
  const keep = (point: PrunePoint): void => {
    if (kept.has(point.ord)) return;
    kept.add(point.ord);
    children.push(...Object.values(point.header().children ?? {}));
  };
  for (let index = ascending.length - 1; index >= 0; index--) {
    const point = ascending[index]!;
    const count = newer.get(point.namespace) ?? 0;
    newer.set(point.namespace, count + 1);
    if (count < keepLast || (keepLabelled && point.label !== null)) keep(point);
    else if (olderThan !== Number.POSITIVE_INFINITY && point.header().timestamp >= olderThan) keep(point);
  }
  // A called graph goes on from where it stood at that moment, not from its newest checkpoint.
  const byId = new Map(ascending.map((point) => [point.id, point]));
  for (let id = children.pop(); id !== undefined; id = children.pop()) {
    const child = byId.get(id);
    if (child !== undefined) keep(child);
  }
  return kept;
}

/** Of each chain, ascending, those that stay; none for a chain that ends here. */
export function keptByChain(
  ascending: readonly { readonly ord: number; readonly chain: number }[],
  kept: ReadonlySet<number>,
): Map<number, number[]> {
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
