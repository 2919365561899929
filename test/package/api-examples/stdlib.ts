import assert from "node:assert/strict";
import { compile } from "ngraph";
import { createEngine } from "ngraph/runtime";
import { createPrint, nodeSignatures } from "ngraph/stdlib";

assert.ok(nodeSignatures.has("http"));

// A built-in node with other settings replaces the one of the engine.
const lines: string[] = [];
const print = createPrint((line) => void lines.push(line));
const { table } = compile(`graph g { node a = print("hello")  start -> a }`, { path: "g.ngraph" });
assert.ok(table);
await createEngine(table, { builtins: { print } }).run({});
assert.deepEqual(
  lines.map((line) => line.trim()),
  ["hello"],
);
