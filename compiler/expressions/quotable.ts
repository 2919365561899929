/** Which values can be quoted for a shell. */
import { listInWord } from "../../diagnostics/catalog/commands.ts";
import { alternatives, isNullType, mayBeNull, resolveType } from "../types/type-table.ts";
import { unionOf } from "../types/construct.ts";
import { describe, expectNotNull, placeOf, reportType } from "./expect-type.ts";
import type { ExpressionScope, Typed } from "./scope.ts";

const NULL_HELP = "an empty word may have another meaning than no word: test it before, or provide a value: `… ?? …`";

/**
 * Checks a value of a command: not `null`, not a list in a list, and a list only where it may become several words
 * (`place` is `words`). Types that are only known at run time are checked there.
 */
export function checkQuotable(
  typed: Typed,
  place: "words" | "plain" | "double" | "single",
  scope: ExpressionScope,
): void {
  const what = "a command takes no `null`";
  if (isNullType(typed.type)) return reportType(typed, typed.type, { what, help: NULL_HELP }, scope);
  const type = expectNotNull(typed, what, scope, NULL_HELP);
  const lists = alternatives(type, scope.types).flatMap((member) => {
    const plain = resolveType(member, scope.types);
    return plain.kind === "list" ? [plain.item] : [];
  });
  if (lists.length === 0) return;
  if (place !== "words") {
    scope.report(listInWord(placeOf(typed.syntax.span, scope), { what: describe(typed, scope), quotes: place }));
    return;
  }
  const item = unionOf(lists);
  const isNested = alternatives(item, scope.types).some((member) => resolveType(member, scope.types).kind === "list");
  if (isNested || mayBeNull(item, scope.types)) {
    const rule = "each item of a list becomes one word: a text, a number, a bool or a record";
    reportType(typed, type, { what: rule, help: "make a list of texts: `[… for x in xs]`" }, scope);
  }
}
