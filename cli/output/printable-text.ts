import { printable } from "../../diagnostics/render/index.ts";

/** Escapes characters that act on a terminal, in text of several lines that nodes, people or models have written. */
export function printableText(text: string): string {
  return text.replaceAll("\r\n", "\n").split("\n").map(printable).join("\n");
}

/** Like `printableText`, but keeps the colour sequences that this program has added. */
export function printablePainted(text: string): string {
  return text
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : printableText(part)))
    .join("");
}

/** The colours of `ansiStyles`. */
// oxlint-disable-next-line no-control-regex -- colours begin with it
const COLOUR = /(\u001b\[(?:1|22|3\d)m)/;
