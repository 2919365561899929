/** 1.2: `loadTable` verifies shape and digest. Its result is deeply frozen. */
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tableDigest } from "../../compiler/table/digest.ts";
import { loadTable } from "../../compiler/table/load-table.ts";
import { EXPRESSION_SCHEMA, PLAN_SCHEMA, TABLE_SCHEMA, TYPE_SCHEMA } from "../../compiler/table/table-schema.ts";
import { MAX_EXPRESSION_DEPTH } from "../../runtime/expression/limits.ts";
import { TableError } from "../../runtime/interface/errors.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { Table } from "../../runtime/table/table.ts";
import { sampleTable } from "./sample-table.ts";
import { numRuns } from "../support/depth.ts";

type Writable = { [key: string]: any }; // oxlint-disable-line typescript/no-explicit-any

const copy = (): Writable => JSON.parse(JSON.stringify(sampleTable())) as Writable;

/** With the digest that its content has, so that only what was changed is wrong with it. */
function signed(change: (table: Writable) => void): Writable {
  const table = copy();
  change(table);
  table["digest"] = tableDigest(table as unknown as Table);
  return table;
}

function failure(json: unknown): string {
  try {
    loadTable(json);
    return "loaded";
  } catch (error) {
    return error instanceof TableError ? `${error.code}: ${error.message}` : `not a TableError: ${String(error)}`;
  }
}

describe("a table that was compiled", () => {
  test("loads from text and from a parsed value", () => {
    expect(loadTable(JSON.stringify(sampleTable()))).toEqual(sampleTable());
    expect(loadTable(copy())).toEqual(sampleTable());
  });

  test("is deeply frozen, and a copy of what was given", () => {
    const given = copy();
    const table = loadTable(given);
    const open: unknown[] = [table];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (typeof next !== "object" || next === null) continue;
      expect(Object.isFrozen(next)).toBe(true);
      open.push(...(Object.values(next) as unknown[]));
    }
    expect(Object.isFrozen(given)).toBe(false);
  });

  test("may call others, in any depth", () => {
    let table = sampleTable("inner");
    for (let i = 0; i < 300; i++) table = sampleTable(`level${i}`, [table]);
    expect(loadTable(JSON.stringify(table)).digest).toBe(table.digest);
  });
});

describe("the digest", () => {
  test("covers everything but `debug`", () => {
    const { digest } = sampleTable();
    expect(signed((table) => (table["debug"] = { file: "other", nodes: [], expressions: [] }))["digest"]).toBe(digest);
    expect(signed((table) => delete table["debug"])["digest"]).toBe(digest);
    for (const change of [
      (table: Writable) => (table["name"] = "other"),
      (table: Writable) => (table["nodes"][0]["timeout"] = 5001),
      (table: Writable) => (table["channels"][2]["initial"] = "send"),
      (table: Writable) => table["effects"].push("net"),
      (table: Writable) => (table["graphs"] = [sampleTable("called")]),
    ]) {
      expect(signed(change)["digest"]).not.toBe(digest);
    }
  });

  test("does not depend on the order of keys", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, item]) => [key, reversed(item)]),
      );
    };
    expect(loadTable(reversed(sampleTable())).digest).toBe(sampleTable().digest);
  });

  test("another one is refused, of called graphs too", () => {
    const other = copy();
    other["nodes"][0]["timeout"] = 1;
    expect(failure(other)).toMatch(/^NG_BAD_DIGEST: the table is not the one that was compiled/);
    const outer = JSON.parse(JSON.stringify(sampleTable("outer", [sampleTable("inner")]))) as Writable;
    outer["graphs"][0]["nodes"][0]["timeout"] = 1;
    expect(failure(outer)).toMatch(/^NG_BAD_DIGEST: the table at \/graphs\/0 /);
  });
});

describe("what is no table", () => {
  test.each<[string, unknown, RegExp]>([
    ["no JSON", "{", /not valid JSON/],
    ["undefined", undefined, /not valid JSON/],
    ["null", null, /at its top: expected an object/],
    ["a list", [], /expected an object/],
    ["another format", { ...copy(), format: "x" }, /at \/format: this is no routing table/],
    ["a plan", { format: "ngraph.plan" }, /at \/format/],
    [
      "an older version",
      { ...copy(), version: 1 },
      /at \/version: .* version 1, .* version 2: compile the graph again/,
    ],
    ["a later version", { ...copy(), version: 3 }, /at \/version: .* version 3, .* version 2: update the package/],
    ["a number too large", `{"format":"ngraph.table","version":1e999}`, /too large/],
    ["deep nesting", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, /nested deeper/],
  ])("%s", (_, json, message) => {
    expect(failure(json)).toMatch(/^NG_BAD_TABLE/);
    expect(failure(json)).toMatch(message);
  });

  test("a value that contains itself, or that throws when it is read", () => {
    const cycle: Writable = copy();
    cycle["nodes"].push(cycle);
    expect(failure(cycle)).toMatch(/^NG_BAD_TABLE: .*not valid JSON/);
    expect(failure({ toJSON: () => { throw new Error("no"); } })).toMatch(/^NG_BAD_TABLE/); // prettier-ignore
  });

  test.each<[(table: Writable) => void, RegExp]>([
    [(t) => delete t["nodes"], /at its top: `nodes` is missing/],
    [(t) => (t["extra"] = 1), /at its top: `extra` is unknown/],
    [(t) => (t["nodes"][1]["name"] = 5), /at \/nodes\/1\/name: expected a string/],
    [(t) => (t["nodes"][0]["retry"] = 5), /at \/nodes\/0: `retry` is unknown/],
    [(t) => (t["nodes"][0]["call"]["kind"] = "eval"), /at \/nodes\/0\/call: unknown `kind` "eval"/],
    [(t) => delete t["nodes"][0]["call"]["kind"], /at \/nodes\/0\/call: `kind` is missing/],
    [(t) => (t["nodes"][0]["tries"]["attempts"] = 0), /at \/nodes\/0\/tries\/attempts: expected at least 1/],
    [
      (t) => (t["nodes"][0]["routes"][0]["targets"] = [{}]),
      /at \/nodes\/0\/routes\/0\/targets\/0: `barrier` is missing/,
    ],
    [(t) => (t["expressions"][1]["operator"] = "**"), /at \/expressions\/1\/operator: expected one of/],
    [
      (t) => (t["expressions"][1]["left"]["args"] = [{ op: "run" }]),
      /at \/expressions\/1\/left\/args\/0: unknown `op` "run"/,
    ],
    [(t) => (t["channels"][0]["type"] = { kind: "list" }), /at \/channels\/0\/type: `item` is missing/],
    [(t) => (t["effects"] = ["root"]), /at \/effects\/0: expected a string like/],
    [(t) => (t["effects"] = ["net:a/b"]), /at \/effects\/0: expected a string like/],
    [(t) => (t["limits"]["steps"] = 0), /at \/limits\/steps: expected at least 1/],
    [(t) => (t["digest"] = "sha256:x"), /at \/digest: expected a string like/],
    [
      (t) => {
        const called = copy();
        called["channels"].push({ name: "model", role: "config", type: { kind: "string" } });
        t["graphs"] = [called];
      },
      /at \/channels: the configuration `model` of `\w+` is missing/,
    ],
    [(t) => (t["graphs"] = [1]), /at \/graphs\/0: expected an object/],
    [(t) => (t["graphs"] = [{ ...copy(), nodes: 1 }]), /at \/graphs\/0\/nodes: expected a list/],
  ])("%o", (change, message) => {
    const table = copy();
    change(table);
    expect(failure(table)).toMatch(/^NG_BAD_TABLE/);
    expect(failure(table)).toMatch(message);
  });

  test.each<[(table: Writable) => void, RegExp]>([
    [(t) => (t["nodes"][0]["call"]["function"] = 9), /\/nodes\/0\/call\/function: there is no function 9/],
    [(t) => (t["nodes"][0]["call"]["args"] = [9]), /\/nodes\/0\/call\/args\/0: there is no expression 9/],
    [(t) => (t["nodes"][0]["call"] = { kind: "graph", graph: 0, args: [] }), /there is no graph 0/],
    [(t) => (t["nodes"][1]["each"]["list"] = 9), /there is no expression 9/],
    [(t) => (t["nodes"][0]["output"]["channel"] = 4), /\/nodes\/0\/output\/channel: there is no channel 4/],
    [(t) => (t["nodes"][2]["output"]["fields"][0]["channel"] = 4), /there is no channel 4/],
    [(t) => (t["nodes"][1]["goes"] = [3]), /there is no node 3/],
    [(t) => (t["nodes"][2]["waits"] = 2), /there is no barrier 2/],
    [(t) => (t["nodes"][0]["routes"][0]["targets"] = [{ node: 3 }]), /there is no node 3/],
    [(t) => (t["nodes"][0]["routes"][0]["targets"] = [{ barrier: 1, member: 2 }]), /there is no member 2/],
    [(t) => (t["nodes"][2]["routes"][0]["arms"][0]["targets"] = [{ node: 3 }]), /\/arms\/0\/targets\/0\/node: there/],
    [(t) => (t["start"][0]["arms"][0]["condition"] = 9), /\/start\/0\/arms\/0\/condition: there/],
    [(t) => (t["start"][0]["otherwise"] = [{ node: 7 }]), /\/start\/0\/otherwise\/0\/node: there/],
    [(t) => (t["barriers"][0]["members"] = [[3]]), /\/barriers\/0\/members\/0\/0: there is no node 3/],
    [(t) => (t["barriers"][0]["target"] = 3), /there is no node 3/],
    [(t) => (t["barriers"][1]["id"] = "approve"), /two barriers are named "approve"/],
    [(t) => (t["nodes"][1]["name"] = "draft"), /\/nodes\/1: two nodes are named "draft"/],
    [(t) => (t["channels"][1]["name"] = "topic"), /two channels are named "topic"/],
    [(t) => (t["channels"][3]["reducer"]["function"] = 2), /there is no function 2/],
    [(t) => (t["types"] = []), /there is no type Note/],
    [(t) => (t["expressions"][5]["channel"] = 4), /\/expressions\/5\/channel: there is no channel 4/],
    [(t) => (t["expressions"][3]["value"]["function"] = 4), /there is no function 4/],
    [(t) => (t["assertions"][1]["node"] = 4), /\/assertions\/1\/node/],
  ])("an index that points at nothing: %o", (change, message) => {
    expect(failure(signed(change))).toMatch(/^NG_BAD_TABLE/);
    expect(failure(signed(change))).toMatch(message);
  });

  test("an expression nested as deep as the compiler accepts loads, a deeper one does not", () => {
    const nested = (depth: number) => (table: Writable) => {
      let expression: Writable = { op: "const", value: true };
      for (let i = 1; i < depth; i++) {
        expression = i % 2 === 0 ? { op: "not", of: expression } : { op: "list", items: [expression] };
      }
      table["expressions"][0] = expression;
    };
    expect(failure(signed(nested(MAX_EXPRESSION_DEPTH)))).toBe("loaded");
    expect(failure(signed(nested(MAX_EXPRESSION_DEPTH + 1)))).toMatch(/\/expressions\/0: the expression nests deeper/);
  });

  test("any change of a value is refused or still a table, never an exception of another kind", () => {
    const paths: (string | number)[][] = [];
    const walk = (value: unknown, path: (string | number)[]): void => {
      paths.push(path);
      if (typeof value !== "object" || value === null) return;
      for (const [key, item] of Object.entries(value)) walk(item, [...path, Array.isArray(value) ? Number(key) : key]);
    };
    walk(copy(), []);
    fc.assert(
      fc.property(fc.constantFrom(...paths.slice(1)), fc.jsonValue({ maxDepth: 2 }), (path, value) => {
        const table = copy();
        let at = table;
        for (const step of path.slice(0, -1)) at = at[step] as Writable;
        at[path.at(-1) as string] = value as Json;
        expect(failure(table)).toMatch(/^(loaded$|NG_BAD_TABLE: bad table at |NG_BAD_DIGEST: )/);
      }),
      { numRuns: numRuns(1000), seed: 9 },
    );
  });
});

describe("the JSON Schema", () => {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });

  test("of tables accepts a table and refuses what `loadTable` refuses by its shape", () => {
    const validate = ajv.compile(TABLE_SCHEMA);
    expect(validate(copy()), JSON.stringify(validate.errors)).toBe(true);
    for (const change of [
      (table: Writable) => delete table["nodes"],
      (table: Writable) => (table["extra"] = 1),
      (table: Writable) => (table["nodes"][0]["call"]["kind"] = "eval"),
      (table: Writable) => (table["nodes"][0]["tries"]["attempts"] = 0),
      (table: Writable) => (table["nodes"][1]["goes"] = [-3]),
      (table: Writable) => (table["nodes"][0]["routes"][0]["targets"] = [{}]),
      (table: Writable) => (table["limits"]["steps"] = "none"),
    ]) {
      const table = copy();
      change(table);
      expect(validate(table)).toBe(false);
    }
  });

  test.each([
    ["plans", PLAN_SCHEMA],
    ["expressions", EXPRESSION_SCHEMA],
    ["types", TYPE_SCHEMA],
  ])("of %s is valid", (_, schema) => {
    expect(() => ajv.compile(schema)).not.toThrow();
  });
});
