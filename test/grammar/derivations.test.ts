import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numRuns } from "../support/depth.ts";
import { parse } from "../../grammar/parse.ts";
import { derive, readGrammar, shortestDepths, type Derivation } from "./ebnf.ts";
import { countKinds, misplacedSpans } from "./tree.ts";

const grammar = readGrammar(readFileSync(new URL("../../docs/grammar.ebnf", import.meta.url), "utf8"));
const depths = shortestDepths(grammar);

const PLAIN = ["a", "b", "draft", "x1", "_", "Message", "searchDocs"];
const RESERVED = ["true", "false", "null", "match", "else", "in", "when", "otherwise"];
/** Every word of the grammar, and words that other languages use as operators: all of them may be names. */
const SOFT = [...new Set([...wordsOf(), "and", "or", "not", "await", "default", "length", "map", "string"])];

function wordsOf(): string[] {
  const text = readFileSync(new URL("../../docs/grammar.ebnf", import.meta.url), "utf8");
  return [...text.matchAll(/"([a-z]+)"/g)].map((found) => found[1] ?? "").filter((word) => !RESERVED.includes(word));
}

/** A small seeded generator: fast-check gives the seeds. */
function randomFrom(seed: number): () => number {
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
    INTEGER: () => pick(random, ["0", "1", "40", "007", "9007199254740991"]),
    NUMBER: () => pick(random, ["0", "1", "3.25", "1e3", "2.5E-7", "12e+2", "9007199254740991"]),
    DURATION: () => pick(random, ["200ms", "1.5s", "5m", "2h", "1d", "0.5h"]),
    STRING: () => pick(random, ['""', '"a"', '"\\"\\\\\\u00e9\\n"', '"// no /* comment `"', '"é → \u202e"']),
    TEXT: () => pick(random, ["text", "\n  two\n    lines\n", "\\`\\$\\{\\n", "$ { } // \" '", "é"]),
  };
  return (name) => values[name]?.() ?? name;
}

const isWord = (token: string | undefined) => token !== undefined && /^[A-Za-z_]\w*$/.test(token);
const isName = (token: string | undefined) => isWord(token) && !RESERVED.includes(token ?? "");
const TEST_WORDS = new Set(["given", "mock", "answer", "expect"]);

/** The gates of the grammar's head comment, over the tokens from `at` on. */
const GATES: Readonly<Record<string, (tokens: readonly string[], at: number) => boolean>> = {
  G1: (tokens, at) => tokens[at] === "type" && isName(tokens[at + 1]) && tokens[at + 1] !== "as",
  G2: (tokens, at) => tokens[at + 1] !== "->" && tokens[at + 1] !== ",",
  G3: (tokens, at) => ["once", "eventually", "never"].includes(tokens[at] ?? ""),
  G4: (tokens, at) => tokens[at] === "{",
  G5: (tokens, at) => {
    const next = tokens[at + 1];
    const isLine = TEST_WORDS.has(next ?? "") && tokens[at + 2] !== "," && tokens[at + 2] !== "}";
    if (tokens[at] === "ran") return next === "[" || (isName(next) && !isLine);
    return tokens[at] === "status" && isName(next) && !isLine;
  },
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

function randomFile(seed: number, start: string): { text: string; derivation: Derivation } | undefined {
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

/** Rules and the kinds of node that one use of them makes. */
const MADE_BY: readonly (readonly [rule: string, kinds: readonly string[]])[] = [
  ["import", ["Import"]],
  ["importName", ["ImportName"]],
  ["typedef", ["Type"]],
  ["secret", ["Secret"]],
  ["graph", ["Graph"]],
  ["plan", ["Plan"]],
  ["test", ["Test"]],
  ["channel", ["Channel"]],
  ["node", ["Node"]],
  ["limit", ["Limit"]],
  ["assertion", ["Assert"]],
  ["edge", ["Edge"]],
  ["targets", ["Targets"]],
  ["valueArm", ["ValueArm"]],
  ["conditionArm", ["ConditionArm"]],
  ["task", ["Task"]],
  ["argument", ["Argument"]],
  ["field", ["RecordTypeField"]],
  ["outputField", ["OutputField"]],
  ["recordField", ["RecordField"]],
  ["testLine", ["Given", "Mock", "MockFails", "Answer", "ExpectRan", "ExpectStatus", "Expect"]],
  [
    "policy",
    [
      "Tries",
      "Timeout",
      "Cache",
      "MaxParallel",
      "Waits",
      "Goes",
      "Pause",
      "Idempotent",
      "Touches",
      "Alone",
      "DoneWhen",
      "Pool",
      "Estimate",
    ],
  ],
];

describe("random files derived from docs/grammar.ebnf", () => {
  it("defines every rule that it uses, and uses every rule that it defines", () => {
    const used = new Set(["file"]);
    const visit = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      if ("kind" in value && value.kind === "rule" && "name" in value) used.add(String(value.name));
      Object.values(value).forEach(visit);
    };
    for (const production of grammar.values()) visit(production);
    expect([...used].sort()).toEqual([...grammar.keys()].sort());
  });

  // Whole files are mostly small; beginning with one kind of item or statement goes deeper into it.
  const starts: [string, string, (text: string) => string, number][] = [
    ["files", "file", (text) => text, 1500],
    ["graphs", "statement", (text) => `graph g {${text}\n}`, 1500],
    ["edges", "edge", (text) => `graph g {${text}\n}`, 700],
    ["plans", "planStatement", (text) => `plan p {${text}\n}`, 700],
    ["tests", "testLine", (text) => `test "t" for g {${text}\n}`, 700],
    ["types", "type", (text) => `type T = ${text}`, 400],
    ["expressions", "expr", (text) => `graph g { node n =${text}\n}`, 1500],
  ];
  it.each(starts)("parse without a diagnostic: %s", (_, start, wrap, runs) => {
    const uses = new Map<string, number>();
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const file = randomFile(seed, start);
        fc.pre(file !== undefined);
        const text = wrap(file?.text ?? "");
        const { file: tree, diagnostics } = parse(text);
        expect(diagnostics.map((item) => `${item.code} ${item.message} at ${item.span.start} in ${text}`)).toEqual([]);
        expect(misplacedSpans(tree, text.length)).toEqual([]);
        const derived = file?.derivation.uses ?? new Map<string, number>();
        const counts = countKinds(tree.items);
        for (const [rule, kinds] of MADE_BY) {
          const made = kinds.reduce((sum, kind) => sum + (counts.get(kind) ?? 0), 0);
          const around =
            wrap("").startsWith(`${rule} `) ||
            (rule === "node" && start === "expr") ||
            (rule === "typedef" && start === "type")
              ? 1
              : 0;
          expect(`${made} × ${rule} in ${text}`).toBe(`${(derived.get(rule) ?? 0) + around} × ${rule} in ${text}`);
        }
        for (const [rule, count] of derived) uses.set(rule, (uses.get(rule) ?? 0) + count);
      }),
      { numRuns: numRuns(runs), seed: 20_240 },
    );
    expect(uses.size).toBeGreaterThan(3);
  });
});
