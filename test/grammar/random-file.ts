/** Random files derived from `docs/grammar.ebnf`. */
import { readFileSync } from "node:fs";
import { derive, readGrammar, shortestDepths, type Derivation } from "./ebnf.ts";

export const grammar = readGrammar(readFileSync(new URL("../../docs/grammar.ebnf", import.meta.url), "utf8"));
const depths = shortestDepths(grammar);

const PLAIN = ["a", "b", "draft", "x1", "_", "Message", "searchDocs"];
const RESERVED = ["true", "false", "null", "match", "else", "in", "when", "otherwise"];
/** Every word of the grammar, and words that other languages use as operators: all of them may be names. */
const SOFT = [...new Set([...wordsOf(), "and", "or", "not", "await", "default", "length", "map", "string"])];

function wordsOf(): string[] {
  const text = readFileSync(new URL("../../docs/grammar.ebnf", import.meta.url), "utf8");
  return [...text.matchAll(/"([a-z]+)"/g)].map((found) => found[1] ?? "").filter((word) => !RESERVED.includes(word));
}

/** A small generator of random numbers. fast-check supplies its seed. */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T;
}

function terminals(random: () => number): (name: string) => string {
  const plain = pick(random, [0.1, 0.6, 0.9]);
  const values: Record<string, () => string> = {
    ID: () => pick(random, random() < plain ? PLAIN : SOFT),
    RESERVED: () => pick(random, RESERVED),
    INTEGER: () => pick(random, ["0", "1", "40", "7", "9007199254740991"]),
    NUMBER: () => pick(random, ["0", "1", "3.25", "1e3", "2.5E-7", "12e+2", "9007199254740991"]),
    DURATION: () => pick(random, ["200ms", "1.5s", "5m", "2h", "1d", "0.5h"]),
    STRING: () => pick(random, ['""', '"a"', '"\\"\\\\\\u00e9\\n"', '"// no /* comment `"', '"é → \u202e"']),
    TEXT: () => pick(random, ["text", "\n  two\n    lines\n", "\\`\\$\\{\\n", "$ { } // \" '", "é"]),
  };
  return (name) => values[name]?.() ?? name;
}

const isWord = (token: string | undefined) => token !== undefined && /^[A-Za-z_]\w*$/.test(token);
const isName = (token: string | undefined) => isWord(token) && !RESERVED.includes(token ?? "");
const TEST_WORDS = new Set(["given", "mock", "answer", "signal", "expect"]);

/** The gates of the grammar's head comment, over the tokens from `at` on. */
const GATES: Readonly<Record<string, (tokens: readonly string[], at: number) => boolean>> = {
  G1: (tokens, at) => tokens[at] === "type" && isName(tokens[at + 1]) && tokens[at + 1] !== "as",
  G2: (tokens, at) => tokens[at + 1] !== "->" && tokens[at + 1] !== ",",
  G3: (tokens, at) => ["once", "eventually", "never"].includes(tokens[at] ?? "") && isName(tokens[at + 1]),
  G4: (tokens, at) => tokens[at] === "{",
  G5: (tokens, at) => {
    const next = tokens[at + 1];
    const isLine = TEST_WORDS.has(next ?? "") && tokens[at + 2] !== "," && tokens[at + 2] !== "}";
    if (tokens[at] === "ran") return next === "[" || (isName(next) && !isLine);
    if (tokens[at] === "never") return next === "ran";
    if (tokens[at] === "paused") return next === "at";
    if (tokens[at] === "fails") return next === "with";
    return (tokens[at] === "status" || tokens[at] === "undone") && isName(next) && !isLine;
  },
  G8: (tokens, at) => tokens[at] === "set" && isName(tokens[at + 1]),
  G9: (tokens, at) => tokens[at] === "each" && isName(tokens[at + 1]),
  G10: (tokens, at) => isName(tokens[at]) && tokens[at + 1] === "before",
  G6: (tokens, at) => isWord(tokens[at]) && tokens[at + 1] === ":",
  G7: (tokens, at) => {
    if (tokens[at] !== "any" && tokens[at] !== "done") return false;
    const [name, second, third] = tokens.slice(at + 1, at + 4);
    if (!isName(name) || (name === "into" && second !== ",")) return false;
    if (name === "task") return !(isName(second) && third === "=");
    if (["input", "output", "state", "memory"].includes(name ?? "")) return !(isName(second) && third === ":");
    if (name === "max") return second !== "parallel";
    if (name === "order") return second !== "file";
    if (name === "on") return second !== "failure";
    return !(name === "pool" && isName(second) && /^\d/.test(third ?? ""));
  },
};

function gatesHold(derivation: Derivation): boolean {
  return derivation.gates.every(({ name, holds, at }) => GATES[name]?.(derivation.tokens, at) === holds);
}

/** The tokens with blanks, line breaks and comments between them, or nothing where nothing is needed. */
function layOut(tokens: readonly string[], random: () => number): string {
  const pieces: string[] = [];
  tokens.forEach((token, at) => {
    const before = tokens[at - 1] ?? "";
    const tight =
      [",", ")", "]", "}", "("].includes(token) ||
      ["(", "[", "{", ","].includes(before) ||
      (before === ">" && token === "=");
    if (!(tight && random() < 0.5))
      pieces.push(pick(random, [" ", " ", " ", "\n", "\r\n", "\t", " // note\n", " /* a * note */ ", "\n/// doc\n"]));
    pieces.push(token);
  });
  return pieces.join("");
}

export function randomFile(seed: number, start: string): { text: string; derivation: Derivation } | undefined {
  const random = randomFrom(seed);
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const depth = 6 + Math.floor(random() * 22);
    const more = 0.25 + random() * 0.3;
    const budget = 10 + Math.floor(random() * 200);
    const derivation = derive(grammar, depths, start, { random, terminal: terminals(random), depth, budget, more });
    if (gatesHold(derivation)) return { text: layOut(derivation.tokens, random), derivation };
  }
  return undefined;
}
