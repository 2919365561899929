import type { Json } from "../runtime/value/json.ts";

/** @throws Error with a sentence for the reader */
export function parseValue(name: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Error(`${name}: ${shown(text)} is not valid JSON. A text needs double quotes.`, { cause: error });
  }
}

/** JSON values, one in each line, or one value in several lines. @throws Error with a sentence for the reader */
export function parseLines(name: string, text: string): readonly Json[] {
  try {
    return [JSON.parse(text) as Json];
  } catch {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    if (lines.length === 0) throw new Error(`${name} has no result. Write \`null\` for a node without one.`);
    return lines.map((line) => parseValue(name, line));
  }
}

function shown(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
