import type { Cube } from "../explore/formula.ts";
import { someNumber } from "../explore/number-set.ts";
import type { TermTable } from "../explore/terms.ts";
import { numbersAsValues, sameValues, sampleValues, type ValueSet } from "../explore/value-set.ts";

/** Describes an example of a cube, for messages: "`score` is 0.8 and `done` is false". */
export function describeCube(terms: TermTable, cube: Cube): { readonly text: string; readonly isNumeric: boolean } {
  const parts: string[] = [];
  let isNumeric = cube.size > 0;
  for (const [id, set] of cube) {
    const term = terms.terms[id];
    if (term === undefined) continue;
    if (!sameValues(set, numbersAsValues(set.numbers))) isNumeric = false;
    parts.push(term.compares === undefined ? describe(term.text, set) : `\`${comparison(term.compares, set)}\``);
  }
  return { text: parts.join(" and "), isNumeric };
}

function describe(text: string, set: ValueSet): string {
  const number = someNumber(set.numbers);
  if (number !== undefined && sameValues(set, numbersAsValues(set.numbers))) return `\`${text}\` is ${number}`;
  const [first = "something else"] = sampleValues(set, 1);
  return first.startsWith("any other") ? `\`${text}\` is ${first}` : `\`${text}\` is \`${first}\``;
}

function comparison([left, right]: readonly [string, string], set: ValueSet): string {
  const has = (sign: string): boolean => set.strings.values.includes(sign) !== set.strings.negated;
  if (has("<") && has(">")) return `${left} != ${right}`;
  if (has("<")) return `${left} ${has("=") ? "<=" : "<"} ${right}`;
  if (has(">")) return `${left} ${has("=") ? ">=" : ">"} ${right}`;
  return `${left} == ${right}`;
}
