import * as fc from "fast-check";
import { SourceFile } from "../../diagnostics/source.ts";
import { endOf, readTokens } from "../../grammar/lexer/read-tokens.ts";
import { newReading } from "../../grammar/reading.ts";

/** The text of a comment, with `%` for its number, and its layout between two tokens. */
const SHAPES = [
  " /* comment-% */",
  " /* comment-% */ ",
  " // comment-%\n",
  "\n// comment-%\n",
  "\n\n// comment-%\n\n",
  "\n/* comment-% */\n",
  "\n/* comment-% */ ",
  " /* comment-% */\n",
  " /* comment-%\n   two */",
  "\n  /*\n   * comment-%\n */\n",
  "\n",
  "\n\n\n",
  " ",
] as const;

/** Possible places of comments: at the start, and after each token that no template text follows. */
function gaps(text: string): number[] {
  const { tokens } = readTokens(newReading(new SourceFile("", text), text));
  const found = [0];
  const open: string[] = [];
  for (const token of tokens) {
    const { image } = token;
    // A text in a template can be a brace, which opens and closes nothing.
    if (token.tokenType.name === "TemplateText") continue;
    if (token.tokenType.name === "TemplateStart") open.push("`");
    else if (token.tokenType.name === "TemplateEnd") open.pop();
    else if (image === "{" || image === "${") open.push(image);
    else if (image === "}") open.pop();
    if (open[open.length - 1] !== "`") found.push(endOf(token));
  }
  return found;
}

/** The given texts with comments and line breaks between random tokens, and the numbers of the comments in order. */
export function withComments(texts: fc.Arbitrary<string>): fc.Arbitrary<{ text: string; marks: string[] }> {
  return fc
    .tuple(texts, fc.array(fc.tuple(fc.nat(1_000_000), fc.constantFrom(...SHAPES)), { minLength: 1, maxLength: 6 }))
    .map(([text, insertions]) => {
      const places = gaps(text);
      const sorted = insertions
        .map(([at, shape]) => ({ offset: places[at % places.length] ?? 0, shape }))
        .toSorted((a, b) => a.offset - b.offset);
      const pieces: string[] = [];
      const marks: string[] = [];
      let from = 0;
      for (const { offset, shape } of sorted) {
        pieces.push(text.slice(from, offset));
        from = offset;
        if (shape.includes("%")) marks.push(`comment-${marks.length}`);
        pieces.push(shape.replace("%", String(marks.length - 1)));
      }
      pieces.push(text.slice(from));
      return { text: pieces.join(""), marks };
    });
}
