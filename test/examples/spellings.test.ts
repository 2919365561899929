import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compile } from "../../api/compile-text.ts";
import { exampleFiles } from "../support/example-files.ts";

describe.each(exampleFiles(".ngraph"))("%s", (path) => {
  const fromText = compile(readFileSync(path, "utf8"), { path });
  const yaml = path.replace(/\.ngraph$/, ".yaml");
  const fromYaml = compile(readFileSync(yaml, "utf8"), { path: yaml });

  test("has no errors or warnings in both spellings", () => {
    for (const { diagnostics } of [fromText, fromYaml]) {
      expect(
        diagnostics.filter((item) => item.severity !== "info").map((item) => `${item.code} ${item.message}`),
      ).toEqual([]);
    }
  });

  test("1.1: has the same digest in both spellings", () => {
    const digests = ({ tables }: typeof fromText): readonly unknown[] =>
      [...tables].map(([name, { digest }]) => [name, digest]);
    expect(digests(fromText)).not.toEqual([]);
    expect(digests(fromYaml)).toEqual(digests(fromText));
  });

  // Plans always end, so they have no proof NG310.
  if (fromText.graphs.length > 0)
    test("is sound", () => {
      expect(fromText.graphs.flatMap((graph) => graph.proofs.map((proof) => proof.code))).toContain("NG310");
    });
});
