/** The values of literals: escapes, numbers, durations, and the indentation of templates. */
import { badLiteral } from "../diagnostics/catalog/syntax.ts";
import type { Diagnostic, Place } from "../diagnostics/diagnostic.ts";
import { placeAt, report, type Reading } from "./reading.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const TEMPLATE_ESCAPES: Readonly<Record<string, string>> = { ...ESCAPES, "`": "`", $: "$", "{": "{" };

/** Resolves JSON's escapes (in templates also `` \` ``, `\$` and `\{`). `offset` is where `raw` begins in the text. */
export function resolveEscapes(reading: Reading, raw: string, offset: number, inTemplate: boolean): string {
  if (!raw.includes("\\")) return raw;
  const known = inTemplate ? TEMPLATE_ESCAPES : ESCAPES;
  const pieces: string[] = [];
  let from = 0;
  for (let at = raw.indexOf("\\"); at !== -1; at = raw.indexOf("\\", from)) {
    pieces.push(raw.slice(from, at));
    const letter = raw[at + 1] ?? "";
    const hex = letter === "u" ? raw.slice(at + 2, at + 6) : "";
    if (Object.hasOwn(known, letter)) {
      pieces.push(known[letter] ?? "");
      from = at + 2;
    } else if (/^[0-9a-fA-F]{4}$/.test(hex)) {
      pieces.push(String.fromCharCode(Number.parseInt(hex, 16)));
      from = at + 6;
    } else {
      const length = letter === "" ? 1 : letter === "\r" && raw[at + 2] === "\n" ? 3 : 2;
      report(reading, badEscape(reading, offset + at, letter, raw.slice(at, at + length)));
      pieces.push(raw.slice(at + 1, at + length));
      from = at + length;
    }
  }
  pieces.push(raw.slice(from));
  return pieces.join("");
}

function badEscape(reading: Reading, at: number, letter: string, written: string) {
  const lineBreak = letter === "\n" || letter === "\r";
  return badLiteral(placeAt(reading, at, at + (lineBreak ? 1 : written.length)), {
    message: lineBreak ? "a backslash at the end of a line has no meaning" : `\`${written}\` is not an escape`,
    label: "unknown escape",
    help: 'the escapes are `\\"` `\\\\` `\\/` `\\b` `\\f` `\\n` `\\r` `\\t` `\\u1234`, in templates also `` \\` `` and `\\$`',
  });
}

/** Units of durations, in milliseconds. */
export const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export type Unit = keyof typeof UNITS;

const UNIT_NAMES: Readonly<Record<string, Unit>> = {
  sec: "s",
  secs: "s",
  second: "s",
  seconds: "s",
  min: "m",
  mins: "m",
  minute: "m",
  minutes: "m",
  hr: "h",
  hour: "h",
  hours: "h",
  day: "d",
  days: "d",
  msec: "ms",
  millis: "ms",
};

/** The unit of durations that a word means: `min` is `m`. */
export function unitOf(word: string): Unit | undefined {
  if (Object.hasOwn(UNITS, word)) return word as Unit;
  const name = word.toLowerCase();
  return Object.hasOwn(UNIT_NAMES, name) ? UNIT_NAMES[name] : undefined;
}

/** `1h30m` as a duration of one unit, `90m`. */
export function inOneUnit(text: string): string | undefined {
  if (!/^(?:\d+(?:ms|[smhd]))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+)(ms|[smhd])/g)].map(([, count, unit]) => ({
    count: Number(count),
    unit: unit as Unit,
  }));
  const total = parts.reduce((sum, { count, unit }) => sum + count * UNITS[unit], 0);
  const unit = parts.reduce<Unit>((least, part) => (UNITS[part.unit] < UNITS[least] ? part.unit : least), "d");
  return Number.isSafeInteger(total) ? `${total / UNITS[unit]}${unit}` : undefined;
}

/** A duration in integer milliseconds. */
export function durationValue(reading: Reading, image: string, offset: number): number {
  const parts = /^(\d+(?:\.\d+)?)([A-Za-z]*)/.exec(image);
  const written = (parts?.[2] ?? "").toLowerCase();
  // `readTokens` has reported an unknown unit. Its first letters select a known unit.
  const unit = Object.hasOwn(UNITS, written) ? written : /^m(?:s|il)/.test(written) ? "ms" : written.slice(0, 1);
  const factor = Object.hasOwn(UNITS, unit) ? UNITS[unit as Unit] : 1_000;
  const digits = parts?.[1] ?? "0";
  const exact = Number(digits) * factor;
  if (/^0\d/.test(digits)) report(reading, leadingZero(placeAt(reading, offset, offset + digits.length), digits));
  const milliseconds = Math.round(exact);
  if (Math.abs(exact - milliseconds) > 1e-6 || !Number.isSafeInteger(milliseconds)) {
    const message = Number.isSafeInteger(milliseconds)
      ? `\`${image}\` is not a whole number of milliseconds`
      : "this duration is too long";
    report(reading, badLiteral(placeAt(reading, offset, offset + image.length), { message }));
  }
  return Number.isSafeInteger(milliseconds) ? milliseconds : Number.MAX_SAFE_INTEGER;
}

/** A leading zero is an error: `08` is octal in some languages and decimal in others. */
export function leadingZero(place: Place, digits: string): Diagnostic {
  const use = digits.replace(/^0+(?=\d)/, "");
  return badLiteral(place, {
    message: `\`${digits}\` has a leading zero`,
    label: `write \`${use}\``,
    fixes: [{ title: `write \`${use}\``, edits: [{ span: place.span, text: use }] }],
  });
}

/** A number and whether it is written as a float. Reports a number that cannot be represented. */
export function numberValue(reading: Reading, image: string, offset: number): { value: number; isFloat: boolean } {
  const plain = /^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(image)?.[0] ?? "0";
  const isFloat = /[.eE]/.test(plain);
  const value = Number(plain);
  if (/^0\d/.test(plain)) report(reading, leadingZero(placeAt(reading, offset, offset + plain.length), plain));
  if (!Number.isFinite(value) || (!isFloat && !Number.isSafeInteger(value))) {
    const message = isFloat ? "this number is too large" : "this whole number is too large to be exact";
    const help = isFloat ? undefined : `the largest is ${Number.MAX_SAFE_INTEGER}; write it as a string, or as a float`;
    report(reading, badLiteral(placeAt(reading, offset, offset + image.length), { message, help }));
  }
  return { value: Number.isFinite(value) ? value : Number.MAX_VALUE, isFloat };
}

/**
 * Removes the line break that a template opens with, and its common indentation. `texts` are its pieces of text in order, with an expression between
 * each two. The common indentation is the longest run of blanks that begins every line except the first line and
 * except lines of blanks only (a line with an expression is not blank). A line of blanks becomes empty. Line breaks
 * become `\n`. Escapes are resolved afterwards, so `\t` and `\n` never count as indentation or lines.
 */
export function removeIndentation(texts: readonly string[]): string[] {
  if (!texts.some((text) => text.includes("\n"))) return [...texts];
  const indentation = commonIndentation(texts);
  return texts.map((text, index) => {
    const lines = text.split(/\r?\n/);
    return lines
      .map((line, number) => {
        if (number === 0) return line;
        const isWholeLine = number < lines.length - 1 || index === texts.length - 1;
        if (isWholeLine && isBlank(line)) return "";
        return line.slice(indentation);
      })
      .slice(index === 0 && lines.length > 1 && lines[0] === "" ? 1 : 0)
      .join("\n");
  });
}

function commonIndentation(texts: readonly string[]): number {
  let common: string | undefined;
  texts.forEach((text, index) => {
    const lines = text.split(/\r?\n/);
    for (let number = 1; number < lines.length; number += 1) {
      const line = lines[number] ?? "";
      const isWholeLine = number < lines.length - 1 || index === texts.length - 1;
      if (isWholeLine && isBlank(line)) continue;
      const blanks = /^[ \t]*/.exec(line)?.[0] ?? "";
      common = common === undefined ? blanks : sharedPrefix(common, blanks);
    }
  });
  return common?.length ?? 0;
}

function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line);
}

function sharedPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}
