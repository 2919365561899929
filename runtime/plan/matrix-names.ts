import { canonicalText } from "../program/reducers.ts";
import type { Json } from "../value/json.ts";

/** Maximum number of tasks of one matrix. */
export const MOST_VALUES = 1000;

/** The texts of values in names such as `test[20]`: short plain text as it is, other values as JSON; all are different. */
export function textsOf(values: readonly Json[]): readonly string[] {
  const exact = values.map(jsonOf);
  const plain = values.map((value, at) =>
    typeof value === "string" && /^[\w.+-]{1,40}$/.test(value) ? value : shorten(exact[at] ?? ""),
  );
  const texts = countsOf(plain);
  const repeated = countsOf(exact);
  return values.map((value, at) => {
    const [text = "", json = ""] = [plain[at], exact[at]];
    if (texts.get(text) === 1) return text;
    const isUnique = typeof value === "string" && json.length <= 40 && repeated.get(json) === 1;
    return isUnique ? json : `${text}#${at + 1}`;
  });
}

/** JSON with sorted fields. */
function jsonOf(value: Json): string {
  return canonicalText(value).slice(1);
}

function countsOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}
