/** 1.1: the digest is the same whichever spelling the graph was written in; here over random graphs, there and back. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compile, memoryHost } from "../../compiler/index.ts";
import { convert } from "../../grammar/convert.ts";
import { VALID_FILE_NODES, validFile } from "../support/valid-file-arbitrary.ts";
import { numRuns } from "../support/depth.ts";

const host = memoryHost({ "nodes.ts": VALID_FILE_NODES });

/** The errors and findings of a text, and the digest of each of its graphs. */
function compiled(text: string, path: string): unknown {
  const { tables, diagnostics } = compile(text, { path, host });
  const errors = diagnostics.filter((item) => item.severity === "error");
  return {
    errors: errors.map(({ code, message }) => `${code} ${message}`),
    digests: [...tables].map(([name, { digest }]) => `${name} ${digest}`),
    // A message quotes conditions as they are written; a conversion drops needless parentheses.
    findings: diagnostics.map(({ code, message }) => `${code} ${message.replace(/[()]/g, "")}`).sort(),
  };
}

test("text, its YAML, and the text of that have the same digests and findings", () => {
  fc.assert(
    fc.property(validFile, (text) => {
      const original = compiled(text, "g.ngraph");
      expect(original).toMatchObject({ errors: [], digests: [expect.stringMatching(/^g0 sha256:/), ...more(text)] });
      const yaml = convert(text, { to: "yaml" });
      expect(yaml.lost).toEqual([]);
      expect(compiled(yaml.text, "g.yaml")).toEqual(original);
      const again = convert(yaml.text, { to: "ngraph" });
      expect(again.lost).toEqual([]);
      expect(compiled(again.text, "g.ngraph")).toEqual(original);
    }),
    { seed: 41, numRuns: numRuns(60), endOnFailure: true },
  );
});

function more(text: string): unknown[] {
  return text.includes("graph g1 {") ? [expect.stringMatching(/^g1 sha256:/)] : [];
}
