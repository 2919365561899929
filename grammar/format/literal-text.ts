import type { LiteralType, StringLiteral } from "../ast.ts";
import type { SourceView } from "./source-view.ts";

/** Invisible, reordering and line-breaking characters: legal inside strings, but printed as escapes. */
const HIDDEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A string literal. It keeps the escapes of the source text; without a source text it has JSON's escapes. */
export function stringText(literal: Pick<StringLiteral, "value" | "span">, source: SourceView): string {
  const spelled = source.spelled(literal.span);
  return spelled.startsWith('"') && valueOf(spelled) === literal.value ? spelled : quote(literal.value);
}

/** A JSON string with invisible characters escaped. */
export function quote(value: string): string {
  return JSON.stringify(value).replace(
    HIDDEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The digits of a literal type's number, without its sign. */
export function numberText(literal: LiteralType, source: SourceView): string {
  const value = Math.abs(Number(literal.value));
  const spelled = /\d[\d.eE+-]*$/.exec(source.spelled(literal.span))?.[0];
  if (spelled !== undefined && Number(spelled) === value && /[.eE]/.test(spelled) === (literal.isFloat ?? false)) {
    return spelled;
  }
  return plainNumber(value, literal.isFloat ?? false);
}

/** The spelling of a non-negative number. A float has a fraction or an exponent, so it is read as a float again. */
export function plainNumber(value: number, isFloat: boolean): string {
  const text = String(value);
  return isFloat && !/[.e]/.test(text) ? `${text}.0` : text;
}

function valueOf(spelled: string): unknown {
  try {
    return JSON.parse(spelled);
  } catch {
    return undefined;
  }
}
