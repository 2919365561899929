import assert from "node:assert/strict";
import { compile, emitTypeScript } from "ngraph/compiler";

const result = compile("graph add { input n: int  output m: int  node a = n + 1 into m  start -> a }", {
  path: "add.ngraph",
});
// Graphs that need no engine import `ngraph/direct`, others `ngraph/generated`.
assert.match(emitTypeScript(result, { outPath: "add.ngraph.ts" }), /from "ngraph\/direct"/);
