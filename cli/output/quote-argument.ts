import { printable } from "../../diagnostics/render/index.ts";

/**
 * An argument of a command that people copy. It is quoted if a shell would interpret it; control characters are escaped (`$'…'`), so
 * that the terminal does not act on them.
 */
export function quoteArgument(text: string): string {
  if (/^[\w./:=@,+-]+$/.test(text)) return text;
  if (printable(text) === text) return `'${text.replaceAll("'", `'\\''`)}'`;
  return `$'${[...text].map(escape).join("")}'`;
}

function escape(character: string): string {
  if (character === "'" || character === "\\") return `\\${character}`;
  if (printable(character) === character) return character;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
