/**
 * Visits the items of a `for` node that may have something stored. Items begin in their order, but one that fails before it stores
 * anything leaves a gap, and so does an edit of the list.
 *
 * @param visit whether something is stored for the item
 * @param known how many items there are at least. The list that they come from may be another one by now.
 */
export async function visitItems(visit: (item: number) => Promise<boolean>, known: number): Promise<void> {
  for (let item = 0, gap = 0; item < known || gap < LONGEST_GAP; item++) gap = (await visit(item)) ? 0 : gap + 1;
}

/** Unknown items that may be missing before one that is stored. */
const LONGEST_GAP = 32;
