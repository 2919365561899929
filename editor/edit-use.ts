/** The edit that gives one place of a name another name. Pairs of equal names have the short form, as the formatter writes them. */
import type { Edit } from "../diagnostics/fixes/apply-edits.ts";
import type { NameUse } from "./names.ts";

/** Two names and what stands between them: `reply?: text`, `f as draft`. */
const PAIR = /^\w+(\??)(?:\s*:\s*|\s+as\s+)\w+$/;

/** @param text of the file */
export function editUse({ span, short, name, pair, list }: NameUse, newName: string, text: string): Edit {
  if (list !== undefined) {
    const entryOf = (each: string): string =>
      each !== name ? `${each}: ${each}` : short === "value" ? `${name}: ${newName}` : `${newName}: ${name}`;
    return { span: list.span, text: `{ ${list.names.map(entryOf).join(", ")} }` };
  }
  if (short !== undefined) {
    // `reply?`: the mark belongs to the field.
    const mark = text[span.end] === "?" ? "?" : "";
    const whole = { start: span.start, end: span.end + mark.length };
    return {
      span: whole,
      text: short === "value" ? `${name}${mark}: ${newName}` : `${newName}${mark}: ${name}`,
    };
  }
  const written = pair?.other === newName ? PAIR.exec(text.slice(pair.span.start, pair.span.end)) : undefined;
  if (pair === undefined || written === undefined || written === null) return { span, text: newName };
  return { span: pair.span, text: `${newName}${written[1]}` };
}
