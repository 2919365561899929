import { printable } from "../../diagnostics/render/index.ts";

/** Text of several lines in which nothing acts on the terminal: what nodes, people and models have written. */
export function printableText(text: string): string {
  return text.replaceAll("\r\n", "\n").split("\n").map(printable).join("\n");
}

/** The same for text that this program has painted: its colours stay. */
export function printablePainted(text: string): string {
  return text
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : printableText(part)))
    .join("");
}

/** The colours of `ansiStyles`. */
// oxlint-disable-next-line no-control-regex -- colours begin with it
const COLOUR = /(\u001b\[(?:1|22|3\d)m)/;
