import type { ListEdit } from "../../interface/checkpoint.ts";
import type { Json } from "../../value/json.ts";

/** The list after edits, in one pass. @throws RangeError for edits that overlap, or lie outside of the list */
export function editedList(list: readonly Json[], edits: readonly ListEdit[]): Json[] {
  const result: Json[] = [];
  let next = 0;
  for (const { at, remove, items } of edits) {
    if (!isIndex(at) || !isIndex(remove) || at < next || at + remove > list.length || !Array.isArray(items)) {
      throw new RangeError(`an edit replaces items ${at} to ${at + remove} of a list of ${list.length}`);
    }
    for (; next < at; next++) result.push(list[next]!);
    for (const item of items) result.push(item);
    next += remove;
  }
  for (; next < list.length; next++) result.push(list[next]!);
  return result;
}

function isIndex(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
