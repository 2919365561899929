/** Minimum length of a value that is replaced everywhere. Shorter values are replaced only as whole words: other texts contain them often. */
const SHORTEST = 4;

/** Minimum length of a line of a secret that is replaced. Shorter lines, such as `-----`, are too common. */
const SHORTEST_LINE = 8;

/** Maximum number of cuts (`…`) in a text that are searched for parts of a secret. */
const MAX_CUTS = 1000;

/**
 * Returns a function that replaces the values of secrets in a text with `[secret NAME]`. It searches for these forms:
 *
 * - the value and its lines, plain, JSON-escaped (also twice), escaped as HTML, URL-encoded, in hexadecimal digits and in base64;
 * - base64 that is wrapped into lines;
 * - the rest of a form next to a `…`, where a program has cut the text.
 *
 * Longer forms are replaced first, because a form may contain another one.
 */
export function createRedactor(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const forms = new Map<string, string>();
  const encoded = new Map<string, string>();
  const words: (readonly [pattern: RegExp, shown: string])[] = [];
  for (const [name, value] of secrets) {
    const shown = `[secret ${name}]`;
    if (value.length >= SHORTEST) {
      const { plain, base64 } = formsOf(value);
      for (const form of [...plain, ...base64]) forms.set(form, forms.get(form) ?? shown);
      for (const form of base64) encoded.set(form, encoded.get(form) ?? shown);
    } else if (value.trim().length > 1) words.push([wholeWord(value), shown]);
  }
  const sorted = [...forms].sort(([a], [b]) => b.length - a.length);
  if (sorted.length === 0 && words.length === 0) return keepAll;
  let wrapped: readonly (readonly [pattern: RegExp, shown: string])[] | undefined;
  return (text) => {
    let rest = text;
    for (const [form, shown] of sorted) rest = rest.replaceAll(form, shown);
    if (LINE_BREAK_IN_BASE64.test(rest)) {
      wrapped ??= [...encoded].map(([form, shown]) => [withLineBreaks(form), shown]);
      for (const [pattern, shown] of wrapped) rest = rest.replace(pattern, () => shown);
    }
    for (const [pattern, shown] of words) rest = rest.replaceAll(pattern, () => shown);
    return rest.includes("…") ? withoutCutParts(rest, sorted) : rest;
  };
}

/** The forms in which programs print a value. */
function formsOf(value: string): { readonly plain: readonly string[]; readonly base64: readonly string[] } {
  const trimmed = value.trim();
  // Programs such as `echo` replace the escapes of a value: `\n`, `\t`, `\\`, `\033`. The texts between them remain.
  const lines = value.split(/\r?\n|\\r\\n|\\[abcefnrtv\\]|\\[0-7]{1,4}/).map((line) => line.trim());
  const parts = [value, trimmed, ...(lines.length > 1 ? lines.filter((line) => line.length >= SHORTEST_LINE) : [])];
  const plain = parts.flatMap((part) => [
    part,
    escaped(part),
    escaped(escaped(part)),
    htmlEscaped(part),
    ...urlForms(part),
    ...hexForms(part),
  ]);
  return { plain: plain.filter((form) => form.length >= SHORTEST), base64: parts.flatMap(base64Forms) };
}

/** A line break, or an escaped one, between characters of base64. */
const LINE_BREAK_IN_BASE64 = /[\w+/-](?:\r?\n|\\r\\n|\\n)[\w+/-]/;

/** A base64 text that a program has wrapped into lines: `base64` does so after 76 characters, `openssl` after 64. */
function withLineBreaks(form: string): RegExp {
  return new RegExp([...form].map((letter) => letter.replace("+", "\\+")).join("(?:[\\r\\n]|\\\\[rn])*"), "g");
}

/** The forms of a path and of a form (`application/x-www-form-urlencoded`). */
function urlForms(text: string): readonly string[] {
  const form = new URLSearchParams([["", text]]).toString().slice(1);
  try {
    return [encodeURIComponent(text), form];
  } catch {
    // A lone surrogate has no URL-encoded form.
    return [form];
  }
}

function htmlEscaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Short values have no hexadecimal form: its digits occur in other texts, such as ids. */
function hexForms(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length < SHORTEST_LINE) return [];
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex, hex.toUpperCase()];
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * The base64 forms of a value inside a longer text, such as `user:password`. Base64 encodes groups of three bytes, so the value can
 * start at three offsets. Characters that also encode bytes before or after the value are omitted. Contains the standard and
 * the URL-safe alphabet (RFC 4648).
 */
function base64Forms(value: string): readonly string[] {
  const bytes = Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join("");
  return [0, 1, 2].flatMap((offset) => {
    const text = btoa("\0".repeat(offset) + bytes);
    const start = offset === 0 ? 0 : offset + 1;
    const rest = (offset + bytes.length) % 3;
    const inner = text.slice(start, rest === 0 ? undefined : text.length - (rest === 1 ? 3 : 2));
    return inner.length < SHORTEST_LINE ? [] : [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function wholeWord(value: string): RegExp {
  return new RegExp(`(?<![\\w])${value.replace(/[^\w]/g, "\\$&")}(?![\\w])`, "g");
}

/** Replaces the end of a form directly after a `…`, and the beginning of a form directly before a `…`. */
function withoutCutParts(text: string, forms: readonly (readonly [string, string])[]): string {
  let result = text;
  let cuts = 0;
  for (let at = result.indexOf("…"); at !== -1 && cuts < MAX_CUTS; at = result.indexOf("…", at + 1), cuts++) {
    for (const [form, shown] of forms) {
      const end = longest(form, (length) => result.startsWith(form.slice(form.length - length), at + 1));
      if (end > 0) result = result.slice(0, at + 1) + shown + result.slice(at + 1 + end);
      const start = longest(form, (length) => result.endsWith(form.slice(0, length), at));
      if (start > 0) {
        result = result.slice(0, at - start) + shown + result.slice(at);
        at += shown.length - start;
      }
    }
  }
  return result;
}

/** The length of the longest proper part of a form for which `fits` is true; 0 if no part of at least `SHORTEST` characters fits. */
function longest(form: string, fits: (length: number) => boolean): number {
  for (let length = form.length - 1; length >= SHORTEST; length--) if (fits(length)) return length;
  return 0;
}

/** The redactor if there are no secrets. */
export function keepAll(text: string): string {
  return text;
}
