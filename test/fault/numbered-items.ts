/** An item keeps its number when an edit of its list moves it. */
export interface Numbered {
  readonly number: number;
  readonly item: string;
}

/**
 * The items of a list with their numbers, written from `docs/runs.md`. An item about which something is known keeps its number: first
 * those that have not moved, then the others in the order of their numbers. Others have their index, or the first free number behind
 * the list.
 *
 * @param list without the items that a condition leaves out
 * @param length of the whole list
 * @param known `3:a`: numbers, and the items that something is stored about
 */
export function numberItems(
  list: readonly { readonly index: number; readonly item: string }[],
  length: number,
  known: ReadonlySet<string>,
): readonly Numbered[] {
  const byNumber = [...known].sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  const held = new Set<number>();
  const numbers = list.map(({ index, item }) => (known.has(`${index}:${item}`) ? index : undefined));
  for (const number of numbers) if (number !== undefined) held.add(number);
  const take = (at: number, number: number): void => {
    numbers[at] = number;
    held.add(number);
  };
  for (const [at, { item }] of list.entries()) {
    if (numbers[at] !== undefined) continue;
    const former = byNumber.find((each) => each.endsWith(`:${item}`) && !held.has(Number.parseInt(each, 10)));
    if (former !== undefined) take(at, Number.parseInt(former, 10));
  }
  const others = list.flatMap((_, at) => (numbers[at] === undefined ? [at] : []));
  const displaced = others.filter((at) => held.has(list[at]!.index));
  for (const at of others) if (!displaced.includes(at)) numbers[at] = list[at]!.index;
  for (const at of displaced) {
    let next = length;
    while (held.has(next)) next++;
    take(at, next);
  }
  return list.map(({ item }, at) => ({ item, number: numbers[at]! }));
}
