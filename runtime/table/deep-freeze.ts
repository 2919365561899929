/** Freezes a tree of plain data and returns it. A frozen part is assumed to be deeply frozen. */
export function deepFreeze<T>(value: T): T {
  // A list in place of recursion: a table may nest expressions deeply.
  const open: object[] = [];
  const add = (part: unknown): void => {
    if (typeof part === "object" && part !== null && !Object.isFrozen(part)) open.push(part);
  };
  add(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    Object.freeze(next);
    // No list of the values of each part: it would take as much memory as the tree.
    if (Array.isArray(next)) for (const item of next) add(item);
    else for (const field in next) add((next as Readonly<Record<string, unknown>>)[field]);
  }
  return value;
}
