import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { printFile } from "../../grammar/format/print-file.ts";
import { parse } from "../../grammar/parse.ts";
import { anyFile } from "../support/ast-arbitrary.ts";
import { withoutSpans } from "../support/without-spans.ts";
import { numRuns } from "../support/depth.ts";

describe("random trees", () => {
  test("are read back as they were printed", () => {
    fc.assert(
      fc.property(anyFile(), (file) => {
        const text = printFile(file);
        const read = parse(text);
        expect(read.diagnostics.map(({ message }) => message)).toEqual([]);
        expect(withoutSpans(read.file)).toEqual(withoutSpans(file));
      }),
      { seed: 1, numRuns: numRuns(300) },
    );
  });

  test("are printed the same again after they were read", () => {
    fc.assert(
      fc.property(anyFile(), (file) => {
        const text = printFile(file);
        expect(printFile(parse(text).file)).toBe(text);
      }),
      { seed: 2, numRuns: numRuns(300) },
    );
  });
});
