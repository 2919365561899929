/**
 * Quotes text from graphs in generated code. Every emitter uses these functions, so that no name or string can become
 * code.
 */

/** A value as a JavaScript literal. Nothing in it can end a script, a line or a comment early. */
export function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return fields.length === 0
      ? "{}"
      : `{ ${fields.map(([name, field]) => `${fieldName(name)}: ${literal(field)}`).join(", ")} }`;
  }
  return quote(value);
}

/** The name of a field in an object literal. `__proto__` is computed: written plainly it would set the prototype. */
export function fieldName(name: string): string {
  if (name === "__proto__") return `["__proto__"]`;
  return isPlainName(name) ? name : quote(name);
}

/** The name of a property in a type. */
export function propertyName(name: string): string {
  return isPlainName(name) ? name : quote(name);
}

/** Text for a comment, with every end of a comment in it broken up, and without the signs that mark places. */
export function commentText(text: string): string {
  return text.replaceAll("*/", "*\\/").replace(/[\u2028\u2029\0]/g, " ");
}

/** A documentation comment above a declaration; empty without a text. */
export function docComment(text: string | undefined, indent = ""): string {
  if (text === undefined || text.trim() === "") return "";
  const lines = commentText(text).split(/\r?\n/);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

export function quote(value: unknown): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029").replaceAll("</", "<\\/");
}

function isPlainName(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}
