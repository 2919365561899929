/**
 * JSON text in which nothing acts on a terminal: `JSON.stringify` escapes the control characters below U+0020, but not DEL, the C1
 * controls, line separators and bidirectional controls. The value of the text does not change.
 */
export function jsonText(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, null, indent));
}

/** Escapes the same characters in a JSON text. Outside of its strings, they do not occur. */
export function escapeJson(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
