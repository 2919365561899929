import { readFileSync, writeFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { yamlSchema } from "../../grammar/yaml/yaml-schema.ts";
import { anyFile } from "../support/ast-arbitrary.ts";
import { numRuns } from "../support/depth.ts";

const FILE = new URL("../../grammar/ngraph.schema.json", import.meta.url);

const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(yamlSchema());

/** Whether editors would show a mistake in one of the documents. */
function accepts(text: string): boolean {
  return parseAllDocuments(text, { schema: "core", merge: false, uniqueKeys: false, logLevel: "silent" })
    .map((document) => document.toJS() as unknown)
    .every((value) => validate(value));
}

test("the written schema is up to date (UPDATE=1 writes it)", () => {
  const text = `${JSON.stringify(yamlSchema(), null, 2)}\n`;
  if (process.env["UPDATE"] === "1") writeFileSync(FILE, text);
  expect(readFileSync(FILE, "utf8")).toBe(text);
});

test("every key of the forms has a description", () => {
  const missing: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { properties } = schema as { properties?: Record<string, { description?: string }> };
    for (const [key, each] of Object.entries(properties ?? {}))
      if (each.description === undefined) missing.push(`${path}/${key}`);
    for (const [key, each] of Object.entries(schema)) visit(each, `${path}/${key}`);
  };
  visit(yamlSchema(), "");
  expect(missing).toEqual([]);
});

describe("the schema and the reader agree", () => {
  test("whatever is written for a random tree is accepted", () => {
    fc.assert(
      fc.property(anyFile(), (file) => {
        const { text } = toYaml(file);
        expect(accepts(text), text).toBe(true);
      }),
      { seed: 21, numRuns: numRuns(80) },
    );
  });

  test.each([
    "graph: g\nnodes: { a: { call: f, timout: 3s } }",
    "graph: g\nnodes: { a: { call: f, timeout: 30 } }",
    "graph: g\nnode: {}",
    "graph: g\nstate: { a: { default: 1 } }",
    "graph: g\nedges: a -> b",
    "graph: g\nedges: [{ from: a, goto: b }]",
    "graph: 5",
    "plan: p\norder: name",
    "plan: p\ntasks: { a: { call: f, tries: -1 } }",
    "test: t",
    "test: t\nfor: g\nexpects: x",
    "grpah: g",
  ])("both refuse %j", (text) => {
    expect(parseYaml(text).diagnostics.map(({ code }) => code)).toEqual([expect.stringMatching(/^NG01[14]$/)]);
    expect(accepts(text)).toBe(false);
  });

  test("the schema refuses nothing that the reader takes", () => {
    const value = fc.constantFrom(
      "",
      "x",
      "5",
      "true",
      "[]",
      "[a, b]",
      "{}",
      "{ a: b }",
      "30s",
      "{ a: { type: int } }",
      "[{ from: a, to: b }]",
      "{ a: { call: f, args: [x], with: { y: [1] }, tries: 2, backoff: 1s } }",
    );
    const key = fc.constantFrom(
      "graph",
      "plan",
      "test",
      "for",
      "doc",
      "imports",
      "types",
      "secrets",
      "input",
      "state",
      "limits",
      "max parallel",
      "nodes",
      "asserts",
      "edges",
      "tasks",
      "pools",
      "given",
      "mock",
      "answer",
      "expect",
      "order",
    );
    const documents = fc
      .uniqueArray(fc.tuple(key, value), { maxLength: 5, selector: ([each]) => each })
      .map((entries) => entries.map(([each, written]) => `${each}: ${written}\n`).join(""));
    fc.assert(
      fc.property(documents, (text) => {
        if (parseYaml(text).diagnostics.length === 0) expect(accepts(text), text).toBe(true);
      }),
      { seed: 22, numRuns: numRuns(1500) },
    );
  });
});
