/** An object literal or a result of `JSON.parse`, from any realm: the prototype of its prototype is `null`. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A plain object that is not a list. A proxy whose traps throw is none: they are user code. */
export function isPlainRecord(value: unknown): value is object {
  try {
    return isRecord(value) && isPlainObject(value);
  } catch {
    return false;
  }
}

/** Whether a value is an object that may have fields: no list, of any class. */
export function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
