import assert from "node:assert/strict";
import { compile, createEngine, renderPretty } from "ngraph";

const { table, diagnostics } = compile(
  `graph greeting {
    input  name: string
    output text: string
    node greet = \`Hello, \${name}!\` into text
    start -> greet
  }`,
  { path: "greeting.ngraph" },
);
if (table === undefined) throw new Error(renderPretty(diagnostics));

const result = await createEngine(table).run({ name: "Ada" });
assert.equal(result.status, "completed");
assert.deepEqual({ ...result.output }, { text: "Hello, Ada!" });
