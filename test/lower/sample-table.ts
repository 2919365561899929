import { tableDigest } from "../../compiler/table/digest.ts";
import type { Table } from "../../runtime/table/table.ts";

/** A handwritten table with every kind of part. The loading of a table does not need the compiler. */
export function sampleTable(name = "sample", graphs: readonly Table[] = []): Table {
  const table: Omit<Table, "digest"> = {
    format: "ngraph.table",
    version: 2,
    kind: "graph",
    name,
    channels: [
      { name: "topic", role: "input", type: { kind: "string" } },
      {
        name: "notes",
        role: "output",
        type: { kind: "list", item: { kind: "ref", name: "Note" } },
        initial: [],
        reducer: { kind: "append" },
      },
      {
        name: "verdict",
        role: "state",
        type: {
          kind: "union",
          members: [{ kind: "literal", value: "send" }, { kind: "literal", value: "again" }, { kind: "null" }],
        },
        initial: null,
      },
      { name: "total", role: "memory", type: { kind: "int" }, initial: 0, reducer: { kind: "function", function: 1 } },
    ],
    nodes: [
      {
        name: "draft",
        call: { kind: "function", function: 0, args: [0] },
        output: { kind: "channel", channel: 1 },
        tries: { attempts: 3, backoff: { min: 100, max: 1000 } },
        timeout: 5000,
        routes: [
          { kind: "plain", targets: [{ barrier: 1, member: 0 }] },
          { kind: "when", condition: 1, targets: [{ node: 2 }] },
          { kind: "otherwise", targets: [{ node: -1 }] },
        ],
        onError: [{ condition: "otherwise", targets: [{ node: 2 }] }],
      },
      {
        name: "each",
        call: { kind: "builtin", name: "print", args: [{ name: "text", expression: 2 }] },
        each: { item: "note", list: 3, parallel: 2 },
        cache: { for: null },
        pauseBefore: true,
        idempotent: true,
        goes: [0, -1],
        routes: [{ kind: "plain", targets: [{ barrier: 1, member: 1 }] }],
        onError: [],
      },
      {
        name: "approve",
        call: { kind: "expression", expression: 4 },
        output: { kind: "fields", fields: [{ field: "v", channel: 2 }] },
        waits: 0,
        routes: [
          {
            kind: "match",
            subject: 5,
            arms: [{ values: ["send", null], targets: [{ node: -1 }] }],
            otherwise: [{ node: 0 }],
          },
        ],
        onError: [],
      },
    ],
    start: [
      {
        kind: "cases",
        arms: [{ condition: 1, targets: [{ node: 0 }] }],
        otherwise: [{ node: 1 }],
      },
    ],
    barriers: [
      { id: "approve", kind: "waits", target: 2, members: [[0]] },
      { id: "approve#2", kind: "all", target: 2, members: [[0], [1]] },
    ],
    expressions: [
      { op: "template", parts: ["about ", { op: "channel", channel: 0 }] },
      {
        op: "binary",
        operator: ">",
        left: { op: "library", name: "len", args: [{ op: "channel", channel: 1 }] },
        right: { op: "const", value: 2 },
      },
      { op: "member", of: { op: "local", name: "note" }, name: "text", absent: true },
      {
        op: "comprehension",
        list: { op: "channel", channel: 1 },
        item: "x",
        value: { op: "call", function: 0, args: [{ op: "local", name: "x" }] },
        condition: { op: "not", of: { op: "const", value: false } },
      },
      { op: "record", fields: [{ name: "v", value: { op: "const", value: "send" } }] },
      { op: "channel", channel: 2 },
    ],
    functions: [
      { name: "write", module: "./nodes.ts", export: "write" },
      { name: "add", module: "./nodes.ts", export: "add" },
    ],
    types: [
      {
        name: "Note",
        type: {
          kind: "record",
          fields: [
            { name: "text", type: { kind: "string" }, optional: true },
            { name: "replies", type: { kind: "list", item: { kind: "ref", name: "Note" } } },
            { name: "raw", type: { kind: "opaque", name: "Raw", module: "./nodes.ts" } },
            { name: "by", type: { kind: "map", value: { kind: "float" } } },
          ],
        },
      },
    ],
    graphs,
    secrets: ["KEY"],
    effects: ["code"],
    limits: { steps: null, parallel: 4, tokens: 1000, cost: 0.5 },
    assertions: [
      { kind: "before", first: 0, then: -1 },
      { kind: "once", node: 1 },
      { kind: "never", node: 0, with: 1 },
    ],
    debug: { file: "sample.ngraph", nodes: [], expressions: [{ line: 1, column: 2 }], doc: "Says nothing." },
  };
  return { ...table, digest: tableDigest(table) };
}
