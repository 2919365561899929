/** The position of each item by its name; of items with the same name, the last one. */
export function positionsByName(items: readonly { readonly name: string }[]): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = 0; at < items.length; at++) found.set(items[at]!.name, at);
  return found;
}
