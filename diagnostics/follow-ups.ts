import type { Diagnostic } from "./diagnostic.ts";

/** A name with a character that names cannot contain. */
const BAD_CHARACTER = "NG003";

/** Removes findings about a name whose characters another finding reports: the intended name is unknown. */
export function withoutFollowUps(found: readonly Diagnostic[]): Diagnostic[] {
  const bad = found.filter(({ code }) => code === BAD_CHARACTER);
  if (bad.length === 0) return [...found];
  const places = new Set(bad.map(keyOf));
  return found.filter((each) => each.code === BAD_CHARACTER || !places.has(keyOf(each)));
}

function keyOf({ file, span }: Diagnostic): string {
  return `${span.start} ${file.path}`;
}
