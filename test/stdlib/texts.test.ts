/** `json`, `yaml` and `csv`. */
import { describe, expect, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compile } from "../../compiler/index.ts";
import { parseYamlText } from "../../grammar/yaml/parse-yaml-text.ts";
import type { RunResult } from "../../runtime/interface/engine-options.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Json } from "../../runtime/value/json.ts";
import { createYaml } from "../../stdlib/nodes/yaml.ts";

const TYPES = `type Order = { id: int, who: string, total: float | null, paid?: bool, state?: "open" | "done" }\n`;

async function read(call: string, type: string, text: string): Promise<RunResult> {
  const source = `${TYPES}graph g {
    input text: string
    output value: ${type}
    node parse = ${call} into value
    start -> parse -> end
  }`;
  const { tables, diagnostics } = compile(source, { path: "g.ngraph" });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const builtins = { yaml: createYaml(parseYamlText) };
  return createEngine(tables.get("g") as Table, { builtins }).run({ text });
}

const valueOf = async (call: string, type: string, text: string): Promise<Json | undefined> => {
  const { error, output } = await read(call, type, text);
  expect(error).toBeNull();
  return output?.["value"];
};
const failureOf = async (call: string, type: string, text: string): Promise<string | undefined> =>
  (await read(call, type, text)).error?.message;

describe("json", () => {
  test("reads a value of the type of its channel", async () => {
    const order = { id: 1, who: "ada", total: null };
    expect(await valueOf("json(text)", "Order", JSON.stringify(order))).toEqual(order);
    expect(await valueOf("json(text)", "json", "\uFEFF[1, {}]")).toEqual([1, {}]);
    expect(await failureOf("json(text)", "Order", '{"id": "one"}')).toMatch(/id|int/);
  });

  test("fails for a text that is not JSON", async () => {
    expect(await failureOf("json(text)", "json", "```json\n{}\n```")).toContain("is not JSON");
    expect(await failureOf("json(text)", "json", "")).toContain("is not JSON");
    expect(await failureOf("json(text)", "json", "[".repeat(5000) + "]".repeat(5000))).toBeDefined();
  });

  test("does not change prototypes", async () => {
    const value = await valueOf("json(text)", "json", '{"a": {"b": 1}, "constructor": 2}');
    expect(value).toEqual({ a: { b: 1 }, constructor: 2 });
  });
});

describe("yaml", () => {
  test("reads a value of the type of its channel", async () => {
    expect(await valueOf("yaml(text)", "Order", "id: 1\nwho: &w ada\ntotal: null\n")).toEqual({
      id: 1,
      who: "ada",
      total: null,
    });
    expect(await valueOf("yaml(text)", "json", "[no, 2001-01-01, 0o17, ~, {1: a}]")).toEqual([
      "no",
      "2001-01-01",
      15,
      null,
      { 1: "a" },
    ]);
    expect(await failureOf("yaml(text)", "Order", "id: one")).toMatch(/id|int/);
  });

  test.each([
    ["a: b: c", "the text is not YAML: Nested mappings are not allowed in compact mappings, at line 1, column 4"],
    ["a: [", "the text is not YAML: "],
    ["a: 1\na: 2", 'the key "a" is repeated, at line 2, column 1'],
    ["--- 1\n--- 2\n", "several documents"],
    ["a: *none", "Unresolved alias"],
    ["[".repeat(300), "nests deeper than 200 levels"],
  ])("refuses %j", async (text, message) => {
    expect(await failureOf("yaml(text)", "json", text)).toContain(message);
  });

  test("refuses aliases that expand to a large value", async () => {
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`);
    expect(await failureOf("yaml(text)", "json", ["a0: &a0 [x]", ...levels].join("\n"))).toContain("alias");
  });

  test("refuses numbers that JSON cannot hold", async () => {
    expect(await failureOf("yaml(text)", "json", "a: .nan")).toBeDefined();
  });
});

describe("csv", () => {
  test("converts the cells to the types of the fields", async () => {
    const text =
      'who,id,extra,total,paid,state\r\n"Lovelace, ""Ada""",7,x,1.5,true,open\r\n\r\n"two\nlines",-8,,,,\r\n';
    expect(await valueOf("csv(text)", "Order[]", text)).toEqual([
      { id: 7, who: 'Lovelace, "Ada"', total: 1.5, paid: true, state: "open" },
      { id: -8, who: "two\nlines", total: null },
    ]);
  });

  test("reads texts without a record type", async () => {
    expect(await valueOf("csv(text)", "json", "a,b\n1,\n")).toEqual([{ a: "1", b: "" }]);
    expect(await valueOf('csv(text, separator: ";", header: false)', "string[][]", "a;b\r1;2")).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
    expect(await valueOf("csv(text)", "json", '\uFEFFa\n""\n')).toEqual([{ a: "" }]);
    expect(await valueOf("csv(text, header: false)", "json", "")).toEqual([]);
    expect(await valueOf("csv(text, header: false)", "json", "a,\n")).toEqual([["a", ""]]);
  });

  test.each([
    ["csv(text)", "Order[]", "who,id\nada,1\n", 'names no column "total": its columns are "who", "id"'],
    ["csv(text)", "Order[]", "who,id,total\nada,1.5,2\n", 'line 2, column "id": the cell does not have the type'],
    ["csv(text)", "Order[]", "who,id,total\nada,9007199254740993,2\n", 'line 2, column "id"'],
    ["csv(text)", "Order[]", "who,id,total\nada,1,1e999\n", 'line 2, column "total"'],
    ["csv(text)", "Order[]", "who,id,total,state\nada,1,1,lost\n", 'line 2, column "state"'],
    ["csv(text)", "json", 'a,b\n"1\n2",3\n4\n', "line 4 has 1 cell, and the first row has 2 cells: complete the row"],
    ["csv(text)", "json", "a\n1,2\n", "line 2 has 2 cells, and the first row has 1 cell: quote a cell"],
    ["csv(text)", "json", 'a\n\n"b\nc', "line 3: the quote of a cell is not closed"],
    ["csv(text)", "json", 'a\n"b"c\n', "line 2: text follows the closing quote"],
    ["csv(text)", "json", "a,a\n", 'two columns are named "a"'],
    ["csv(text)", "json", "", "the text has no row"],
    ['csv(text, separator: ";;")', "json", "", "is one character"],
  ])("%s into %s refuses %j", async (call, type, text, message) => {
    expect(await failureOf(call, type, text)).toContain(message);
  });

  test("reads what a writer of RFC 4180 has written", async () => {
    const alphabet = ["", "a", ",", '"', "\n", "\r\n", " ", "é", "; ", '""'];
    let seed = 7;
    const next = (limit: number): number => (seed = (seed * 48271) % 2147483647) % limit;
    for (let round = 0; round < 200; round++) {
      const width = 1 + next(4);
      const cell = (): string => Array.from({ length: next(5) }, () => alphabet[next(alphabet.length)]).join("");
      const rows = Array.from({ length: next(6) }, () => Array.from({ length: width }, cell));
      const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
      const text = rows.map((row) => row.map(quoted).join(",")).join(round % 2 === 0 ? "\n" : "\r\n");
      const { csv } = await import("../../stdlib/nodes/csv.ts");
      const { fakeContext } = await import("./fake-context.ts");
      expect(csv({ text, header: false }, fakeContext())).toEqual(rows);
    }
  });
});
