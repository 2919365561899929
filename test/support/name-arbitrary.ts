import * as fc from "fast-check";
import type { Identifier } from "../../grammar/ast.ts";

/** Ordinary names, and keywords of the grammar that are names in other places. */
const NAMES = [
  "a",
  "b",
  "draft",
  "notes",
  "searchDocs",
  "_x1",
  "start",
  "end",
  "error",
  "__proto__",
  "constructor",
  "input",
  "state",
  "node",
  "limit",
  "task",
  "type",
  "graph",
  "test",
  "on",
  "into",
  "after",
  "tries",
  "timeout",
  "from",
  "as",
  "steps",
  "read",
];

export const anyName: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.stringMatching(/^[A-Z][a-z]{1,3}_\d?$/) },
);

export const identifier: fc.Arbitrary<Identifier> = anyName.map((name) => ({
  kind: "Identifier",
  span: { start: 0, end: 0 },
  name,
}));

export function uniqueNames(maxLength: number): fc.Arbitrary<string[]> {
  return fc.uniqueArray(anyName, { maxLength });
}
