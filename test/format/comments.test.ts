import * as fc from "fast-check";
import { expect, test } from "vitest";
import { printFile } from "../../grammar/format/print-file.ts";
import { parse } from "../../grammar/parse.ts";
import { anyFile } from "../support/ast-arbitrary.ts";
import { withComments } from "../support/comment-arbitrary.ts";
import { withoutSpans } from "../support/without-spans.ts";
import { numRuns } from "../support/depth.ts";

test("comments between any two tokens survive, once each and in order, and a second run changes nothing", () => {
  fc.assert(
    fc.property(withComments(anyFile().map(printFile)), ({ text, marks }) => {
      const read = parse(text);
      expect(read.diagnostics.map(({ message }) => message)).toEqual([]);
      const once = printFile(read.file);
      expect([...once.matchAll(/comment-\d+/g)].map(([mark]) => mark)).toEqual(marks);
      const again = parse(once);
      expect(again.diagnostics.map(({ message }) => message)).toEqual([]);
      expect(withoutSpans(again.file)).toEqual(withoutSpans(read.file));
      expect(printFile(again.file)).toBe(once);
    }),
    { seed: 41, numRuns: numRuns(400) },
  );
});

test("any number of comments in one place", () => {
  const many = "// comment\n".repeat(70_000);
  for (const text of [many, `${many}graph g {}\n`, `graph g {\n${many}}\n`, `graph g { a ->\n${many} b }\n${many}`]) {
    const { file } = parse(text);
    expect(file.comments).toHaveLength(text.split("// comment").length - 1);
    expect(printFile(file).split("// comment")).toHaveLength(file.comments.length + 1);
  }
});
