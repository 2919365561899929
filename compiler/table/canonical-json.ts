/**
 * JSON in a canonical form: equal values have equal texts. Keys are sorted by their UTF-16 code units, after keys that
 * are array indexes (the order of ECMAScript objects). Fields that are `undefined` are omitted. Numbers have
 * ECMAScript's form.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "null";
}

/** Makes a sorted copy for `JSON.stringify`, which takes a third of the time of a hand-written serializer. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const copy: Record<string, unknown> = {};
  for (const key of sortedKeys(value)) {
    const field = sorted((value as Record<string, unknown>)[key]);
    if (key === "__proto__") Object.defineProperty(copy, key, { value: field, enumerable: true });
    else copy[key] = field;
  }
  return copy;
}

/** So many keys at most are sorted by insertion. */
const FEW_KEYS = 16;

/** The keys of an object by their code units. Most objects of a table have few keys: `sort` takes more time and memory than insertion. */
function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next]!;
    let at = next;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return keys;
}

/** Items of a list in one part. */
const PART_ITEMS = 500;

/**
 * `canonicalJson` of a record in parts, which have its text when they are joined. A long list is several parts: the copy and the text of a large table would take more
 * memory than the table.
 *
 * @param record has no field whose name is an array index
 */
export function* canonicalParts(record: object): Generator<string> {
  let separator = "{";
  for (const name of sortedKeys(record)) {
    const value: unknown = (record as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    separator = ",";
    if (!Array.isArray(value)) {
      yield canonicalJson(value);
      continue;
    }
    yield "[";
    for (let from = 0; from < value.length; from += PART_ITEMS) {
      yield `${from === 0 ? "" : ","}${canonicalJson(value.slice(from, from + PART_ITEMS)).slice(1, -1)}`;
    }
    yield "]";
  }
  yield separator === "{" ? "{}" : "}";
}
