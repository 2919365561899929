import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, canonicalParts } from "../../compiler/table/canonical-json.ts";
import { sha256Of } from "../../compiler/table/sha256-parts.ts";
import { sha256 } from "../../runtime/table/sha256.ts";
import { tableOf } from "./compile-text.ts";
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

test("parts of a text have the hash of the text, and parts of a record its canonical JSON", () => {
  const items = Array.from({ length: 1234 }, (_, at) => ({ z: at, a: "é😀" }));
  const records: readonly object[] = [
    {},
    { b: undefined },
    { list: [], b: items, a: { list: items }, "": [undefined] },
  ];
  for (const record of records) expect([...canonicalParts(record)].join("")).toBe(canonicalJson(record));
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string({ unit: "grapheme" }).map((name) => `_${name}`),
        fc.jsonValue(),
      ),
      (record) => {
        const parts = [...canonicalParts(record)];
        expect(parts.join("")).toBe(canonicalJson(record));
        expect(sha256Of(parts)).toBe(sha256(canonicalJson(record)));
      },
    ),
    { numRuns: numRuns(500), seed: 6 },
  );
  for (let length = 0; length < 140; length++) {
    expect(sha256Of(["a".repeat(length), "", "b".repeat(70)])).toBe(sha256("a".repeat(length) + "b".repeat(70)));
  }
});

test("a table changes with the signatures of the functions that it imports, and with the types in them", () => {
  const text = `import { work } from "./nodes.ts"
graph g {
  output o: string
  node a = work("x") into o
  start -> a -> end
}`;
  const digestOf = (module: string): string => tableOf(text, { "nodes.ts": module }).digest;
  const base = digestOf("export function work(text: string): string { return text; }");
  const same = [
    "// A comment.\nexport function work(other: string): string { return other; }",
    "export const work = (text: string): string => text;",
  ];
  for (const module of same) expect(digestOf(module)).toBe(base);
  const others = [
    "export async function work(text: string): Promise<string> { return text; }",
    "export function work(text: string, more?: number): string { return text; }",
    "export function work(text: string | number): string { return String(text); }",
    "interface Options { a: string }\nexport function work(text: string, options?: Options): string { return text; }",
    "interface Options { a: number }\nexport function work(text: string, options?: Options): string { return text; }",
    "export const work: any = (text: string) => text;",
  ];
  expect(new Set([base, ...others.map(digestOf)]).size).toBe(others.length + 1);
});
