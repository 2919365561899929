/** Retention: which checkpoints a prune policy keeps, and which changes of channels those still read. */
import type { CheckpointHeader, CheckpointId } from "../../interface/checkpoint.ts";
import type { PrunePolicy } from "../../interface/store.ts";

/** The facts about a checkpoint that a prune policy depends on. */
export interface PrunePoint {
  readonly ord: number;
  readonly id: CheckpointId;
  readonly namespace: string;
  readonly label: string | null;
  /** Called only when the policy needs it or the checkpoint is kept. */
  header(): Pick<CheckpointHeader, "timestamp" | "children">;
}

/**
 * The `ord` of each checkpoint that a policy keeps, including the checkpoints of called graphs (`children`) that a kept
 * checkpoint resumes from.
 *
 * @param ascending all checkpoints of a thread, oldest first
 */
export function keptCheckpoints(ascending: readonly PrunePoint[], policy: PrunePolicy): Set<number> {
  const { keepLast, keepLabelled = true, olderThan = Number.POSITIVE_INFINITY } = policy;
  const kept = new Set<number>();
  const newer = new Map<string, number>();
  const children: CheckpointId[] = [];
  const keep = (point: PrunePoint): void => {
    if (kept.has(point.ord)) return;
    kept.add(point.ord);
    for (const each of Object.values(point.header().children ?? {})) children.push(each);
  };
  for (let index = ascending.length - 1; index >= 0; index--) {
    const point = ascending[index]!;
    const count = newer.get(point.namespace) ?? 0;
    newer.set(point.namespace, count + 1);
    if (count < keepLast || (keepLabelled && point.label !== null)) keep(point);
    else if (olderThan !== Number.POSITIVE_INFINITY && point.header().timestamp >= olderThan) keep(point);
  }
  // A called graph resumes from the checkpoint that its caller has recorded, not from its newest one.
  const byId = new Map(ascending.map((point) => [point.id, point]));
  for (let id = children.pop(); id !== undefined; id = children.pop()) {
    const child = byId.get(id);
    if (child !== undefined) keep(child);
  }
  return kept;
}

/** The kept checkpoints of each chain, ascending; an empty list for a chain that is removed. */
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
    for (const each of superseded(changes.slice(start, end), kept)) gone.push(each);
    start = end;
  }
  return gone;
}

/** A change of one channel in a chain. */
export interface ChangePoint {
  /** `ord` of the checkpoint that wrote it. */
  readonly ord: number;
  /** A full value or a reset. Any other change needs those before it, back to a full one. */
  readonly full: boolean;
}

/**
 * The changes of one channel that no kept checkpoint reads. A checkpoint reads, of each channel, the newest full change up
 * to its own `ord` and the appends since. So a change is superseded when there is no kept checkpoint at or after it, or when
 * a newer full change comes before the first such checkpoint.
 *
 * @param changes of one channel of one chain, ascending
 * @param kept `ord` of the chain's kept checkpoints, ascending
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
