import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SourceFile } from "../../diagnostics/source.ts";
import { readTokens } from "../../grammar/lexer/read-tokens.ts";
import * as t from "../../grammar/lexer/tokens.ts";
import { parse } from "../../grammar/parse.ts";
import { newReading } from "../../grammar/reading.ts";
import { numRuns } from "../support/depth.ts";
import { randomFile, randomFrom } from "./random-file.ts";
import { accepts, sentence } from "./recorded-language.ts";
import { diagramFiles } from "./grammar-diagrams.ts";
import { recordedRules, TABLE_FILE, tableText } from "./recorded-grammar.ts";

const isUpdate = process.env["UPDATE"] === "1";
const rules = recordedRules();

test("the lookahead table is the one of the recorded grammar", async () => {
  const text = await tableText();
  if (isUpdate) writeFileSync(TABLE_FILE, text);
  expect(readFileSync(TABLE_FILE, "utf8")).toBe(text);
});

test("the diagrams in the docs are those of the recorded grammar", () => {
  const files = diagramFiles();
  if (isUpdate) {
    mkdirSync("docs/grammar", { recursive: true });
    for (const [path, text] of files) writeFileSync(path, text);
  }
  for (const [path, text] of files) expect(readFileSync(path, "utf8")).toBe(text);
  const pictures = readdirSync("docs/grammar").map((name) => `docs/grammar/${name}`);
  expect(pictures.sort()).toEqual([...files.keys()].filter((path) => path.endsWith(".svg")).sort());
});

test("random files of grammar.ebnf belong to the recorded grammar", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const text = randomFile(seed, "file")?.text ?? "";
      const reading = newReading(new SourceFile("a.ngraph", text), text);
      const tokens = readTokens(reading).tokens.map((token) => {
        const tokenType = token.tokenType === t.Identifier ? t.wordType(token.image) : token.tokenType;
        return { ...token, tokenType, tokenTypeIdx: tokenType.tokenTypeIdx ?? 0 };
      });
      expect(accepts(rules, "file", tokens) ? "" : text).toBe("");
    }),
    { numRuns: numRuns(500), seed: 5 },
  );
});

test.each([
  ["file", ""],
  ["statement", "graph g {"],
  ["planStatement", "plan p {"],
  ["testItem", 'test "t" for g {'],
])("random sentences of the recorded rule `%s` parse without a diagnostic", (rule, head) => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = randomFrom(seed);
      const text = `${head} ${sentence(rules, rule, random, 10 + Math.floor(random() * 100))} ${head === "" ? "" : "}"}`;
      const { diagnostics } = parse(text);
      expect(diagnostics.map(({ message }) => `${message} in ${text}`)).toEqual([]);
    }),
    { numRuns: numRuns(500), seed: 6 },
  );
});
