/**
 * JSON with the keys of every object sorted and absent fields left out: equal values have equal texts. (RFC 8785 in effect:
 * ECMAScript's number form, keys by UTF-16 code units.)
 */
export function canonicalJson(value: unknown): string {
  const parts: string[] = [];
  write(value, parts);
  return parts.join("");
}

function write(value: unknown, parts: string[]): void {
  if (typeof value !== "object" || value === null) {
    parts.push(JSON.stringify(value) ?? "null");
    return;
  }
  if (Array.isArray(value)) {
    parts.push("[");
    for (let i = 0; i < value.length; i++) {
      if (i > 0) parts.push(",");
      write(value[i], parts);
    }
    parts.push("]");
    return;
  }
  parts.push("{");
  let isFirst = true;
  for (const key of Object.keys(value).sort()) {
    const field = (value as Record<string, unknown>)[key];
    if (field === undefined) continue;
    parts.push(isFirst ? "" : ",", JSON.stringify(key), ":");
    isFirst = false;
    write(field, parts);
  }
  parts.push("}");
}
