/**
 * The patterns of `matches`: the regular part of ECMAScript's regular expressions in Unicode mode, read strictly.
 * Backreferences, lookahead and lookbehind need backtracking and are refused, so every accepted pattern runs in linear time
 * (`pattern-program.ts`).
 *
 * choice = sequence { "|" sequence } ; sequence = { atom [ quantifier ] } ; atom = "(" choice ")" | "[" … "]" | "." | "^" | "$"
 * | escape | character ; quantifier = ( "*" | "+" | "?" | "{n}" | "{n,}" | "{n,m}" ) [ "?" ]
 */
import {
  ANY_BUT_LINE_END,
  CLASS_ESCAPES,
  MAX_CODE_POINT,
  negateSet,
  normaliseSet,
  type CodePointSet,
  type PatternNode,
  type PatternProblem,
} from "./pattern-node.ts";

const MAX_PATTERN_LENGTH = 2000;
const MAX_GROUP_DEPTH = 50;
const MAX_REPEAT = 1000;
const SYNTAX = new Set("^$\\.*+?()[]{}|/");
const CONTROL_ESCAPES: ReadonlyMap<string, number> = new Map([
  ["n", 0x0a],
  ["r", 0x0d],
  ["t", 0x09],
  ["v", 0x0b],
  ["f", 0x0c],
  ["0", 0x00],
]);

export function parsePattern(pattern: string): PatternNode | PatternProblem {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    return { message: `the pattern is longer than ${MAX_PATTERN_LENGTH} characters`, offset: 0 };
  }
  const reader: Reader = { pattern, at: 0, depth: 0, names: new Set() };
  try {
    const node = parseChoice(reader);
    if (reader.at < pattern.length) return { message: "`)` closes no group", offset: reader.at };
    return node;
  } catch (error) {
    if (error instanceof Unreadable) return { message: error.message, offset: error.offset };
    throw error;
  }
}

export function isPatternProblem(value: PatternNode | PatternProblem): value is PatternProblem {
  return "message" in value;
}

interface Reader {
  readonly pattern: string;
  at: number;
  depth: number;
  readonly names: Set<string>;
}

/** Ends parsing with a problem; `parsePattern` catches it. */
class Unreadable extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

function parseChoice(reader: Reader): PatternNode {
  const parts = [parseSequence(reader)];
  while (take(reader, "|")) parts.push(parseSequence(reader));
  return parts.length === 1 ? (parts[0] as PatternNode) : { kind: "choice", parts };
}

function parseSequence(reader: Reader): PatternNode {
  const parts: PatternNode[] = [];
  for (;;) {
    const next = reader.pattern[reader.at];
    if (next === undefined || next === "|" || next === ")") break;
    const start = reader.at;
    parts.push(parseQuantifier(reader, parseAtom(reader), start));
  }
  return parts.length === 1 ? (parts[0] as PatternNode) : { kind: "sequence", parts };
}

function parseAtom(reader: Reader): PatternNode {
  const start = reader.at;
  const code = reader.pattern.codePointAt(start) as number;
  const character = String.fromCodePoint(code);
  reader.at += character.length;
  switch (character) {
    case "(":
      return parseGroup(reader, start);
    case "[":
      return { kind: "set", set: parseClass(reader, start) };
    case ".":
      return { kind: "set", set: ANY_BUT_LINE_END };
    case "^":
      return { kind: "assert", at: "start" };
    case "$":
      return { kind: "assert", at: "end" };
    case "\\":
      return parseAtomEscape(reader, start);
    case "*":
    case "+":
    case "?":
      throw new Unreadable(`\`${character}\` repeats nothing`, start);
    case "{":
    case "}":
    case "]":
      throw new Unreadable(`\`${character}\` has to be written \`\\${character}\` here`, start);
    default:
      return { kind: "set", set: [code, code] };
  }
}

function parseGroup(reader: Reader, start: number): PatternNode {
  if (++reader.depth > MAX_GROUP_DEPTH) throw new Unreadable(`groups nest deeper than ${MAX_GROUP_DEPTH}`, start);
  if (take(reader, "?")) {
    if (reader.pattern.startsWith("<", reader.at) && !/^<[=!]/.test(reader.pattern.slice(reader.at, reader.at + 2))) {
      const name = /^<([A-Za-z_$][\w$]*)>/.exec(reader.pattern.slice(reader.at));
      if (name === null) throw new Unreadable("the group's name is not complete", start);
      if (reader.names.has(name[1] as string)) throw new Unreadable(`two groups are named \`${name[1]}\``, start);
      reader.names.add(name[1] as string);
      reader.at += name[0].length;
    } else if (!take(reader, ":")) {
      throw /^(?:[=!]|<[=!])/.test(reader.pattern.slice(reader.at, reader.at + 2))
        ? new Unreadable("looking ahead or behind is not linear-time", start)
        : new Unreadable("unknown kind of group", start);
    }
  }
  const inner = parseChoice(reader);
  if (!take(reader, ")")) throw new Unreadable("the group is not closed", start);
  reader.depth--;
  // An anchor may not be repeated, but a group that contains one may.
  return { kind: "sequence", parts: [inner] };
}

function parseAtomEscape(reader: Reader, start: number): PatternNode {
  const letter = reader.pattern[reader.at];
  if (letter === "b" || letter === "B") {
    reader.at++;
    return { kind: "assert", at: letter === "b" ? "boundary" : "inside" };
  }
  if (letter !== undefined && /[1-9k]/.test(letter)) {
    throw new Unreadable("a reference back to a group is not linear-time", start);
  }
  const escaped = parseEscape(reader, start);
  return { kind: "set", set: typeof escaped === "number" ? [escaped, escaped] : escaped };
}

/** Parses the text after a backslash: one code point, or a class such as `\d`. */
function parseEscape(reader: Reader, start: number): number | CodePointSet {
  const letter = reader.pattern[reader.at];
  if (letter === undefined) throw new Unreadable("the pattern ends with a backslash", start);
  reader.at++;
  const set = CLASS_ESCAPES.get(letter);
  if (set !== undefined) return set;
  if (SYNTAX.has(letter)) return letter.charCodeAt(0);
  const control = CONTROL_ESCAPES.get(letter);
  if (control !== undefined && !(letter === "0" && /^\d/.test(reader.pattern.slice(reader.at)))) return control;
  if (letter === "x" || letter === "u") return parseCodeEscape(reader, letter, start);
  if (letter === "p" || letter === "P") {
    throw new Unreadable("`\\p{…}` is not supported: list the ranges in a class", start);
  }
  throw new Unreadable(`unknown escape \`\\${letter}\``, start);
}

function parseCodeEscape(reader: Reader, letter: "x" | "u", start: number): number {
  const rest = reader.pattern.slice(reader.at, reader.at + 12);
  const form = letter === "x" ? /^([0-9a-fA-F]{2})/ : /^(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,6})\})/;
  const match = form.exec(rest);
  const code = match === null ? Number.NaN : Number.parseInt(match[1] ?? match[2] ?? "", 16);
  if (match === null || !(code <= MAX_CODE_POINT)) throw new Unreadable("the escape is not complete", start);
  reader.at += match[0].length;
  // `\ud83d\ude00` is one character, as in Unicode mode.
  const trail =
    code >= 0xd800 && code <= 0xdbff && match[1] !== undefined
      ? /^\\u(d[c-f][0-9a-f]{2})/i.exec(reader.pattern.slice(reader.at, reader.at + 6))
      : null;
  if (trail === null) return code;
  reader.at += trail[0].length;
  return (code - 0xd800) * 0x400 + (Number.parseInt(trail[1] as string, 16) - 0xdc00) + 0x10000;
}

function parseClass(reader: Reader, start: number): CodePointSet {
  const negated = take(reader, "^");
  const ranges: number[] = [];
  while (!take(reader, "]")) {
    const from = parseClassAtom(reader, start);
    const isRange = reader.pattern[reader.at] === "-" && !"]".includes(reader.pattern[reader.at + 1] ?? "]");
    if (!isRange) {
      if (typeof from === "number") ranges.push(from, from);
      else for (const each of from) ranges.push(each);
      continue;
    }
    const rangeAt = reader.at++;
    const to = parseClassAtom(reader, start);
    if (typeof from !== "number" || typeof to !== "number") {
      throw new Unreadable("a range in a class goes from one character to another", rangeAt);
    }
    if (to < from) throw new Unreadable("the range in the class runs backwards", rangeAt);
    ranges.push(from, to);
  }
  const set = normaliseSet(ranges);
  return negated ? negateSet(set) : set;
}

function parseClassAtom(reader: Reader, start: number): number | CodePointSet {
  const code = reader.pattern.codePointAt(reader.at);
  if (code === undefined) throw new Unreadable("the class is not closed", start);
  const at = reader.at;
  reader.at += code > 0xffff ? 2 : 1;
  if (code !== 0x5c) return code;
  const letter = reader.pattern[reader.at];
  if (letter === "-" || letter === "b") {
    reader.at++;
    return letter === "-" ? 0x2d : 0x08;
  }
  return parseEscape(reader, at);
}

function parseQuantifier(reader: Reader, atom: PatternNode, start: number): PatternNode {
  const bounds = readBounds(reader);
  if (bounds === undefined) return atom;
  if (atom.kind === "assert") throw new Unreadable("an anchor cannot be repeated", start);
  const [min, max] = bounds;
  if (max < min) throw new Unreadable("the repetition's bounds are the wrong way round", start);
  if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) {
    throw new Unreadable(`more than ${MAX_REPEAT} repetitions`, start);
  }
  take(reader, "?"); // Lazy or greedy makes no difference to whether a text matches.
  return { kind: "repeat", part: atom, min, max };
}

function readBounds(reader: Reader): [number, number] | undefined {
  if (take(reader, "*")) return [0, Infinity];
  if (take(reader, "+")) return [1, Infinity];
  if (take(reader, "?")) return [0, 1];
  if (reader.pattern[reader.at] !== "{") return undefined;
  const braces = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(reader.pattern.slice(reader.at, reader.at + 24));
  if (braces === null) return undefined;
  reader.at += braces[0].length;
  const min = Number(braces[1]);
  if (braces[2] === undefined) return [min, min];
  return [min, braces[3] === "" ? Infinity : Number(braces[3])];
}

function take(reader: Reader, character: string): boolean {
  if (reader.pattern[reader.at] !== character) return false;
  reader.at++;
  return true;
}
