/** Freezes a tree of plain data and returns it. Parts that are frozen already are taken to be so all through. */
export function deepFreeze<T>(value: T): T {
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
