/**
 * Adds an item to the list at an index, which exists. The first item makes a list of its own: a list that grows from nothing has room for
 * 17 items, and most lists of a large graph have one.
 */
export function addToList<T>(lists: T[][], index: number, item: T): void {
  const list = lists[index];
  if (list === undefined) return;
  if (list.length === 0) lists[index] = [item];
  else list.push(item);
}

/** Empty lists for `addToList`, which never changes one: they are the same list. */
export function emptyLists<T>(count: number): T[][] {
  const empty: T[] = [];
  return Array.from({ length: count }, () => empty);
}
