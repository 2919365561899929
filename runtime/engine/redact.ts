/** Values shorter than this are no secrets worth the damage that taking them out of every text would do. */
const SHORTEST = 4;

/** What takes the values of secrets out of a text: error messages, events. Longer values first, should one contain another. */
export function createRedactor(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const values = [...secrets]
    .filter(([, value]) => value.length >= SHORTEST)
    .sort(([, a], [, b]) => b.length - a.length);
  if (values.length === 0) return (text) => text;
  return (text) => values.reduce((rest, [name, value]) => rest.replaceAll(value, `[secret ${name}]`), text);
}
