/** Calls of MCP tools against lock files. */
import { expect, test } from "vitest";
import { compile } from "../../compiler/index.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { parseToolLock } from "../../compiler/load/tool-lock.ts";
import { typeOfSchema } from "../../compiler/types/schema-type.ts";
import { typeToText } from "../../compiler/types/type-text.ts";

const LOCK = {
  version: 1,
  servers: {
    shop: {
      tools: {
        find: {
          inputSchema: {
            type: "object",
            properties: { id: { type: "integer" }, status: { enum: ["open", "closed"] }, note: { type: "string" } },
            required: ["id"],
          },
          outputSchema: {
            type: "object",
            properties: { total: { type: "number" }, items: { type: "array", items: { type: "string" } }, more: {} },
            required: ["total", "items"],
          },
        },
        closed: {
          inputSchema: { type: "object", properties: { id: { type: "integer" } }, additionalProperties: false },
        },
        // Schemas beside `properties` name further arguments.
        either: {
          inputSchema: {
            type: "object",
            properties: { id: { type: "integer" } },
            required: ["id"],
            anyOf: [{ properties: { by: { type: "string" } } }, { required: ["note"] }],
          },
        },
        refers: { inputSchema: { $ref: "#/$defs/a", properties: { id: { type: "integer" } }, $defs: { a: {} } } },
        every: { inputSchema: { properties: { id: { type: "integer" } }, allOf: [{ properties: { by: {} } }] } },
        any: { inputSchema: { type: "object" } },
        open: {
          inputSchema: { type: "object", properties: { id: { type: "integer" } }, additionalProperties: true },
        },
      },
    },
  },
};

function check(nodes: string, lock: unknown = LOCK, path = "project/graphs/g.ngraph"): string[] {
  const text = `graph g {
  input data: json
  input id: int
  input more: map<string>
  output text: string = ""
  output found: { total: int, items: string[] } | null = null
  output total: float = 0
  ${nodes}
}`;
  const files = { [path]: text, "project/ngraph.lock.json": typeof lock === "string" ? lock : JSON.stringify(lock) };
  const { diagnostics } = compile(text, { path, host: memoryHost(files) });
  return diagnostics
    .filter(({ code }) => ["NG105", "NG114", "NG408"].includes(code))
    .map(({ code, severity, message, span, label, help }) =>
      [code, severity, text.slice(span.start, span.end), message, label, help ?? ""].join(" | "),
    );
}

const call = (args: string, into = "text"): string => `node a = tool(${args}) into ${into} { timeout 1s }
  start -> a -> end`;

test("calls that fit have no findings", () => {
  expect(check(call('"shop", "find", arguments: { id, status: "open" }'))).toEqual([]);
  expect(check(call('"shop", "find", arguments: { id }', "found"))).toEqual([]);
  expect(check(call('"shop", "find", arguments: { id }', "{ total }"))).toEqual([]);
  expect(check(call('"shop", "any", arguments: { x: 1 }', "found"))).toEqual([]);
  expect(check(call('"shop", "any"'))).toEqual([]);
  expect(check(call('"shop", "open", arguments: { id: 1, other: "x" }'))).toEqual([]);
});

test.each(["either", "refers", "every"])("schemas beside the properties of %s may name further arguments", (tool) => {
  expect(check(call(`"shop", "${tool}", arguments: { id: 1, by: "x" }`))).toEqual([]);
  expect(check(call(`"shop", "${tool}", arguments: { id: "x", by: "x" }`))).toEqual([
    expect.stringMatching(/^NG408 \| error \| "x" .*expected `int`/),
  ]);
});

test("a lock file of a later version asks for a later ngraph", () => {
  const [newer] = check(call('"shop", "find", arguments: { id }'), { ...LOCK, version: 2 });
  expect(newer).toMatch(/^NG105 .*its version is 2, not 1 .*update ngraph/);
  const [older] = check(call('"shop", "find", arguments: { id }'), { ...LOCK, version: 0 });
  expect(older).toMatch(/ngc tools sync/);
});

test("what is not known before the run is left to the server", () => {
  expect(check(call('"shop", "find", arguments: data'))).toEqual([]);
  expect(check(call('"shop", "find", arguments: { id: data }'))).toEqual([]);
  expect(check(call('"shop", "find", arguments: more'))).toEqual([]);
  expect(check(call('"shop", "find", arguments: { ...more, id: 1 }'))).toEqual([]);
  expect(check(call('"shop", `${id}`, arguments: { x: 1 }'))).toEqual([]);
});

test.each([
  ['"shop", "fnd", arguments: { id }', "text", /^NG105 \| error \| "fnd" .*similar name exists: `find`/],
  ['"shp", "find", arguments: { id }', "text", /^NG105 \| warning \| "shp" .*similar name exists: `shop`/],
  ['"shop", "find"', "text", /^NG114 \| error \| tool .*needs `id`/],
  ['"shop", "find", arguments: { id: "x" }', "text", /^NG408 \| error \| "x" .*expected `int`/],
  ['"shop", "find", arguments: { id, sttus: "open" }', "text", /^NG408 \| warning \| sttus .*`status`/],
  ['"shop", "closed", arguments: { id, other: 1 }', "text", /^NG408 \| error \| other /],
  ['"shop", "find", arguments: { id, status: "opn" }', "text", /^NG408 \| error \| "opn" .*`"open"`/],
  ['"shop", "find", arguments: { note: "x" }', "text", /^NG408 .*field `id` is missing/],
  ['"shop", "open", arguments: { id: "x", other: 1 }', "text", /^NG408 \| error \| "x"/],
  ['"shop", "find", arguments: { id }', "total", /^NG408 \| error \| total /],
  ['"shop", "find", arguments: { id }', "{ totl: total }", /^NG408 .*similar name exists: `total`/],
])("tool(%s) into %s is reported", (args, into, expected) => {
  const [first, ...more] = check(call(args, into));
  expect(first).toMatch(expected);
  expect(more).toEqual([]);
});

test("the servers of a model are checked", () => {
  const llm = (servers: string): string => `node a = llm("x", servers: ${servers}) into text { timeout 1s }
  start -> a -> end`;
  expect(check(llm('["shop", "shop/find"]'))).toEqual([]);
  expect(check(llm('["shop/fnd", "shp"]'))).toEqual([
    expect.stringMatching(/^NG105 \| error \| "shop\/fnd"/),
    expect.stringMatching(/^NG105 \| warning \| "shp"/),
  ]);
});

test.each([
  ["{", "it is not valid JSON"],
  ["[]", "it has no `servers`"],
  [{ version: 2, servers: {} }, "its version is 2, not 1"],
  [{ servers: {} }, "its version is missing, not 1"],
  [{ version: ["1"], servers: {} }, "its version is no number, not 1"],
  [{ version: 1, servers: { shop: null } }, 'its server "shop" has no `tools`'],
  [{ version: 1, servers: { shop: { tools: { find: {} } } } }, 'the tool "find" of "shop" has no `inputSchema`'],
])("a broken lock file is reported at the call: %j", (lock, problem) => {
  const [first, ...more] = check(call('"shop", "find"'), lock);
  expect(first).toMatch(/^NG105 \| error \| "shop"/);
  expect(first).toContain(`../ngraph.lock.json: ${problem}`);
  expect(more).toEqual([]);
});

test("the table does not depend on the lock file", () => {
  const text = `graph g { output found: json
  node a = tool("shop", "find", arguments: { id: 1 }) into found  start -> a -> end }`;
  const host = memoryHost({ "g.ngraph": text, "ngraph.lock.json": JSON.stringify(LOCK) });
  const locked = compile(text, { path: "g.ngraph", host }).table;
  expect(locked?.digest).toBeDefined();
  expect(locked?.digest).toBe(compile(text, { path: "g.ngraph" }).table?.digest);
});

test.each<[unknown, string]>([
  [{ type: ["string", "null"] }, "string | null"],
  [{ anyOf: [{ type: "integer" }, { const: "all" }] }, 'int | "all"'],
  [{ type: "object", additionalProperties: { type: "boolean" } }, "map<bool>"],
  [{ $ref: "#/$defs/p", $defs: { p: { type: "array", items: { type: "number" } } } }, "float[]"],
  [{ $ref: "#/$defs/p", $defs: { p: { $ref: "#/$defs/p" } } }, "json"],
  [{ $ref: "https://example.com/schema" }, "json"],
  [{ allOf: [{ type: "string" }, { minLength: 2 }] }, "json"],
  [{ type: "string", nullable: true }, "string | null"],
  [
    { type: "object", properties: { __proto__: 1, a: 7, b: { type: "string" } }, required: "a" },
    "{ a?: json, b?: string }",
  ],
  [true, "json"],
  [null, "json"],
])("the schema %j is the type %s", (schema, expected) => {
  expect(typeToText(typeOfSchema(schema))).toBe(expected);
});

test("a lock file whose version is nested deeply is reported", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const { problem } = parseToolLock(`{ "version": ${deep}, "servers": {} }`);
  expect(problem).toMatch(/^its version is no number, not 1$|^it is not valid JSON$/);
});
