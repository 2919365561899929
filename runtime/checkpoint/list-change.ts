import type { ListEdit } from "../interface/checkpoint.ts";
import type { Json } from "../value/json.ts";
import { isSameJson, sharedItems } from "../value/same-json.ts";

/** The content of a change that turns one list into another. */
export type ListChange =
  | { readonly kind: "append"; readonly items: readonly Json[] }
  | { readonly kind: "splice"; readonly edits: readonly ListEdit[] };

/**
 * The difference between two lists, which a checkpoint stores in place of the list (5.12). `undefined` if a value is not a
 * list, or most of the list is new.
 *
 * The lists may share no item, as after an imported reducer, so items are compared by content. That costs less than to
 * store them. The comparison is greedy and linear: behind a different item it searches the next `LOOKAHEAD` items of each
 * list for the place where they are equal again. It finds replaced, inserted and removed items, not the least edits.
 *
 * @param allowsSplices otherwise only appended items are a difference
 */
export function listChange(before: Json | undefined, after: Json, allowsSplices: boolean): ListChange | undefined {
  if (!Array.isArray(before) || !Array.isArray(after) || before.length === 0) return undefined;
  const [old, now] = [before as readonly Json[], after as readonly Json[]];
  const edits: GrowingEdit[] = [];
  let changed = 0;
  let i = sharedItems(now, old);
  let j = i;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && isSameJson(old[i]!, now[j]!)) {
      i++;
      j++;
      continue;
    }
    if (i === old.length && edits.length === 0) return { kind: "append", items: Object.freeze(now.slice(j)) };
    if (!allowsSplices) return undefined;
    const { remove, insert } = nextEdit(old, i, now, j);
    let edit = edits.at(-1);
    if (edit === undefined || edit.at + edit.remove !== i) edits.push((edit = { at: i, remove: 0, items: [] }));
    edit.remove += remove;
    for (let at = j; at < j + insert; at++) edit.items.push(now[at]!);
    i += remove;
    j += insert;
    if ((changed += insert) * 2 > now.length) return undefined;
  }
  if (edits.length === 0) return { kind: "append", items: NOTHING };
  return { kind: "splice", edits };
}

/** An edit that neighbouring changes extend. */
type GrowingEdit = { -readonly [Field in keyof ListEdit]: ListEdit[Field] } & { items: Json[] };

/** Maximum number of items of each list that are searched for the next equal item. */
const LOOKAHEAD = 16;

/** The number of items removed from the old list, and the number of new items, up to the next equal item. */
function nextEdit(
  old: readonly Json[],
  i: number,
  now: readonly Json[],
  j: number,
): { readonly remove: number; readonly insert: number } {
  if (i === old.length) return { remove: 0, insert: now.length - j };
  if (j === now.length) return { remove: old.length - i, insert: 0 };
  for (let ahead = 1; ahead <= LOOKAHEAD; ahead++) {
    if (i + ahead < old.length && isSameJson(old[i + ahead]!, now[j]!)) return { remove: ahead, insert: 0 };
    if (j + ahead < now.length && isSameJson(old[i]!, now[j + ahead]!)) return { remove: 0, insert: ahead };
  }
  return { remove: 1, insert: 1 };
}

const NOTHING: readonly never[] = Object.freeze([]);
