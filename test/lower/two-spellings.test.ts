/** 1.1: the digest is the same whichever spelling the graph was written in. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compile, memoryHost } from "../../compiler/index.ts";
import { parse } from "../../grammar/parse.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { SUPPORT, SUPPORT_NODES } from "../emit/support-graph.ts";

const example = (folder: string, file: string) => ({
  text: readFileSync(`examples/${folder}/${file}.ngraph`, "utf8"),
  nodes: readFileSync(`examples/${folder}/nodes.ts`, "utf8"),
});

describe.each([
  ["the showcase", { text: SUPPORT, nodes: SUPPORT_NODES }],
  ["log triage", example("log-triage", "triage")],
  ["review loop", example("review-loop", "review")],
  ["document map", example("document-map", "terms")],
])("%s", (_, { text, nodes }) => {
  test("has one table in both", () => {
    const host = memoryHost({ "nodes.ts": nodes });
    const { text: yaml, lost } = toYaml(parse(text, { path: "graph.ngraph" }).file);
    expect(lost).toEqual([]);
    const fromText = compile(text, { path: "graph.ngraph", host });
    const fromYaml = compile(yaml, { path: "graph.yaml", host });
    expect(fromYaml.diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual(
      fromText.diagnostics.map(({ code, message }) => `${code} ${message}`),
    );
    expect(fromYaml.table?.digest).toBe(fromText.table?.digest);
    expect(fromText.table?.digest).toMatch(/^sha256:/);
  });
});
