import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../compiler/table/canonical-json.ts";
import { sha256 } from "../../runtime/table/sha256.ts";
import { numRuns } from "../support/depth.ts";

test("sha256 agrees with Node's, at every length around the size of a block", () => {
  const node = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
  for (let length = 0; length < 200; length++) expect(sha256("a".repeat(length))).toBe(node("a".repeat(length)));
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
      expect(sha256(text)).toBe(node(text));
    }),
    { numRuns: numRuns(500), seed: 2 },
  );
});

test("canonical JSON: sorted keys, nothing undefined, plain JSON otherwise", () => {
  expect(canonicalJson({ b: [1, { d: null, c: "é\u2028" }], a: undefined, B: true, "": -0 })).toBe(
    '{"":0,"B":true,"b":[1,{"c":"é\u2028","d":null}]}',
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: numRuns(500), seed: 4 },
  );
});
