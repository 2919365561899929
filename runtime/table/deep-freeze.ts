/** Freezes a tree of plain data and returns it. A frozen part is assumed to be deeply frozen. */
export function deepFreeze<T>(value: T): T {
  // A list in place of recursion: a table may nest expressions deeply.
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const child of Object.values(next) as unknown[]) {
      if (typeof child === "object" && child !== null) open.push(child);
    }
  }
  return value;
}
