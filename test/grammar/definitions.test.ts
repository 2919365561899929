import { describe, expect, it } from "vitest";
import { createLexer } from "../../grammar/lexer/tokens.ts";
import { NgraphParser } from "../../grammar/parser/file-rules.ts";
import { RESERVED_WORDS } from "../../grammar/words.ts";

describe("the definitions of lexer and parser", () => {
  it("pass Chevrotain's own checks, which start-up leaves out", () => {
    const lexer = createLexer(true);
    expect(lexer.lexerDefinitionErrors).toEqual([]);
    expect(() => new NgraphParser(true)).not.toThrow();
  });

  it("record a grammar of the rules that the parser has", () => {
    const rules = Object.keys(new NgraphParser(true).getGAstProductions());
    for (const rule of [
      "file",
      "graph",
      "edge",
      "match",
      "expression",
      "template",
      "policies",
      "task",
      "expectation",
    ]) {
      expect(rules).toContain(rule);
    }
  });

  it("reserve eight words", () => {
    expect(RESERVED_WORDS).toHaveLength(8);
  });
});
