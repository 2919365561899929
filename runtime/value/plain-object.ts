/** An object literal or a result of `JSON.parse`, from any realm: the prototype of its prototype is `null`. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}
