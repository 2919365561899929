import process from "node:process";

/** The objects of JavaScript whose functions this program calls. Node itself replaces functions of `process`. */
const OBJECTS: readonly (readonly [name: string, object: object])[] = [
  ["", globalThis],
  ["JSON", JSON],
  ["Object", Object],
  ["Promise", Promise],
  ["Date", Date],
  ...[Array, Map, Set, String, Promise, Error, RegExp].map(
    (type) => [`${type.name}.prototype`, type.prototype as object] as const,
  ),
];

/** Kept, since user code may replace them too. */
const { getOwnPropertyDescriptor, isFrozen } = Object;

let known: readonly (readonly [name: string, object: object, key: PropertyKey, value: unknown])[] = [];

/** Records the built-in functions. To be called before user code is loaded. */
export function recordBuiltins(): void {
  known = OBJECTS.flatMap(([name, object]) =>
    Reflect.ownKeys(object).flatMap((key) => {
      const path = `${name}${name === "" ? "" : "."}${String(key)}`;
      const value: unknown = getOwnPropertyDescriptor(object, key)?.value;
      return typeof value !== "function" ? [] : [[path, object, key, value] as const];
    }),
  );
}

/** The first built-in function that user code has replaced, or object that it has frozen. Uses no function that may have been replaced. */
export function replacedBuiltin(): string | undefined {
  for (let index = 0; index < known.length; index++) {
    const entry = known[index]!;
    const found = getOwnPropertyDescriptor(entry[1], entry[2]);
    if (found === undefined || found.value !== entry[3]) return entry[0];
  }
  if (globalThis.process !== process || isFrozen(process)) return "process";
  for (let index = 0; index < OBJECTS.length; index++) {
    const [name, object] = OBJECTS[index]!;
    if (isFrozen(object)) return name;
  }
  return undefined;
}
