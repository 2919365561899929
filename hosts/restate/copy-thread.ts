/**
 * Copies the checkpoints and labels of a thread into another store, in the order of their saves, so that tools which read that store
 * see the threads of Restate. A copy that was cut off continues: what is there already is not written again. After an edit of the copy,
 * the next checkpoint of Restate is its head again.
 */
import type { ChannelChange, Checkpoint, CheckpointId, ThreadId } from "../../runtime/interface/checkpoint.ts";
import { NgraphError } from "../../runtime/interface/errors.ts";
import type { Claim, Store } from "../../runtime/interface/store.ts";
import { snapshotChanges } from "../../runtime/stores/memory/chain.ts";
import type { Json } from "../../runtime/value/json.ts";
import { checkpointOf, type RestateStore } from "./store/restate-store.ts";
import type { SavedCopies } from "./store/thread-state.ts";

/** How much of a thread was copied: the number of the next save, and the number of deletions that the copy has seen. */
export interface CopyProgress {
  readonly next: number;
  readonly deletions: number;
}

export const NOTHING_COPIED: CopyProgress = { next: 0, deletions: 0 };

/** Saves that one call copies. */
const PAGE = 25;
const LEASE_MS = 60_000;

/** Copies the next saves of a thread. @throws NgraphError if a store fails */
export async function copyThread(
  source: Pick<RestateStore, "copies">,
  target: Store,
  thread: ThreadId,
  before: CopyProgress,
): Promise<CopyProgress & { readonly isLast: boolean }> {
  const page = await source.copies(thread, before.next, PAGE);
  const { next, deletions, isLast } = page;
  if (deletions !== before.deletions) await target.deleteThread(thread);
  if (page.copies.length > 0) await copyPage(page, target, thread);
  return { next, deletions, isLast };
}

async function copyPage({ copies }: SavedCopies, target: Store, thread: ThreadId): Promise<void> {
  const claim = await target.claim(thread, { owner: `restate ${thread}`, leaseMs: LEASE_MS });
  try {
    const heads = new Map<string, Checkpoint | undefined>();
    let mayBeThere = true;
    for (const copy of copies) {
      if ("label" in copy && "id" in copy) {
        await moveLabel(target, thread, copy.id, copy.label);
        continue;
      }
      const { header } = copy;
      if (mayBeThere && (await target.loadById(thread, header.id)) !== undefined) continue;
      mayBeThere = false;
      const { namespace } = header;
      if (!heads.has(namespace)) heads.set(namespace, await target.loadLatest(thread, namespace));
      // The label that it has now may have come later.
      const checkpoint = checkpointOf({ ...copy, label: header.label })!;
      await saveCopy(target, claim, checkpoint, copy.rows, heads.get(namespace));
      heads.set(namespace, checkpoint);
    }
  } finally {
    await target.release(claim);
  }
}

async function saveCopy(
  target: Store,
  claim: Claim,
  checkpoint: Checkpoint,
  rows: readonly (readonly ChannelChange[])[],
  head: Checkpoint | undefined,
): Promise<void> {
  const { values, versions, ...header } = checkpoint;
  await target.save(claim, {
    header,
    changes: changesFrom(checkpoint, rows, head, target.acceptsSplices === true),
    snapshot: () => ({ values, versions }),
    expectedHead: head?.id ?? null,
  });
}

/** The difference from the head of the copy. Only a row with all values has no row before it. */
function changesFrom(
  { values, versions, parentId }: Checkpoint,
  rows: readonly (readonly ChannelChange[])[],
  head: Checkpoint | undefined,
  acceptsSplices: boolean,
): readonly ChannelChange[] {
  const isNext = head !== undefined && head.id === parentId;
  if (isNext && rows.length > 1) {
    return rows.at(-1)!.map((change): ChannelChange => {
      if (acceptsSplices || change.kind !== "splice") return change;
      const { channel, version } = change;
      return { channel, version, kind: "set", value: values[channel] as Json };
    });
  }
  const all = snapshotChanges({ values, versions });
  if (!isNext) return all;
  const known = new Set(all.map(({ channel }) => channel));
  const gone = Object.keys(head.values).filter((channel) => !known.has(channel));
  return [...all, ...gone.map((channel): ChannelChange => ({ channel, version: 0, kind: "reset" }))];
}

async function moveLabel(target: Store, thread: ThreadId, id: CheckpointId, label: string): Promise<void> {
  try {
    await target.label?.(thread, id, label);
  } catch (error) {
    // The checkpoint was pruned, there or here.
    if (!(error instanceof NgraphError) || error.code !== "NG_UNKNOWN_CHECKPOINT") throw error;
  }
}
