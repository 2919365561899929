/** The whole pipeline returns a result and diagnostics for every text, and never throws. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { check, compile, hasErrors, loadTable, memoryHost, type CompileOptions } from "../../compiler/index.ts";
import { SUPPORT, SUPPORT_NODES } from "../emit/support-graph.ts";
import { numRuns } from "../support/depth.ts";

const host = memoryHost({
  "nodes.ts": SUPPORT_NODES,
  "examples/nodes.ts": readFileSync("examples/review-loop/nodes.ts", "utf8"),
});
const TEXTS: readonly { readonly text: string; readonly path: string }[] = [
  { text: SUPPORT, path: "support.ngraph" },
  { text: readFileSync("examples/review-loop/review.ngraph", "utf8"), path: "examples/review.ngraph" },
];

/** Compiles a text, and verifies the properties of every result. */
function compileAny(text: string, options: CompileOptions = {}): ReturnType<typeof compile> {
  const result = compile(text, { host, maxStates: 2000, ...options });
  const isValid = !hasErrors(result.diagnostics);
  expect(result.graphs.every(({ table }) => (table !== undefined) === isValid)).toBe(true);
  for (const item of result.diagnostics) {
    expect(item.span.start).toBeLessThanOrEqual(item.span.end);
    expect(item.span.end).toBeLessThanOrEqual(item.file.text.length);
    expect(item.message).not.toBe("");
  }
  if (result.table !== undefined) expect(loadTable(JSON.stringify(result.table))).toEqual(result.table);
  return result;
}

test("the showcase and an example compile, and their tables load from JSON", () => {
  for (const { text, path } of TEXTS) {
    const { table, tables, diagnostics, files } = compileAny(text, { path });
    expect(diagnostics.filter((item) => item.severity !== "info")).toEqual([]);
    expect(tables.get(table?.name ?? "")).toBe(table);
    expect(files).toEqual([path]);
  }
});

test("check: what `ngc check --json` says", () => {
  const report = check(SUPPORT, { path: "support.ngraph", host });
  expect(report).toMatchObject({ ok: true, errors: 0, warnings: 0 });
  expect(report.graphs).toMatchObject([
    { name: "support", kind: "graph", nodes: 6, edges: 11, effects: ["code", "person"] },
  ]);
  expect(report.graphs[0]?.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(report.graphs[0]?.proofs.map(({ code }) => code)).toContain("NG310");
  const broken = check("graph g { node a = b  start -> a }");
  expect(broken).toMatchObject({ ok: false, graphs: [{ name: "g", digest: null, nodes: 1 }] });
  expect(broken.errors).toBeGreaterThan(0);
});

describe("any text", () => {
  test.each(TEXTS.map(({ path, text }) => [path, text] as const))(
    "%s with parts taken out, repeated and swapped",
    (path, text) => {
      const place = fc.nat(text.length);
      const edit = fc.tuple(fc.constantFrom("cut", "copy", "put"), place, fc.nat(40), place);
      const piece = fc.constantFrom(
        "{",
        "}",
        "->",
        "(",
        ")",
        "match",
        "all(",
        "`",
        '"',
        "when",
        "\u0000",
        "=",
        "else ->",
        ",",
        "null",
      );
      fc.assert(
        fc.property(fc.array(fc.tuple(edit, piece), { minLength: 1, maxLength: 5 }), (edits) => {
          let changed = text;
          for (const [[kind, from, length, to], extra] of edits) {
            const part = changed.slice(from, from + length);
            if (kind === "cut") changed = changed.slice(0, from) + changed.slice(from + length);
            else if (kind === "copy") changed = changed.slice(0, to) + part + changed.slice(to);
            else changed = changed.slice(0, from) + extra + changed.slice(from);
          }
          compileAny(changed, { path });
        }),
        { numRuns: numRuns(150), seed: 6 },
      );
    },
  );

  test("words of the language in any order", () => {
    const words =
      'graph node state input output = -> , { } ( ) all any match when otherwise on error else a b g start end int string [ ] for in into reduce append 1 2.5 "x" `t${ && || == < > + waits goes tries import from type secret plan task test assert before limit steps true null ? : . ..'.split(
        " ",
      );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 60 }), (list) => {
        compileAny(list.join(" "));
        compileAny(`graph g {\n${list.join(" ")}\n}`);
      }),
      { numRuns: numRuns(300), seed: 8 },
    );
  });

  test.each([
    ["nested parentheses", `graph g { input n: int  node a = ${"(".repeat(50_000)}n${")".repeat(50_000)} start -> a }`],
    [
      "a long sum",
      `graph g { input n: int  node a = ${Array.from({ length: 50_000 }, () => "n").join(" + ")} start -> a }`,
    ],
    ["a long chain of fields", `graph g { input n: json  node a = n${".f".repeat(50_000)} start -> a }`],
    ["a long chain of conditions", `graph g { input n: int  node a = ${"n == 1 ? 1 : ".repeat(20_000)}0 start -> a }`],
    ["nested types", `graph g { input n: ${"{ a: ".repeat(20_000)}int${" }".repeat(20_000)}  node a = 1 start -> a }`],
    ["lists of lists", `graph g { input n: int${"[]".repeat(50_000)}  node a = 1 start -> a }`],
    [
      "a union of many",
      `type T = ${Array.from({ length: 2000 }, (_, i) => `"v${i}"`).join(" | ")}\ngraph g { input n: T  node a = n == "v1"  start -> a }`,
    ],
    ["unclosed templates", "graph g { node a = " + "`${".repeat(10_000)],
  ])("%s", (_, text) => {
    compileAny(text);
  });
});
