/** Branches of a thread: `list` with `all` also returns the checkpoints that the head does not continue. */
import type { Checkpoint } from "../../interface/checkpoint.ts";

/** A checkpoint of one namespace. `ord` orders the checkpoints of a store; a parent is older than its children. */
export interface BranchPoint {
  readonly ord: number;
  /** `null` for the first checkpoint of a chain, and if the parent is in another namespace, in another thread or pruned. */
  readonly parent: number | null;
}

/**
 * A page of all checkpoints, newest first, and those among them that are no ancestors of the head.
 *
 * @param points all checkpoints of a namespace
 * @param before only older checkpoints
 */
export function pageOfBranches(
  points: readonly BranchPoint[],
  { head, before, limit }: { readonly head: number; readonly before: number | undefined; readonly limit: number },
): { readonly page: readonly number[]; readonly abandoned: ReadonlySet<number> } {
  const parents = new Map(points.map(({ ord, parent }) => [ord, parent]));
  const continued = new Set<number>();
  for (let ord: number | null = head; ord !== null && !continued.has(ord); ord = parents.get(ord) ?? null)
    continued.add(ord);
  const page = points
    .map(({ ord }) => ord)
    .filter((ord) => before === undefined || ord < before)
    .sort((a, b) => b - a)
    .slice(0, limit);
  return { page, abandoned: new Set(page.filter((ord) => !continued.has(ord))) };
}

/** The checkpoints of a page, with `abandoned` set. */
export function withAbandoned(
  checkpoints: readonly Checkpoint[],
  page: readonly number[],
  abandoned: ReadonlySet<number>,
): readonly Checkpoint[] {
  return checkpoints.map((checkpoint, index) =>
    abandoned.has(page[index]!) ? Object.freeze({ ...checkpoint, abandoned: true as const }) : checkpoint,
  );
}
